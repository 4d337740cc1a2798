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
    """

    format: str
    name: str
    told: Mapping[str | bool, tuple[str, str] | None]
    help: str

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
        "msrs",
        "missing_gold",
        {"drop": None, "keep": ("gold", "documents that the corpus lacks count as missed"), "refuse": None},
        "gold documents that the corpus lacks: drop leaves them out (default), keep counts them as missed, refuse is "
        "an error",
    ),
)
