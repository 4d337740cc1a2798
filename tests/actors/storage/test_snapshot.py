"""A snapshot is a table as it stood at one commit, whatever is committed later, and costs one look at the log."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.storage.folder import Folder

pytest_plugins = ["tests.s3_server"]

IDS = st.sampled_from("abcdef")
STEPS = st.lists(
    st.one_of(
        st.dictionaries(IDS, st.sampled_from(["old", "new", ""]), min_size=1).map(lambda texts: ("commit", texts)),
        st.lists(IDS, min_size=1, unique=True).map(lambda ids: ("forget", dict.fromkeys(ids))),
    ),
    max_size=8,
)


def apply(folder: Folder, step: tuple[str, dict[str, Any]]) -> None:
    what, texts = step
    if what == "forget":
        folder.forget("units", list(texts))
        return
    rows = [{"work_id": work_id, "summary_id": work_id, "text": text} for work_id, text in texts.items() if text]
    folder.commit("units", [folder.write_part("units", rows, work_ids=list(texts))])


def content(rows: Any) -> dict[str, str]:
    return {row["work_id"]: row["text"] for row in rows.to_pylist()}


@settings(max_examples=60)
@given(before=STEPS, after=STEPS, asked=st.sets(IDS))
def test_snapshot_reads_what_stood_there_while_others_commit(
    before: list[tuple[str, dict[str, Any]]], after: list[tuple[str, dict[str, Any]]], asked: set[str]
) -> None:
    """Also where others make the very same work again, with other rows."""
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(place)
        stood: dict[str, str] = {}
        for step in before:
            apply(folder, step)
            stood = {work_id: text for work_id, text in stood.items() if work_id not in step[1]}
            stood |= step[1] if step[0] == "commit" else {}
        taken = folder.snapshot("units")
        for step in after:
            apply(folder, step)

        rows = {work_id: text for work_id, text in stood.items() if text}
        assert content(taken.read()) == rows
        assert content(taken.read(work_ids=asked)) == {w: text for w, text in rows.items() if w in asked}
        assert taken.located.keys() == stood.keys()
        assert taken.read(columns=["text"]).column_names == ["text"]


def count_log_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the commits that are read from now on."""
    reads: list[str] = []
    read = Folder.read_bytes

    def counting(folder: Folder, name: str) -> bytes:
        reads.extend([name] if "_commits" in name else [])
        return read(folder, name)

    monkeypatch.setattr(Folder, "read_bytes", counting)
    return reads


@pytest.fixture(params=["local", "s3"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    return Folder(str(tmp_path / "new") if request.param == "local" else request.getfixturevalue("s3_url"))


def test_log_is_read_once_however_often_a_stage_reads(anywhere: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """And once by a call that has no snapshot."""
    for work_id in "abcdef":
        apply(anywhere, ("commit", {work_id: "text"}))
    reads = count_log_reads(monkeypatch)

    taken = anywhere.snapshot("units")
    for work_id in "abcdef":
        assert content(taken.read(work_ids=[work_id])) == {work_id: "text"}
    assert len(reads) == 6

    assert len(content(anywhere.read("units"))) == 6
    assert len(reads) == 12
