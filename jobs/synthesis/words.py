"""Describe a made benchmark in the words that `synthesize` and `synthesize-models` print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobs.write_benchmark import Manifest
from longform.synthesis.account import Account, CheckCounts, GivenUp
from longform.synthesis.recipe import SynthesisWords
from longform.tables.files import aligned_text

_MOST_GIVEN_UP = 20  # lines that one still reads; the file has all


Audit = Mapping[str, Any]
"""The content of `audit.json`."""


def written_words(url: str, manifest: Manifest, audit: Audit) -> str:
    """
    Describe the grammar's documents, the chat model's part in them, and the trust that the gold map deserves.

    Args:
        url: Of the benchmark.
        manifest: The content of `benchmark.json`.
        audit: The content of `audit.json`.
    """
    tables = ", ".join(f"{count:,} {table}" for table, count in manifest["rows"].items() if count)
    prose = [one["prose"] for one in audit["haystacks"] if one["prose"]]
    lines = [f"{url}: haystacks: {manifest['n_haystacks']:,}; rows: {tables}"]
    return "\n".join([*lines, *(_prose(prose) if prose else ()), *_trust(audit, "audit.json")])


def _prose(haystacks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    total = {name: f"{count:,}" for name, count in _totals(haystacks).items()}
    models = " and ".join(sorted({one["model"] for one in haystacks}))
    whose = "{by_model} are the model's, {in_part} in part, {by_template} the grammar's own".format(**total)
    yield "prose by {}: {kept} of {passages} passages; of {documents} documents {}".format(models, whose, **total)
    rejected = sum((Counter(one["rejected"]) for one in haystacks), Counter[str]())
    if rejected:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in rejected.most_common())
        yield f"rejected replies: {rejected.total():,} ({reasons})"


def _totals(haystacks: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    names = ("passages", "kept", "documents", "by_model", "in_part", "by_template")
    return {name: sum(one[name] for one in haystacks) for name in names}


def made_words(url: str, account: Account, told: SynthesisWords, audit: Audit | None) -> str:
    """
    Describe the outcome: haystacks, checks, given-up items, and the trust that the gold map deserves.

    Args:
        url: Of the benchmark.
        account: The content of `synthesis.json`.
        told: The same in words, by its kind.
        audit: The content of `audit.json`; None: the kind has none.
    """
    return "\n\n".join(
        [
            f"{url}: {_first(account, told)}",
            "\n".join([aligned_text(told.table, left=range(1)), *told.notes]),
            *_checks(account["checks"]),
            *_given_up(account["exhausted"]),
            *(["\n".join(_trust(audit, "synthesis.json, audit.json"))] if audit else []),
        ]
    )


def _first(account: Account, told: SynthesisWords) -> str:
    given_up = len(account["exhausted"])
    words = f"given up: {given_up:,}" if given_up else "nothing was given up"
    short = "; it is short of what was asked for (exit code 3)" if told.is_short else ""
    return f"{told.first}; {words}{short}"


def _checks(checks: Sequence[CheckCounts]) -> Iterator[str]:
    heads = ("check", "attempts", "accepted", "rejected", "given up")
    counts = [
        (row["check"], row["attempts"], row["accepted"], row["rejected"], row["exhausted"])
        for row in checks
        if row["attempts"]
    ]
    rows = [(check, *(f"{count:,}" for count in of)) for check, *of in counts]
    if rows:
        yield aligned_text([heads, *rows], left=range(1))


def _given_up(exhausted: Sequence[GivenUp]) -> Iterator[str]:
    if not exhausted:
        return
    heads = ("given up", "check", "haystack", "attempts", "last reason")
    rows = [
        (row["subject"], row["check"], row["haystack_id"], str(row["attempt"]), str(row["reason"]))
        for row in exhausted[:_MOST_GIVEN_UP]
    ]
    more = len(exhausted) - len(rows)
    told = f"\n{more:,} more: synthesis.json, `exhausted`" if more else ""
    yield f"{aligned_text([heads, *rows], left=range(5))}{told}"


def _trust(audit: Audit, files: str) -> Iterator[str]:
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
