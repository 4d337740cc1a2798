"""
Make a benchmark that chat models write, or rework from documents with queries, and check; what is missing is told.

    longform synthesize-models CONFIG --out BENCH
    longform synthesize-models CONFIG --out BENCH --plan

Reads   a configuration: its kind, topics or sources, sizes, caps of the loops, the models
Writes  documents, queries, targets, qrels, attempts; synthesis.json (accepted and rejected items); benchmark.json;
        SummHay's files and audit.json if documents are written.
        BENCH/synthesis holds the pieces of finished steps, so that the same command again goes on where one ended
"""

from __future__ import annotations

import argparse

from jobs.parsers.synthesis import synthesis_parser


def parser() -> argparse.ArgumentParser:
    return synthesis_parser(
        "synthesize-models",
        __doc__,
        config="a .yaml file, or a preset: rehearsal, multi_source_stories, multi_source_meetings, long2rag",
    )
