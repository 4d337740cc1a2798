"""
A snapshot is a table as it stood at one commit, and costs one look at the log.

Checkpoints make the look short and never change what it finds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.storage import tables
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from actors.storage.tables import CommitLog, Entry, Forgotten, Part
from longform.errors import UsageError

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


# ---------------------------------------------------------------- checkpoints


class KilledError(Exception):
    pass


class MemoryFiles:
    """The files of a folder, with a writer that can be killed before a write, and another's work before one."""

    url = "memory"

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.reads: list[str] = []
        self.writes_left: int | None = None  # None: nobody is killed
        self.before_write: Callable[[], None] | None = None  # once

    def names(self, within: str = "", *, after: str = "") -> list[str]:
        found = [name.rpartition("/") for name in self.held]
        return sorted(name for place, _, name in found if place == within and name > after)

    def read_bytes(self, name: str) -> bytes:
        self.reads.append(name)
        return self.held[name]

    def write_bytes(self, name: str, content: bytes) -> None:
        if self.before_write is not None:
            work, self.before_write = self.before_write, None
            work()
        if self.writes_left is not None:
            if self.writes_left == 0:
                raise KilledError
            self.writes_left -= 1
        self.held[name] = content

    def write_json(self, name: str, content: object) -> None:
        self.write_bytes(name, json.dumps(content).encode())

    def checkpoints(self) -> list[str]:
        return [name for name in self.held if "_checkpoints" in name]


def part(number: int, *work_ids: str) -> Part:
    return Part(path=f"t/part-{number}", rows=number, work_ids=work_ids)


WORK = st.one_of(
    st.sets(IDS, min_size=1).map(lambda ids: ("part", sorted(ids))),
    st.sets(IDS, min_size=1).map(lambda ids: ("forgotten", sorted(ids))),
)
MOMENTS = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), st.integers(0, 1), st.lists(WORK, min_size=1, max_size=3)),
        st.tuples(st.just("killed commit"), st.integers(0, 3), st.lists(WORK, min_size=1, max_size=2)),
        st.tuples(st.just("lose a checkpoint"), st.integers(0, 9), st.just([])),
        st.tuples(st.just("start again"), st.integers(0, 1), st.just([])),
    ),
    max_size=40,
)


def entries_of(work: list[tuple[str, list[str]]], number: int) -> list[Entry]:
    """One commit's entries as they are kept: parts first."""
    parts: list[Entry] = [part(10 * number + n, *ids) for n, (what, ids) in enumerate(work) if what == "part"]
    forgotten = [work_id for what, ids in work if what == "forgotten" for work_id in ids]
    return parts + ([Forgotten(tuple(forgotten))] if forgotten else [])


@given(moments=MOMENTS, span=st.integers(2, 4))
def test_table_is_that_of_its_commits_whatever_became_of_checkpoints(moments: list[Any], span: int) -> None:
    """Two writers in turn; some are killed before or between the writes of a commit; some checkpoints get lost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "SPAN", span)
        files = MemoryFiles()
        logs = [CommitLog(files, "t"), CommitLog(files, "t")]
        expected: list[Entry] = []
        for number, (what, which, work) in enumerate(moments):
            entries = entries_of(work, number)
            if what == "commit":
                logs[which].append(entries)
                expected += entries
            elif what == "killed commit":
                files.writes_left = which
                with suppress(KilledError):
                    CommitLog(files, "t").append(entries)
                files.writes_left = None
                expected += entries if which else []
            elif what == "start again":
                logs[which] = CommitLog(files, "t")
            elif held := files.checkpoints():
                del files.held[held[which % len(held)]]
            assert list(CommitLog(files, "t").entries()) == expected


@given(n_commits=st.integers(0, 90), span=st.integers(2, 5))
def test_log_is_read_in_as_few_files_as_its_length_has_levels(n_commits: int, span: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "SPAN", span)
        files = MemoryFiles()
        log, levels = CommitLog(files, "t"), 0
        for number in range(n_commits):
            log.append([part(number, f"{number}")])
        while span ** (levels + 1) <= n_commits:
            levels += 1
        files.reads.clear()

        assert len(list(log.entries())) == n_commits
        assert len(files.reads) <= (levels + 1) * (span - 1)


def test_commit_that_came_late_is_read_though_a_checkpoint_stands_over_its_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two take number 1 at once; the first writes a checkpoint of 0 and 1 before the other's commit is there."""
    monkeypatch.setattr(tables, "SPAN", 2)
    files = MemoryFiles()
    slow, quick = CommitLog(files, "t"), CommitLog(files, "t")
    slow.append([part(0, "a")])
    files.before_write = lambda: quick.append([part(1, "b")])
    slow.append([part(2, "c")])

    assert [name[:13] for name in files.names("t/_checkpoints")] == ["000000-000002"] * 2
    found = {entry.work_ids for entry in CommitLog(files, "t").entries() if isinstance(entry, Part)}
    assert found == {("a",), ("b",), ("c",)}
    assert [name[:6] for name in files.names("t/_commits")] == ["000000", "000001", "000001"]


