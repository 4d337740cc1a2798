"""The measures that a configuration lists: those that ship by name, and those of users by import path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from actors.local_models.checkpoints import check, checkpoint_content
from actors.python_class import actor_of, check_class, class_version, load, open_class, returned, user_code, wrong
from actors.retrieval.encoders import check_encoder, encoder_version, open_encoder
from actors.studies import open_studies
from longform.errors import UsageError
from longform.given import fitted
from longform.judges.kinds import KINDS
from longform.measures import RANKING, SHIPPED, default_names, named
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import Merging
from longform.metrics.measure import Facts, Measure, RankingMeasure, Score, TokenModel
from longform.metrics.similarity import bertscores, embedding_similarity
from longform.settings.experiment import Experiment
from longform.settings.measures import BertScoreSettings, EmbeddingSimilaritySettings, MeasureSettings, own_name
from longform.settings.python_class import PythonClassSettings
from longform.studies.study import Study

Listed = Sequence[str | MeasureSettings]
_BY_NAME = {measure.name: measure for measure in SHIPPED}
_BESIDE = {measure.name: measure.beside for measure in SHIPPED}


class SummaryMeasure(Protocol):
    """
    A user's measure.

    A class attribute `name` names its column; the other attributes of `longform.metrics.measure.Measure` may stand
    beside it (`judged_by`, `needs`, `unit`, `better`, `title`, `told`, `version`).
    """

    def per_summary(self, facts: Facts) -> Score:
        """Return the score of one summary."""
        ...


def check_listed(listed: Listed, *, with_keys: bool = False) -> None:
    """
    Make sure that all measures can be had, and tokens of endpoints if *with_keys*; none is made.

    Raises:
        UsageError: A name is unknown or stands twice, a class cannot be loaded, or a variable is unset.
    """
    for one in listed:
        if not isinstance(one, str):
            actor_of(one, Described).check(one, with_keys)
    names = [measure.name for measure in open_measures(listed)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"measures: expected different names, found {', '.join(twice)} more than once")


def open_measures(listed: Listed) -> list[Measure | RankingMeasure]:
    """
    Return the measures in the order listed, each with those that stand beside it.

    Raises:
        UsageError: A name is unknown, or a class cannot be loaded.
    """
    opened = [[one] if isinstance(one, str) else actor_of(one, Described).open(one) for one in listed]
    own = [one for some in opened for one in some if isinstance(one, Measure)]
    if taken := [one.name for one in own if one.name in _SHIPPED_NAMES]:
        raise UsageError(f"measures: {', '.join(taken)} is the name of a measure that ships; give yours another")
    names = [one if isinstance(one, str) else one.name for some in opened for one in some]
    return named(
        [name for one in names for name in (one, *_BESIDE.get(one, ())) if name == one or name not in names], own
    )


_SHIPPED_NAMES = frozenset(measure.name for measure in (*SHIPPED, *RANKING))
_READ = ("name", "told", "judged_by", "needs", "unit", "better", "title", "settings", "work", "beside")


class Described(ABC):
    """Makes measures of what a configuration says of them."""

    @classmethod
    @abstractmethod
    def check(cls, settings: Any, with_keys: bool, /) -> None:
        """Find the class or the model, and tokens of endpoints if *with_keys*; UsageError says what is not there."""

    @classmethod
    @abstractmethod
    def open(cls, settings: Any, /) -> Sequence[Measure]:
        """Return the measures; a model is loaded when it is first asked."""


class OfVectors(Described):
    @classmethod
    def check(cls, settings: EmbeddingSimilaritySettings, with_keys: bool) -> None:
        check_encoder(settings, with_keys=with_keys)

    @classmethod
    def open(cls, settings: EmbeddingSimilaritySettings) -> Sequence[Measure]:
        encoder = cache(lambda: open_encoder(settings))

        def encode(texts: Sequence[str]) -> NDArray[np.float32]:
            return encoder().embed(texts)

        shown, version = own_name(settings.model), encoder_version(settings)
        return [embedding_similarity(settings.measure, shown=shown, encode=encode, version=version)]


class OfTokens(Described):
    @classmethod
    def check(cls, settings: BertScoreSettings, _with_keys: bool, /) -> None:
        check(settings.place)

    @classmethod
    def open(cls, settings: BertScoreSettings) -> Sequence[Measure]:
        model, version = TokenModel(settings.place, settings.layer), checkpoint_content(settings.place)
        return bertscores(settings.measure, model, shown=settings.shown, version=version)


class OfClass(Described):
    """Makes a measure of a user's class, or of a `Measure` as those that ship, whose fields options replace."""

    @classmethod
    def check(cls, settings: PythonClassSettings, _with_keys: bool, /) -> None:
        if not isinstance(load(settings.class_, folder=settings.folder), Measure):
            check_class(settings, SummaryMeasure)

    @classmethod
    def open(cls, settings: PythonClassSettings) -> Sequence[Measure]:
        options: Any = settings.options
        found = load(settings.class_, folder=settings.folder)
        made: Any = replace(found, **options) if isinstance(found, Measure) else open_class(settings, SummaryMeasure)
        for field in ("name", "told"):
            if not isinstance(text := getattr(made, field, None), str) or not text:
                raise UsageError(f"{settings.class_}: expected a class attribute `{field}`, a text; found {text!r}")

        def per_summary(facts: Facts) -> Score:
            with user_code(settings, "per_summary"):
                given = made.per_summary(facts)
            score = returned(settings, "per_summary", given, Score, expected="a longform.metrics.measure.Score")
            if misses := [*_misses(score, measure, {made.name, getattr(found, "name", made.name)})]:
                raise wrong(settings, "per_summary", f"{misses[0]}, for query {facts.query_id!r}", score)
            return score._replace(measure=made.name)

        version = f"{settings.class_} {options} {class_version(settings)}"
        given = {field: getattr(made, field) for field in _READ if hasattr(made, field)}
        measure = fitted(Measure, given | {"per_summary": per_summary, "version": version}, UsageError, settings.class_)
        return [measure]


