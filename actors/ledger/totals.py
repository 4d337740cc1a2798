"""Sums over a ledger's attempts: calls, costs, unknown amounts, and the sample behind a plan of further calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from actors.ledger.sqlite import CallRecords
from longform.chat.failures import REFUSED
from longform.settings.chat import ChatSettings
from longform.spending import History, sample_of

By = Literal["model", "stage", "job", "day"]

_GROUPS = {"model": "model", "stage": "stage", "job": "job", "day": "date(asked_at / 1000, 'unixepoch')"}

_SUMS = """
count(*), count(DISTINCT call_id),
ifnull(sum(state = 'answered'), 0), ifnull(sum(state = 'failed'), 0), ifnull(sum(failure = :refused), 0),
ifnull(sum(state = 'open'), 0),
sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(reasoning_tokens),
sum(input_tokens) FILTER (WHERE cached_tokens IS NOT NULL),
ifnull(sum(cost_usd), 0.0),
ifnull(sum(state <> 'open' AND cost_usd IS NULL AND failure IS NOT :refused), 0),
ifnull(sum(reserved_usd) FILTER (WHERE state <> 'open' AND cost_usd IS NULL AND failure IS NOT :refused), 0.0),
ifnull(sum(reserved_usd) FILTER (WHERE state = 'open'), 0.0),
ifnull(sum(state = 'open' AND reserved_usd IS NULL), 0),
json_group_array(DISTINCT answered_model)
"""


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Sums over attempts. Tokens of a class are None if no attempt states it."""

    calls: int  # all attempts; the sum of answered, failed and open ones
    different: int  # calls that were attempted; a call that is tried again is the same one
    answered: int  # with a text
    failed: int  # with a reason; refused ones among them
    refused: int  # the provider did not let them in (429), so that they cost nothing
    open: int  # without a receipt: under way, or unsettled for good because their process died
    input_tokens: int | None  # neither cached nor output, and so on: the four classes do not overlap
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cached_share: float | None  # cached tokens in all tokens of input, over attempts that state both; None if none does
    known_usd: float  # dollars of the attempts whose cost is known
    n_unknown_usd: int  # settled attempts whose cost is not known
    unknown_at_most_usd: float  # the most that these can have cost, if known
    unsettled_usd: float  # the most that open attempts can have cost, if known
    n_unsettled_unknown_usd: int  # open attempts for which that is not known
    answered_models: tuple[str, ...]  # as providers answered, sorted


def totals(
    records: CallRecords, *, by: By | None, jobs: Sequence[str] | None, stage: str | None
) -> dict[str | None, Totals]:
    """
    Return sums for each value of *by*, in its order; for None alone if *by* is None.

    A day is one of UTC. Only the calls of *jobs* and of *stage* are counted; None: all.
    """
    group = "NULL" if by is None else _GROUPS[by]
    asked = {"jobs": None if jobs is None else json.dumps(list(jobs)), "stage": stage}
    only = {name: value for name, value in asked.items() if value is not None}
    where = " AND ".join(_ONLY[name] for name in only)
    query = (
        f"SELECT {group} AS part, NULL, {_SUMS} FROM attempts "  # noqa: S608 - all are constants of this file
        f"{f'WHERE {where} ' if only else ''}{'' if by is None else 'GROUP BY part ORDER BY part'}"
    )
    rows = records.rows(query, {"refused": REFUSED, **only}, _Sums)
    return {sums.part: _totals(sums) for sums in rows}


_ONLY = {"jobs": "job IN (SELECT value FROM json_each(:jobs))", "stage": "stage = :stage"}


def stage_totals(records: CallRecords, jobs: Sequence[str]) -> dict[tuple[str | None, str | None], Totals]:
    """Return sums over the attempts of *jobs* for each stage and model as configured; None: not known."""
    query = (
        f"SELECT stage, model, {_SUMS} FROM attempts "  # noqa: S608 - a constant of this file
        "WHERE job IN (SELECT value FROM json_each(:jobs)) GROUP BY stage, model ORDER BY min(rowid)"
    )
    rows = records.rows(query, {"refused": REFUSED, "jobs": json.dumps(list(jobs))}, _Sums)
    return {(sums.part, sums.model): _totals(sums) for sums in rows}


def call_totals(records: CallRecords, call_ids: Sequence[str]) -> Totals:
    """Return sums over the attempts of the calls named."""
    query = (
        f"SELECT NULL, NULL, {_SUMS} FROM attempts "  # noqa: S608 - a constant of this file
        "WHERE call_id IN (SELECT value FROM json_each(:ids))"
    )
    (sums,) = records.rows(query, {"refused": REFUSED, "ids": json.dumps(list(call_ids))}, _Sums)
    return _totals(sums)


