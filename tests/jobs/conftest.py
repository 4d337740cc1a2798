"""Fixtures that several jobs' tests share: a small benchmark, vectors of its texts, figures that nobody looks at."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from jobs.stages.cluster import Cluster
from longform.report import plots
from longform.summaries.extractive import Extractor
from longform.text.vectors import RecentTexts, TextVectors
from tests.made.demo import one_haystack
from tests.made.store import PRODUCT, is_making, store

_VECTORS: dict[str, NDArray[np.float16]] = {}
_SHARED: set[Path] = set()
_READ: list[RecentTexts] = []
_READ_KEPT = 2_000
_EXTRACTORS: dict[tuple[tuple[int, str], ...], Extractor] = {}
_EXTRACTORS_KEPT = 24
_RUNNING: list[pytest.Item] = []


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note the test that runs, for `figures_undrawn` and `ray_where_marked`."""
    _RUNNING[:] = [item]


@pytest.fixture(scope="session")
def bench() -> str:
    """The demo's benchmark of six queries, to read and not to write to; modules that need another have their own."""
    return one_haystack()


@pytest.fixture(scope="module", autouse=True)
def embedded_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """
    Let tests embed each text once, and a process read it and index each context once.

    Runs read the same few documents again and again. Vectors of a text and its words depend on it alone, what the
    offline summarizer keeps of documents on them and their vectors. Modules that compare vectors, or what is made of
    them, are marked `own_vectors`.
    """
    if request.node.get_closest_marker("own_vectors"):
        yield
        return
    encoded, read = Encoder._encoded, Encoder.read
    _take_vectors()
    taken = len(_VECTORS)

    def remembered(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float16]:
        if encoder._name != MINILM:
            return encoded(encoder, list(texts))
        new = [text for text in texts if text not in _VECTORS]
        if new:
            _VECTORS.update(zip(new, encoded(encoder, new), strict=True))
        return np.stack([_VECTORS[text] for text in texts])

    def read_once(encoder: Encoder, texts: Sequence[str]) -> list[TextVectors]:
        if encoder._name != MINILM:
            return read(encoder, texts)
        if not _READ:
            reader = SimpleNamespace(read=partial(read, encoder), pieces=encoder.pieces)
            _READ.append(RecentTexts(reader, held=_READ_KEPT))
        return _READ[0].read(texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Encoder, "_encoded", remembered)
        patch.setattr(Encoder, "read", read_once)
        patch.setattr("actors.summarizers.offline.Extractor", _extractor)
        yield
    _give_vectors(dict(islice(_VECTORS.items(), taken, None)))


def _vectors_place() -> Path:
    return store(PRODUCT) / "embedded"


def _take_vectors() -> None:
    """Take over what other processes of the tests have embedded."""
    new = set(_vectors_place().glob("*.parquet")) - _SHARED
    for table in map(pq.read_table, new):
        halves = (np.frombuffer(vector, np.float16) for vector in table["vector"].to_pylist())
        _VECTORS.update(zip(table["text"].to_pylist(), halves, strict=True))
    _SHARED.update(new)


def _give_vectors(new: Mapping[str, NDArray[np.float16]]) -> None:
    if new:
        file = _vectors_place() / f"{uuid.uuid4()}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        table = pa.table({"text": list(new), "vector": [vector.tobytes() for vector in new.values()]})
        pq.write_table(table, file.with_suffix(".unfinished"))
        _SHARED.add(file.with_suffix(".unfinished").rename(file))


def _extractor(documents: Sequence[tuple[int, str]], embed: Any, **given: Any) -> Extractor:
    """Return the extractor of equal documents that a run before has made, or another one."""
    texts = tuple(sorted(documents))
    found = _EXTRACTORS.pop(texts, None) or Extractor(documents, embed, **given)
    _EXTRACTORS[texts] = found
    for oldest in list(_EXTRACTORS)[:-_EXTRACTORS_KEPT]:
        _EXTRACTORS.pop(oldest, None)
    return found


@pytest.fixture(scope="module", autouse=True)
def garbage_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let quick runs leave their garbage to Python: to look through all objects of this process takes half a second."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.node.get_closest_marker("slow"):
            patch.setattr("jobs.results.write.gc", SimpleNamespace(collect=lambda: 0))
        yield


@pytest.fixture(scope="module", autouse=True)
def figures_undrawn() -> Iterator[None]:
    """
    Let reports hold empty pictures: to draw figures takes a fifth of the time of tests that ignore them.

    Modules of the slow tier, tests marked `drawn` and folders of `tests/made` have real ones.
    """
    drawn = plots.render

    def rendered(draws: Sequence[Any], *, height: float, name: str) -> str:
        test = _RUNNING[0]
        if is_making() or test.get_closest_marker("drawn") or (test.parent and test.parent.get_closest_marker("slow")):
            return drawn(draws, height=height, name=name)
        return '<svg xmlns="http://www.w3.org/2000/svg"></svg>'

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "render", rendered)
        yield


@pytest.fixture(scope="module", autouse=True)
def ray_where_marked() -> Iterator[None]:
    """
    Let commands without `--workers` work in this process, unless their test is marked `ray` or `slow`.

    They would start a Ray before the first call of a model, and if they find that it ends sooner there: five seconds
    each, and another one on a busy machine than on a quiet one.
    """
    start, sooner = Cluster.start_for_calls, Cluster.ends_sooner

    def is_marked() -> bool:
        return any(_RUNNING[0].get_closest_marker(name) for name in ("ray", "slow"))

    def start_for_calls(cluster: Cluster) -> None:
        if is_marked():
            start(cluster)

    def ends_sooner(cluster: Cluster, rest_s: float, *, cores: int) -> bool:
        return is_marked() and sooner(cluster, rest_s, cores=cores)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cluster, "start_for_calls", start_for_calls)
        patch.setattr(Cluster, "ends_sooner", ends_sooner)
        yield
