"""Names the summaries of an evaluation without a score, and what rerankers and judges gave no answer; says why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from actors.measures import open_measures, wanted_measures
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.retrieve import Ranked
from jobs.stages.stage import Plan
from jobs.stages.summarize import Summarized
from jobs.stages.verdicts import Judged
from longform.judges.kinds import KINDS
from longform.judges.matrix import SUMMARY_FAILED
from longform.keys import in_groups
from longform.metrics.measure import Measure
from longform.records import Target
from longform.report.parts import counted
from longform.results.cells import capitalized
from longform.results.run_status import without_text
from longform.settings.experiment import Experiment
from longform.summaries.methods import OWN_BULLETS

NOBODY = "No query that is answered has"
NO_INSIGHTS = "insights: coverage, citations and their joint score cannot be told"
"""The end of a sentence on a corpus without insights."""
_LONGEST = 200  # characters of a failure that is told in full


def unscored(experiment: Experiment, benchmark: Benchmark, query_ids: Collection[str]) -> list[str]:
    """
    Return a sentence for each thing that a run on these queries cannot score or had to assume.

    A benchmark of documents and queries alone is retrieved and summarised, and its summaries have no score.
    """
    without = [query_id for query_id in query_ids if not _of_kind(benchmark, query_id, "insight")]
    uncounted = [query_id for query_id in without if not benchmark.targets.get(query_id)]
    measures = open_measures(wanted_measures(experiment))
    read, found = {one.judged_by for one in measures if isinstance(one, Measure)}, []
    if not experiment.judges and None not in read:
        found.append("No summary is scored: the configuration names no judge, and no measure that needs none.")
    if experiment.judges_of("coverage") and without:
        found.append(
            f"Coverage, citation and joint scores need insights, and {_share(without, query_ids)} insights: "
            "the summaries of such queries are written and not scored."
        )
    if experiment.judges_of("support") and not experiment.judges_of("coverage") and len(uncounted) == len(query_ids):
        found.append(f"{NOBODY} {NO_INSIGHTS}.")
    for task in dict.fromkeys(judge.task for judge in experiment.judges.values()):
        kind, words = _targets_of(task)
        lacking = [query_id for query_id in query_ids if words and not _of_kind(benchmark, query_id, kind)]
        if lacking:
            share = f"{_share(lacking, query_ids)} {words}"
            found.append(f"Judges of {task} need {words}, and {share}: they judge no summary of such queries.")
        if task not in read:
            found.append(f"Verdicts of {task} are not scored: no measure that is listed names it in `judged_by`.")
    if experiment.bullets == "targets" and uncounted and experiment.all_systems():
        found.append(
            f"Summaries have as many bullets as their query has targets, and {_share(uncounted, query_ids)} targets: "
            f"{OWN_BULLETS} bullets are asked for there; set bullets to another number."
        )
    return found


_NEEDED = {"key_point": "key points", "reference": "reference texts"}
"""Kind of target -> its name in sentences; insights have a sentence of their own."""


def _targets_of(task: str) -> tuple[str, str]:
    """Return the kind of target that judges of a task are asked about, and its name; empty if none is named here."""
    kind = KINDS[task].targets if task in KINDS else ""
    return kind, _NEEDED.get(kind, "")


def unranked(run: Folder, plan: Plan) -> list[str]:
    """
    Return a sentence for each retriever without some rankings, each reranker without some scores, each summarizer whose
    summaries failed with more than a word, and each judge without some answers, with why; and what cures paid replies
    without a text.
    """
    found = (told(run, plan) for told in (_not_retrieved, _not_reranked, _not_written, _not_judged, _without_text))
    return [sentence for own in found for sentence in own]


def _failed(run: Folder, table: str, wanted: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the failures of work ids -> makers that are *wanted* of a table, each behind its maker."""
    for part in run.batches(table, work_ids=wanted, columns=["work_id", "failure"]) if wanted else ():
        for row in part.filter(part["failure"].is_valid()).to_pylist():
            yield wanted[row["work_id"]], row["failure"]


