"""Figures of models on what they were fitted on: known by the insights' words, whatever the files are called."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from longform.results.in_sample import in_sample, insight_keys, models_of_judge, models_of_retriever
from longform.settings.judges import MeanJudgeSettings, OfflineJudgeSettings
from longform.settings.retrievers import (
    Bm25RetrieverSettings,
    ClusterFeedbackRetrieverSettings,
    FeedbackRetrieverSettings,
)


def released_insights(released: Path, topic: str) -> list[str]:
    content = json.loads(gzip.decompress((released / "summhay" / f"topic_{topic}.json.gz").read_bytes()))
    return [insight["insight"] for subtopic in content["subtopics"] for insight in subtopic["insights"]]


def test_released_topics_are_in_sample_for_what_was_fitted_on_them(released: Path) -> None:
    texts = released_insights(released, "news3")

    assert in_sample({"support"}, texts) == f"in sample: fitted on {len(texts)} of these {len(texts)} insights"
    assert in_sample({"gpt-4o"}, texts) is not None
    assert in_sample({"people-vectors"}, texts) is not None
    assert in_sample({"gpt-4o"}, released_insights(released, "conv5")) is None  # its labels are of news
    assert in_sample({"support"}, released_insights(released, "conv5")) is not None


def test_insights_are_known_by_their_words_and_others_are_not(released: Path) -> None:
    texts = released_insights(released, "news3")

    assert insight_keys(f"  {text.upper()}\n" for text in texts) == insight_keys(texts)
    assert in_sample({"support", "ranker", "people", "gpt-4o"}, ["The bridge will be rebuilt for 3.4 million."]) is None
    assert in_sample(set(), texts) is None


def test_combinations_are_in_sample_where_a_member_is() -> None:
    judges = {
        "people": OfflineJudgeSettings(kind="offline", calibration="people"),
        "mean": MeanJudgeSettings(kind="mean", of=("people", "other")),
        "other": OfflineJudgeSettings(kind="offline", calibration="gpt-4o"),
    }
    retrievers = {
        "bm25": Bm25RetrieverSettings(kind="bm25"),
        "clusters": ClusterFeedbackRetrieverSettings(kind="cluster_feedback"),
        "more": FeedbackRetrieverSettings(kind="feedback", of="clusters"),
    }

    assert models_of_judge(judges["mean"], judges) == {"people", "gpt-4o"}
    assert [models_of_retriever(name, retrievers) for name in retrievers] == [set(), {"support"}, {"support"}]
