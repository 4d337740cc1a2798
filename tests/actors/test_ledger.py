"""What is acknowledged is there, what is answered is never asked again, and nobody asks what another is asking."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import takewhile
from pathlib import Path

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.ledger import RECORDS, Ledger
from actors.ledger_entry import Entry, Session, from_lines, this_host, this_session, to_lines
from longform.calls import Intent, Receipt
from longform.chat import ChatReply, Signals, TokenLogprobs, Usage, failed
from longform.errors import LongformError, UsageError
from longform.tables import CALLS

pytest_plugins = ["tests.s3_server"]

USAGE = Usage(input_tokens=10, cached_tokens=30, output_tokens=5, reasoning_tokens=2)


def intent(attempt: str, call: str = "c", *, deadline_s: float = 60.0, usd: float | None = 0.5) -> Intent:
    return Intent(attempt, call, "judge", "openai", "m", 0, usd, deadline_s)


def answered(attempt: str, call: str = "c", text: str = "yes", usd: float | None = 0.25) -> Receipt:
    reply = ChatReply(
        text=text, failure=None, finish_reason="stop", model="m-1", usage=USAGE, cost_usd=usd, seconds=2.0
    )
    return Receipt(attempt, call, reply)


def refused(attempt: str, call: str = "c", reason: str = "timeout") -> Receipt:
    return Receipt(attempt, call, failed(reason))


@pytest.fixture(params=["local", "s3"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """One in a folder, and one on S3: they keep the same promises."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = str(tmp_path / "ledger") if request.param == "local" else request.getfixturevalue("s3_url")
    opened = Ledger(url, job="job-1")
    yield opened
    opened.close()


# ---------------------------------------------------------------- verdicts


def test_call_goes_once_and_is_finished_when_answered(ledger: Ledger) -> None:
    assert ledger.exchange([intent("a")], []) == ["go"]
    assert ledger.exchange([intent("b")], []) == ["busy"]
    assert ledger.exchange([intent("b")], [answered("a")]) == ["finished"]


def test_two_attempts_of_one_exchange_do_not_both_go(ledger: Ledger) -> None:
    assert ledger.exchange([intent("a"), intent("b"), intent("x", "other")], []) == ["go", "busy", "go"]


def test_failed_attempt_lets_the_next_one_go_and_is_no_answer(ledger: Ledger) -> None:
    ledger.exchange([intent("a")], [])

    assert ledger.exchange([intent("b")], [refused("a", reason="length")]) == ["go"]
    assert ledger.finished(["c"]) == {}


def test_what_is_said_twice_changes_nothing(ledger: Ledger) -> None:
    """A keeper that starts again is asked again what it may have recorded."""
    ledger.exchange([intent("a")], [])
    said = ([intent("b"), intent("d", "d")], [refused("a")])
    first = ledger.exchange(*said)
    before = ledger.totals()

    assert ledger.exchange(*said) == first == ["go", "go"]
    assert ledger.totals() == before


def test_first_receipt_of_an_attempt_and_first_answer_of_a_call_stay(ledger: Ledger) -> None:
    """A judge's answer must not change under the rows that were made from it."""
    ledger.exchange([intent("a")], [])
    ledger.abandon(["a"])
    ledger.exchange([intent("b")], [])
    ledger.exchange([], [answered("b", text="first"), answered("b", text="again", usd=9.0), answered("a", text="late")])

    assert ledger.finished(["c"])["c"].text == "first"
    assert ledger.totals().known_usd == 0.5
    assert ledger.totals().answered == 2


def test_abandoned_attempt_is_not_waited_for_and_stays_unsettled(ledger: Ledger) -> None:
    ledger.exchange([intent("a")], [])
    ledger.abandon(["a"])

    assert ledger.exchange([intent("b")], [answered("b")]) == ["finished"]
    assert (ledger.totals().open, ledger.totals().unsettled_usd) == (1, 0.5)


def test_error_in_an_exchange_leaves_nothing_of_it(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="NaN"):
        ledger.exchange([intent("a"), intent("b", "d", deadline_s=float("nan"))], [answered("x")])

    assert ledger.totals().calls == 0
    assert ledger.finished(["c"]) == {}


def test_receipt_without_its_intent_is_kept(ledger: Ledger) -> None:
    """It was paid, whatever became of the folder meanwhile."""
    ledger.exchange([], [answered("a")])

    assert ledger.finished(["c"])["c"].text == "yes"
    assert ledger.totals().known_usd == 0.25


# ---------------------------------------------------------------- sessions