def _not_written(run: Folder, plan: Plan) -> list[str]:
    """Return the first failure of each summarizer that says more than a word; reports count them all."""
    found = _failed(run, "summaries", {item.work_id: item.key.summarizer for item in plan.of(Summarized)})
    failures = in_groups((summarizer, failure) for summarizer, failure in found if ":" in failure)
    return [f"The first failure of summarizer {name}: {own[0][:_LONGEST]}." for name, own in failures.items()]


def _not_judged(run: Folder, plan: Plan) -> list[str]:
    """Return the sentences on judges; a summary that failed is no fault of theirs."""
    judges = {item.work_id: item.key.judge for item in plan.of(Judged)}
    failures: dict[str, Counter[str]] = {}
    for judge, failure in _failed(run, "verdicts", judges):
        if (reason := failure.partition(":")[0]) != SUMMARY_FAILED:
            failures.setdefault(judge, Counter())[reason] += 1
    return [f"Judge {judge} gave {own.total():,} pairs no answer ({_reasons(own)})." for judge, own in failures.items()]


def _without_text(run: Folder, plan: Plan) -> list[str]:
    """Return the sentence on paid replies of writers and judges in which no text can be read."""
    written = {item.work_id: item.key.summarizer for item in plan.of(Summarized)}
    judged = {item.work_id: item.key.judge for item in plan.of(Judged)}
    found = [*_failed(run, "summaries", written), *_failed(run, "verdicts", judged)]
    words = without_text(Counter(failure.partition(":")[0] for _, failure in found))
    return [f"{capitalized(words)}."] if words else []


def _not_retrieved(run: Folder, plan: Plan) -> list[str]:
    """Return the sentences on retrievers that are asked through the ledger; the others rank everything."""
    asked = [stage for stage in plan.stages if stage.step == "retrieve" and stage.chat is not None]
    wanted = {item.work_id: item.key.retriever for stage in asked for item in plan.items(stage)}
    failures = in_groups(_failed(run, "rankings", wanted))
    return [_not_retrieved_words(retriever, found) for retriever, found in failures.items()]


def _not_retrieved_words(retriever: str, failures: Sequence[str]) -> str:
    """Count the failures by what stands before their colon, and tell the first in full."""
    reasons = _reasons(Counter(failure.partition(":")[0] for failure in failures))
    detailed = next((failure for failure in failures if ":" in failure), None)
    first = f"; the first: {detailed[:_LONGEST]}" if detailed else ""
    return (
        f"Retriever {retriever} ranked nothing for {counted(len(failures), 'query')} ({reasons}{first}), and summaries "
        "of such queries fail with no_documents."
    )


def _reasons(failures: Counter[str]) -> str:
    return ", ".join(f"{failure} {n:,}" for failure, n in failures.most_common())


def _not_reranked(run: Folder, plan: Plan) -> list[str]:
    wanted = {ranking.work_id: ranking.key for ranking in plan.of(Ranked) if ranking.key.reranker is not None}
    failures: dict[str, Counter[str]] = {}
    for part in run.batches("rankings", work_ids=wanted, columns=["work_id", "score", "failure"]) if wanted else ():
        for row in part.to_pylist():
            if row["score"] is not None or row["failure"] is not None:
                of = failures.setdefault(str(wanted[row["work_id"]].reranker), Counter())
                of[row["failure"] or ""] += 1
    return [_unranked_words(reranker, found) for reranker, found in failures.items() if set(found) - {""}]


def _unranked_words(reranker: str, found: Counter[str]) -> str:
    failures = Counter({failure: n for failure, n in found.items() if failure})
    return (
        f"Reranker {reranker} gave {failures.total():,} of {found.total():,} documents no score "
        f"({_reasons(failures)}): they stand behind those with a score, in the retriever's order."
    )


def _share(without: Collection[str], query_ids: Collection[str]) -> str:
    return "no query has" if len(without) == len(query_ids) else f"{len(without)} of {len(query_ids)} queries have no"


def _of_kind(benchmark: Benchmark, query_id: str, kind: str) -> list[Target]:
    return [target for target in benchmark.targets.get(query_id, []) if target.kind == kind]
