"""
Print sums of a ledger's calls and costs.

    longform ledger [LEDGER | RUN] [--job JOB] [--by model|stage|job|day] [--parquet FILE]

Reads   the ledger, a folder or s3:// URL; of a run, the calls of its commands; default: LONGFORM_LEDGER
Writes  FILE, the whole table `calls`, if asked for
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.command.parser import LEDGER_VARIABLE, VerbParser
from jobs.command.run import Outcome, command
from longform.errors import UsageError

if TYPE_CHECKING:
    from actors.ledger.ledger import Ledger
    from actors.ledger.totals import By, Totals

_HEADS = "calls answered failed unsettled input cached output reasoning".split()
_JOBS_SHOWN = 5  # of those a ledger knows, in an error


def parser() -> VerbParser:
    made = VerbParser("ledger", __doc__)
    told = f"its folder or s3:// URL, or a run; default: {LEDGER_VARIABLE}"
    made.add_argument("ledger", nargs="?", metavar="LEDGER", help=told)
    made.used.add_argument("--job", help="the calls of this job only")
    made.used.add_argument("--by", choices=["model", "stage", "job", "day"], help="a line for each; days are of UTC")
    made.used.add_argument("--parquet", metavar="FILE", help="write the table of all calls to this file")
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from actors.ledger.ledger import Ledger
    from actors.storage.folder import Folder
    from jobs.runs.record import RECORD_FILE, stored_record

    named = _named(arguments.ledger)
    is_run = Folder(named).has(RECORD_FILE)
    jobs: list[dict[str, Any]] = stored_record(Folder(named)).get("jobs", []) if is_run else []
    ledger = _of_run(named, jobs) if is_run else Ledger.existing(named)
    ledger.check()
    outcome = ledger_report(ledger, by=arguments.by, job=arguments.job, of=_names(jobs) if is_run else None)
    if is_run:
        outcome = outcome._replace(words=f"calls of {named}, from the ledger {ledger.url}\n{outcome.words}")
    if arguments.parquet is None:
        return outcome
    written = {"file": arguments.parquet, "rows": write_calls(ledger, arguments.parquet)}
    words = f"{outcome.words}\n{written['file']}: {written['rows']} calls"
    return outcome._replace(document={**outcome.document, "parquet": written}, words=words)


def _of_run(url: str, jobs: Sequence[Mapping[str, Any]]) -> Ledger:
    """
    Open the ledger of a run: where its commands say that it is, or beside the run, if it holds their calls.

    Raises:
        UsageError: They called no model, or their calls are in neither place.
    """
    from jobs.command.calling import ledger_beside
    from jobs.spending.plan import open_ledger

    if not jobs:
        raise UsageError(f"{url}: expected a ledger or a run that called a model; no command of this run called one")
    places = [*dict.fromkeys([*(job["ledger"] for job in jobs), ledger_beside(url)])]
    for place in places:
        ledger = open_ledger(place)
        if ledger is not None and ledger.totals_of(_names(jobs)).calls:
            return ledger
    raise UsageError(f"{url}: expected the ledger of this run at {' or '.join(places)}, found none of its calls there")


def _names(jobs: Sequence[Mapping[str, Any]]) -> list[str]:
    return [job["job"] for job in jobs]


def _named(named: str | None) -> str:
    url = named or os.environ.get(LEDGER_VARIABLE)
    if not url:
        raise UsageError(f"which ledger? name its folder or s3:// URL, a run, or set {LEDGER_VARIABLE}")
    return url


def ledger_report(ledger: Ledger, *, by: By | None, job: str | None, of: Sequence[str] | None = None) -> Outcome:
    """Return the totals of a ledger, or those *of* some jobs, and of each group, as a document and as a table."""
    if job is not None and job not in (jobs := ledger.totals_by("job", jobs=of)):
        known = [str(name) for name in jobs][-_JOBS_SHOWN:]
        raise UsageError(f"{ledger.url}: expected --job to name a job of the ledger, got {job!r}; its last are {known}")
    asked = of if job is None else [job]
    groups = ledger.totals_by(by, jobs=asked) if by else {}
    all_of_it = ledger.totals_of(asked)
    document = {
        "ledger": ledger.url,
        "job": job,
        "totals": asdict(all_of_it),
        "by": by,
        "groups": [{"name": name, **asdict(totals)} for name, totals in groups.items()],
    }
    return Outcome(document, _table({**{name or "unknown": t for name, t in groups.items()}, "all": all_of_it}))


def write_calls(ledger: Ledger, target: str) -> int:
    """Write the table `calls` to one Parquet file, a batch at a time; the rows written."""
    import pyarrow.parquet as pq

    from actors.storage.folder import file_place
    from longform.schemas import CALLS

    folder, name = file_place(target)
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "calls.parquet"
        with pq.ParquetWriter(whole, CALLS, compression="zstd") as writer:
            n_rows = sum(_written(writer, batch) for batch in ledger.batches())
        folder.upload(whole, name)
    return n_rows


def _written(writer: Any, batch: Any) -> int:
    writer.write_table(batch)
    return int(batch.num_rows)


def _table(groups: Mapping[str, Totals]) -> str:
    from longform.tables.files import aligned_text

    rows = [["", *_HEADS, "cached share", "dollars", "answered by"]]
    rows += [[name, *_cells(totals)] for name, totals in groups.items()]
    return aligned_text(rows, left={0, len(rows[0]) - 1})


def _cells(totals: Totals) -> list[str]:
    classes = (totals.input_tokens, totals.cached_tokens, totals.output_tokens, totals.reasoning_tokens)
    unsettled = _dollars(totals.unsettled_usd, totals.n_unsettled_unknown_usd)
    return [
        str(totals.calls),
        str(totals.answered),
        str(totals.failed),
        f"{totals.open} (at most {unsettled})" if totals.open else "0",
        *("unknown" if count is None else f"{count:,}" for count in classes),
        "unknown" if totals.cached_share is None else f"{totals.cached_share:.1%}",
        _dollars(totals.known_usd, totals.n_unknown_usd),
        ", ".join(totals.answered_models),
    ]


def _dollars(known: float, n_unknown: int) -> str:
    return f"${known:,.4f}" + (f" + {n_unknown} of unknown price" if n_unknown else "")


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
