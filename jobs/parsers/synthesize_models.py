"""
Make a benchmark whose documents chat models write and check: 1:N; a document that is not written is said to be missing.

    longform synthesize-models CONFIG --out BENCH
    longform synthesize-models CONFIG --out BENCH --plan

Reads   a configuration: topics, sizes, caps of the loops, the models
Writes  documents, queries, targets, qrels, attempts; synthesis.json (accepted and rejected items); benchmark.json;
        SummHay's files and audit.json.
        BENCH/synthesis holds the pieces of finished steps, so that a second call of the same command goes on where one ended
"""

from __future__ import annotations

import argparse

from jobs.parsers.synthesis import synthesis_parser


def parser() -> argparse.ArgumentParser:
    return synthesis_parser("synthesize-models", __doc__, config="a .yaml file, or the name of a preset: rehearsal")
