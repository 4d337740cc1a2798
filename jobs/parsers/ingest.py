"""
Read published or own files into a benchmark folder.

    longform ingest summhay topic_news3.json.gz topic_news5.json.gz --out BENCH
    longform ingest summhay eval_benchmark_data.json.gz --out HUMAN
    longform ingest longformfact generation/multixscience.jsonl.gz --out BENCH
    longform ingest msrs story/ --out BENCH
    longform ingest beir scifact/ --out BENCH
    longform ingest jsonl my_corpus/ --out BENCH
    longform ingest folder notes/ --queries questions.txt --out BENCH
    longform ingest csv articles.csv --queries questions.csv --out BENCH
    longform ingest hf saved_dataset/ --queries questions.txt --out BENCH
    longform ingest trec docs.trectext --queries topics.xml --qrels qrels.txt --run runs/ --out BENCH
    longform ingest ir_datasets beir/scifact/test --out BENCH
    longform ingest python --class my_module:MyReader notes/ --out BENCH
    longform ingest outputs answers.jsonl --bench BENCH [--out BENCH2]

Reads   SummHay's files (plain or gzipped, or a folder of topic_*.json), longformfact's (labels or inputs), a folder of
        MSRS, of BEIR or of plain JSON Lines, a folder of texts, HTML, PDF and Word files with questions, tables, a
        saved data set, a TREC collection (docs/own-files.md), or what a class of your own reads (docs/extending.md);
        outputs: answers that any system wrote to the queries of BENCH, put beside it, or beside its copy BENCH2
        (docs/outputs.md)
Writes  documents, queries, targets, qrels, rankings, summaries, labels; benchmark.json last. Malformed input: nothing
"""

from __future__ import annotations

import argparse
from typing import Any

from jobs.parsers.verb import verb_parser
from longform.formats.names import NAMES
from longform.formats.options import OPTIONS

OUTPUTS = "outputs"
IR_DATASETS = "ir_datasets"
KINDS = (*NAMES, "python", IR_DATASETS, OUTPUTS)
NUMBERINGS = ("haystack", "seen", "ids")
NUMBERING = (
    "what [3] cites: the haystack's third document, the third of the documents that the answer saw, or the document "
    "with the id 3; default: seen, where a line names `documents`, else haystack; a line's own `numbering` goes first"
)


def parser() -> argparse.ArgumentParser:
    made = verb_parser("ingest", __doc__)
    made.add_argument("kind", choices=KINDS)
    made.add_argument("paths", nargs="+", metavar="PATH")
    made.add_argument("--out", metavar="BENCH", help="where the benchmark comes to stand; outputs: a copy of BENCH")
    made.add_argument("--bench", metavar="BENCH", help="outputs: the benchmark whose queries are answered")
    made.add_argument("--numbering", choices=NUMBERINGS, help=f"outputs: {NUMBERING}")
    made.add_argument("--class", dest="class_", metavar="MODULE:CLASS", help="python: the class that reads")
    made.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="python: an option of the class, in YAML"
    )
    for option in OPTIONS:
        given: dict[str, Any] = {"choices": [*option.told]}
        if option.default is False:
            given = {"action": "store_true"}
        elif option.key is not None:
            given = {"metavar": "FILE" if option.files else "VALUE"}
        made.add_argument(option.flag, default=option.default, help=f"{option.format}: {option.help}", **given)
    return made
