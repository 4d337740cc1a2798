"""The measures that a configuration lists: those that ship by name, and those of users by import path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from actors.python_class import check_class, class_version, open_class, user_code
from longform.errors import UsageError
from longform.measures import RANKING, SHIPPED, named
from longform.metrics.measure import Facts, Measure, RankingMeasure, Score
from longform.settings.python_class import PythonClassSettings

Listed = Sequence[str | PythonClassSettings]


class SummaryMeasure(Protocol):
    """
    A user's measure.

    A class attribute `name` names its column; the other attributes of `longform.metrics.measure.Measure` may stand
    beside it (`judged_by`, `needs`, `unit`, `better`, `title`, `told`, `version`).
    """

    def per_summary(self, facts: Facts) -> Score:
        """Return the score of one summary."""
        ...


def check_listed(listed: Listed) -> None:
    """
    Make sure that all measures can be had; none is made.

    Raises:
        UsageError: A name is unknown, a class cannot be loaded, or two measures have one name, shipped ones included.
    """
    for one in listed:
        if isinstance(one, PythonClassSettings):
            check_class(one, SummaryMeasure)
    names = [measure.name for measure in open_measures(listed)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"measures: expected different names, found {', '.join(twice)} more than once")


def open_measures(listed: Listed) -> list[Measure | RankingMeasure]:
    """
    Return the measures in the order listed.

    Raises:
        UsageError: A name is unknown, or a class cannot be loaded.
    """
    found = [one if isinstance(one, str) else _opened(one) for one in listed]
    own = [one for one in found if isinstance(one, Measure)]
    if taken := [one.name for one in own if one.name in _SHIPPED_NAMES]:
        raise UsageError(f"measures: {', '.join(taken)} is the name of a measure that ships; give yours another")
    return named([one if isinstance(one, str) else one.name for one in found], own)


_SHIPPED_NAMES = frozenset(measure.name for measure in (*SHIPPED, *RANKING))
_OPTIONAL = ("judged_by", "unit", "better", "title", "told")


def _opened(settings: PythonClassSettings) -> Measure:
    made: Any = open_class(settings, SummaryMeasure)
    name = getattr(made, "name", None)
    if not isinstance(name, str) or not name:
        raise UsageError(f"{settings.class_}: expected a class attribute `name`, a text; found {name!r}")

    def per_summary(facts: Facts) -> Score:
        with user_code(settings, "per_summary"):
            found = made.per_summary(facts)
            if not isinstance(found, Score):
                msg = f"expected a longform.metrics.measure.Score, found {found!r}"
                raise TypeError(msg)
            return found._replace(measure=name)

    given = {field: getattr(made, field) for field in _OPTIONAL if hasattr(made, field)}
    needs = frozenset(getattr(made, "needs", ()))
    version = f"{settings.class_} {settings.options} {class_version(settings)}"
    return Measure(name, per_summary, needs=needs, version=version, **given)
