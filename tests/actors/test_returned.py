"""Whatever a class of a user's returns or raises is kept as it can be stored, or is an error that names the field."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from math import isfinite
from typing import Any, ClassVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.chat.model import CallContext
from actors.judges.opening import make_judge
from actors.measures import open_measures
from actors.python_class import UserCodeError
from actors.retrieval.own_ranker import PythonRanker
from actors.summarizers.own import written_reply
from actors.summarizers.summarizer import summary_row
from longform.judges.kind import Group, Verdict
from longform.metrics.measure import Facts, Measure, Score
from longform.protocols import Written
from longform.records import Document, Query
from longform.rows import TableRow
from longform.schemas import SUMMARIES, VERDICTS, conform
from longform.settings.chat import PythonSummarizerSettings
from longform.settings.judges import PythonJudgeSettings
from longform.settings.measures import PythonMeasureSettings
from longform.settings.python_class import PythonClassSettings
from tests.actors.summarizers.contexts import asked_context
from tests.any_values import ANY_NUMBER, ANY_TEXT, ANY_VALUE, ODD_NUMBER

PATH = f"{__name__}:Gives"
CONTEXT = CallContext(job="job", stage="judge mine", ledger="/nowhere", prices=None)
GROUP = Group("a", ("the dam", "the mill"), ("the dam", "the tram"))
QUERY, DOCUMENTS = Query("q", "h", "What?"), [Document(f"d{place}", "h", place, None, "a") for place in range(2)]
OPTIONAL = st.none() | ANY_TEXT | ANY_VALUE


class Gives:
    """Returns a value, whatever it is asked, or raises it."""

    name = "gives"
    told = "what a test needs"
    value: ClassVar[Any] = None

    def _give(self, *_: Any) -> Any:
        if isinstance(Gives.value, BaseException):
            raise Gives.value
        return Gives.value

    def summarize(self, query: Query, documents: Any, n_requested: int) -> Any:
        return self._give()

    def rank(self, query: Query, documents: Any) -> Any:
        return self._give()

    def judge(self, group: Group) -> Any:
        return self._give()

    def per_summary(self, facts: Facts) -> Any:
        return self._give()


def judged(value: Any, task: str = "coverage") -> list[Verdict]:
    Gives.value = value
    settings = PythonJudgeSettings.model_validate({"kind": "python", "class": PATH, "task": task})
    (found,) = asyncio.run(make_judge("mine", {"mine": settings}).open(CONTEXT, 1).ask([GROUP]))
    return found


def ranked(value: Any) -> list[float]:
    Gives.value = value
    settings = PythonClassSettings.model_validate({"kind": "python", "class": PATH})
    found: list[float] = PythonRanker(settings).scores(QUERY, DOCUMENTS).tolist()
    return found


def scored(value: Any) -> Score:
    Gives.value = value
    (measure,) = open_measures([PythonMeasureSettings.model_validate({"kind": "python", "class": PATH})])
    assert isinstance(measure, Measure)
    return measure.per_summary(Facts(text="the dam"))


def summarized(value: Any) -> TableRow:
    settings = PythonSummarizerSettings.model_validate({"kind": "python", "class": PATH})
    reply = written_reply(settings, value, "q")
    return summary_row(asked_context(["d1"], doc_chars=[6]), reply, "v")


def refused(error: UserCodeError, method: str, *fields: str) -> bool:
    """Return whether a message names the class, the method, a field, what was expected and what was found."""
    said = str(error)
    named = not fields or any(f" as {field}, " in said or field in said for field in fields)
    return said.startswith(f"{PATH}: {method}: expected ") and ", found " in said and named


def tried(asked: Callable[[Any], Any], value: Any) -> Any:
    """Return what comes of a value, or the error that says why nothing does."""
    try:
        return asked(value)
    except UserCodeError as error:
        return error


@given(st.builds(Written, st.none() | ANY_TEXT, OPTIONAL, ANY_NUMBER, OPTIONAL, ANY_NUMBER, ANY_NUMBER))
@example(Written("a", cost_usd=float("nan")))
@example(Written("a", cost_usd=-1.0, input_tokens=-7))
def test_a_summary_of_any_fields_is_a_row_or_an_error(written: Written) -> None:
    row = tried(summarized, written)
    if isinstance(row, UserCodeError):
        assert refused(row, "summarize", *Written._fields)
        return
    assert conform([row], SUMMARIES).num_rows == 1
    assert (row["text"] is None) != (row["failure"] is None)
    assert 0 <= row["cost_usd"] < float("inf")
    json.dumps(row, allow_nan=False)


@given(ANY_VALUE)
def test_a_summary_that_is_no_text_is_an_error(value: Any) -> None:
    if isinstance(value, str):
        assert conform([summarized(value)], SUMMARIES).num_rows == 1
        return
    with pytest.raises(UserCodeError) as caught:
        summarized(value)
    assert refused(caught.value, "summarize")


_ANSWERS = st.sampled_from(["full", "partial", "none", None])


@given(
    st.builds(
        Verdict,
        _ANSWERS | OPTIONAL,
        st.none() | st.floats(0, 1) | ANY_NUMBER,
        failure=st.none() | OPTIONAL,
        chunk_index=st.none() | st.integers(0, 3) | ANY_NUMBER,
        reply=st.none() | OPTIONAL,
        call_id=st.none() | OPTIONAL,
        linked_unit=st.none() | st.integers(-2, 3) | ANY_NUMBER,
    )
)
@example(Verdict("full", 7.0, linked_unit=0))
@example(Verdict("full", 1.0, failure="oops"))
@example(Verdict("full", 1.0, linked_unit=0.7))  # type: ignore[arg-type]
def test_a_verdict_of_any_fields_can_be_stored_or_is_an_error(verdict: Verdict) -> None:
    found = tried(lambda value: judged([value, None])[0], verdict)
    if isinstance(found, UserCodeError):
        assert refused(found, "judge", *Verdict._fields)
        return
    row = {name: value for name, value in found._asdict().items() if name in VERDICTS.names}
    assert conform([row], VERDICTS).num_rows == 1
    assert (found.answer is None) != (found.failure is None)
    assert found.linked_unit in (None, 0, 1)
    assert found.probability is None or 0 <= found.probability <= 1


@given(st.lists(ANY_VALUE, min_size=2, max_size=2))
def test_judgements_of_any_values_are_numbers_from_0_to_1_or_an_error(values: list[Any]) -> None:
    found = tried(judged, values)
    if isinstance(found, UserCodeError):
        assert refused(found, "judge")
        return
    assert all(verdict.probability is None or 0 <= verdict.probability <= 1 for verdict in found)
    assert not any(isinstance(value, bool | str) for value in values)


@given(st.lists(st.none() | ANY_VALUE, min_size=2, max_size=2))
def test_scores_of_any_values_are_finite_or_an_error_of_the_ranker(values: list[Any]) -> None:
    found = tried(ranked, values)
    if isinstance(found, UserCodeError):
        assert refused(found, "rank")
        return
    assert [value is None for value in values] == [not isfinite(score) for score in found]
    assert not any(isinstance(value, bool | str) for value in values)


@given(st.builds(Score, st.just("gives"), ANY_NUMBER, ANY_NUMBER, st.just(0) | ODD_NUMBER, OPTIONAL))
def test_a_score_of_any_fields_is_finite_or_an_error(score: Score) -> None:
    found = tried(scored, score)
    if isinstance(found, UserCodeError):
        assert refused(found, "per_summary", *Score._fields)
        return
    json.dumps(found, allow_nan=False)
    assert found.measure == "gives"
    assert found.n >= 0


@pytest.mark.parametrize("kind", [dict.fromkeys, set, frozenset, lambda values: dict.fromkeys(values).keys()])
def test_what_has_no_order_is_no_list(kind: Any) -> None:
    for asked, method in ((judged, "judge"), (ranked, "rank")):
        with pytest.raises(UserCodeError) as caught:
            asked(kind([0.25, 1.0]))
        assert refused(caught.value, method)


def test_an_iterator_is_read_as_far_as_it_is_needed() -> None:
    assert ranked(number / 2 for number in range(2)) == [0.0, 0.5]
    for asked in (judged, ranked):
        with pytest.raises(UserCodeError, match=r"expected 2 .*found list"):
            asked(iter(lambda: 0.5, None))


@pytest.mark.parametrize(
    "error",
    [asyncio.CancelledError(), GeneratorExit(), StopIteration(), StopAsyncIteration(), SystemExit(0), BaseException()],
)
@pytest.mark.parametrize("asked", [judged, ranked, scored])
def test_an_error_that_is_no_exception_is_told_as_others(asked: Any, error: BaseException) -> None:
    with pytest.raises(UserCodeError, match=f"{PATH}: .* raised .*{type(error).__name__}"):
        asked(error)
