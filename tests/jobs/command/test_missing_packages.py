"""A package that an extra brings is named with it."""

from __future__ import annotations

import tomllib

import pytest

from jobs.command.run import EXTRAS, missing_words
from tests.places import ROOT


@pytest.mark.parametrize(
    ("module", "extra"), [("ray", "ray"), ("ray.data", "ray"), ("docx", "files"), ("torch.nn", "models")]
)
def test_the_extra_is_named(module: str, extra: str) -> None:
    words = missing_words(ModuleNotFoundError("none", name=module))

    assert words is not None
    assert f"'longform[{extra}]'" in words


@pytest.mark.parametrize("module", ["jobs.nothing", "numpy", None])
def test_another_module_is_a_fault(module: str | None) -> None:
    assert missing_words(ModuleNotFoundError("none", name=module)) is None


def test_every_extra_is_one_of_the_project() -> None:
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    assert EXTRAS.keys() <= offered.keys()
    assert {"offline", "all", "docs", "test"} <= offered.keys()
