"""Writers on several machines agree through a log in which every number is taken once."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import actors.ledger.s3_log
from actors.ledger.entry import Session, from_lines
from actors.ledger.ledger import Ledger
from actors.ledger.s3_log import LedgerLog
from actors.storage.folder import Folder
from longform.errors import LongformError
from tests.actors.ledger.ledgers import answered, intent
from tests.places import ROOT

pytest_plugins = ["tests.s3_server"]

Opener = Callable[[str], Ledger]


@pytest.fixture
def on_machine(s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """Opens the one shared ledger as a process of the machine so named, which has a cache of its own."""
    opened: list[Ledger] = []

    def open_there(machine: str) -> Ledger:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / machine))
        opened.append(Ledger(s3_url, job=machine, session=Session(machine, 1, 0.0)))
        return opened[-1]

    yield open_there
    for ledger in opened:
        ledger.close()


def test_who_comes_second_reads_what_came_first_and_decides_again(on_machine: Opener) -> None:
    """Both have opened before either has written."""
    here, there = on_machine("here"), on_machine("there")

    assert here.exchange([intent("a", "c"), intent("x", "paid")], []) == ["go", "go"]
    here.exchange([], [answered("x", "paid")])
    assert there.exchange([intent("b", "c"), intent("y", "paid"), intent("z", "own")], []) == ["busy", "finished", "go"]
    assert there.finished(["paid"])["paid"].text == "yes"


def test_waiting_for_another_machine_ends_when_it_has_answered(on_machine: Opener) -> None:
    """Nothing is written while one waits, so that no number shows that others have written."""
    here, there = on_machine("here"), on_machine("there")
    here.exchange([intent("a", "c")], [])
    assert there.exchange([intent("b", "c")], []) == ["busy"]

    here.exchange([], [answered("a", "c")])
    assert there.exchange([intent("b", "c")], []) == ["finished"]


def test_of_four_machines_one_makes_each_call(on_machine: Opener) -> None:
    ledgers = [on_machine(f"machine-{n}") for n in range(4)]
    went: list[str] = []

    def ask(ledger: Ledger, name: str) -> None:
        for at in range(0, 40, 5):
            asked = [intent(f"{name}{n}", f"c{n}") for n in range(at, at + 5)]
            verdicts = ledger.exchange(asked, [])
            went.extend(one.call_id for one, verdict in zip(asked, verdicts, strict=True) if verdict == "go")

    threads = [threading.Thread(target=ask, args=(ledger, str(n))) for n, ledger in enumerate(ledgers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(went) == sorted(f"c{n}" for n in range(40))
    assert on_machine("fresh").totals().calls == 40


def test_processes_of_one_machine_share_its_mirror(on_machine: Opener) -> None:
    first, second = on_machine("here"), on_machine("here")
    first.exchange([intent("a", "c")], [answered("x", "paid")])

    assert second.finished(["paid"])["paid"].text == "yes"
    assert second.exchange([intent("b", "c2")], []) == ["go"]
    assert first.exchange([intent("d", "c2"), intent("e", "c3")], []) == ["busy", "go"]


# ---------------------------------------------------------------- a network with faults


def test_entry_whose_answer_got_lost_is_written_once(
    on_machine: Opener, s3_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stored, the connection broke, and the number is taken: by ourselves."""
    here = on_machine("here")
    create, faults = Folder.create_bytes, iter([True, False])

    def breaks_after_storing(folder: Folder, name: str, content: bytes) -> bool:
        created = create(folder, name, content)
        if next(faults, False):
            raise OSError("connection reset")
        return created

    monkeypatch.setattr(Folder, "create_bytes", breaks_after_storing)

    assert here.exchange([intent("a", "c")], []) == ["go"]
    assert Folder(s3_url).names("log/000000") == ["000000000001.jsonl"]
    assert on_machine("there").totals().calls == 1
    assert here.exchange([intent("b", "d")], []) == ["go"]


def test_storage_that_does_not_answer_is_an_error_and_no_call_goes(
    on_machine: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = on_machine("here")

    def down(*_: object) -> bool:
        raise OSError("no route to host")

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "create_bytes", down)
        with pytest.raises(LongformError, match=r"could not write log/000000/000000000001\.jsonl in 3 tries: no route"):
            here.exchange([intent("a", "c")], [answered("x", "paid")])

    assert here.totals().calls == 0
    assert here.exchange([intent("a", "c")], [answered("x", "paid")]) == ["go"]


