"""Totals of earlier calls, from a ledger: the sample behind a plan of further calls."""

from __future__ import annotations

from typing import NamedTuple

from actors.ledger.sqlite import CallRecords
from longform.settings.chat import ChatSettings
from longform.spending import History, sample_of

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
