"""The options of verbs that ask models: the ledger, prices and the budget."""

from __future__ import annotations

import argparse

LEDGER_VARIABLE = "LONGFORM_LEDGER"


def add_calling_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", metavar="URL", help=f"default: {LEDGER_VARIABLE}, else `ledger` beside the output")
    parser.add_argument("--prices", metavar="FILE", help="prices of models; default: litellm's list")
    parser.add_argument("--max-cost", type=_positive, metavar="USD", help="stop, with exit code 4, before it is passed")
    parser.add_argument("--max-calls", type=int, metavar="N", help="the same for calls")


def _positive(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected dollars, at least 0, found {text!r}")
    return value
