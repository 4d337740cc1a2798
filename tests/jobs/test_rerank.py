"""A cross-encoder from a user's folder, through the main job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from actors.storage import Folder
from jobs.calling import Calling
from jobs.cluster import Cluster
from jobs.evaluate import evaluate
from jobs.synthesize import read_config, synthesize
from longform.configuration import Experiment


@pytest.mark.ray
def test_reranked_list_is_a_system_of_its_own(
    ray_session: None, tmp_path: Path, save_cross_encoder: Callable[..., str]
) -> None:
    folder = save_cross_encoder(tmp_path / "model", n_labels=1)
    synthesize(read_config("demo", ["haystacks=1", "topics=[ferry]", "words=150"]), str(tmp_path / "bench"))
    experiment = {
        "name": "reranked",
        "seed": 1,
        "retrievers": {"bm25": {"kind": "bm25"}},
        "rerankers": {"tiny": {"kind": "cross_encoder", "model": folder, "depth": 5}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": {"offline": {"kind": "offline", "calibration": "people"}},
        "systems": [{"retriever": "bm25", "reranker": [None, "tiny"], "budget_tokens": 600, "summarizer": "offline"}],
        "resamples": 100,
    }
    results = evaluate(
        Experiment.model_validate(experiment), str(tmp_path / "bench"), str(tmp_path / "run"),
        cluster=Cluster(address=None, workers=1), calling=Calling("test", ledger=str(tmp_path / "ledger")), limit=2,
    )  # fmt: skip

    assert {cell["setting"] for cell in results["cells"]} == {"bm25", "bm25+tiny"}
    rows = Folder(str(tmp_path / "run")).read("rankings").to_pylist()
    for query in {row["query_id"] for row in rows}:
        before, after = (
            [
                r["doc_id"]
                for r in sorted(rows, key=lambda r: r["rank"])
                if (r["query_id"], r["system"]) == (query, name)
            ]
            for name in ("bm25", "bm25+tiny")
        )
        assert sorted(before[:5]) == sorted(after[:5])
        assert before[5:] == after[5:]
    assert {row["score"] is None for row in rows if row["system"] == "bm25+tiny" and row["rank"] >= 5} == {True}
