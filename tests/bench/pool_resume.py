"""A ledger of a million answered calls, opened and resumed from in a process of its own, against an empty one."""

from __future__ import annotations

import multiprocessing
import re
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from actors.ledger.entry import LedgerEntry, this_session
from actors.ledger.keeper import LedgerKeeper
from actors.ledger.ledger import RECORDS
from actors.ledger.sqlite import CallRecords
from longform.chat.call import ChatReply, Usage
from longform.chat.ledger_rows import Intent, Receipt
from longform.keys import content_key
from tests.bench.measure import Figure

_ROWS = 1_000_000
_AT_ONCE = 20_000
_LOOKED_UP = 20_000
_LOOKUP = 1000
_JOB = "before"
_MOST_SECONDS, _MOST_MB = 5.0, 300.0


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as place:
        empty, full = f"{place}/empty", f"{place}/full"
        _fill(Path(full), _ROWS)
        (empty_s, empty_mb), (full_s, full_mb) = _in_a_process(empty), _in_a_process(full)
    note = f"{full_s:.2f} to {empty_s:.2f} s; the job's totals, then {_LOOKED_UP:,} of its calls looked up"
    return [
        Figure(
            f"Ledger of {_ROWS:,} calls, to resume", full_s - empty_s, None, "s more", None, _MOST_SECONDS, note, True
        ),
        Figure(
            "  peak memory",
            full_mb - empty_mb,
            None,
            "MB more",
            None,
            _MOST_MB,
            f"{full_mb:.0f} to {empty_mb:.0f} MB",
            at_most=True,
        ),
    ]


def _fill(folder: Path, rows: int) -> None:
    records = CallRecords(folder / RECORDS, durable=False)
    for start in range(0, rows, _AT_ONCE):
        with records.transaction():
            for entry in _entries(start):
                records.apply(entry)
    records.close()


def _entries(start: int) -> Iterator[LedgerEntry]:
    keys = [(f"{number:032x}", _key(number)) for number in range(start, start + _AT_ONCE)]
    reply = ChatReply(
        text="A reply of some words.", failure=None, usage=Usage(600, 0, 40, 0), cost_usd=0.001, seconds=0.3
    )
    nothing = LedgerEntry(content_key(start), this_session(), _JOB, 1_700_000_000_000, (), ())
    intents = tuple(Intent(attempt, call, "judge", "openai", "fake", 0, 0.002, 60.0) for attempt, call in keys)
    yield nothing._replace(intents=intents)
    yield nothing._replace(receipts=tuple(Receipt(attempt, call, reply) for attempt, call in keys))


def _key(number: int) -> str:
    return content_key("call", number)


def _in_a_process(url: str) -> tuple[float, float]:
    """Seconds and peak MB of opening and resuming."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_resume, url).result()


def _resume(url: str) -> tuple[float, float]:
    started = time.monotonic()
    keeper = LedgerKeeper(url, _JOB)
    wanted = [_key(number * (_ROWS // _LOOKED_UP)) for number in range(_LOOKED_UP)]
    for start in range(0, _LOOKED_UP, _LOOKUP):
        keeper.finished(wanted[start : start + _LOOKUP], "bench")
    seconds = time.monotonic() - started
    peak_kb = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())  # getrusage tells the parent's too
    assert peak_kb is not None
    return seconds, int(peak_kb[1]) / 1024