def test_folder_of_before_is_read_and_gets_its_checkpoints_with_the_next_full_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Commits were numbered by their count, so that two at once left a tie and a gap."""
    monkeypatch.setattr(tables, "SPAN", 2)
    files = MemoryFiles()
    for name, work_id in [("000000-aa", "a"), ("000000-bb", "b"), ("000002-cc", "c"), ("000004-dd", "d")]:
        body = {"parts": [{"path": f"t/{work_id}", "rows": 1, "work_ids": [work_id]}]}
        files.write_json(f"t/_commits/{name}.json", body)
    log = CommitLog(files, "t")
    assert [entry.work_ids for entry in log.entries()] == [("a",), ("b",), ("c",), ("d",)]

    log.append([part(5, "e")])

    assert [name[:13] for name in files.names("t/_checkpoints")] == [
        "000000-000002", "000000-000004", "000002-000004", "000004-000006",
    ]  # fmt: skip
    files.reads.clear()
    assert [entry.work_ids for entry in log.entries()] == [("a",), ("b",), ("c",), ("d",), ("e",)]
    assert len(files.reads) == 2


def test_damaged_checkpoint_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SPAN", 2)
    files = MemoryFiles()
    log = CommitLog(files, "t")
    log.append([part(0, "a")])
    log.append([part(1, "b")])
    (name,) = files.checkpoints()
    files.held[name] = files.held[name][:-20]

    with pytest.raises(StorageError, match=f"memory/{name}: expected a checkpoint .* delete this file: the commits"):
        list(log.entries())


def test_checkpoints_are_read_without_the_library_of_data_sets(tmp_path: Path) -> None:
    """It takes more memory than the commits of ten thousand summaries."""
    folder = Folder(str(tmp_path))
    for number in range(tables.SPAN):
        folder.commit("units", [Part(path=f"units/{number}", rows=0, work_ids=(f"{number}",))])
    assert folder.names("units/_checkpoints")
    line = (
        "import sys; from actors.storage.folder import Folder; "
        f"print(len(Folder({folder.url!r}).locate('units')), 'pyarrow.dataset' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"{tables.SPAN}", "False"]


def test_table_with_all_its_commits_refuses_another() -> None:
    files = MemoryFiles()
    files.write_json("t/_commits/999999-aa.json", {"parts": []})

    with pytest.raises(UsageError, match=r"at most 1,000,000 commits of a table.*go on in a new folder"):
        CommitLog(files, "t").append([part(0, "a")])


def test_writers_at_once_lose_nothing(anywhere: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SPAN", 3)

    def write(writer: int) -> None:
        folder = Folder(anywhere.url)
        for number in range(12):
            folder.commit("units", [Part(path=f"units/{writer}-{number}", rows=0, work_ids=(f"{writer}-{number}",))])

    with ThreadPoolExecutor(3) as writers:
        list(writers.map(write, range(3)))

    wanted = {f"{writer}-{number}": f"units/{writer}-{number}" for writer in range(3) for number in range(12)}
    assert anywhere.locate("units") == wanted
    assert anywhere.names("units/_checkpoints")
    assert [part.path for part in anywhere.parts("units") if part.path[6] == "1"] == [
        f"units/1-{number}" for number in range(12)
    ]


def test_commit_after_another_commands_has_the_next_number(anywhere: Folder) -> None:
    """Also if this command has committed before, and if the table was deleted in between."""
    other = Folder(anywhere.url)
    for folder in (anywhere, other, other, anywhere):
        folder.commit("units", [])
    assert [name[:6] for name in anywhere.names("units/_commits")] == ["000000", "000001", "000002", "000003"]

    anywhere.delete_table("units")
    anywhere.commit("units", [])
    assert [name[:6] for name in anywhere.names("units/_commits")] == ["000000"]
