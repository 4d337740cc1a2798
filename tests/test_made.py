"""Folders that tests read are made once, anew when maker or product change; nobody writes into them unseen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.made.store import TamperedError, made, store

MADE: list[Path] = []


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LONGFORM_MADE", str(tmp_path / "made"))
    store.cache_clear()
    yield
    store.cache_clear()


def write(folder: Path) -> None:
    MADE.append(folder)
    (folder / "run.json").write_text("{}")


def fail(folder: Path) -> None:
    (folder / "half").touch()
    raise OSError("disk")


def test_it_is_made_once_and_found_by_others() -> None:
    folder = made("run", write)
    n = len(MADE)

    assert (folder / "run.json").read_text() == "{}"
    assert made("run", write) == folder
    assert len(MADE) == n
    assert made("other", write) != folder


def test_a_changed_product_makes_it_anew(tmp_path: Path) -> None:
    product = tmp_path / "product"
    (product / "longform").mkdir(parents=True)
    code = product / "longform" / "a.py"
    folders = []
    for content in ("x = 1", "x = 2", "x = 1"):
        code.write_text(content)
        store.cache_clear()
        folders.append(made("run", write, product=product))

    assert folders[0] == folders[2] != folders[1]


def test_who_writes_into_it_is_found() -> None:
    folder = made("run", write)
    (folder / "run.json").write_text("{1}")

    with pytest.raises(TamperedError, match=r"run\.json"):
        made("run", write)
    assert (made("run", write) / "run.json").read_text() == "{}"


def test_what_failed_halfway_is_made_again() -> None:
    for _ in range(2):
        with pytest.raises(OSError, match="disk"):
            made("run", fail)
