"""`python -m longform VERB ...`: the command line, in any folder."""

from __future__ import annotations

from longform.halls import hold_halls

hold_halls()

from jobs.command_line import main  # noqa: E402  # after the folder of the command cannot stand in its place

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
