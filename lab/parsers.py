"""The parsers of `longform train checker` and `longform train support-judge`, which load nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from jobs.command.parser import VerbParser

PAIRS = 24_000
"""Pairs that the checker is trained on, unless told."""

_CHECKER = """
Train the checker that ships: whether a passage supports a sentence, learned from pairs made by rule.

    longform train checker BENCH... --out DIR
    longform train checker BENCH... --people LABELS... --out DIR

Pairs come from the documents of all BENCH. One document in ten is kept from training; pairs of these measure what was
learned, beside the cosine of the packaged MiniLM. `--people` measures it on people's labels too, and makes the judge's
card; the documents of LABELS are never trained on. A stopped training goes on from its state in DIR.

Reads   documents of benchmarks; of LABELS the labels and summaries
Writes  checker.safetensors (a low-rank change of the packaged MiniLM), checker.json (its hash and recipe),
        reach_checker.json (what it reaches), support-checker.json (its card), checkpoint/ (as Transformers loads it)
"""

_SUPPORT_JUDGE = """
Fit the offline judge of support on claims that people labelled, and measure it with a domain left out.

    longform train support-judge FOLDER --out DIR

Reads   FOLDER/documents.jsonl.gz {document, text}, FOLDER/claims.jsonl.gz {set, domain, document, claim, label}
Writes  support_judge.json (the model, how it was made, what it reaches)
"""


def checker() -> VerbParser:
    made = VerbParser("train checker", _CHECKER)
    made.add_argument("benchmarks", nargs="+", metavar="BENCH", help="documents to make pairs from")
    made.used.add_argument("--people", nargs="+", default=[], metavar="LABELS", help="benchmarks with people's labels")
    made.used.add_argument("--pairs", type=int, default=PAIRS, metavar="N", help=f"default: {PAIRS:,}")
    made.used.add_argument("--threads", type=int, default=2, metavar="N")
    made.used.add_argument("--out", required=True, type=Path, metavar="DIR", help="a local folder")
    return made


def support_judge() -> VerbParser:
    made = VerbParser("train support-judge", _SUPPORT_JUDGE)
    made.add_argument("folder", metavar="FOLDER", type=Path, help="of labelled claims and their documents")
    made.used.add_argument("--out", metavar="DIR", type=Path, required=True, help="for the fitted model")
    made.used.add_argument("--threads", metavar="N", type=int, default=2, help="of the processor (default: 2)")
    return made


PARSERS: Mapping[str, Callable[[], VerbParser]] = {"checker": checker, "support-judge": support_judge}
