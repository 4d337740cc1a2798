"""Figures are drawn in folders that other tests read, whoever makes them, and nowhere else in these tests."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from threading import Thread

import pytest
from matplotlib.figure import Figure

from tests.made.store import made, store


def draw(folder: Path) -> None:
    def work() -> None:
        stream = StringIO()
        Figure().savefig(stream, format="svg")
        (folder / "figure.svg").write_text(stream.getvalue())

    thread = Thread(target=work)  # as a verb works
    thread.start()
    thread.join()


def test_a_made_folder_has_real_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFORM_MADE", str(tmp_path / "made"))
    store.cache_clear()
    drawn = (made("figure", draw) / "figure.svg").read_text()
    store.cache_clear()
    draw(tmp_path)

    assert "matplotlib" in drawn
    assert "matplotlib" not in (tmp_path / "figure.svg").read_text()
