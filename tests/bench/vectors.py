"""
The offline summarizer over several systems of the same haystacks, with vectors beside the benchmark and without.

A system gives each query documents of its own choice, whole, and has a task for each haystack, as in a run. Seconds are
of the process's processor, the writing of vectors included.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack

from actors.local_models.vector_table import VectorsPlace, forget_tables, use_vectors
from actors.storage.benchmark import Benchmark
from actors.summarizers.offline import OfflineSummarizer
from actors.summarizers.summarizer import AskedContext, Means
from jobs.ingest import ingest
from longform.records import Document
from longform.settings.chat import OfflineSummarizerSettings
from tests.actors.summarizers.contexts import asked_context
from tests.bench.inputs import make_small_benchmark, released_folder
from tests.bench.measure import Figure, Pairs, seconds

_TOPICS = ("topic_news3.json.gz",)
_SYSTEMS, _QUERIES, _DOCUMENTS = 15, 2, 15  # queries of each haystack; documents of a context
_BULLETS = 7
_MOST_BYTES = 2_000_000_000
_LEAST_RATIO = 3.0

_Tasks = Sequence[Sequence[AskedContext]]


def figures() -> list[Figure]:
    with ExitStack() as stack:
        url = stack.enter_context(tempfile.TemporaryDirectory())
        where = _make_benchmark(url)
        tasks = _tasks(Benchmark(url))
        _summaries(url, tasks[:1], None)  # libraries are loaded once
        place = VectorsPlace(url, _MOST_BYTES)
        kept = seconds(lambda: _summaries(url, tasks, place), clock=time.process_time)
        without = seconds(lambda: _summaries(url, tasks, None), clock=time.process_time)
        again = seconds(lambda: _summaries(url, tasks, place), clock=time.process_time)
    note = f"{where}; {_SYSTEMS} systems, {_QUERIES} queries a haystack, {_DOCUMENTS} documents a context"
    return [
        _figure("Offline summarizer, vectors written", kept, without, note),
        _figure("Offline summarizer, vectors read", again, without, note),
    ]


def _figure(name: str, ours: float, without: float, note: str) -> Figure:
    return Pairs([ours], [without]).times(name, note=note)._replace(target=_LEAST_RATIO)


def _make_benchmark(url: str) -> str:
    folder = released_folder()
    if folder is None:
        return make_small_benchmark(url, haystacks=len(_TOPICS))
    ingest("summhay", [str(folder / "summhay" / name) for name in _TOPICS], url)
    return "released SummHay, news3"


def _tasks(benchmark: Benchmark) -> _Tasks:
    """Return the contexts of each system on each haystack, one task each, haystacks in turn within a system."""
    drawn = random.Random(1)
    return [
        [_context(query_id, haystack_id, benchmark.documents(haystack_id), drawn) for query_id in asked[:_QUERIES]]
        for _ in range(_SYSTEMS)
        for haystack_id in benchmark.haystack_ids
        for asked in [[one.query_id for one in benchmark.queries.values() if one.haystack_id == haystack_id]]
    ]


def _context(query_id: str, haystack_id: str, documents: Sequence[Document], drawn: random.Random) -> AskedContext:
    chosen = sorted(drawn.sample(documents, _DOCUMENTS), key=lambda document: document.doc_index)
    numbers = [document.doc_index + 1 for document in chosen]
    return asked_context(
        [document.doc_id for document in chosen],
        query_id=query_id,
        haystack_id=haystack_id,
        doc_numbers=numbers,
        n_requested=_BULLETS,
    )


def _summaries(url: str, tasks: _Tasks, place: VectorsPlace | None) -> None:
    use_vectors(place)
    summarizer = OfflineSummarizer(OfflineSummarizerSettings(kind="offline"), Means(url, "offline"))
    for task in tasks:
        asyncio.run(summarizer.summarize(task))
    forget_tables()
    use_vectors(None)
