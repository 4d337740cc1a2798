"""Make a benchmark whose documents chat models write and check."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from actors.storage.folder import Folder
from jobs.calling import Calling, calling_of
from jobs.cluster import Cluster, cluster_of
from jobs.commands import Outcome, run_verb
from jobs.exit_codes import DONE, FAILURES_ABOVE_THRESHOLD
from jobs.parsers.synthesize_models import parser
from jobs.spending.bounded_plan import bounded_plan_words
from jobs.synthesis.audits import write_audit
from jobs.synthesis.config import read_config
from jobs.synthesis.files import AUDIT, export_summhay
from jobs.synthesis.model_synthesis import Synthesis
from jobs.synthesis.plan import synthesis_plan
from jobs.synthesis.words import is_short, made_words
from longform.synthesis.written.account import Account
from longform.synthesis.written.settings import ModelSynthesis


def synthesize_with_models(config: ModelSynthesis, out_url: str, *, cluster: Cluster, calling: Calling) -> Account:
    """
    Return the account (`synthesis.json`) of the benchmark now at *out_url*.

    Args:
        config: What to write, and with which models.
        out_url: A folder or s3:// URL.
        cluster: Where it is done.
        calling: The ledger and the budget of model calls.

    Raises:
        UsageError: The configuration cannot be used, or another benchmark stands there; found before any call.
        StageError: Some calls failed for a reason that may pass; the same command goes on.
        BudgetReachedError: The budget does not suffice for the rest; finished work is kept.
    """
    synthesis = Synthesis(config, out_url, cluster=cluster, calling=calling)
    outline_ids = synthesis.outline()
    account = synthesis.collect(outline_ids, synthesis.write(outline_ids))
    export_summhay(out_url)
    write_audit(out_url, seed=config.seed, cluster=cluster)
    return account


# ---------------------------------------------------------------- the command


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    config = read_config(arguments.config, arguments.changes)
    calling = calling_of(arguments, "synthesize-models", arguments.out)
    with cluster_of(arguments) as cluster:
        if arguments.plan:
            synthesis = Synthesis(config, arguments.out, cluster=cluster, calling=calling, with_keys=False)
            planned = synthesis_plan(config, synthesis.left(), calling=calling, workers=cluster.workers)
            return Outcome(planned, bounded_plan_words(planned))
        account = synthesize_with_models(config, arguments.out, cluster=cluster, calling=calling)
    audit = Folder(arguments.out).read_json(AUDIT)
    code = FAILURES_ABOVE_THRESHOLD if is_short(account) else DONE
    return Outcome({**account, "audit": audit}, made_words(arguments.out, account, audit), code)


if __name__ == "__main__":
    raise SystemExit(main())
