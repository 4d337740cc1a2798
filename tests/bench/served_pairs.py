"""
Pairs of (document, sentence) through the served judge, against the same judge inside the workers that would ask it.

Two replicas, or two workers that hold the judge, of one thread each, on a cluster of two nodes. Wall time from the
first batch, when every worker is there and has its model, to the end of the last one.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.served_judge import COLUMNS, AskServer, JudgeUrl, judge_pairs
from longform.text.sentences import sentences
from tests.bench.inputs import passages
from tests.bench.measure import Figure, Pairs
from tests.bench.pool_load import two_nodes
from tests.bench.served_load import on_serve

_JUDGE, _APPLICATION = "offline-support", "pairs"
_WORKERS = 2
_DOCUMENTS, _SENTENCES = 500, 10
_FEWEST_WORDS = 5  # a number on a line of its own cannot be judged
_ROUNDS = 2
_TARGET = 0.7
_SAME = 1e-4  # probabilities
_SETTINGS = {"task": "support", "judge": {"kind": "offline"}, "batching": {"cache_entries": 0}}


def figures() -> list[Figure]:
    """
    Raises:
        AssertionError: The two ways differ in a verdict.
    """
    found, texts = Pairs([], []), [text for text in passages().texts if len(_statements(text)) >= _SENTENCES]
    texts = texts[: _ROUNDS * _DOCUMENTS]
    with two_nodes(), tempfile.TemporaryDirectory() as place, on_serve():
        _deploy()
        for number in range(_ROUNDS):
            folder = Path(place) / str(number)
            pairs = _pairs(folder, texts[number::_ROUNDS])
            found.ours.append(_seconds(pairs, folder / "served", in_process=False))
            found.reference.append(_seconds(pairs, folder / "here", in_process=True))
            _assert_same(folder / "served", folder / "here")
    note = f"{_WORKERS} replicas and {_WORKERS} workers, by handle; verdicts equal, probabilities within {_SAME:g}"
    items = _DOCUMENTS * _SENTENCES
    return [found.rates("Pairs through the served judge", items=items, unit="pairs/s", target=_TARGET, note=note)]


def _deploy() -> None:
    from ray import serve

    from serve.deployments import application

    options = {"num_replicas": _WORKERS, "ray_actor_options": {"num_cpus": 1}}
    made = application({"judges": {_JUDGE: _SETTINGS}}, {f"judges-{_JUDGE}": options})
    serve.run(made, name=_APPLICATION, route_prefix="/")


def _pairs(folder: Path, texts: list[str]) -> str:
    """A file of pairs: each document with sentences of its own and as many of others."""
    assert len(texts) == _DOCUMENTS, f"expected {_DOCUMENTS} documents a round, found {len(texts)}"
    draw = random.Random(len(texts))
    own = [_statements(text) for text in texts]
    everywhere = [sentence for found in own for sentence in found]
    half = _SENTENCES // 2
    rows = [
        {"document": text, "sentence": sentence}
        for text, found in zip(texts, own, strict=True)
        for sentence in [*draw.choices(found, k=half), *draw.sample(everywhere, _SENTENCES - half)]
    ]
    folder.mkdir()
    path = folder / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def _statements(text: str) -> list[str]:
    return [one.text for one in sentences(text) if len(one.text.split()) >= _FEWEST_WORDS]


def _seconds(pairs: str, out: Path, *, in_process: bool) -> float:
    clocks = Path(f"{out}-clocks")
    clocks.mkdir()
    ask = _timed(str(clocks), in_process=in_process)
    judge_pairs(pairs, str(out), JudgeUrl(judge=_JUDGE, app=_APPLICATION), workers=_WORKERS, ask=ask)
    spans = [tuple(map(float, file.read_text().split())) for file in clocks.glob("batch-*")]
    return max(end for _, end in spans) - min(start for start, _ in spans)


def _assert_same(served: Path, here: Path) -> None:
    found, expected = (
        {tuple(row[name] for name in COLUMNS): row for row in pq.read_table(out).to_pylist()} for out in (served, here)
    )
    assert found.keys() == expected.keys()
    for pair, row in found.items():
        assert row["failure"] is None, row["failure"]
        assert row["answer"] == expected[pair]["answer"], pair
        assert abs(row["probability"] - expected[pair]["probability"]) <= _SAME, pair


def _timed(folder: str, *, in_process: bool) -> type[AskServer]:
    """
    Return a class that asks, or holds the judge itself, and notes when its batches ran; made here,
    to travel by value.
    """

    class Timed(AskServer):
        def __init__(self, address: JudgeUrl) -> None:
            super().__init__(address)
            if in_process:
                self._client: Any = _JudgeHere()
            self._clocks = Path(folder)
            (self._clocks / f"worker-{uuid.uuid4().hex}").touch()

        async def __call__(self, batch: pa.Table) -> pa.Table:
            while len(list(self._clocks.glob("worker-*"))) < _WORKERS:  # noqa: ASYNC110  those are other processes
                await asyncio.sleep(0.01)
            start = time.time()
            found = await super().__call__(batch)
            (self._clocks / f"batch-{uuid.uuid4().hex}").write_text(f"{start} {time.time()}")
            return found

    return Timed


class _JudgeHere:
    """The judge where a client would be: what the server would do is done in this process."""

    def __init__(self) -> None:
        from serve.judges.workers import KindWorker
        from serve.settings import ServedKind

        self._worker = KindWorker(_JUDGE, ServedKind.model_validate(_SETTINGS), threads=1, ledger=None)
        self._turn = asyncio.Lock()

    async def judge(self, judge: str, items: list[dict[str, Any]]) -> dict[str, Any]:
        units = [self._worker.split(item) for item in items]
        async with self._turn:
            found = iter(await asyncio.to_thread(self._worker.run, [unit for item in units for unit in item]))
        return {"task": "support", "results": [{"verdicts": [next(found).content[0] for _ in item]} for item in units]}
