"""Judge: `units` x targets -> `verdicts`. N:M; a judgement that cannot be read is null with its reason."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from actors.chat.call_context import CallContext
from actors.chat.opening import Asking
from actors.judges.opening import Judge, make_judge
from actors.judges.rows import judged_rows
from actors.storage.benchmark import Benchmark
from jobs.stages.items import Given, Item, Key, Row, Source, SourceReader
from jobs.stages.runner import Worker
from jobs.stages.split import UnitsOf
from jobs.stages.stage import Plan, Site, Stage
from longform.chat.asking import Asks
from longform.judges.kind import Kind
from longform.judges.matrix import JudgedText, TargetText, groups_of
from longform.keys import content_key
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.tables import TARGETS

_OFFLINE_SUMMARIES_A_TASK = 64
_CHAT_SUMMARIES_A_TASK = 1  # so that a slow call holds back its own summary only

VERDICT = (
    "work_id", "judge", "summary_id", "target_kind", "target_id", "mode", "repeat", "answer", "probability", "failure",
    "reply", "prompt_version", "call_id",
)  # fmt: skip
"""The columns that verdicts of every kind have."""

Texts = Callable[[Given[Key]], JudgedText]
"""Reads what an item is about."""


class Judged(NamedTuple):
    """The verdicts of one judge on one summary, by its work id."""

    summary: str
    judge: str


@dataclass(frozen=True, kw_only=True)
class AskJudge(Stage[Key]):
    """
    Asks one judge about summaries; a mean of judges is asked nothing.

    Attributes:
        bench: URL of the benchmark.
        judge: Its name.
        settings: Of it.
        version: Of what makes its verdicts beside its settings.
        prompts: A folder whose files replace the project's own of the same name.
        context: On whose behalf a model is called.
        threads: Of a local model.
    """

    table = "verdicts"

    bench: str
    judge: str
    settings: JudgeSettings
    version: str
    prompts: str | None
    context: CallContext
    threads: int

    @property
    def name(self) -> str:
        return f"{self.step} {self.judge}"

    @property
    def chat(self) -> ChatSettings | None:
        return self.settings.asked_model

    @abstractmethod
    def texts(self) -> Texts[Key]:
        """Return what reads the summaries of items."""

    def made(self) -> Judge:
        """Return the judge; nothing is loaded."""
        return make_judge(self.judge, {self.judge: self.settings}, prompts=self.prompts)

    def plans(self, asking: Asking, given: Sequence[Given[Key]]) -> Iterable[Asks[Any]]:
        made, texts = self.made(), self.texts()
        assert made.asking is not None, "a judge with a model asks it"
        summaries = [texts(one) for one in given]
        return [made.asking(asking).plan([group for one in summaries for group in groups_of(made.kind, one)])]

    def make_worker(self) -> Worker:
        judge, texts = self.made(), self.texts()
        backend = judge.open(self.context, self.threads)

        async def work(given: Sequence[Given[Key]]) -> list[Row]:
            return await judged_rows(judge, backend, [texts(one) for one in given])

        return work


@dataclass(frozen=True, kw_only=True)
class JudgeTargets(AskJudge[Judged]):
    """Asks about all summaries of the stages before it, and the targets of their queries."""

    step = "judge"
    reads: ClassVar = {
        "units": ("unit_index", "text"),
        "summaries": ("summary_id", "query_id", "haystack_id", "step", "failure"),
        "targets": TARGETS.names,
    }
    columns = (*VERDICT, "linked_unit", "chunk_index")

    @property
    def holds_model(self) -> bool:
        return self.chat is not None or self.settings.kind == "python"

    @property
    def per_task(self) -> int:
        return _OFFLINE_SUMMARIES_A_TASK if self.chat is None else _CHAT_SUMMARIES_A_TASK

    def items(self, plan: Plan) -> list[Item[Judged]]:
        how, work = [self.judge, self.settings.identity, self.version], self.made().kind.work
        return [
            Item(
                content_key(work, units.work_id, *how),
                Judged(units.key.summary, self.judge),
                (Source("units", units.work_id), Source("summaries", units.key.summary)),
            )
            for units in plan.of(UnitsOf)
        ]

    def texts(self) -> Texts[Judged]:
        kind, reader, benchmark = self.made().kind, self.reader(), Benchmark(self.bench)

        def text(given: Given[Judged]) -> JudgedText:
            row = summary_row(reader, given)
            return judged_summary(kind, row, row["units"], benchmark)

        return text


def summary_row(reader: SourceReader, given: Given[Any]) -> Row:
    """Return the summary that an item of verdicts is about, with its lines in `units`; none if it failed."""
    units, summary = given.sources[0], given.sources[-1]
    (row,) = (row for row in reader.rows(summary) if row["step"] is None)
    found = [] if row["failure"] else sorted(reader.rows(units), key=lambda unit: unit["unit_index"])
    return row | {"work_id": given.work_id, "units": [unit["text"] for unit in found]}


def judged_summary(kind: Kind, item: Mapping[str, Any], units: Iterable[str], benchmark: Benchmark) -> JudgedText:
    """Put a summary's lines beside its query's targets."""
    targets = [target for target in benchmark.targets.get(item["query_id"], []) if target.kind == kind.targets]
    others = benchmark.haystack_targets(item["haystack_id"])
    return JudgedText(
        work_id=item["work_id"],
        summary_id=item["summary_id"],
        units=tuple(map(kind.unit, units)),
        targets=tuple(TargetText(target.kind, target.target_id, target.text) for target in targets),
        background=tuple(target.text for target in others if target.kind == kind.targets),
        failure=item["failure"],
    )


def stages(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return a stage for each judge that is asked about targets of queries."""
    return [
        JudgeTargets(**slice_of(experiment, site, name, step="judge"))
        for name, settings in experiment.target_judges.items()
        if not settings.members
    ]


def slice_of(experiment: Experiment, site: Site, name: str, *, step: str) -> dict[str, Any]:
    """Return the fields of a stage that asks the judge *name*."""
    return {
        "run": site.run,
        "bench": site.bench,
        "judge": name,
        "settings": experiment.judges[name],
        "version": make_judge(name, experiment.judges, prompts=experiment.prompts).version.work,
        "prompts": experiment.prompts,
        "context": site.calling.context(f"{step} {name}"),
        "threads": site.threads,
    }
