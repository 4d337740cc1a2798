"""A fidelity fills what components leave open, says what it changed, and changes nothing that is described in full."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from longform.settings.experiment import Experiment
from longform.settings.fidelity import readings_told
from longform.settings.judges import ChatJudgeSettings
from longform.settings.readings import DISPUTES, FIDELITIES, KEYS, READINGS
from longform.settings.retrievers import Bm25RetrieverSettings, OkapiRetrieverSettings


def experiment(**more: Any) -> Experiment:
    content: dict[str, Any] = {
        "name": "t",
        "seed": 1,
        "retrievers": {"bm25": {"kind": "bm25", "k1": 0.9}, "stems": {"kind": "bm25", "stem": True}},
        "summarizers": {"offline": {"kind": "offline"}},
        "systems": [{"retriever": ["bm25", "stems"], "budget_tokens": 100, "summarizer": "offline"}],
    }
    return Experiment.model_validate(content | more)


@pytest.mark.parametrize("fidelity", ["release", "paper"])
def test_bm25_is_the_released_one_unless_it_is_described_in_full(fidelity: str) -> None:
    found = experiment(fidelity=fidelity)
    assert found.retrievers["bm25"] == OkapiRetrieverSettings(kind="bm25_okapi", k1=0.9)
    assert found.retrievers["stems"] == Bm25RetrieverSettings(kind="bm25", stem=True)
    told = readings_told(found.model_dump(mode="json"))
    assert list(told) == ["retrievers.bm25"]
    assert "split at single spaces" in told["retrievers.bm25"]["taken"]
    assert "lower-cased stems" in told["retrievers.bm25"]["ours"]


def test_measures_have_the_name_of_their_reading() -> None:
    found = experiment(fidelity="release", measures=["rouge_1", "words"])
    assert found.measures == ("rouge_1_released", "words")
    assert readings_told(found.model_dump())["measures.rouge_1_released"]["ours"].startswith("citations")


def test_a_release_rates_beside_the_first_reference_unless_the_judge_says_otherwise() -> None:
    chat = {"provider": "scripted", "model": "m", "script": "obedient"}
    rated = {"task": "reference", "kind": "chat", "chat": chat}
    judges = {"left": rated, "said": rated | {"references": "all"}, "errors": rated | {"task": "errors"}}
    found = experiment(fidelity="release", judges=judges)
    assert [judge.asks_about(1) for judge in found.judges.values()] == [False, True, True]
    assert list(readings_told(found.model_dump(mode="json"))) == ["retrievers.bm25", "judges.left.references"]
    assert all(judge.asks_about(1) for judge in experiment(judges=judges).judges.values())
    assert Experiment.model_validate(found.model_dump(mode="json")) == found
    assert readings_told(experiment(judges=judges).model_dump(mode="json")) == {}


def test_ours_is_the_default_and_changes_nothing() -> None:
    assert experiment() == experiment(fidelity="ours")
    assert experiment().retrievers["bm25"] == Bm25RetrieverSettings(kind="bm25", k1=0.9)
    assert readings_told(experiment().model_dump()) == {}


def test_a_stored_configuration_reads_the_same_again() -> None:
    found = experiment(fidelity="release")
    assert Experiment.model_validate(found.model_dump(mode="json")) == found


def test_an_unknown_fidelity_is_refused() -> None:
    with pytest.raises(ValidationError, match="'ours', 'release' or 'paper'"):
        experiment(fidelity="exact")


def test_each_reading_is_told_for_each_fidelity() -> None:
    assert all(set(reading.told) == set(FIDELITIES) for reading in (*READINGS, *KEYS, *DISPUTES))


COVERAGE = {"people": {"kind": "offline", "calibration": "people"}}
SUPPORT = {"asked": {"kind": "chat", "task": "support", "chat": {"model": "m"}}}


@pytest.mark.parametrize(
    ("fidelity", "aggregate", "query_text"),
    [
        ("ours", "pooled", "query_subtopic"),
        ("release", "pooled", "query_subtopic"),
        ("paper", "per_summary", "query"),
    ],
)
def test_summhay_is_averaged_and_searched_as_the_fidelity_says(fidelity: str, aggregate: str, query_text: str) -> None:
    """The paper and its release differ, so that both are told whatever is taken."""
    found = experiment(fidelity=fidelity, judges=COVERAGE)
    assert (found.aggregate, found.query_text) == (aggregate, query_text)
    told = readings_told(found.model_dump(mode="json"))
    for key in ("aggregate", "query_text"):
        assert told[key]["taken"] == told[key][fidelity]
        assert told[key]["release"] != told[key]["paper"]


@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_the_rule_of_sensitivity_is_told_where_documents_are_ordered_by_relevance(fidelity: str) -> None:
    system = {"retriever": "full", "budget_tokens": None, "summarizer": "offline"}
    ordered = {"retrievers": {"full": {"kind": "full"}}, "systems": [{**system, "order": ["given", "top", "bottom"]}]}
    found = experiment(fidelity=fidelity, **ordered)
    assert found.sensitivity == fidelity
    told = readings_told(found.model_dump(mode="json"))["sensitivity"]
    assert told["taken"] == told[fidelity]
    assert "sensitivity" not in readings_told(experiment(fidelity=fidelity).model_dump(mode="json"))


def test_a_key_that_is_stated_or_that_nothing_reads_stays() -> None:
    stated = experiment(fidelity="paper", judges=COVERAGE, aggregate="pooled")
    assert stated.aggregate == "pooled"
    assert "together" in readings_told(stated.model_dump(mode="json"))["aggregate"]["taken"]
    assert experiment(fidelity="paper").aggregate == "pooled"


@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_replies_of_support_judges_are_read_as_the_fidelity_says(fidelity: str) -> None:
    for section in ("judges", "support_judges"):  # older files have the second
        judge = experiment(fidelity=fidelity, **{section: SUPPORT}).judges["asked"]
        assert isinstance(judge, ChatJudgeSettings)
        assert judge.fidelity == ("ours" if fidelity == "ours" else "release")
    stated = experiment(fidelity=fidelity, judges={"asked": SUPPORT["asked"] | {"fidelity": "ours"}}).judges["asked"]
    assert isinstance(stated, ChatJudgeSettings)
    assert stated.fidelity == "ours"


def test_the_reading_of_replies_is_told_if_it_is_not_ours() -> None:
    place = "judges.asked.fidelity"
    assert place not in readings_told(experiment(judges=SUPPORT).model_dump(mode="json"))
    told = readings_told(experiment(fidelity="release", judges=SUPPORT).model_dump(mode="json"))[place]
    assert told["taken"].startswith("yes or no anywhere")
    assert told["ours"].startswith("the first word")


@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_what_no_key_chooses_is_told_where_it_concerns_a_run(fidelity: str) -> None:
    encoder = {"kind": "encoder", "model": "m", "pooling": "mean"}
    writer = {"kind": "chat", "prompt": "summarize_meeting", "chat": {"model": "m"}}
    found = experiment(
        fidelity=fidelity,
        measures=["R", "MAP", "P"],
        retrievers={"dense": encoder, "whole": encoder | {"pooling": "whole"}, "full": {"kind": "full"}},
        summarizers={"writer": writer},
        systems=[
            {"retriever": "full", "budget_tokens": None, "summarizer": "writer", "method": ["calibration-rotations"]}
        ],
    )
    told = readings_told(found.model_dump(mode="json"))
    assert set(told) == {
        "measures.R", "measures.MAP", "retrievers.dense", "summarizers.writer", "systems.method.calibration-rotations"
    }  # fmt: skip
    assert all(set(one) == {"taken", *FIDELITIES} for one in told.values())
    assert told["systems.method.calibration-rotations"]["taken"] == "the n rotations of the documents"
