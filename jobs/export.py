"""
Write a run as files that other tools load.

    longform export RUN --as summhay --out DIR [--judge NAME]
    longform export RUN --as trec|ir_measures|beir|csv|parquet|latex|inspect|hf|MODULE:NAME --out DIR

summhay  the run's summaries and one judge's labels in SummHay's own JSON, a file topic_HAYSTACK.json for each haystack;
         `longform ingest summhay DIR --out BENCH` and `longform replay BENCH` give the run's scores again
trec     run.SYSTEM.txt, qrels.txt and topics.tsv: rankings and judgements, for trec_eval
ir_measures  the same with relevance 0 or 1, measures.txt and report.json: ir_measures finds the report's numbers
beir     for each haystack a folder that BEIR and `longform ingest beir` read, with rankings as JSON in runs/
csv      cells.csv (systems x judges x measures with intervals), scores.csv (of each summary), summaries.csv
parquet  the cells and the run's tables, one file each, for pandas, Polars, DuckDB
inspect  SYSTEM.json: a log of Inspect AI for each system, for `inspect view`
hf       data/*.parquet and README.md: a data set for `datasets.load_dataset(DIR, "summaries")`, without documents
latex    systems.tex: a tabular of systems and measures for each judge (booktabs)

Reads   the tables of RUN, and its benchmark
Writes  files in DIR; what the format cannot express is counted and told
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from jobs.command.parser import VerbParser, named
from jobs.command.run import Outcome, command
from longform.formats.names import EXPORTS

_MOST_NAMED = 5


def parser() -> VerbParser:
    made = VerbParser("export", __doc__)
    made.add_argument("run", metavar="RUN")
    made.used.add_argument("--as", dest="format", required=True, type=named(EXPORTS), help="the format")
    made.used.add_argument("--out", required=True, metavar="DIR", help="a folder or s3:// URL")
    told = "whose labels are written, if several judged coverage"
    made.used.add_argument("--judge", metavar="NAME", help=told)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.evaluations.stored import export

    document = export(arguments.run, arguments.out, form=arguments.format, judge=arguments.judge)
    return Outcome(document, _words(document))


def _words(document: Mapping[str, Any]) -> str:
    files, n = len(document["files"]), document["summaries"]
    labelled = f", {n:,} summaries with the labels of {document['judge']}" if document["judge"] else ""
    shown = f"{', '.join(document['files'][:_MOST_NAMED])}{', ...' if files > _MOST_NAMED else ''}"
    written = f"{files} file{'s' if files > 1 else ''}{labelled or f': {shown}'}"
    lines = [f"{document['out']}: {written}"]
    lines += [f"  not expressed: {n:,} {what}" for what, n in document["left_out"].items()]
    if others := document["others"]:
        lines.append(
            f"  also there, and not of this run: {', '.join(others[:_MOST_NAMED])}; `ingest` would read them, too"
        )
    if document["settings"]:
        lines.append(f"  the run's scores need --set {' --set '.join(document['settings'])} in a replay")
    return "\n".join(lines)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
