"""Describe a made benchmark in the words that `synthesize` and `synthesize-models` print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jobs.files.write_benchmark import Manifest
from longform.synthesis.recipe import SynthesisWords
from longform.synthesis.tables import checks_table, given_up_table
from longform.tables.cells import row_cell
from longform.tables.files import aligned_text, with_detail
from longform.tables.table import Table

_MOST_GIVEN_UP = 20  # lines that one still reads; the file has all


Json = Mapping[str, Any]
"""The content of `audit.json` or `synthesis.json`."""


def written_words(url: str, manifest: Manifest, audit: Json) -> str:
    """Describe the grammar's documents, the chat model's part in them, and the trust that the gold map deserves."""
    tables = ", ".join(f"{count:,} {table}" for table, count in manifest["rows"].items() if count)
    prose = [one["prose"] for one in audit["haystacks"] if one["prose"]]
    lines = [f"{url}: haystacks: {manifest['n_haystacks']:,}; rows: {tables}"]
    return "\n".join([*lines, *(_prose(prose) if prose else ()), *_trust(audit, "audit.json")])


def _prose(haystacks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    names = ("passages", "kept", "documents", "by_model", "in_part", "by_template")
    total = {name: f"{sum(one[name] for one in haystacks):,}" for name in names}
    models = " and ".join(sorted({one["model"] for one in haystacks}))
    whose = "{by_model} are the model's, {in_part} in part, {by_template} the grammar's own".format(**total)
    yield "prose by {}: {kept} of {passages} passages; of {documents} documents {}".format(models, whose, **total)
    rejected = sum((Counter(one["rejected"]) for one in haystacks), Counter[str]())
    if rejected:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in rejected.most_common())
        yield f"rejected replies: {rejected.total():,} ({reasons})"


def made_words(url: str, account: Json, told: SynthesisWords, audit: Json | None) -> str:
    """Describe the outcome: haystacks, checks, given-up items, and if it was audited the trust that it deserves."""
    given_up = given_up_table(account)
    shown = given_up._replace(rows=given_up.rows[:_MOST_GIVEN_UP])
    more = len(given_up.rows) - len(shown.rows)
    parts = [
        f"{url}: {_first(account, told)}",
        "\n".join([*_lines(told.table, told.columns), *told.notes]),
        "\n".join(_lines(checks_table(account), ("check", "attempts", "accepted", "rejected", "exhausted"))),
        "\n".join(
            [
                *_lines(shown, ("subject", "check", "haystack", "attempt", "reason")),
                *([f"{more:,} more: synthesis.json, `exhausted`"] if more else []),
            ]
        ),
        "\n".join(_trust(audit, "synthesis.json, audit.json")) if audit else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _first(account: Json, told: SynthesisWords) -> str:
    given_up = len(account["exhausted"])
    words = f"given up: {given_up:,}" if given_up else "nothing was given up"
    short = "; it is short of what was asked for (exit code 3)" if told.is_short else ""
    return f"{told.first}; {words}{short}"


def _lines(table: Table, names: Iterable[str]) -> list[str]:
    """Return the rows of a table in some of its columns as lines of a terminal; nothing if there is no row."""
    if not table.rows:
        return []
    columns = [table.column(name) for name in names]
    heads = [f"{column.group} {column.head}".strip() for column in columns]
    rows = [[with_detail(row_cell(row, column), unknown="unknown") for column in columns] for row in table.rows]
    left = [place for place, column in enumerate(columns) if column.unit == "text"]
    return aligned_text([heads, *rows], left=left).splitlines()


def _trust(audit: Json, files: str) -> Iterator[str]:
    ceiling = audit["joint_ceiling"]
    noise = [_share(one["value"], one["low"], one["high"]) for one in (audit["false_positives"], audit["missed"])]
    yield "label noise of the gold map, by judge {}: wrongly listed {}, missed {}".format(audit["judge"], *noise)
    if ceiling["value"] is None:
        yield f"ceiling on the joint score: unknown: {ceiling['reason']}"
    else:
        yield "ceiling on the joint score: {value:.1f} [{low:.1f}, {high:.1f}] of 100".format(**ceiling)
    yield f"in brackets: 95 % intervals; more in {files} and the report of a run"


def _share(value: float | None, low: float | None, high: float | None) -> str:
    """Return a share in [0, 1] as per cent, with its interval."""
    if value is None:
        return "unknown"
    middle = f"{100 * value:.1f} %"
    return middle if low is None or high is None else f"{middle} [{100 * low:.1f}, {100 * high:.1f}]"