_ASK_AND_WAIT = """
import sys
from actors.ledger import Ledger
from longform.calls import Intent, Receipt
from longform.chat import ChatReply
ledger = Ledger(sys.argv[1], job="killed")
ledger.exchange([Intent("a", "c", "s", "p", "m", 0, 0.5, 0.0), Intent("b", "paid", "s", "p", "m", 0, 0.5, 0.0)], [])
ledger.exchange([], [Receipt("b", "paid", ChatReply(text="kept", failure=None))])
print("acknowledged", flush=True)
sys.stdin.read()
"""


def test_killed_process_keeps_what_was_acknowledged_and_no_call_busy(tmp_path: Path) -> None:
    """Its deadline does not matter: on one machine it is known whether a process lives. A zombie does not."""
    command = [sys.executable, "-c", _ASK_AND_WAIT, str(tmp_path)]
    ledger = Ledger(str(tmp_path), job="next")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"acknowledged\n"
        assert ledger.exchange([intent("b")], []) == ["busy"]

        child.send_signal(signal.SIGKILL)
        process = psutil.Process(child.pid)
        while process.status() != psutil.STATUS_ZOMBIE:
            pass
        assert ledger.exchange([intent("b2")], []) == ["go"]

    assert ledger.finished(["paid"])["paid"].text == "kept"
    assert ledger.totals(job="killed").open == 1


def test_process_number_used_again_is_another_session(tmp_path: Path) -> None:
    host, pid, started = this_session()
    Ledger(str(tmp_path), job="old", session=Session(host, pid, started - 100)).exchange([intent("a")], [])

    assert Ledger(str(tmp_path), job="new").exchange([intent("b")], []) == ["go"]


@pytest.mark.parametrize(("deadline_s", "verdict"), [(60.0, "busy"), (-1.0, "go")])
def test_session_of_another_machine_lives_until_the_deadline(tmp_path: Path, deadline_s: float, verdict: str) -> None:
    elsewhere = Session("elsewhere", 1, 0.0)
    Ledger(str(tmp_path), job="there", session=elsewhere).exchange([intent("a", deadline_s=deadline_s)], [])

    assert Ledger(str(tmp_path), job="here").exchange([intent("b")], []) == [verdict]


def test_intent_said_again_by_a_new_session_is_that_sessions(tmp_path: Path) -> None:
    """A keeper died, its successor takes the worker's call over: another job must still wait for it."""
    dead = Session(this_host(), 2**22 + 1, 0.0)
    Ledger(str(tmp_path), job="j", session=dead).exchange([intent("a")], [])
    successor = Ledger(str(tmp_path), job="j")

    assert successor.exchange([intent("a")], []) == ["go"]
    assert Ledger(str(tmp_path), job="other").exchange([intent("b")], []) == ["busy"]


_ASK_ALL = """
import sys
from actors.ledger import Ledger
from longform.calls import Intent
name, url = sys.argv[1:]
ledger = Ledger(url, job=name)
calls = [f"c{n}" for n in range(200)]
for at in range(0, 200, 8):
    asked = [Intent(name + c, c, "s", "p", "m", 0, None, 60.0) for c in calls[at : at + 8]]
    for intent, verdict in zip(asked, ledger.exchange(asked, [])):
        if verdict == "go":
            print(intent.call_id)
print("asked", flush=True)
sys.stdin.read()
"""


def test_of_two_processes_one_makes_each_call(tmp_path: Path) -> None:
    """Both open a new ledger at the same moment, and neither ends before the other has asked."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _ASK_ALL, name, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    one, two = (_lines_until_asked(child) for child in children)
    for child in children:
        child.communicate()

    assert one | two == {f"c{n}" for n in range(200)}
    assert not one & two


def _lines_until_asked(child: subprocess.Popen[str]) -> set[str]:
    assert child.stdout is not None
    lines = takewhile(lambda line: line != "asked\n", child.stdout)
    return {line.strip() for line in lines}


def test_threads_may_share_a_ledger(ledger: Ledger) -> None:
    went: list[str] = []

    def ask(name: str) -> None:
        asked = [intent(f"{name}{n}", f"c{n}") for n in range(20)]
        verdicts = [ledger.exchange([one], [])[0] for one in asked]
        went.extend(one.call_id for one, verdict in zip(asked, verdicts, strict=True) if verdict == "go")

    threads = [threading.Thread(target=ask, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(went) == sorted(f"c{n}" for n in range(20))


# ---------------------------------------------------------------- replies

_counts = st.none() | st.integers(0, 2**40)
_texts = st.text(st.characters(codec=None, exclude_categories=()))  # lone surrogates too
_logprobs = st.floats(allow_nan=False)
_tokens = st.builds(TokenLogprobs, _texts, _logprobs, st.lists(st.tuples(_texts, _logprobs), max_size=2).map(tuple))
_replies = st.builds(
    ChatReply,
    text=_texts,
    failure=st.none(),
    finish_reason=st.none() | st.just("stop"),
    model=st.none() | st.text(),
    usage=st.builds(Usage, _counts, _counts, _counts, _counts),
    cost_usd=st.none() | st.floats(0, 10),
    seconds=st.none() | st.floats(0, 10),
    logprobs=st.none() | st.lists(_tokens, max_size=3).map(tuple),
)


@settings(max_examples=40)  # each makes a file
@given(reply=_replies)
def test_reply_comes_back_as_it_came_for_nothing(reply: ChatReply, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever a provider sends: half characters, zero bytes, infinite log probabilities."""
    ledger = Ledger(str(tmp_path_factory.mktemp("ledger")), job="j")
    ledger.exchange([intent("a")], [])
    ledger.exchange([], [Receipt("a", "c", reply)])
    found = ledger.finished(["c", "unknown"])
    ledger.close()

    paid = ChatReply(
        text=reply.text,
        failure=None,
        finish_reason=reply.finish_reason,
        model=reply.model,
        usage=reply.usage,
        cost_usd=0.0,
        logprobs=reply.logprobs,
    )
    assert found == {"c": paid}


