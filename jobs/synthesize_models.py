"""Make a benchmark that chat models write or rework, and check."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from actors.storage.benchmark import AUDIT
from actors.storage.folder import Folder
from jobs.calling import Calling, calling_of
from jobs.cluster import Cluster, cluster_of
from jobs.command.exit_codes import DONE, FAILURES_ABOVE_THRESHOLD
from jobs.command.run import Outcome, run_verb
from jobs.parsers.synthesize_models import parser
from jobs.spending.bounded_plan import bounded_plan_words
from jobs.synthesis.audits import write_audit
from jobs.synthesis.config import read_config
from jobs.synthesis.files import export_summhay, write_tables
from jobs.synthesis.model_synthesis import Synthesis
from jobs.synthesis.plan import synthesis_plan
from jobs.synthesis.words import made_words
from longform.synthesis.account import Account


def synthesize_with_models(settings: Any, out_url: str, *, cluster: Cluster, calling: Calling) -> Account:
    """
    Return the account (`synthesis.json`) of the benchmark now at *out_url*.

    Args:
        settings: A configuration of any kind of synthesis.
        out_url: A folder or s3:// URL.
        cluster: Where it is done.
        calling: The ledger and the budget of model calls.

    Raises:
        UsageError: The configuration cannot be used, or another benchmark stands there; found before any call.
        StageError: Some calls failed for a reason that may pass; the same command goes on.
        BudgetReachedError: The budget does not suffice for the rest; finished work is kept.
    """
    return _made(Synthesis(settings, out_url, cluster=cluster, calling=calling))


def _made(synthesis: Synthesis) -> Account:
    account = synthesis.make()
    if synthesis.opened.kind.is_audited:
        export_summhay(synthesis.out.url)
        write_audit(synthesis.out.url, seed=synthesis.recipe.settings.seed, cluster=synthesis.cluster)
    write_tables(synthesis.out)
    return account


# ---------------------------------------------------------------- the command


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    settings = read_config(arguments.config, arguments.changes)
    calling = calling_of(arguments, "synthesize-models", arguments.out)
    with cluster_of(arguments) as cluster:
        synthesis = Synthesis(settings, arguments.out, cluster=cluster, calling=calling, with_keys=not arguments.plan)
        if arguments.plan:
            planned = synthesis_plan(synthesis, calling=calling, workers=cluster.workers)
            return Outcome(planned, bounded_plan_words(planned))
        account = _made(synthesis)
    folder, told = Folder(arguments.out), synthesis.told(account)
    audit = folder.read_json(AUDIT) if folder.has(AUDIT) else None
    code = FAILURES_ABOVE_THRESHOLD if told.is_short else DONE
    return Outcome({**account, "audit": audit}, made_words(arguments.out, account, told, audit), code)


if __name__ == "__main__":
    raise SystemExit(main())
