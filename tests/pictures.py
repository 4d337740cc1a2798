"""
Draw the README's picture from the results of `make demo`.

    python -m tests.pictures runs/demo
"""

from __future__ import annotations

import sys

from actors.storage.folder import Folder
from jobs.results.write import read_results
from longform.report.figures import figures
from tests.places import ROOT

PICTURE = ROOT / "docs" / "pictures" / "demo-joint.svg"


def joint_svg(run: str) -> str:
    """Return the report's first figure of joint scores, on white, as a picture has no page to take its ink from."""
    drawn = figures("scores", read_results(Folder(run)))
    joint = next(figure for figure in drawn if figure.caption.startswith("Joint"))
    svg = joint.plot.svg.replace("currentColor", "#222222")
    return svg.replace("<svg ", '<svg style="background: #ffffff" ', 1)


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(joint_svg(sys.argv[1]))