@given(reply=_replies | st.builds(failed, st.text()), deadline_s=st.floats(0, 1e6), usd=st.none() | st.floats(0, 1))
def test_entry_comes_back_from_its_lines(reply: ChatReply, deadline_s: float, usd: float | None) -> None:
    entry = Entry(
        "e",
        Session("h", 1, 2.5),
        "j",
        7,
        [Receipt("a", "c", reply)],
        ["x"],
        [intent("b", deadline_s=deadline_s, usd=usd)],
    )

    assert from_lines(to_lines(entry)) == entry


def test_what_a_reply_says_of_limits_is_not_kept(ledger: Ledger) -> None:
    """It spoke of another minute."""
    reply = ChatReply(text="yes", failure=None, signals=Signals(retry_after_s=3.0))
    ledger.exchange([], [Receipt("a", "c", reply)])

    assert ledger.finished(["c"])["c"].signals == Signals()


def test_count_that_no_table_holds_is_unknown(ledger: Ledger) -> None:
    """The rest of its batch must not be lost to one provider's odd number."""
    ledger.exchange([], [Receipt("a", "c", ChatReply(text="yes", failure=None, usage=Usage(10**30, 1, 2**63, 3)))])

    assert ledger.finished(["c"])["c"].usage == Usage(None, 1, None, 3)


def test_more_keys_than_a_query_takes_are_found(ledger: Ledger) -> None:
    ledger.exchange([], [answered(f"a{n}", f"c{n}", text=str(n)) for n in range(1203)])

    found = ledger.finished([f"c{n}" for n in range(0, 2000, 2)])
    assert {call: reply.text for call, reply in found.items()} == {f"c{n}": str(n) for n in range(0, 1203, 2)}


# ---------------------------------------------------------------- sums and the table


@pytest.fixture
def mixed(ledger: Ledger) -> Ledger:
    """Two answered (one of unknown price), one failed, one refused, two open (one of unknown price)."""
    attempts = [intent(name, name, usd=0.5) for name in "abcde"] + [intent("f", "f", usd=None)]
    ledger.exchange(attempts, [])
    receipts = [answered("a", "a"), answered("b", "b", usd=None), refused("c", "c"), refused("d", "d", "http_429")]
    ledger.exchange([], receipts)
    return ledger


def test_totals_are_sums_over_attempts_and_count_what_is_not_known(mixed: Ledger) -> None:
    found = mixed.totals()

    assert (found.calls, found.answered, found.failed, found.refused, found.open) == (6, 2, 2, 1, 2)
    assert (found.input_tokens, found.cached_tokens) == (10 + 10, 30 + 30)
    assert (found.output_tokens, found.reasoning_tokens) == (5 + 5, 2 + 2)
    assert found.cached_share == 60 / (20 + 60)
    assert (found.known_usd, found.n_unknown_usd) == (0.25, 2)  # b and the failed c; d was refused
    assert (found.unsettled_usd, found.n_unsettled_unknown_usd) == (0.5, 1)
    assert found.answered_models == ("m-1",)


def test_what_no_attempt_states_is_unknown_and_not_zero(ledger: Ledger) -> None:
    assert ledger.totals().calls == 0
    assert ledger.totals().input_tokens is None

    stated = ChatReply(text="yes", failure=None, usage=Usage(input_tokens=10, output_tokens=1))
    ledger.exchange([], [Receipt("a", "c", stated)])
    assert ledger.totals().cached_share is None

    ledger.exchange([], [answered("b", "d")])
    assert ledger.totals().cached_share == 30 / (10 + 30)  # the first says nothing of its cache


