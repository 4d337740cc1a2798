"""
The command line: `longform VERB ...` is `python -m jobs.VERB ...`.

Exit codes: 0 done, 1 failed, 2 wrong usage, configuration or input, 3 done with failures above the threshold,
4 budget reached, 5 worse than a threshold or a baseline, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from jobs.command.exit_codes import DONE, USAGE
from jobs.command.interrupts import end_at_once_while_loading
from longform.nearest import meant

VERBS = {
    "ingest": "released files, BEIR or plain JSONL -> a benchmark folder",
    "synthesize": "make a benchmark; one of synthesize-models if the configuration is",
    "synthesize-models": "make a benchmark whose documents chat models write and check",
    "evaluate": "run systems on a benchmark, judge them, report",
    "judge": "answers that any system wrote, by judges that need no model service",
    "replay": "score the summaries and labels that a release ships, without any call",
    "aggregate": "score a run again from its stored verdicts",
    "annotate": "sheets for people to label, out and back in, with their agreement",
    "calibrate": "a judge against human labels -> judge card",
    "correct": "a run's scores, corrected by summaries that people labelled",
    "report": "write a run's pages again; several runs side by side",
    "compare": "two runs on the queries that both have: differences, settings, costs",
    "gate": "a run against thresholds and a baseline: exit code 5 if it is worse",
    "plan-sample": "how many queries show a difference, from the differences that a run has",
    "status": "how a run stands: stages, rate, time left, spend, failures",
    "export": "a run -> files that other tools load",
    "list": "what a configuration can name: kinds, judges, measures, studies, presets, formats",
    "config": "a configuration in full: every key, its default and its meaning",
    "completion": "a script for bash, zsh or fish: verbs, options and values at the TAB",
    "ledger": "what was called and what it cost",
    "probe": "what a model accepts, found out by asking it",
    "train": "re-make the offline models that ship, and measure what they reach",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Hand the rest of the command line to the verb's module, once its parser, which loads nothing, has read it."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in VERBS:
        if argv is None:  # typed, not called
            end_at_once_while_loading(f"longform {words[0]}")
        return _run(words[0].replace("-", "_"), words[1:])
    if words == ["--version"]:
        print(import_module("longform").__version__)  # found in the installed package, which takes a while
        return DONE
    usage = "\n".join(["longform VERB ... (longform VERB --help)", "", *_verb_lines()])
    verbs = f"longform: no verb {words[0]!r}{meant(words[0], VERBS)}" if words else ""
    wanted = not words or words[0] in {"-h", "--help"}
    print(usage if wanted else f"{verbs}\n\n{usage}", file=sys.stdout if wanted else sys.stderr)
    return DONE if wanted else USAGE


def _run(module: str, words: Sequence[str]) -> int:
    if module != "train":  # whose first word says which parser reads the others
        import_module(f"jobs.parsers.{module}").parser().parse_args(words)  # help and wrong words end here
    return int(import_module(f"jobs.{module}").main(words))


def _verb_lines() -> list[str]:
    return [f"  {verb:<17} {description}" for verb, description in VERBS.items()]


if __name__ == "__main__":
    raise SystemExit(main())
