"""The section of model calls: what was called, what it cost, and what was planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.parts import Section
from longform.report.tables import Column, Table
from longform.results.calls import CallsRow
from longform.results.columns import Columns, number_in, text_in, within
from longform.results.results import Results
from longform.tables.cells import Cell, percent, words

UNSETTLED = "in flight when a process died; may have been paid without use"

_NOT_STATED = "the provider did not say"
_NO_PRICE = "the price or the usage is not known"
_NO_CACHED_PRICE = "the provider did not say, or the price of cached tokens is not known"
_NOT_PLANNED = "not planned"
_NOT_SETTLED = "some calls are unsettled, or of unknown cost"
_COUNTS = ("calls", "answered", "failed", "reused")
_TOKENS = ("input", "cached", "output", "reasoning")
_CALLED = "What each stage called, and what it cost."
_HOW_CALLED = (
    "Calls: attempts, those that failed or were refused among them; reused: replies that the ledger had, which cost "
    "nothing. Tokens in four classes that do not overlap: input that no cache held, input from the provider's cache, "
    "visible output, hidden output. Share cached: of all input, higher is cheaper. Dollars saved: what the "
    f"cached tokens would have cost more without the cache. Unsettled calls: {UNSETTLED}."
)
_PLANNED = "What was planned before the calls, and what came of it since; in brackets the planned interval."
_HOW_PLANNED = (
    "Tokens in: with what a cache held. Tokens out: with what was hidden. Minutes: of the commands' stages, the start "
    "of their workers among them."
)
_QUANTITIES = {
    "calls": ("calls", "{:,.0f}"),
    "input_tokens": ("tokens in", "{:,.0f}"),
    "output_tokens": ("tokens out", "{:,.0f}"),
    "usd": ("dollars", "${:,.4f}"),
    "minutes": ("minutes", "{:,.1f}"),
}


def calls_sections(results: Results) -> Iterator[Section]:
    """One section if models were called, else none."""
    rows = results.get("calls") or []
    missing = results.get("missing_ledgers") or []
    if not rows and not missing:
        return
    tables = [_called(rows)] if rows else []
    if any(row["planned"] for row in rows):
        tables.append(_planned([row for row in rows if row["planned"]]))
    lost = [f"The ledger {url} is not there: what was called from it is not known." for url in missing]
    yield Section("calls", "Calls and cost", [*([calls_told(results)] if rows else []), *lost], tables)


def calls_told(results: Results) -> str:
    """Return the sums of calls and dollars in words."""
    rows, so_far = results["calls"], results.get("so_far")
    n_unknown = sum(row["n_unknown_usd"] for row in rows)
    n_known = sum(row["calls"] - row["refused"] - row["open"] for row in rows) - n_unknown
    calls, dollars = (f"{sum(row['calls'] for row in rows):,} calls", f"${sum(row['known_usd'] for row in rows):,.4f}")
    if not n_unknown:
        told = [f"{calls} cost {dollars}."]
    elif n_known:
        told = [f"{calls} cost at least {dollars}: what {n_unknown:,} of them cost is not known."]
    else:
        told = [f"{calls}, and what they cost is not known: {_NO_PRICE}."]
    if n_open := sum(row["open"] for row in rows):
        unknown = sum(row["n_unsettled_unknown_usd"] for row in rows)
        more = f" and an unknown sum for {unknown:,} of them" if unknown else ""
        at_most = f"${sum(row['unsettled_usd'] for row in rows):,.4f}"
        if so_far and so_far["goes_on"]:
            told.append(f"{n_open:,} calls are under way, at most {at_most}{more}.")
        else:
            told.append(f"{n_open:,} calls are unsettled, at most {at_most}{more}: {UNSETTLED}.")
    return " ".join(told)


def _called(rows: Sequence[CallsRow]) -> Table:
    columns = [Column("stage", numeric=False), Column("model", numeric=False)]
    columns += [Column(name) for name in _COUNTS]
    columns += [Column(f"{name} tokens") for name in _TOKENS]
    columns += [Column(name) for name in ("share cached", "dollars saved", "dollars", "unsettled calls")]
    body = [
        [
            words(row["stage"]),
            _model(row),
            *(_shown(number_in(row, name), "{:,}") for name in _COUNTS),
            *(_shown(number_in(row, f"{name}_tokens"), "{:,}", reason=_NOT_STATED) for name in _TOKENS),
            percent(row["cached_share"], reason=_NOT_STATED),
            _shown(row["saved_usd"], "${:,.4f}", reason=_NO_CACHED_PRICE),
            _dollars(row),
            _unsettled(row),
        ]
        for row in rows
    ]
    return Table(_CALLED, columns, body, _HOW_CALLED)


def _model(row: CallsRow) -> Cell:
    """Name the model as configured, with other names under which it answered."""
    others = [name for name in row["answered_models"] if name != row["model"]]
    return words(row["model"])._replace(detail=f"answered as {', '.join(others)}" if others else None)


def _dollars(row: CallsRow) -> Cell:
    n_unknown = row["n_unknown_usd"]
    if n_unknown and n_unknown == row["answered"] + row["failed"] - row["refused"]:
        return Cell(None, reason=_NO_PRICE)
    cell = _shown(row["known_usd"], "${:,.4f}")
    return cell._replace(detail=f"+ {n_unknown:,} calls of unknown cost") if n_unknown else cell


def _unsettled(row: CallsRow) -> Cell:
    cell = _shown(row["open"], "{:,}")
    if not row["open"]:
        return cell
    n_unknown = row["n_unsettled_unknown_usd"]
    more = f" + {n_unknown:,} of unknown price" if n_unknown else ""
    return cell._replace(detail=f"at most ${row['unsettled_usd']:,.4f}{more}")


def _planned(rows: Sequence[CallsRow]) -> Table:
    columns = [Column("stage", numeric=False), Column("model", numeric=False)]
    columns += [Column(f"{name}, {side}") for name, _ in _QUANTITIES.values() for side in ("planned", "made")]
    body = [
        [
            words(row["stage"]),
            words(row["model"]),
            *(
                cell
                for name, (_, shape) in _QUANTITIES.items()
                for cell in (
                    _estimate(within(row, "planned"), name, shape),
                    _shown(
                        number_in(within(row, "since_plan"), name),
                        shape,
                        reason=_NOT_SETTLED if name == "usd" else _NOT_STATED,
                    ),
                )
            ),
        ]
        for row in rows
    ]
    return Table(_PLANNED, columns, body, _HOW_PLANNED)


def _made(row: CallsRow, name: str, shape: str) -> Cell:
    reason = _NOT_SETTLED if name == "usd" else _NOT_STATED
    return _shown(number_in(within(row, "since_plan"), name), shape, reason=reason)


def _estimate(planned: Columns, name: str, shape: str) -> Cell:
    if not (span := within(planned, name)):
        why = text_in(within(planned, "reasons"), name)
        return _shown(number_in(planned, name), shape, reason=why or _NOT_PLANNED)
    low, expected, high = (number_in(span, end) for end in ("low", "expected", "high"))
    interval = None if low == high else f"[{shape.format(low)}, {shape.format(high)}]"
    if expected is None:
        return Cell(interval or shape.format(low), order=high)
    return Cell(shape.format(expected), order=expected, detail=interval)


def _shown(value: float | None, shape: str, *, reason: str | None = None) -> Cell:
    return Cell(None, reason=reason) if value is None else Cell(shape.format(value), order=float(value))
