"""
The command line: `longform VERB ...` is `python -m jobs.VERB ...`.

Exit codes: 0 done, 1 failed, 2 wrong usage, configuration or input, 3 done with failures above the threshold,
4 budget reached, 5 worse than a threshold or a baseline, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module

from jobs.command import DONE, USAGE
from jobs.command.interrupts import end_at_once_while_loading
from longform.errors import meant

GROUPS = {
    "benchmarks": {
        "ingest": "released files, BEIR or plain JSONL -> a benchmark folder",
        "synthesize": "make a benchmark by a grammar, or as synthesize-models does",
    },
    "run": {
        "evaluate": "run systems on a benchmark, judge them, report",
        "judge": "answers that any system wrote, by judges that need no service",
        "replay": "score the summaries and labels that a release ships; no call",
        "status": "how a run stands: stages, rate, time left, spend, failures",
    },
    "read": {
        "report": "write a run's pages again; several runs side by side",
        "compare": "two runs on their common queries: what differs, settings, costs",
        "gate": "a run against thresholds and a baseline; exit code 5 if worse",
        "export": "a run -> files that other tools load",
    },
    "trust": {
        "calibrate": "a judge against human labels -> judge card",
        "annotate": "sheets for people to label, out and back in, with their agreement",
        "correct": "a run's scores, corrected by summaries that people labelled",
    },
    "look up": {
        "list": "what a configuration can name: kinds, judges, measures, ...",
        "ledger": "what was called and what it cost",
        "probe": "what a model accepts, found out by asking it",
    },
}
RARE = {
    "aggregate": "score a run again from its stored verdicts",
    "plan-sample": "how many queries show a difference, from the differences that a run has",
    "config": "a configuration in full: every key, its default and its meaning",
    "completion": "a script for bash, zsh or fish: verbs, options and values at the TAB",
    "train": "re-make the offline models that ship, and measure what they reach",
    "synthesize-models": "make a benchmark whose documents chat models write and check",
}
VERBS = {verb: told for verbs in (*GROUPS.values(), RARE) for verb, told in verbs.items()}


def main(argv: Sequence[str] | None = None) -> int:
    """Hand the rest of the command line to the verb's module, which loads nothing large before it has read it."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in VERBS:
        if argv is None:  # typed, not called
            end_at_once_while_loading(f"longform {words[0]}")
        return int(import_module(f"jobs.{words[0].replace('-', '_')}").main(words[1:]))
    if words == ["--version"]:
        print(import_module("longform").__version__)  # found in the installed package, which takes a while
    elif not words or words[0] in {"-h", "--help"}:
        print("\n".join(_help()))
    else:
        found = f"found {words[0]!r}{meant(words[0], VERBS)}"
        print(f"longform: expected a verb, {found}; longform --help has all verbs", file=sys.stderr)
        return USAGE
    return DONE


def _help() -> Iterator[str]:
    yield "usage: longform VERB ...; longform VERB --help has the options of a verb\n"
    for group, verbs in GROUPS.items():
        yield group
        yield from (f"  {verb:<10}  {told}" for verb, told in verbs.items())
    yield f"\nrarely: {', '.join(RARE)}"


if __name__ == "__main__":
    raise SystemExit(main())
