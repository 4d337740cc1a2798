"""Fixtures that several jobs' tests share: a small benchmark, vectors of its texts, figures that nobody looks at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray

from actors.local_models.encoder import Encoder
from actors.local_models.weights import MINILM
from jobs.synthesize import read_config, synthesize
from tests.made.store import is_making

_VECTORS: dict[str, NDArray[np.float16]] = {}


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The demo's benchmark in two haystacks, to read and not to write to; modules that need another have their own."""
    url = str(tmp_path_factory.mktemp("bench"))
    synthesize(read_config("demo", ["haystacks=2"]), url)
    return url


@pytest.fixture(scope="module", autouse=True)
def embedded_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """
    Let the packaged encoder embed each text once in this process: runs read the same few documents again and again.

    A vector depends on its text alone. Modules that compare vectors, or what is made of them, are marked `own_vectors`.
    """
    if request.node.get_closest_marker("own_vectors"):
        yield
        return
    encoded = Encoder._encoded

    def remembered(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float16]:
        if encoder._name != MINILM:
            return encoded(encoder, list(texts))
        new = [text for text in texts if text not in _VECTORS]
        if new:
            _VECTORS.update(zip(new, encoded(encoder, new), strict=True))
        return np.stack([_VECTORS[text] for text in texts])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Encoder, "_encoded", remembered)
        yield


@pytest.fixture(scope="module", autouse=True)
def figures_undrawn(request: pytest.FixtureRequest) -> Iterator[None]:
    """
    Let reports hold empty pictures: to lay out and draw figures takes a fifth of the time of tests that ignore them.

    What is on a figure is computed nevertheless. Modules of the slow tier, modules marked `drawn` and folders of
    `tests/made` have real ones.
    """
    if request.node.get_closest_marker("slow") or request.node.get_closest_marker("drawn"):
        yield
        return
    drawn = Figure.savefig

    def saved(figure: Figure, stream: StringIO, **options: Any) -> None:
        if is_making():
            drawn(figure, stream, **options)
        else:
            stream.write('<svg xmlns="http://www.w3.org/2000/svg"></svg>')

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", saved)
        yield