def call_failures(records: CallRecords, jobs: Sequence[str]) -> dict[str, int]:
    """Return how many attempts of *jobs* failed for each reason, the most frequent first; refusals are among them."""
    query = (
        "SELECT ifnull(failure, 'no reason recorded') AS reason, count(*) AS n FROM attempts "
        "WHERE job IN (SELECT value FROM json_each(:jobs)) AND state = 'failed' GROUP BY reason ORDER BY n DESC, reason"
    )
    return {one.reason: one.n for one in records.rows(query, {"jobs": json.dumps(list(jobs))}, _Failed)}


class _Failed(NamedTuple):
    reason: str
    n: int


class _Sums(NamedTuple):
    """The key of the sums, then `_SUMS`."""

    part: str | None
    model: str | None
    calls: int
    different: int
    answered: int
    failed: int
    refused: int
    open: int
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    beside_cached: int | None  # tokens of input of the attempts that state cached ones
    known_usd: float
    n_unknown_usd: int
    unknown_at_most_usd: float
    unsettled_usd: float
    n_unsettled_unknown_usd: int
    answered_models: str  # JSON


def _totals(sums: _Sums) -> Totals:
    cached = sums.cached_tokens
    all_input = (sums.beside_cached or 0) + (cached or 0)
    return Totals(
        calls=sums.calls,
        different=sums.different,
        answered=sums.answered,
        failed=sums.failed,
        refused=sums.refused,
        open=sums.open,
        input_tokens=sums.input_tokens,
        cached_tokens=cached,
        output_tokens=sums.output_tokens,
        reasoning_tokens=sums.reasoning_tokens,
        cached_share=cached / all_input if cached is not None and all_input else None,
        known_usd=sums.known_usd,
        n_unknown_usd=sums.n_unknown_usd,
        unknown_at_most_usd=sums.unknown_at_most_usd,
        unsettled_usd=sums.unsettled_usd,
        n_unsettled_unknown_usd=sums.n_unsettled_unknown_usd,
        answered_models=tuple(sorted(model for model in json.loads(sums.answered_models) if model is not None)),
    )


# ---------------------------------------------------------------- the sample behind a plan


_WRITTEN = "(output_tokens + ifnull(reasoning_tokens, 0))"
_RATIO = "((input_tokens + ifnull(cached_tokens, 0)) / counted_tokens)"
_OF_RATIO = "FILTER (WHERE counted_tokens > 0)"

_QUERY = f"""
SELECT count({_WRITTEN}), sum({_WRITTEN}), sum({_WRITTEN} * {_WRITTEN}),
       count(seconds), sum(seconds), sum(seconds * seconds),
       count({_RATIO}) {_OF_RATIO}, sum({_RATIO}) {_OF_RATIO}, sum({_RATIO} * {_RATIO}) {_OF_RATIO},
       sum(cached_tokens), sum(input_tokens + cached_tokens),
       sum(reasoning_tokens), sum(output_tokens + reasoning_tokens)
FROM attempts
WHERE state = 'answered' AND provider = :provider AND model = :model AND (stage = :kind OR stage LIKE :kind || ' %')
"""  # noqa: S608 - constants of this file


class _HistorySums(NamedTuple):
    """The columns of `_QUERY`; `_2`: of squares."""

    n_written: int
    written: int | None
    written_2: int | None
    n_timed: int
    seconds: float | None
    seconds_2: float | None
    n_ratio: int
    ratio: float | None
    ratio_2: float | None
    cached: int | None
    all_input: int | None
    reasoned: int | None
    all_output: int | None


def history(records: CallRecords, chat: ChatSettings, kind: str) -> History:
    """
    Return totals of answered calls of the configured model in stages of one *kind*, the first word of their names.

    A part is None if fewer than two calls state it.
    """
    values = {"provider": chat.provider, "model": chat.model, "kind": kind}
    (sums,) = records.rows(_QUERY, values, _HistorySums)
    return History(
        input_ratio=sample_of(sums.n_ratio, sums.ratio or 0.0, sums.ratio_2 or 0.0),
        output_tokens=sample_of(sums.n_written, sums.written or 0.0, sums.written_2 or 0.0),
        seconds=sample_of(sums.n_timed, sums.seconds or 0.0, sums.seconds_2 or 0.0),
        cached_share=(sums.cached or 0) / sums.all_input if sums.all_input else None,
        reasoning_share=(sums.reasoned or 0) / sums.all_output if sums.all_output else None,
    )
