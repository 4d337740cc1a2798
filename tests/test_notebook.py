"""The notebook of docs/ runs from its first cell to its last, and prints what it shows."""

from __future__ import annotations

import os

import nbformat
import pytest
from nbclient import NotebookClient

from tests.places import ROOT

NOTEBOOK = ROOT / "docs/notebook.ipynb"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs_and_its_outputs_are_those_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    stored = nbformat.read(NOTEBOOK, as_version=4)
    run = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(run, timeout=300, kernel_name="python3").execute()

    assert [texts(cell) for cell in run.cells] == [texts(cell) for cell in stored.cells]
    assert "repaired" in "".join(text for cell in run.cells for text in texts(cell))


def texts(cell: nbformat.NotebookNode) -> list[str]:
    if cell.cell_type != "code":
        return []
    return [output["text"] if "text" in output else output["data"]["text/plain"] for output in cell.outputs]
