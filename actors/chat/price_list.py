"""
Prices of models: from a file that a user can edit, and for all others from the table inside the `litellm` package.

    date: 2026-05-01
    models:
      gpt-4o: {input: 2.5, cached_input: 1.25, output: 10, batch_discount: 0.5}
      my-model: {input: 0.1, output: 0.4, reasoning: 0.8, above: {tokens: 200000, input: 0.2, output: 0.8}}

All are dollars a million tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from pydantic import Field, JsonValue, ValidationError

from actors.storage.folder import file_place
from longform.chat.prices import FREE, Price
from longform.errors import UsageError
from longform.settings.chat import ChatSettings
from longform.settings.strict import Strict
from longform.settings.yaml_text import yaml_value

_OWN_MACHINE = ("llama_cpp", "scripted")  # providers that nobody is paid for
_OWN_SYSTEMS = ("http", "python")
_TABLE = "model_prices_and_context_window_backup.json"
_MILLION = 1_000_000


class _Rates(Strict):
    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached_input: float | None = Field(None, ge=0, allow_inf_nan=False)
    reasoning: float | None = Field(None, ge=0, allow_inf_nan=False)


class _Above(_Rates):
    tokens: int = Field(gt=0)


class _Model(_Rates):
    batch_discount: float | None = Field(None, ge=0, lt=1)
    above: _Above | None = None

    def price(self) -> Price:
        price = Price(**self.model_dump(include=set(_Rates.model_fields)))
        if self.above is not None:
            above = Price(**self.above.model_dump(include=set(_Rates.model_fields)))
            price = replace(price, above_tokens=self.above.tokens, above=above)
        return price if self.batch_discount is None else replace(price, batch=price.less(self.batch_discount))


class _File(Strict):
    date: date
    models: dict[str, _Model]


class PriceList:
    """A user's *own* prices by model name, over those of `litellm`; *origin* says where they stand, and their date."""

    def __init__(self, own: Mapping[str, Price], origin: str) -> None:
        self._own, self._origin = own, origin

    @classmethod
    def read(cls, url: str | None) -> PriceList:
        """
        Read the list in a YAML file, local or on `s3://`; None: nothing but the table of `litellm`.

        Raises:
            UsageError: The file is not there, or not a price list.
        """
        if url is None:
            return cls({}, "")
        file = _read_file(url)
        return cls({name: model.price() for name, model in file.models.items()}, f"{url} of {file.date}")

    def price(self, settings: ChatSettings) -> Price | None:
        """
        Return the price of the configured model, through the batch API if it is asked through that; None if unknown.

        A name is looked up as it is, then without its `provider/`; another version of a model is another model.
        """
        found, _ = self._find(settings)
        return found.batch if found is not None and settings.batch and not found.is_free else found

    def source(self, settings: ChatSettings) -> str | None:
        """Return the source of that price, with its date or version; None if there is none."""
        return self._find(settings)[1]

    def _find(self, settings: ChatSettings) -> tuple[Price | None, str | None]:
        if settings.provider in _OWN_MACHINE:
            return FREE, "a model of one's own machine"
        if settings.usd_per_call is not None:
            return Price(input=0.0, output=0.0, per_call=settings.usd_per_call), "the configuration"
        for name in (settings.model, settings.model.split("/", 1)[-1]):
            if name in self._own:
                return self._own[name], self._origin
        if settings.provider in _OWN_SYSTEMS:  # that has a provider's name is no model of that provider
            return None, None
        found = _litellm_price(settings.model)
        return found, None if found is None else f"litellm {version('litellm')}"


def _read_file(url: str) -> _File:
    folder, name = file_place(url)
    try:
        content = yaml_value(folder.read_bytes(name), url)
    except OSError as error:
        raise UsageError(f"{url}: expected a price list in YAML: {error}") from error
    try:
        return _File.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UsageError(f"{url}: field {field!r}: {first['msg']}, found {type(first['input']).__name__}") from error


# ---------------------------------------------------------------- the table of litellm


Entry = Mapping[str, JsonValue]


@cache
def _litellm_table() -> Mapping[str, Entry]:
    package = find_spec("litellm")  # read as a file: importing it takes seconds, and may ask the network
    assert package is not None
    assert package.origin is not None
    table: Mapping[str, Entry] = json.loads((Path(package.origin).parent / _TABLE).read_bytes())
    return table


def _litellm_price(model: str) -> Price | None:
    table = _litellm_table()
    if model in table:
        return _price_of(table[model])
    provider, _, name = model.partition("/")
    entry = table.get(name, {})
    # Another provider's model of the same name has another price.
    return _price_of(entry) if provider and str(entry.get("litellm_provider", "")).startswith(provider) else None


def _price_of(entry: Entry) -> Price | None:
    """Return the price in an entry; None if it has none, or none that is simple."""
    price = None if "tiered_pricing" in entry else _by_length(entry, "")
    return price and replace(price, batch=_by_length(entry, "_batches"))


def _by_length(entry: Entry, service: str) -> Price | None:
    price = _rates(entry, service)
    longer = [match for key in entry if (match := re.fullmatch(r"input_cost_per_token(_above_(\d+)k_tokens)", key))]
    if price is None or not longer:
        return price
    above = _rates(entry, longer[0][1] + service)
    return above and replace(price, above_tokens=int(longer[0][2]) * 1000, above=above)


def _rates(entry: Entry, suffix: str) -> Price | None:
    """Read the keys of that ending; None if input or output has none, or a 0: that stands for unknown too."""
    names = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    given, written, cached, reasoned = (
        _a_million(entry.get(name + suffix)) for name in (*names, "output_cost_per_reasoning_token")
    )
    if not given or not written:
        return None
    return Price(input=given, output=written, cached_input=cached, reasoning=reasoned)


def _a_million(rate: JsonValue) -> float | None:
    return None if not isinstance(rate, int | float) else round(rate * _MILLION, 9)
