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
from typing import TYPE_CHECKING, Any

from jobs.command import DONE, FAILURES_ABOVE_THRESHOLD
from jobs.command.parser import VerbParser, add_synthesis_arguments
from jobs.command.run import Outcome, command

if TYPE_CHECKING:
    from jobs.command.calling import Calling
    from jobs.stages.cluster import Cluster
    from jobs.synthesis.model_synthesis import Synthesis


def parser() -> VerbParser:
    made = VerbParser("synthesize-models", __doc__)
    told = "a .yaml file, or a preset: rehearsal, multi_source_stories, multi_source_meetings, long2rag"
    add_synthesis_arguments(made, config=told)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from actors.storage.benchmark import AUDIT
    from actors.storage.folder import Folder
    from jobs.command.calling import calling_of
    from jobs.spending.plan import bounded_plan_words
    from jobs.stages.cluster import cluster_of
    from jobs.synthesis.model_synthesis import Synthesis, read_config
    from jobs.synthesis.plan import synthesis_plan
    from jobs.synthesis.words import made_words

    settings = read_config(arguments.config, arguments.changes)
    calling = calling_of(arguments, "synthesize-models", arguments.out)
    with cluster_of(arguments) as cluster:
        synthesis = Synthesis(settings, arguments.out, cluster=cluster, calling=calling, with_keys=not arguments.plan)
        if arguments.plan:
            planned = synthesis_plan(synthesis, calling=calling, workers=cluster.workers)
            return Outcome(planned, bounded_plan_words(planned))
        account = _made(synthesis)
    folder, told = Folder(arguments.out), synthesis.kind.told(account["haystacks"])
    audit = folder.read_json(AUDIT) if folder.has(AUDIT) else None
    code = FAILURES_ABOVE_THRESHOLD if told.is_short else DONE
    return Outcome({**account, "audit": audit}, made_words(arguments.out, account, told, audit), code)


def synthesize_with_models(settings: Any, out_url: str, *, cluster: Cluster, calling: Calling) -> dict[str, Any]:
    """
    Return the account (`synthesis.json`) of the benchmark now at *out_url*; *settings* are of any kind of synthesis.

    Raises:
        UsageError: The configuration cannot be used, or another benchmark stands there; found before any call.
        StageError: Some calls failed for a reason that may pass; the same command goes on.
        BudgetReachedError: The budget does not suffice for the rest; finished work is kept.
    """
    from jobs.synthesis.model_synthesis import Synthesis

    return _made(Synthesis(settings, out_url, cluster=cluster, calling=calling))


def _made(synthesis: Synthesis) -> dict[str, Any]:
    from jobs.synthesis.audits import export_summhay, write_audit, write_tables

    account = synthesis.make()
    if synthesis.kind.is_audited:
        export_summhay(synthesis.out.url)
        write_audit(synthesis.out.url, seed=synthesis.recipe.settings.seed, cluster=synthesis.cluster)
    write_tables(synthesis.out)
    return account


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
