"""
Draw the pictures of the README and of docs/gallery.md from results of runs, by the figures of their reports.

    python -m tests.pictures runs/demo                    # the README's
    python -m tests.pictures runs/planted places          # one of the gallery
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from actors.storage.folder import Folder
from jobs.results.write import read_results
from longform.report.sections import figures
from tests.places import ROOT


class Picture(NamedTuple):
    """A figure of a report: the section that it stands in, and the first words below it."""

    file: str
    section: str
    begins: str

    @property
    def path(self) -> Path:
        return ROOT / "docs" / "pictures" / self.file


PICTURES: Mapping[str, Picture] = {
    "joint": Picture("demo-joint.svg", "scores", "Joint"),
    "orders": Picture("released-orders.svg", "table-position", "Joint"),
    "places": Picture("planted-places.svg", "table-faithfulness-curves", "Faithfulness"),
}
PICTURE = PICTURES["joint"].path


def drawn(run: str, picture: Picture) -> str:
    """Return the first such figure of the report, on white, as a picture has no page to take its ink from."""
    shown = figures(picture.section, read_results(Folder(run)))
    found = next(figure for figure in shown if figure.caption.startswith(picture.begins))
    svg = found.svg.replace("currentColor", "#222222")
    return svg.replace("<svg ", '<svg style="background: #ffffff" ', 1)


if __name__ == "__main__":
    chosen = PICTURES[sys.argv[2] if len(sys.argv) > 2 else "joint"]
    chosen.path.parent.mkdir(exist_ok=True)
    chosen.path.write_text(drawn(sys.argv[1], chosen))
