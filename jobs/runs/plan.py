"""What a run will hold: every work id of every stage, known before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from actors.chat.opening import REPAIR_PROMPT, check_chat, load_prompt
from actors.judges.opening import make_judges
from actors.python_class import check_class, class_version
from actors.retrieval.endpoint_reranker import token_of
from actors.retrieval.retriever import check_loadable
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.summarizers.prompts import prompts_of
from jobs.stages.check import Checked, check_work_ids
from jobs.stages.check import Source as CheckSource
from jobs.stages.combine import mean_work_ids
from jobs.stages.combine_support import with_means
from jobs.stages.judge import Judged, verdict_work_ids
from jobs.stages.pack import Packed, context_work_ids
from jobs.stages.repair import check_documents, copied_work_ids, judged_with_twins, repaired_work_ids, with_twins
from jobs.stages.repair_by_judge import judge_key
from jobs.stages.rerank import Reranking, reranking_work_ids
from jobs.stages.retrieve import Ranked, ranking_work_ids
from jobs.stages.split import unit_work_id
from jobs.stages.summarize import Source, Summarized, summary_work_ids
from longform.errors import UsageError
from longform.keys import content_key
from longform.prompts import prompt_names
from longform.protocols import Summarizer
from longform.repair import by_matrix as repair
from longform.settings.chat import (
    ChatSummarizerSettings,
    OfflineSummarizerSettings,
    PythonSummarizerSettings,
    SummarizerSettings,
)
from longform.settings.experiment import Experiment, UnitKind
from longform.settings.retrievers import EndpointRerankerSettings
from longform.summaries import extractive


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """
    Keys of the work of each stage -> its work id (and that of its source).

    Attributes:
        repaired: Work id of a summary -> of its twin with repaired citations.
        asked: What judges are asked about the summaries as written.
        means: What follows from that for means of judges.
        repaired_by: What repaired them; changes with any change of what is cited.
        citing_judge: The support judge that did; None: none.
        copied: Work id of verdicts on a summary -> of the same on its twin.
        checks: What support judges are asked about the summaries as written, and the means of them.
        support_means: Mean of support judges -> its members.
        units: What summaries are split into.
    """

    rankings: Mapping[Ranked, str]
    rerankings: Mapping[Ranked, Reranking]
    contexts: Mapping[Packed, tuple[str, str]]
    summaries: Mapping[Summarized, Source]
    repaired: Mapping[str, str]
    repaired_by: str
    citing_judge: str | None
    asked: Mapping[Judged, str]
    means: Mapping[Judged, str]
    copied: Mapping[str, str]
    checks: Mapping[Checked, CheckSource]
    support_means: Mapping[str, tuple[str, ...]]
    units: UnitKind

    @property
    def all_rankings(self) -> dict[Ranked, str]:
        """Of retrievers, and of rerankers behind them."""
        return {**self.rankings, **{ranked: made.work_id for ranked, made in self.rerankings.items()}}

    @property
    def written_work_ids(self) -> list[str]:
        """Of the summaries as their summarizers wrote them."""
        return [source.work_id for source in self.summaries.values()]

    @property
    def summary_work_ids(self) -> list[str]:
        """Of all summaries, each with its twin behind it where there is one."""
        return with_twins(self.written_work_ids, self.repaired)

    @property
    def judged_units(self) -> dict[str, str]:
        """Verdict work id -> work id of the units it judges."""
        judged = {work_id: judged.summary for judged, work_id in [*self.asked.items(), *self.means.items()]}
        judged = judged_with_twins(judged, self.repaired)
        return {work_id: unit_work_id(summary, self.units) for work_id, summary in judged.items()}


def plan_run(experiment: Experiment, benchmark: Benchmark, *, limit: int | None) -> RunPlan:
    """The work that *experiment* means on the first *limit* queries of *benchmark*; nothing is read but its queries."""
    query_ids = list(benchmark.queries)[:limit]
    rankings = ranking_work_ids(benchmark, experiment, query_ids)
    rerankings = reranking_work_ids(experiment, rankings)
    all_rankings = rankings | {ranked: reranking.work_id for ranked, reranking in rerankings.items()}
    contexts = context_work_ids(experiment, all_rankings)
    summaries = summary_work_ids(benchmark, experiment, contexts, _summarizer_versions(experiment))
    written = [source.work_id for source in summaries.values()]
    shown = {source.work_id: (source.context, wanted.query_id) for wanted, source in summaries.items()}
    versions = judge_versions(experiment)
    judge = experiment.citing_judge
    by = repair.VERSION if judge is None else judge_key(experiment, judge, versions[judge])
    repaired = {} if experiment.citations == "written" else repaired_work_ids(written, by=by)
    asked = verdict_work_ids(experiment, written, versions)
    means = mean_work_ids(experiment, asked)
    judged = {work_id: judged.summary for judged, work_id in [*asked.items(), *means.items()]}
    return RunPlan(
        rankings=rankings,
        rerankings=rerankings,
        contexts=contexts,
        summaries=summaries,
        repaired=repaired,
        repaired_by=by,
        citing_judge=judge,
        asked=asked,
        means=means,
        copied=copied_work_ids(judged, repaired),
        checks=with_means(experiment, check_work_ids(experiment, shown, versions)),
        support_means={
            name: settings.members for name, settings in experiment.support_judges.items() if settings.members
        },
        units=experiment.units,
    )


def check_experiment(experiment: Experiment, benchmark: Benchmark, *, with_keys: bool = True) -> None:
    """
    Everything the experiment names can be used; keys of models are looked for where *with_keys*.

    Raises:
        UsageError: A model, folder, key, prompt or table is not there; nothing has been done.
    """
    check_loadable(experiment, bench_url=benchmark.folder.url)
    for settings in experiment.summarizers.values():
        if isinstance(settings, PythonSummarizerSettings):
            check_class(settings, Summarizer)
        if isinstance(settings, ChatSummarizerSettings):
            check_chat(settings.chat, with_key=with_keys)
    for judge in experiment.judges.values():
        if judge.asked_model is not None:
            check_chat(judge.asked_model, logprobs=judge.needs_logprobs, with_key=with_keys)
    for reranker in experiment.rerankers.values():
        if with_keys and isinstance(reranker, EndpointRerankerSettings):
            token_of(reranker)
    _check_prompts(experiment)
    if experiment.citations != "written":
        check_documents(benchmark)
    if not benchmark.queries:
        raise UsageError(f"{benchmark.folder.url}: the benchmark has no queries")


def _check_prompts(experiment: Experiment) -> None:
    folder = experiment.prompts
    asked = {judge.prompt_name for judge in experiment.judges.values() if judge.prompt_name is not None}
    for name in sorted({*prompt_names(), *asked}):
        load_prompt(name, folder)
    known = {f"{name}.md" for name in {*prompt_names(), *asked}}
    unknown = set(Folder(folder).names()) - known if folder else set()
    if unknown:
        raise UsageError(f"{folder}: expected prompt files of {sorted(known)}, found {sorted(unknown)}")


def prompt_versions(experiment: Experiment) -> dict[str, str]:
    """Return the version of each prompt that the experiment asks a model with, by its name."""
    methods = dict.fromkeys(system.method for system in experiment.all_systems())
    names = {
        name
        for settings in experiment.summarizers.values()
        if isinstance(settings, ChatSummarizerSettings)
        for method in methods
        for name in prompts_of(settings, experiment.all_methods()[method])
    }
    for judge in experiment.judges.values():
        if judge.prompt_name is not None:
            names |= {judge.prompt_name, REPAIR_PROMPT}
    return {name: load_prompt(name, experiment.prompts).version for name in sorted(names)}


def _summarizer_versions(experiment: Experiment) -> dict[tuple[str, str], str]:
    """Of what makes the summaries of each summarizer under each method: its prompts, or its code."""
    methods = {system.method for system in experiment.all_systems()}
    return {
        (name, method): _summarizer_version(settings, method, experiment)
        for name, settings in experiment.summarizers.items()
        for method in methods
    }


def _summarizer_version(settings: SummarizerSettings, method: str, experiment: Experiment) -> str:
    match settings:
        case ChatSummarizerSettings():
            return _versions(prompts_of(settings, experiment.all_methods()[method]), experiment)
        case PythonSummarizerSettings():
            return class_version(settings)
        case OfflineSummarizerSettings():
            return extractive.VERSION


def judge_versions(experiment: Experiment) -> dict[str, str]:
    """Return what makes the verdicts of each judge beside its settings, by its name."""
    judges = make_judges(experiment.judges, prompts=experiment.prompts)
    return {name: judge.version.work for name, judge in judges.items()}


def _versions(prompts: Sequence[str], experiment: Experiment) -> str:
    return content_key([load_prompt(name, experiment.prompts).version for name in prompts])
