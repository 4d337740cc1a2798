"""
Ask a model a few small questions, and say which parameters it accepts beside what is known of it.

    longform probe MODEL [--provider openai|litellm|llama_cpp] [--base-url URL] [--api-key-env NAME]

Each probe is a real request. A parameter is refused if the provider answers 400 to it and not without it; any other
failure leaves it unknown, with the reason.
"""

from __future__ import annotations

import argparse

from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("probe", __doc__)
    made.add_argument("model", metavar="MODEL")
    made.add_argument("--provider", choices=["openai", "litellm", "llama_cpp"], default="openai")
    made.add_argument("--base-url", metavar="URL")
    made.add_argument("--api-key-env", metavar="NAME", help="the variable that holds the key")
    return made
