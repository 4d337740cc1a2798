"""Meanings of settings are read where they stand."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, Field

from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.settings.meanings import first_sentence, meanings, summary_of
from longform.settings.systems import SystemGrid


class Base(BaseModel):
    inherited: int = 1  # from the base
    changed: int = 1  # as it was


class Own(Base):
    """An example. It has two sentences."""

    changed: int = 2  # as it is
    long: str = Field("a#b")
    """A text below
    on two lines."""
    nothing: int = 3


def test_a_meaning_is_the_comment_or_the_text_below() -> None:
    assert meanings(Own) == {
        "inherited": "from the base",
        "changed": "as it is",
        "long": "A text below on two lines.",
    }


def test_a_class_is_told_by_its_first_sentence() -> None:
    assert summary_of(Own) == "An example"
    assert summary_of(type("Bare", (Own,), {})) is None
    assert first_sentence("By Laban et al. 2024, section 5. More.") == "By Laban et al. 2024, section 5"


@pytest.mark.parametrize("model", [Experiment, SystemGrid, ChatSettings])
def test_every_key_of_the_main_sections_has_a_meaning(model: type[BaseModel]) -> None:
    assert [name for name in model.model_fields if name not in meanings(model)] == []
