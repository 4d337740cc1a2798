"""Figures are drawn in folders that other tests read, whoever makes them, and nowhere else in these tests."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from longform.report import plots
from tests.made.store import made, store


def draw(folder: Path) -> None:
    def work() -> None:
        svg = plots.render([lambda axes: axes.set_title("drawn")], height=1, name="figure")
        (folder / "figure.svg").write_text(svg)

    thread = Thread(target=work)  # as a verb works
    thread.start()
    thread.join()


def test_a_made_folder_has_real_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFORM_MADE", str(tmp_path / "made"))
    store.cache_clear()
    drawn = (made("figure", draw) / "figure.svg").read_text()
    store.cache_clear()
    draw(tmp_path)

    assert "<path" in drawn
    assert "<path" not in (tmp_path / "figure.svg").read_text()
