"""A fidelity fills what components leave open, says what it changed, and changes nothing that is described in full."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from longform.settings.experiment import Experiment
from longform.settings.fidelity import FIDELITIES, READINGS, readings_told
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
    assert all(set(reading.told) == set(FIDELITIES) for reading in READINGS)
