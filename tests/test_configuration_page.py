"""docs/configuration.md is what the code says, and says it in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from longform.settings.experiment import Experiment
from longform.settings.meanings import meanings
from tests.configuration_page import PAGE, keys, page


def reached(kind: Any, found: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """Yield every class of settings that a configuration file may hold."""
    if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in found:
        found.add(kind)
        yield kind
        for field in kind.model_fields.values():
            yield from reached(field.annotation, found)
    for part in get_args(kind):
        yield from reached(part, found)


ALL = list(reached(Experiment, set()))


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "make it again: python -m tests.configuration_page"


def test_every_key_of_every_class_has_a_row() -> None:
    assert {(model.__name__, name) for model in ALL for name in model.model_fields} <= keys()


def test_every_key_has_a_meaning() -> None:
    silent = [(model.__name__, name) for model in ALL for name in model.model_fields if name not in meanings(model)]
    assert [one for one in silent if one[1] != "kind"] == []


def test_types_are_words() -> None:
    assert "Settings" not in page()
    bounds = "whole number, at least 100, at most 1000000"
    assert f"| `resamples` | {bounds} | `2000` | of the bootstrap behind intervals |" in page()
