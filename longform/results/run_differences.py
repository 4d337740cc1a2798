"""Differences of two runs besides their scores: settings, key by key, and costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypedDict

from longform.results.run_status import SpendStatus


class SettingRow(TypedDict):
    """A key that differs; text is JSON-like, null: the run does not have the key."""

    key: str
    first: str | None
    second: str | None


class CostRow(TypedDict):
    """A quantity that the commands of two runs spent; null: not known."""

    quantity: str
    first: float | None
    second: float | None
    difference: float | None  # second less first


_MISSING = object()
_COSTS = (
    ("dollars", "known_usd"),
    ("calls", "calls"),
    ("input tokens", "input_tokens"),
    ("cached tokens", "cached_tokens"),
    ("output tokens", "output_tokens"),
    ("reasoning tokens", "reasoning_tokens"),
    ("refused calls (429)", "refused"),
)


def setting_rows(first: Mapping[str, object], second: Mapping[str, object]) -> list[SettingRow]:
    """Return a row for each leaf of two nested configurations that differs."""
    return list(_rows(first, second, ""))


def _rows(first: object, second: object, place: str) -> Iterator[SettingRow]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in dict.fromkeys([*first, *second]):
            inner = f"{place}.{key}" if place else str(key)
            yield from _rows(first.get(key, _MISSING), second.get(key, _MISSING), inner)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from _rows(one, other, f"{place}.{number}")
    elif first != second:
        yield {"key": place, "first": _text(first), "second": _text(second)}


def _text(value: object) -> str | None:
    if value is _MISSING:
        return None
    return "not set" if value is None else str(value)


def cost_rows(first: SpendStatus | None, second: SpendStatus | None) -> list[CostRow]:
    """Return what each run spent; dollars are null if the price of a call is not known. None: not known at all."""
    return [_cost(name, _quantity(first, key), _quantity(second, key)) for name, key in _COSTS]


def _quantity(spend: SpendStatus | None, key: str) -> float | None:
    if spend is None or (key == "known_usd" and (spend["n_unknown_usd"] or spend["open"])):
        return None
    if not spend["calls"]:
        return 0.0
    value = spend.get(key)
    assert value is None or isinstance(value, int | float), key
    return None if value is None else float(value)


def _cost(name: str, first: float | None, second: float | None) -> CostRow:
    difference = None if first is None or second is None else second - first
    return {"quantity": name, "first": first, "second": second, "difference": difference}
