"""
Dense retrieval of all documents for all queries by the stage that runs have, beside the encoder on the same texts.

The reference only embeds the distinct chunks and queries, which are known to it. The stage reads the benchmark, cuts
documents into chunks, embeds, pools, ranks, and keeps vectors beside the benchmark. Seconds are of the process's
processor. A second retriever and a second run find all vectors there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from actors.local_models.vector_table import FOLDER
from jobs.command.calling import Calling
from jobs.evaluations.evaluation import Evaluation
from jobs.files.vectors import Vectors
from jobs.files.write_benchmark import write_benchmark
from jobs.stages.cluster import Cluster
from longform.formats.rows import HaystackRows
from longform.records import Document, Query
from longform.settings.experiment import Experiment
from tests.bench.inputs import passages
from tests.bench.measure import Figure, Spread, paired

_DOCUMENTS, _QUERIES, _PASSAGES = 16, 12, 4  # passages of 300 words a document
_ROUNDS = 3
_LEAST_RATIO = 0.9
_MOST_BYTES = 100_000_000


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source = _make_benchmark(str(folder / "bench"))
        encoder = Encoder(MINILM, threads=len(os.sched_getaffinity(0)))  # as the stage does
        with _reaching() as reached:
            _retrieve(folder, "first", ["mean"])
            texts = list(reached)
            _retrieve(folder, "second", ["mean", "max"])

        def ours() -> None:
            shutil.rmtree(folder / "bench" / FOLDER)
            shutil.rmtree(folder / "again", ignore_errors=True)
            _retrieve(folder, "again", ["mean"])

        def reference() -> None:
            encoder.forget()
            encoder.embed(texts)

        pairs = paired(ours, reference, rounds=_ROUNDS)
    note = f"{_DOCUMENTS} documents, {_QUERIES} queries, {len(texts)} distinct texts; {source}"
    ratio = len(set(texts)) / len(reached)
    return [
        pairs.rates("Dense retrieval", items=len(texts), unit="texts/s", target=_LEAST_RATIO, note=note),
        Figure(
            "Dense retrieval, each text once", len(reached), len(set(texts)), "texts", Spread(ratio, ratio, ratio), 1.0,
            "ours: texts that reach the model in two runs with two retrievers; reference: distinct ones",
        ),
    ]  # fmt: skip


def _make_benchmark(url: str) -> str:
    found = passages()
    texts, h = found.spread(_DOCUMENTS * _PASSAGES), "dense"
    documents = [
        Document(f"d{n}", h, n, None, "\n".join(texts[n * _PASSAGES : (n + 1) * _PASSAGES])) for n in range(_DOCUMENTS)
    ]
    queries = [Query(f"q{n}", h, text) for n, text in enumerate(dict.fromkeys(found.queries[:_QUERIES]))]
    haystack = HaystackRows(h, documents=documents, queries=queries, targets=[], qrels=[])
    write_benchmark(url, [haystack], sources=[])
    return found.source


def _retrieve(folder: Path, run: str, pooling: list[str]) -> None:
    """Do the stage in this process, with vectors beside the benchmark, as a command does."""
    bench = str(folder / "bench")
    with Vectors(bench, _MOST_BYTES) as vectors:
        Evaluation(
            _experiment(pooling), bench, str(folder / run), cluster=Cluster(address=None, workers=0, cpus=1),
            calling=Calling("bench", ledger=str(folder / "ledger")), vectors=vectors,
        ).do("retrieve")  # fmt: skip


def _experiment(pooling: list[str]) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "bench",
            "seed": 1,
            "retrievers": {name: {"kind": "encoder", "model": MINILM, "pooling": name} for name in pooling},
            "summarizers": {"offline": {"kind": "offline"}},
            "systems": [{"retriever": pooling, "budget_tokens": None, "summarizer": "offline"}],
        }
    )


@contextmanager
def _reaching() -> Iterator[list[str]]:
    """Give the list of all texts that reach a model."""
    reached: list[str] = []
    encoded = Encoder._encoded

    def counted(self: Encoder, texts: list[str]) -> Any:
        reached.extend(texts)
        return encoded(self, texts)

    with patch.object(Encoder, "_encoded", counted):
        yield reached
