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
import sys
from collections.abc import Sequence
from importlib import import_module

from jobs.command.parser import VerbParser, add_synthesis_arguments
from jobs.command.run import Outcome, run_verb


def parser() -> VerbParser:
    made = VerbParser("synthesize", __doc__)
    add_synthesis_arguments(made, config="a .yaml file, or a preset: demo, full, prose, samples")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Make the benchmark; a configuration that asks chat models is handed to `synthesize-models`."""
    words = list(sys.argv[1:] if argv is None else argv)
    config = parser().parse_args(words).config
    if import_module("jobs.synthesis.model_synthesis").asks_models(config):
        return int(import_module("jobs.synthesize_models").main(words))
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    from actors.storage.benchmark import AUDIT
    from actors.storage.folder import Folder
    from jobs.command.calling import calling_of
    from jobs.spending.plan import bounded_plan_words
    from jobs.stages.cluster import cluster_of
    from jobs.synthesis.haystacks import chats_of, left_to_write, make_benchmark, read_config, wants_workers
    from jobs.synthesis.plan import prose_plan
    from jobs.synthesis.words import written_words

    config = read_config(arguments.config, arguments.changes)
    calling = calling_of(arguments, "synthesize", arguments.out)
    with cluster_of(arguments) as cluster:
        if arguments.plan:
            calling.check_prices(chats_of(config))
            left = left_to_write(config, arguments.out)
            planned = prose_plan(config, left, calling=calling, workers=cluster.workers)
            return Outcome(planned, bounded_plan_words(planned))
        workers = cluster if wants_workers(config, cluster) else None
        manifest = make_benchmark(config, arguments.out, cluster=workers, calling=calling)
    audit = Folder(arguments.out).read_json(AUDIT)
    return Outcome(
        {"benchmark": arguments.out, **manifest, "audit": audit}, written_words(arguments.out, manifest, audit)
    )


if __name__ == "__main__":
    raise SystemExit(main())
