"""Short names on the command line for what a configuration says at length."""

from __future__ import annotations

import pytest

from jobs.configs import read_experiment
from longform.errors import UsageError
from longform.judge_settings import ChatJudge
from longform.model_settings import ChatSummarizer


def test_budget_and_retrievers_narrow_the_preset() -> None:
    experiment = read_experiment("summhay", ["budget=2000", "retrievers=[bm25, oracle]"])
    systems = [(system.retriever, system.budget_tokens) for system in experiment.all_systems()]
    assert systems == [("bm25", 2000), ("oracle", 2000)]


def test_a_model_writes_every_summary_and_another_judges() -> None:
    changes = ["model={model: small, base_url: 'http://127.0.0.1:1/v1'}", "judge=gpt-4o"]
    experiment = read_experiment("summhay", changes)
    (summarizer,), (judge,) = experiment.summarizers.values(), experiment.judges.values()
    assert isinstance(summarizer, ChatSummarizer)
    assert isinstance(judge, ChatJudge)
    assert (summarizer.chat.base_url, judge.chat.model) == ("http://127.0.0.1:1/v1", "gpt-4o")
    assert {system.summarizer for system in experiment.all_systems()} == {"chat"}


def test_a_retriever_that_no_system_has_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"no system of the configuration has \['colbert'"):
        read_experiment("summhay", ["retrievers=[bm25, colbert]"])


def test_a_mapping_of_retrievers_is_no_short_name() -> None:
    experiment = read_experiment("demo", ["retrievers.bm25.k1=2.0"])
    assert experiment.retrievers["bm25"].model_dump()["k1"] == 2.0
