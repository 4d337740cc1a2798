"""Totals of earlier calls, from a ledger: the sample behind a plan of further calls."""

from __future__ import annotations

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


def history(records: CallRecords, chat: ChatSettings, kind: str) -> History:
    """
    Return totals of answered calls of the configured model in stages of one *kind*, the first word of their names.

    A part is None if fewer than two calls state it.
    """
    values = {"provider": chat.provider, "model": chat.model, "kind": kind}
    (row,) = records.rows(_QUERY, values)
    n_written, written, squares, n_timed, seconds, seconds_2, n_ratio, ratio, ratio_2, *shares = row
    cached, all_input, reasoned, all_output = shares
    return History(
        input_ratio=sample_of(n_ratio, ratio or 0.0, ratio_2 or 0.0),
        output_tokens=sample_of(n_written, written or 0.0, squares or 0.0),
        seconds=sample_of(n_timed, seconds or 0.0, seconds_2 or 0.0),
        cached_share=cached / all_input if all_input else None,
        reasoning_share=reasoned / all_output if all_output else None,
    )
