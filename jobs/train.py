"""Hand `longform train` to `lab/`, which a checkout has and an installed wheel has not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from jobs.command.exit_codes import USAGE
from jobs.parsers.train import parser
from longform.halls import ROOT, hold_hall


def main(argv: Sequence[str] | None = None) -> int:
    """Run the laboratory's verb; without a laboratory, say where it is to be had and end with exit code 2."""
    if not (ROOT / "lab").is_dir():
        from actors.terminal import say  # help loads no hall but this one

        say(
            f"longform train: expected the folder lab/ beside longform/ in {ROOT}, found none: what fits the shipped "
            "models is in the source of the project and not in its wheel; work from a clone, after `make install`",
            file=sys.stderr,
        )
        return USAGE
    hold_hall("lab")
    words = list(sys.argv[1:] if argv is None else argv)
    named = import_module("lab.parsers").PARSERS
    made, rest = (named[words[0]], words[1:]) if words and words[0] in named else (parser, words)
    made().parse_args(rest)  # help and wrong words end here, before anything large is loaded
    return int(import_module("lab.train").main(words))


if __name__ == "__main__":
    raise SystemExit(main())
