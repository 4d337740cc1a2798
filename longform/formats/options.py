"""The options of formats that the command line takes, each for one format; they are keyword arguments of its reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class FormatOption(NamedTuple):
    """
    An option of a format.

    Attributes:
        format: Its name.
        name: Of the keyword argument, and of the option on the command line.
        told: Value -> its note in the benchmark's manifest, as (key, words); None: nothing is noted. The first value is
            the default.
        help: For people.
        key: Of the note of an option that takes any text, which is noted as it is; None: it takes a value of `told`.
    """

    format: str
    name: str
    told: Mapping[str | bool, tuple[str, str] | None]
    help: str
    key: str | None = None

    def note(self, value: str | bool) -> tuple[str, str] | None:
        """Return what the manifest notes of a value that is not the default."""
        return self.told[value] if self.key is None else (self.key, str(value))

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def default(self) -> str | bool:
        return next(iter(self.told))


OPTIONS = (
    FormatOption(
        "longformfact",
        "keep_empty",
        {False: None, True: ("documents", "empty ones kept")},
        "keep documents without text",
    ),
    FormatOption(
        "longformfact",
        "likert_top",
        {"": None},
        "the highest score of a Likert scale from 0 or 1 up to it: a label is faithful only at the top",
        key="likert scale, top",
    ),
    FormatOption(
        "msrs",
        "missing_gold",
        {"drop": None, "keep": ("gold", "documents that the corpus lacks count as missed"), "refuse": None},
        "gold documents that the corpus lacks: drop leaves them out (default), keep counts them as missed, refuse is "
        "an error",
    ),
)
