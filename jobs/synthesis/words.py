"""Describe a made benchmark in the words that `synthesize` and `synthesize-models` print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobs.spending.plan import aligned

_MOST_GIVEN_UP = 20  # lines that one still reads; the file has all

_TOO_FEW = "too few: insights that fewer documents state than `least_documents` asks for; synthesis.json has them"
_READ_DIFFERENTLY = "read differently: pairs of document and insight where the verifier, asked again, said the contrary"

Row = Mapping[str, Any]


def is_short(account: Row) -> bool:
    """Return whether documents are missing, or an insight is stated by fewer than configured."""
    haystacks = account["haystacks"]
    return any(one["documents_not_written"] or one["insights_below_least_documents"] for one in haystacks)


def written_words(url: str, manifest: Row, audit: Row) -> str:
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


def _prose(haystacks: Sequence[Row]) -> Iterator[str]:
    names = ("passages", "kept", "documents", "by_model", "in_part", "by_template")
    total = {name: f"{sum(one[name] for one in haystacks):,}" for name in names}
    models = " and ".join(sorted({one["model"] for one in haystacks}))
    whose = "{by_model} are the model's, {in_part} in part, {by_template} the grammar's own".format(**total)
    yield "prose by {}: {kept} of {passages} passages; of {documents} documents {}".format(models, whose, **total)
    rejected = sum((Counter(one["rejected"]) for one in haystacks), Counter[str]())
    if rejected:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in rejected.most_common())
        yield f"rejected replies: {rejected.total():,} ({reasons})"


def made_words(url: str, account: Row, audit: Row) -> str:
    """
    Describe the outcome: haystacks, checks, given-up items, and the trust that the gold map deserves.

    Args:
        url: Of the benchmark.
        account: The content of `synthesis.json`.
        audit: The content of `audit.json`.
    """
    return "\n\n".join(
        [
            f"{url}: {_first(account)}",
            _haystacks(account["haystacks"]),
            _checks(account["checks"]),
            *_given_up(account["exhausted"]),
            "\n".join(_trust(audit, "synthesis.json, audit.json")),
        ]
    )


def _first(account: Row) -> str:
    haystacks, given_up = account["haystacks"], len(account["exhausted"])
    documents, insights = (sum(one[name] for one in haystacks) for name in ("documents", "insights"))
    told = f"given up: {given_up:,}" if given_up else "nothing was given up"
    short = "; it is short of what was asked for (exit code 3)" if is_short(account) else ""
    return f"haystacks: {len(haystacks)}, documents: {documents:,}, insights: {insights:,}; {told}{short}"


def _haystacks(haystacks: Sequence[Row]) -> str:
    heads = ("haystack", "documents", "not written", "subtopics", "insights", "too few", "read differently")
    rows = [
        (
            one["haystack_id"],
            *(f"{one[name]:,}" for name in ("documents", "documents_not_written", "subtopics", "insights")),
            f"{len(one['insights_below_least_documents']):,}",
            _share(one["read_again"], "differing_share", "differing_low", "differing_high"),
        )
        for one in haystacks
    ]
    return "\n".join([aligned([heads, *rows], n_left=1), _TOO_FEW, _READ_DIFFERENTLY])


def _checks(checks: Sequence[Row]) -> str:
    heads = ("check", "attempts", "accepted", "rejected", "given up")
    names = ("attempts", "accepted", "rejected", "exhausted")
    rows = [(row["check"], *(f"{row[name]:,}" for name in names)) for row in checks if row["attempts"]]
    return aligned([heads, *rows], n_left=1)


def _given_up(exhausted: Sequence[Row]) -> Iterator[str]:
    if not exhausted:
        return
    heads = ("given up", "check", "haystack", "attempts", "last reason")
    rows = [
        (row["subject"], row["check"], row["haystack_id"], str(row["attempt"]), str(row["reason"]))
        for row in exhausted[:_MOST_GIVEN_UP]
    ]
    more = len(exhausted) - len(rows)
    told = f"\n{more:,} more: synthesis.json, `exhausted`" if more else ""
    yield f"{aligned([heads, *rows], n_left=5)}{told}"


def _trust(audit: Row, files: str) -> Iterator[str]:
    ceiling = audit["joint_ceiling"]
    noise = (_share(audit[name], "value", "low", "high") for name in ("false_positives", "missed"))
    yield "label noise of the gold map, by judge {}: wrongly listed {}, missed {}".format(audit["judge"], *noise)
    if ceiling["value"] is None:
        yield f"ceiling on the joint score: unknown: {ceiling['reason']}"
    else:
        yield "ceiling on the joint score: {value:.1f} [{low:.1f}, {high:.1f}] of 100".format(**ceiling)
    yield f"in brackets: 95 % intervals; more in {files} and the report of a run"


def _share(row: Row, value: str, low: str, high: str) -> str:
    """A share in [0, 1] as per cent, with its interval."""
    if row[value] is None:
        return "unknown"
    middle = f"{100 * row[value]:.1f} %"
    return middle if row[low] is None else f"{middle} [{100 * row[low]:.1f}, {100 * row[high]:.1f}]"
