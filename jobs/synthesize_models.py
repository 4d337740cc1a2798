"""
Make a benchmark whose documents chat models write and check: 1:N; a document that is not written is said to be missing.

    longform synthesize-models CONFIG --out BENCH
    longform synthesize-models CONFIG --out BENCH --plan

Reads   a configuration: topics, sizes, caps of the loops, the models
Writes  documents, queries, targets, qrels, attempts; synthesis.json (what was accepted and rejected); benchmark.json;
        SummHay's files and audit.json.
        BENCH/synthesis holds outlines and drafts, so that a second call of the same command goes on where one ended
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.bounded_plan import bounded_plan_words
from jobs.calling import Calling, add_calling_arguments, calling_of
from jobs.cluster import Cluster, add_cluster_arguments, cluster_of
from jobs.commands import DONE, FAILURES_ABOVE_THRESHOLD, Outcome, run_verb, verb_parser
from jobs.model_synthesis import Synthesis
from jobs.synthesis_config import read_config
from jobs.synthesis_files import export_summhay, write_audit
from jobs.synthesis_plan import synthesis_plan
from longform.synthesis.settings import ModelSynthesis


def synthesize_with_models(
    config: ModelSynthesis, out_url: str, *, cluster: Cluster, calling: Calling
) -> dict[str, Any]:
    """
    The account (`synthesis.json`) of the benchmark now at *out_url*.

    Args:
        config: What to write, and with which models.
        out_url: A folder or s3:// URL.
        cluster: Where it is done.
        calling: Where model calls are recorded, and what they may cost.

    Raises:
        UsageError: The configuration cannot be used, or another benchmark stands there; found before any call.
        StageError: Some calls failed for a reason that may pass; the same command goes on.
        BudgetReachedError: The command may not spend what is left to do; what is done is kept.
    """
    synthesis = Synthesis(config, out_url, cluster=cluster, calling=calling)
    outline_ids = synthesis.outline()
    account = synthesis.collect(outline_ids, synthesis.write(outline_ids))
    export_summhay(out_url)
    write_audit(out_url, seed=config.seed)
    return account


# ---------------------------------------------------------------- the command


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("synthesize-models", __doc__)
    parser.add_argument("config", metavar="CONFIG", help="a .yaml file, or the name of a preset: rehearsal")
    parser.add_argument("--out", required=True, metavar="BENCH")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
    parser.add_argument("--plan", action="store_true", help="say what will be asked and what it costs; ask nothing")
    add_calling_arguments(parser)
    add_cluster_arguments(parser)

    def work(arguments: argparse.Namespace) -> Outcome:
        config = read_config(arguments.config, arguments.changes)
        calling = calling_of(arguments, "synthesize-models", arguments.out)
        with cluster_of(arguments) as cluster:
            if arguments.plan:
                synthesis = Synthesis(config, arguments.out, cluster=cluster, calling=calling, with_keys=False)
                planned = synthesis_plan(config, synthesis.left(), calling=calling, workers=cluster.workers)
                return Outcome(planned, bounded_plan_words(planned))
            account = synthesize_with_models(config, arguments.out, cluster=cluster, calling=calling)
        short = is_short(account)
        return Outcome(account, words_of(arguments.out, account), FAILURES_ABOVE_THRESHOLD if short else DONE)

    return run_verb(parser, work, argv)


def is_short(account: Mapping[str, Any]) -> bool:
    """Whether documents are missing, or an insight is stated by fewer than it was to be."""
    haystacks = account["haystacks"]
    return any(one["documents_not_written"] or one["insights_below_least_documents"] for one in haystacks)


def words_of(url: str, account: Mapping[str, Any]) -> str:
    """The account in a few lines."""
    haystacks = (
        f"  {one['haystack_id']}: {one['documents']} documents ({one['documents_not_written']} not written), "
        f"{one['subtopics']} subtopics, {one['insights']} insights "
        f"({len(one['insights_below_least_documents'])} in too few documents)"
        for one in account["haystacks"]
    )
    checks = (
        f"  {row['check']}: {row['attempts']} attempts, {row['accepted']} accepted, {row['rejected']} rejected, "
        f"{row['exhausted']} exhausted"
        for row in account["checks"]
        if row["attempts"]
    )
    first = f"{url}: {len(account['haystacks'])} haystacks; {len(account['exhausted'])} items were given up"
    return "\n".join([first, *haystacks, *checks])


if __name__ == "__main__":
    raise SystemExit(main())
