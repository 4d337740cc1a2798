"""Hand `longform train` to `lab/`, which a checkout has and an installed wheel has not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from jobs.command.exit_codes import USAGE
from longform.halls import ROOT, hold_hall


def main(argv: Sequence[str] | None = None) -> int:
    """Run the laboratory's verb; without a laboratory, say where it is to be had and end with exit code 2."""
    if not (ROOT / "lab").is_dir():
        print(
            f"longform train: expected the folder lab/ beside longform/ in {ROOT}, found none: what fits the shipped "
            "models is in the source of the project and not in its wheel; work from a clone, after `make install`",
            file=sys.stderr,
        )
        return USAGE
    hold_hall("lab")
    return int(import_module("lab.train").main(argv))


if __name__ == "__main__":
    raise SystemExit(main())
