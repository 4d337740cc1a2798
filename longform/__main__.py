"""`python -m longform VERB ...`: the command line, in any folder."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from longform.halls import hold_halls


def main(argv: Sequence[str] | None = None) -> int:
    """Hand over to the command line, once no folder of the command can stand in the place of a package of ours."""
    hold_halls()
    return int(import_module("jobs.command_line").main(argv))


if __name__ == "__main__":
    raise SystemExit(main())
