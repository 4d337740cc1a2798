"""
A study: what a run shows that is no mean over summaries.

A study is a class of one file (`longform.studies`, `docs/extending.md`) that returns tables, and needs nothing else:
they stand in `results.json` under `tables`, and whoever shows or exports them asks their columns. The result of an
older one stands under its name, and a section of the report of its own draws it (`longform.report.sections`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from longform.errors import UsageError, meant
from longform.results.evidence import Evidence
from longform.settings.strict import imported
from longform.studies import LISTED
from longform.studies.schema_1 import LOWER
from longform.tables.table import Table, Value

TABLES = frozenset({"calls", "contexts", "documents", "qrels", "rankings", "scores", "summaries", "units", "verdicts"})
Result = Table | Sequence[Table] | Sequence[Mapping[str, object]] | Mapping[str, object]
"""Tables; or rows or one mapping of JSON values, of which the type that each study returns says more."""


class RunStudy(Protocol):
    """
    A study as a class, shipped or a user's.

    A class attribute `name` is its key in `results.json`: that of its table, or the beginning of the names of several.
    These may stand beside it: `title` and `told`, the head and the text of its section; `needs`, the tables that it
    reads; `measures`, shipped ones that are scored for it.
    """

    def result(self, evidence: Evidence) -> Table | Sequence[Table] | Sequence[Mapping[str, Value]] | None:
        """Return its tables, or rows whose columns nothing describes; None: the run has nothing to study."""
        ...


@dataclass(frozen=True)
class Study:
    """A study of a run."""

    name: str  # key in a configuration and in `results.json`
    needs: Collection[str]  # the TABLES that it reads
    result: Callable[[Evidence], Result | None]  # pure; None: the run has nothing to study
    measures: tuple[str, ...] = ()  # scored for it, whether or not a configuration lists them
    of_user: bool = False  # a user brought it, perhaps under the name of a shipped one


def _opened(path: str) -> Study:
    made = imported(path)()
    return Study(made.name, made.needs, made.result, tuple(getattr(made, "measures", ())))


SHIPPED = tuple(map(_opened, LISTED.values()))

RESERVED = LOWER
"""Names that no study of a user may have: a run makes tables of these. A listed one may be replaced by a user's."""


def named_studies(names: Sequence[str] | None) -> list[Study]:
    """
    Return the studies of these *names*, in their order; None: all.

    Raises:
        UsageError: There is no such study.
    """
    known = {study.name: study for study in SHIPPED}
    for name in names or ():
        if name not in known:
            raise UsageError(
                f"studies: expected some of {', '.join(sorted(known))}, found {name!r}{meant(name, known)}"
            )
    return list(SHIPPED) if names is None else [known[name] for name in names]


def study_results(studies: Iterable[Study], evidence: Evidence) -> dict[str, Any]:
    """Return the tables of studies under `tables`, and other results by name; None is left out."""
    found: dict[str, Any] = {}
    tables: list[Table] = []
    for study in studies:
        result = study.result(evidence)
        if (own := tables_in(result)) is not None:
            tables += own
        elif result is not None:
            found[study.name] = result
    return found | ({"tables": {table.name: table.as_json() for table in tables}} if tables else {})


def tables_in(result: object) -> list[Table] | None:
    """Return the tables of a result; None: it is of another form."""
    if isinstance(result, Table):
        return [result]
    parts = list(result) if isinstance(result, list | tuple) else []
    own = [one for one in parts if isinstance(one, Table)]
    return own if own and len(own) == len(parts) else None
