"""
Make benchmarks whose contents are known exactly: one haystack a task, written by a grammar.

    longform synthesize demo --out BENCH
    longform synthesize full --out BENCH --set haystacks=20 --workers 8
    longform synthesize full --out BENCH --set documents=[50,100,200] --set distractors=[0,4]
    longform synthesize full --out BENCH --set 'prose={chat: {model: gpt-4o, max_tokens: 400}, tries: 3}'
    longform synthesize prose --out BENCH --plan

Without `prose` no model is asked. With it, a chat model writes the sentences around planted ones, and the grammar's own
stay if its text does not fit.

Reads   a configuration, by its path or its name in jobs/configs/benchmarks
Writes  documents, queries, targets, qrels; haystacks/ (settings, planted statements); benchmark.json; then summhay/ and
        audit.json. The same configuration again writes what is missing
"""

from __future__ import annotations

import argparse

from jobs.parsers.synthesis import synthesis_parser


def parser() -> argparse.ArgumentParser:
    return synthesis_parser("synthesize", __doc__, config="a .yaml file, or a preset: demo, full, prose, samples")
