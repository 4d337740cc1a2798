"""
The load of each part of the control plane, the S3 requests and the dollars of a run, from its size.

`docs/operations.md` prints these formulas and `table`. Seconds are of `tests.bench.control_plane` on two cores, each
rounded up; those that nobody measured here say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LEASE_S, LEASE_A_WORKER_S = 0.13e-3, 0.46e-6  # through the governor's actor; by the workers it knows
ASKS_APART_S = 0.06  # of one worker: actors/chat/lease_queue.py
MESSAGE_S, CALL_S = 0.4e-3, 0.1e-3  # of the ledger's keeper, beside a million calls
DISK_S = 0.5e-3  # a durable write
S3_CLIENT_S = 2e-3
PUT_S = 25e-3  # until S3 has taken an object; not measured on AWS
CALLS_A_STEP = 0.1  # of those in flight at all workers, in one step of the keeper: measured with PUT_S, 100 workers
RECEIPT_S, RAY_RECEIPT_S = 0.23e-3, 1.2e-3  # of the driver: its loop, and Ray Data's share, in blocks of eight
TASK_BYTES = 850  # of the driver
DRIVER_BYTES, KEEPER_BYTES = 330e6, 230e6  # of their processes, before any task and call
WORKER_CALL_S = 3e-3  # of a worker
PROXY_S, PROXY_ITEM_S = 4.1e-3, 0.02e-3  # a request through Serve, and each of its items
INGRESS_S, INGRESS_ITEM_S = 5.8e-3, 0.04e-3
LOCAL_PUT_S = 6e-3  # of an S3 server on the same machine
LEDGER_BYTES = 520  # a call with a reply of fifty characters
RECEIPTS_A_COMMIT, MOST_COMMITS = 8, 4096  # jobs/stages/accounts.py
PART_WRITES, COMMIT_WRITES, PART_READS = 1, 2, 11  # requests, counted; a listing is billed as a write
WRITE_USD, READ_USD = 5e-6, 0.4e-6  # a request: list prices of us-east-1


class Run(NamedTuple):
    """
    The size of a run of one stage that makes calls.

    Attributes:
        calls: In all.
        hours: From the first to the last.
        workers: Processes.
        in_flight: Calls of each at once.
        calls_a_task: A summary's, for a judge by chat.
    """

    calls: int
    hours: float
    workers: int
    in_flight: int
    calls_a_task: int = 8

    @property
    def calls_a_second(self) -> float:
        return self.calls / self.hours / 3600

    @property
    def tasks(self) -> float:
        return self.calls / self.calls_a_task


def lease_s(run: Run) -> float:
    return LEASE_S + LEASE_A_WORKER_S * run.workers


def governor_load(run: Run) -> float:
    """Return the share of the governor's time; above 1 its leases carry more than one call."""
    return min(run.calls_a_second, run.workers / ASKS_APART_S) * lease_s(run)


def keeper_most(run: Run, write_s: float) -> float:
    """Return the calls a second at which the keeper stops, if a durable write takes *write_s*."""
    calls = max(1.0, CALLS_A_STEP * run.in_flight * run.workers)
    return calls / (MESSAGE_S + write_s + CALL_S * calls)


def on_s3(run: Run) -> float:
    return keeper_most(run, PUT_S + S3_CLIENT_S)


def on_disk(run: Run) -> float:
    return keeper_most(run, DISK_S)


def keeper_s(run: Run) -> float:
    """Return the seconds of the keeper's processor, without its durable writes."""
    return ledger_steps(run) * MESSAGE_S + run.calls * CALL_S


def ledger_steps(run: Run) -> float:
    """Return the durable steps of a ledger."""
    return ledger_writes(run)


def seconds(run: Run, reply_s: float, write_s: float, per_minute: float | None = None) -> float:
    """Return the time of a run from its first call to its last, if neither a part nor a processor is the bottleneck."""
    by_places = run.calls * reply_s / (run.workers * run.in_flight)
    return max(by_places, 0.0 if per_minute is None else run.calls / per_minute * 60)


def proxy_most(items: int) -> float:
    """Return the requests of so many items a second at which one proxy of Serve stops."""
    return 1 / (PROXY_S + PROXY_ITEM_S * items)


def ingress_most(items: int) -> float:
    """Return those at which one replica of a served application's ingress stops."""
    return 1 / (INGRESS_S + INGRESS_ITEM_S * items)


def driver_load(run: Run) -> float:
    return run.tasks / run.hours / 3600 * (RECEIPT_S + RAY_RECEIPT_S)


def ledger_writes(run: Run) -> float:
    """Return the objects of a ledger on S3, at most: two a call, and one after the other."""
    return min(2.0 * run.calls, run.hours * 3600 / (MESSAGE_S + PUT_S + S3_CLIENT_S))


def s3_writes(run: Run) -> float:
    commits = min(run.tasks / RECEIPTS_A_COMMIT, float(MOST_COMMITS))
    return run.tasks * PART_WRITES + commits * COMMIT_WRITES + ledger_writes(run)


def s3_usd(run: Run) -> float:
    """Return the dollars of the requests, with one stage that reads what was written."""
    return s3_writes(run) * WRITE_USD + run.tasks * PART_READS * READ_USD


RUNS = (
    Run(100_000, 1, 8, 16),
    Run(1_000_000, 1, 100, 16),
    Run(1_000_000, 1, 100, 64),
    Run(10_000_000, 10, 100, 64),
    Run(10_000_000, 1, 800, 16),
    Run(10_000_000, 1, 800, 64),
)
_HEADER = (
    "calls, hours",
    "workers x in flight",
    "calls/s",
    "governor",
    "keeper, disk",
    "keeper, S3",
    "driver",
    "ledger",
    "tasks in the driver",
    "S3 writes",
    "S3 dollars",
)


def table(runs: Sequence[Run] = RUNS) -> str:
    """Return the page's table: the share of its time that each part is busy, and what a run takes."""
    rows = [_HEADER, ("---",) * len(_HEADER), *map(_cells, runs)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cells(run: Run) -> tuple[str, ...]:
    rate = run.calls_a_second
    return (
        f"{run.calls:,} in {run.hours:g} h",
        f"{run.workers} x {run.in_flight}",
        f"{rate:,.0f}",
        f"{governor_load(run):.0%}",
        f"{rate / on_disk(run):.0%}",
        f"{rate / on_s3(run):.0%}",
        f"{driver_load(run):.0%}",
        f"{run.calls * LEDGER_BYTES / 1e9:.2f} GB",
        f"{run.tasks * TASK_BYTES / 1e9:.2f} GB",
        f"{s3_writes(run):,.0f}",
        f"{s3_usd(run):,.2f}",
    )