def test_totals_by_something_add_up(mixed: Ledger) -> None:
    mixed.exchange([intent("z", "z")._replace(stage="summarize", model="n")], [])

    by_stage = mixed.totals_by("stage")
    assert {stage: totals.calls for stage, totals in by_stage.items()} == {"judge": 6, "summarize": 1}
    assert mixed.totals(stage="summarize") == by_stage["summarize"]
    assert {model: totals.open for model, totals in mixed.totals_by("model").items()} == {"m": 2, "n": 1}
    assert mixed.totals_by("job", job="another") == {}
    assert sum(totals.calls for totals in mixed.totals_by("day").values()) == 7


def test_table_has_a_row_for_each_attempt_and_nulls_where_nothing_came(mixed: Ledger) -> None:
    tables = list(mixed.batches(rows=4))
    rows = {row["attempt_id"]: row for table in tables for row in table.to_pylist()}

    assert [table.num_rows for table in tables] == [4, 2]
    assert all(table.schema == CALLS for table in tables)
    assert rows["a"]["state"] == "answered"
    assert rows["a"]["answered_at"] >= rows["a"]["asked_at"]
    assert rows["c"]["failure"] == "timeout"
    assert (rows["e"]["state"], rows["e"]["answered_at"], rows["e"]["reserved_usd"]) == ("open", None, 0.5)


def test_table_can_be_read_while_others_write(mixed: Ledger) -> None:
    batches = mixed.batches(rows=2)
    next(batches)

    assert mixed.exchange([intent("new", "new")], []) == ["go"]
    assert sum(table.num_rows for table in batches) == 4


# ---------------------------------------------------------------- files


def test_file_that_is_no_ledger_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / RECORDS).write_bytes(b"not a database at all" * 100)

    with pytest.raises(LongformError, match=r"calls\.sqlite: expected a ledger"):
        Ledger(str(tmp_path), job="j")


def test_ledger_of_another_version_is_refused(tmp_path: Path) -> None:
    Ledger(str(tmp_path), job="j").close()
    with closing(sqlite3.connect(tmp_path / RECORDS)) as connection:
        connection.execute("PRAGMA user_version = 99")

    with pytest.raises(LongformError, match="found 99"):
        Ledger(str(tmp_path), job="j")


def test_reading_a_ledger_that_is_not_there_makes_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no ledger at"):
        Ledger.existing(str(tmp_path / "typo"))

    assert not (tmp_path / "typo").exists()


def test_ledger_leaves_no_unfinished_files(tmp_path: Path) -> None:
    Ledger(str(tmp_path), job="j").close()

    assert [path.name for path in tmp_path.iterdir()] == [RECORDS]


# ---------------------------------------------------------------- size

_FILL = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO {into} FROM n
"""
_OPEN_AND_MEASURE = """
import sys, psutil
from actors.ledger import Ledger
used = lambda: psutil.Process().memory_full_info().uss
from longform.calls import Intent
import sqlite3
before = used()
ledger = Ledger(sys.argv[1], job="resumed")
found = ledger.finished([f"call{n}" for n in range(1, 20_000, 2)])
verdicts = ledger.exchange([Intent(f"new{n}", f"call{n}", "s", "p", "m", 0, 0.1, 60.0) for n in range(32)], [])
totals = ledger.totals(job="resumed")
print(len(found), verdicts.count("finished"), totals.calls, (used() - before) / 1e6)
"""


@pytest.fixture
def fill(tmp_path: Path) -> Callable[[int], Path]:
    """Makes a ledger of so many answered calls, by SQLite's own means."""

    def make(rows: int) -> Path:
        folder = tmp_path / f"of-{rows}"
        Ledger(str(folder), job="j").close()
        attempts = (
            "attempts (attempt_id, call_id, job, stage, provider, model, repeat, asked_at, answered_at, state, "
            "input_tokens, output_tokens, cost_usd, reserved_usd, seconds) SELECT hex(randomblob(16)), "
            "'call' || i, 'old', 'judge', 'openai', 'm', 0, i, i, 'answered', 100, 10, 0.01, 0.02, 1.0"
        )
        answers = "answers (call_id, attempt_id, text) SELECT call_id, attempt_id, zeroblob(200) FROM attempts"
        with closing(sqlite3.connect(folder / RECORDS)) as connection, connection:
            connection.execute(_FILL.format(into=attempts, rows=rows))
            connection.execute(f"INSERT INTO {answers}")
        return folder

    return make


@pytest.mark.slow
def test_a_million_rows_open_and_resume_in_little_memory(fill: Callable[[int], Path]) -> None:
    command = [sys.executable, "-c", _OPEN_AND_MEASURE, str(fill(1_000_000))]
    found, finished, calls, megabytes = subprocess.run(command, capture_output=True, check=True).stdout.split()

    assert (int(found), int(finished), int(calls)) == (10_000, 31, 1)
    assert float(megabytes) < 50
