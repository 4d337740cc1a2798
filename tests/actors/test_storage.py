"""Parts count once a commit names them."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import pytest

from actors.storage import Folder
from longform.errors import UsageError


def row(work_id: str, text: str = "t") -> dict[str, object]:
    return {"work_id": work_id, "summary_id": work_id, "text": text}


def test_part_without_a_commit_is_not_read(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    folder.write_part("units", [row("a")], work_ids=["a"])

    assert folder.read("units").num_rows == 0
    assert folder.locate("units") == {}


def test_later_commit_wins_a_work_id(tmp_path: Path) -> None:
    """A piece of work done again replaces its rows, and leaves its neighbours in the old part."""
    folder = Folder(str(tmp_path))
    folder.commit("units", [folder.write_part("units", [row("a", "old"), row("b", "kept")], work_ids=["a", "b"])])
    folder.commit("units", [folder.write_part("units", [row("a", "new")], work_ids=["a"])])

    assert sorted(folder.read("units")["text"].to_pylist()) == ["kept", "new"]


def test_read_gives_the_work_ids_asked_for_and_the_columns(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    folder.commit("units", [folder.write_part("units", [row("a", "x"), row("b", "y")], work_ids=["a", "b"])])

    assert folder.read("units", work_ids=["b"], columns=["text"]).to_pylist() == [{"text": "y"}]


def test_work_that_made_no_rows_is_done_all_the_same(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    folder.commit("units", [folder.write_part("units", [], work_ids=["empty"])])

    assert "empty" in folder.locate("units")
    assert folder.read("units").num_rows == 0


def test_two_writers_commit_without_losing_each_other(tmp_path: Path) -> None:
    first, second = Folder(str(tmp_path)), Folder(str(tmp_path))
    a = first.write_part("units", [row("a")], work_ids=["a"])
    b = second.write_part("units", [row("b")], work_ids=["b"])
    first.commit("units", [a])
    second.commit("units", [b])

    assert set(Folder(str(tmp_path)).locate("units")) == {"a", "b"}


def test_folder_goes_to_workers_by_its_url(tmp_path: Path) -> None:
    assert pickle.loads(pickle.dumps(Folder(str(tmp_path)))).url == str(tmp_path)


def test_unknown_scheme_is_an_error_that_says_what_is_expected() -> None:
    with pytest.raises(UsageError, match="expected a local path or an s3:// URL"):
        Folder("gopher://x/y")


def test_bytes_come_back_as_they_were_written_whatever_the_name_ends_in(tmp_path: Path) -> None:
    """The file system would unpack a .gz on its own."""
    folder = Folder(str(tmp_path))
    packed = gzip.compress(b"content", mtime=0)
    folder.write_bytes("a.gz", packed)

    assert folder.read_bytes("a.gz") == packed
    assert (tmp_path / "a.gz").read_bytes() == packed
    assert folder.names() == ["a.gz"]
