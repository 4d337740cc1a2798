"""
Write a run as files that other tools load.

    longform export RUN --as summhay --out DIR [--judge NAME]
    longform export RUN --as trec|ir_measures|beir|csv|parquet|latex|inspect|hf --out DIR

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

from jobs.parsers.verb import verb_parser
from longform.formats.names import EXPORTED


def parser() -> argparse.ArgumentParser:
    made = verb_parser("export", __doc__)
    made.add_argument("run", metavar="RUN")
    made.add_argument("--as", dest="format", required=True, choices=tuple(EXPORTED), help="the format")
    made.add_argument("--out", required=True, metavar="DIR", help="a folder or s3:// URL")
    made.add_argument("--judge", metavar="NAME", help="whose labels are written, if several judged coverage")
    return made
