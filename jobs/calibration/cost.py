"""The cost of the verdicts that a card rests on."""

from __future__ import annotations

from jobs.calibration.asking import requests
from jobs.calibration.labelled import Calibration, Verdicts
from jobs.calling import Calling
from jobs.spending.plan import opened_ledger
from longform.chat.call import call_id
from longform.judges.card_columns import CostColumns
from longform.settings.chat import ChatSettings

_RELEASED_USD = {
    "released:gemini-1.5-pro": 15.1,
    "released:gpt-4o-9fs": 26.1,
    "released:gpt-4o": 6.9,
    "released:claude3-opus": 23.8,
    "released:claude3-haiku": 0.4,
    "released:gpt3.5": 1.3,
}
"""For the study's 200 summaries (SummHay, table 1)."""


def cost_words(cost: CostColumns) -> str:
    """Say the dollars, and where the number is from."""
    usd = cost["usd"]
    return f"{'unknown' if usd is None else f'${usd:,.4f}'} ({cost['why']})"


def cost_of(calibration: Calibration, given: dict[str, Verdicts], calling: Calling) -> CostColumns:
    """Return the cost of a judge's verdicts: its own, or its members'."""
    parts = {name: _member_cost(calibration, name, verdicts, calling) for name, verdicts in given.items()}
    if len(parts) == 1:
        return next(iter(parts.values()))
    known = [part["usd"] for part in parts.values() if part["usd"] is not None]
    whys = "; ".join(f"{name}: {part['why']}" for name, part in parts.items())
    return {"usd": sum(known) if len(known) == len(parts) else None, "why": f"its members' ({whys})"}


def _member_cost(calibration: Calibration, name: str, verdicts: Verdicts, calling: Calling) -> CostColumns:
    if chat := calibration.chats.get(name):
        return _spent(calibration, name, chat, verdicts, calling)
    if name in calibration.made:
        return {"usd": 0.0, "why": "no model service is called"}
    if name in _RELEASED_USD:
        return {"usd": _RELEASED_USD[name], "why": "200 summaries, SummHay, table 1"}
    return {"usd": None, "why": "the release does not say what its predictions cost"}


def _spent(
    calibration: Calibration, name: str, chat: ChatSettings, verdicts: Verdicts, calling: Calling
) -> CostColumns:
    """Return the cost of the calls behind the verdicts, whichever command made them."""
    pieces = calibration.labelled.pieces(calibration.made[name])
    asked = {call_id(chat, request) for request in requests(calibration, name, chat, pieces)}
    asked |= {row["call_id"] for rows in verdicts.values() for row in rows if row["call_id"]}
    with opened_ledger(calling) as ledger:
        if ledger is None:
            return {"usd": None, "why": f"there is no ledger at {calling.ledger}"}
        totals = ledger.totals_of_calls(sorted(asked))
    why = f"{totals.calls} calls in the ledger {calling.ledger}"
    if totals.n_unknown_usd:
        return {"usd": None, "why": f"{why}, {totals.n_unknown_usd} of them of unknown price; state it with --prices"}
    return {"usd": totals.known_usd, "why": why}