def test_writer_killed_before_its_mirror_knew_reads_its_entry_again(
    on_machine: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = LedgerLog.append

    def dies_after_writing(*arguments: object) -> None:
        append(*arguments)  # type: ignore[arg-type]  # handed on as they came
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(LedgerLog, "append", dies_after_writing)
        with pytest.raises(KeyboardInterrupt):
            on_machine("here").exchange([intent("a", "c")], [answered("x", "paid")])

    again = on_machine("here")
    assert again.finished(["paid"])["paid"].text == "yes"
    assert again.totals().open == 1


# ---------------------------------------------------------------- mirrors


def test_lost_mirror_is_made_again_from_the_log(
    on_machine: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actors.ledger.s3_log, "_FOLDER_ENTRIES", 3)  # so that eight entries cross two borders
    here = on_machine("here")
    for n in range(8):
        here.exchange([intent(f"a{n}", f"c{n}")], [answered(f"a{n - 1}", f"c{n - 1}")] if n else [])
    before = here.totals(), here.finished([f"c{n}" for n in range(8)])
    here.close()
    shutil.rmtree(tmp_path / "here")

    again = on_machine("here")
    assert (again.totals(), again.finished([f"c{n}" for n in range(8)])) == before
    assert before[0].answered == 7


def test_new_machine_starts_from_the_pack_and_reads_only_what_came_after(
    on_machine: Opener, monkeypatch: pytest.MonkeyPatch, s3_url: str
) -> None:
    monkeypatch.setattr(actors.ledger.s3_log, "_PACK_AFTER", 3)
    here = on_machine("here")
    for n in range(4):
        here.exchange([], [answered(f"a{n}", f"c{n}")])
    here.close()
    here = on_machine("here")
    here.exchange([], [answered("later", "later")])
    read: list[int] = []
    read_entry = LedgerLog._read
    monkeypatch.setattr(LedgerLog, "_read", lambda log, number: read.append(number) or read_entry(log, number))

    assert on_machine("there").totals() == here.totals()
    assert read == [5]
    assert Folder(s3_url).names("packs") == ["000000000004.sqlite.gz"]


def test_mirror_of_a_ledger_that_was_deleted_is_not_used_for_the_new_one(on_machine: Opener, s3_url: str) -> None:
    on_machine("here").exchange([], [answered("a", "c")])
    folder = Folder(s3_url.rsplit("/", 1)[0])
    folder.delete_table(s3_url.rsplit("/", 1)[1])

    again = on_machine("here")
    assert again.finished(["c"]) == {}
    assert again.exchange([intent("b", "c")], []) == ["go"]


def test_entries_that_somebody_deleted_are_missed(on_machine: Opener, s3_url: str) -> None:
    """To go on would give their numbers to others."""
    on_machine("here").exchange([], [answered("a", "c")])
    Folder(s3_url).delete_table("log")

    with pytest.raises(LongformError, match=r"expected log/000000/000000000001\.jsonl"):
        on_machine("here")


def test_entry_that_is_none_is_an_error_that_names_it(on_machine: Opener, s3_url: str) -> None:
    Folder(s3_url).write_bytes("log/000000/000000000001.jsonl", b"{}\n")

    with pytest.raises(LongformError, match=r"000000000001\.jsonl: expected a ledger entry"):
        on_machine("here")


def test_entries_are_lines_of_json_that_say_who_and_when(on_machine: Opener, s3_url: str) -> None:
    on_machine("here").exchange([intent("a", "c")], [answered("x", "paid")])

    lines = Folder(s3_url).read_bytes("log/000000/000000000001.jsonl").splitlines()
    head, *rows = [json.loads(line) for line in lines]
    assert (head["job"], head["session"]) == ("here", ["here", 1, 0.0])
    assert [next(iter(row)) for row in rows] == ["receipt", "intent"]
    assert "messages" not in rows[1]["intent"]


def test_entry_of_the_documentation_is_one() -> None:
    text = (ROOT / "docs" / "formats.md").read_text()
    entry = from_lines(text.split("```json title=entry\n")[1].split("```")[0].encode())

    assert [receipt.reply.text for receipt in entry.receipts] == ["yes"]
    assert (entry.abandoned, [intent.call_id for intent in entry.intents]) == (["a0"], ["c2"])
