"""Results that stand are not made again, and are made again as soon as anything that they are made of has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.aggregate import main as aggregate
from jobs.evaluate import main as evaluate
from jobs.results import evaluated, write
from jobs.results.write import read_results
from tests.jobs.planted_bench import bench

CONFIG = {
    "name": "planted",
    "seed": 1,
    "retrievers": {"full": {"kind": "full"}},
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": {"offline": {"task": "support", "kind": "offline"}},
    "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
    "resamples": 100,
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "c.yaml").write_text(json.dumps(CONFIG))
    url = bench(tmp_path, n=2)
    assert call(tmp_path, "--bench", url) == 0
    return tmp_path


def call(place: Path, *more: str) -> int:
    given = more or ("--bench", str(place / "bench"))
    return evaluate([str(place / "c.yaml"), *given, "--out", str(place / "run"), "--workers", "0"])


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Folders to which results were written since."""
    names: list[str] = []
    through = write.write_pages

    def noted(folder: Folder, *given: object) -> None:
        names.append(folder.url.rsplit("/", 1)[-1])
        through(folder, *given)

    monkeypatch.setattr(write, "write_pages", noted)
    return names


def test_second_call_makes_no_results_again(run: Path, written: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    first = read_results(Folder(str(run / "run")))
    capsys.readouterr()
    assert call(run) == 0
    assert written == []
    assert "1 system on 2 queries" in capsys.readouterr().out
    assert read_results(Folder(str(run / "run"))) == first


def forget_page(run: Path) -> None:
    (run / "run" / "report" / "index.html").unlink()


def forget_results(run: Path) -> None:
    (run / "run" / "results.json").unlink()


def other_audit(run: Path) -> None:
    (run / "bench" / "audit.json").write_text("{}")


def more_rows(run: Path) -> None:
    Folder(str(run / "run")).forget("scores", [next(iter(Folder(str(run / "run")).locate("scores")))])


@pytest.mark.parametrize("change", [forget_page, forget_results, other_audit, more_rows])
def test_what_they_are_made_of_makes_them_anew(run: Path, written: list[str], change: Callable[[Path], None]) -> None:
    change(run)
    assert call(run) == 0
    assert written == ["report"]


def test_other_code_makes_them_anew(run: Path, written: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluated, "_code", lambda: ["longform/keys.py 1 2"])
    assert call(run) == 0
    assert written == ["report"]


def test_aggregate_always_makes_them_anew(run: Path, written: list[str]) -> None:
    assert aggregate([str(run / "run"), "--workers", "0"]) == 0
    assert written == ["report"]