def _misses(score: Score, measure: Measure, names: Collection[str]) -> Iterator[str]:
    """Yield what a score of a user's *measure*, which goes by these *names*, should be and is not."""
    if score.measure not in names:
        yield f"a Score of {measure.name!r}"
    if score.total and not score.n:
        yield "a total of 0 if n is 0, as there is nothing to average"
    if measure.unit in ("points", "share") and not 0 <= score.total <= score.n * (1 + 1e-9):
        yield f"a total from 0 to n, as its unit is {measure.unit}"


# ---------------------------------------------------------------- of a configuration


class Measures(NamedTuple):
    """The measures that a configuration lists, by their level."""

    of_summaries: list[Measure]
    of_rankings: list[RankingMeasure]


def check_measures(experiment: Experiment) -> Measures:
    """
    Return the measures of an experiment.

    Raises:
        UsageError: One is unknown, or reads the verdicts of a kind of judge that the experiment does not name.
    """
    return measures_of(experiment.measures, _kinds(experiment))


def _kinds(experiment: Experiment) -> list[str]:
    tasks = {judge.task for judge in experiment.judges.values()}
    shipped = [task for task in KINDS if task in tasks]
    return [*shipped, *sorted(tasks.difference(shipped))]


def wanted_measures(experiment: Experiment) -> Listed:
    """Return measures of summaries: those of the configuration, its studies', and those of each judge of support."""
    kinds, how = _kinds(experiment), experiment.faithfulness
    listed = default_names(kinds) if experiment.measures is None else experiment.measures
    of_support = (SHARE, Merging(how.documents, how.sentences).name) if "support" in kinds else ()
    return with_studies((*listed, *of_support), open_studies(experiment.studies), kinds)


def with_studies(listed: Listed, studies: Sequence[Study], kinds: Collection[str]) -> Listed:
    """Return *listed* and the measures that *studies* need of judges of these *kinds*; none of rankings."""
    needed = [name for study in studies for name in study.measures if _BY_NAME[name].judged_by in kinds]
    ranking = {measure.name for measure in RANKING}
    return tuple(dict.fromkeys(one for one in (*listed, *needed) if one not in ranking))


def measures_of(listed: Listed | None, kinds: Collection[str]) -> Measures:
    """Return the measures *listed*, or those that follow from the *kinds* of judges; check that their judges exist."""
    if listed is not None:
        check_listed(listed)
    found = open_measures(default_names(kinds) if listed is None else listed)
    of_rankings = [one for one in found if isinstance(one, RankingMeasure)]
    measures = Measures([one for one in found if isinstance(one, Measure)], of_rankings)
    for measure in measures.of_summaries:
        if measure.judged_by is not None and measure.judged_by not in kinds:
            raise UsageError(
                f"measures: {measure.name} reads the verdicts of a judge of {measure.judged_by}, and the configuration "
                f"names none; its judges are of {' and '.join(kinds) or 'no kind'}"
            )
    return measures
