"""
Repair: `summaries` -> `summaries`, beside each summary a twin that cites the documents that support its bullets. 1:1.

Here by matrix, from the words of bullets and documents; by the verdicts of a support judge in
`jobs.stages.repair_by_judge`. Bullets and their order stay, so the verdicts on a summary are true of its twin: they are
copied, not asked again, and no call is paid twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import ClassVar, NamedTuple

from actors.storage.benchmark import Benchmark
from jobs.stages.items import WHOLE, Given, Item, Source, SourceReader
from jobs.stages.judge import Judged
from jobs.stages.split import Split
from jobs.stages.stage import Plan, Site, Stage, Works
from longform.errors import UsageError
from longform.keys import content_key
from longform.repair import by_matrix as repair
from longform.repair.twins import twin_id
from longform.rows import SummaryRow, VerdictRow
from longform.schemas import DOCUMENTS, SUMMARIES, VERDICTS
from longform.settings.experiment import Experiment
from longform.support.index import SupportIndex
from longform.text.units import UnitKind, lined, versioned


class Twin(NamedTuple):
    """A summary with other citations, by the work id of its original."""

    summary: str


def twin_work_id(summary: str, by: str) -> str:
    """Return the work id of a summary's twin; *by* changes with any change of what is cited."""
    return content_key("repaired-summary", summary, by)


def with_twins(summaries: Iterable[str], twins: Mapping[str, str]) -> list[str]:
    """Return work ids of summaries, each with its twin's behind it if there is one."""
    return [work_id for source in summaries for work_id in (source, twins.get(source)) if work_id is not None]


def twins_of(plan: Plan) -> dict[str, str]:
    """Return the work id of each summary that has a twin -> of its twin."""
    return {twin.key.summary: twin.work_id for twin in plan.of(Twin)}


def check_documents(benchmark: Benchmark) -> None:
    """
    Refuse a benchmark without documents to find support in.

    Raises:
        UsageError: The benchmark ships none.
    """
    if not benchmark.manifest["rows"]["documents"]:
        raise UsageError(f"{benchmark.folder.url}: expected documents to find support in, found none")


@dataclass(frozen=True, kw_only=True)
class Repair(Stage[Twin]):
    """Cites by the words that bullets and documents share."""

    step = "repair"
    reads: ClassVar = {"summaries": WHOLE, "documents": DOCUMENTS.names}
    table = "summaries"
    columns = SUMMARIES.names
    per_task = 64

    bench: str  # URL
    units: UnitKind  # the kind of text that cites

    def items(self, plan: Plan) -> list[Item[Twin]]:
        by = versioned(repair.VERSION, self.units)
        return [
            Item(twin_work_id(summary, by), Twin(summary), (Source("summaries", summary),))
            for summary in plan.work_ids("summaries")
        ]

    def worker(self, reader: SourceReader) -> Works[Twin]:
        benchmark = Benchmark(self.bench)

        @lru_cache(maxsize=1)
        def sources(haystack_id: str) -> tuple[SupportIndex, list[int]]:
            documents = benchmark.documents(haystack_id)
            return SupportIndex([document.text for document in documents]), [document.number for document in documents]

        def twins(given: Sequence[Given[Twin]]) -> list[SummaryRow]:
            originals = [
                with_lines(summary, self.units) | {"work_id": one.work_id}
                for one in given
                for summary in reader.rows(one.sources[0], SummaryRow)
                if summary["step"] is None
            ]
            originals.sort(key=_haystack)  # stable: within a haystack the items' order stays
            return [
                twin
                for haystack_id, group in groupby(originals, key=_haystack)
                for twin in repair.repaired_summaries(
                    list(group), *sources(haystack_id), by=versioned(repair.VERSION, self.units)
                )
            ]

        return twins


def with_lines(summary: SummaryRow, units: UnitKind) -> SummaryRow:
    """Return a summary with its text a unit a line, since citations are set by lines."""
    return {**summary, "text": None if summary["text"] is None else lined(summary["text"], units)}


def _haystack(summary: SummaryRow) -> str:
    return summary["haystack_id"]


@dataclass(frozen=True, kw_only=True)
class CopyVerdicts(Stage[Judged]):
    """Copies the verdicts of coverage on summaries to their twins."""

    step = "repair"
    name = "copy verdicts"
    reads: ClassVar = {"verdicts": WHOLE, "summaries": ()}
    table = "verdicts"
    columns = VERDICTS.names
    per_task = 256

    by: str  # what the twins were made by

    def items(self, plan: Plan) -> list[Item[Judged]]:
        twins = twins_of(plan)
        return [
            Item(
                content_key("copied-verdicts", verdicts.work_id, twins[verdicts.key.summary]),
                verdicts.key._replace(summary=twins[verdicts.key.summary]),
                (Source("verdicts", verdicts.work_id), Source("summaries", twins[verdicts.key.summary])),
            )
            for verdicts in plan.of(Judged)
            if verdicts.key.context is None and verdicts.key.summary in twins
        ]

    def worker(self, reader: SourceReader) -> Works[Judged]:
        def copies(given: Sequence[Given[Judged]]) -> list[VerdictRow]:
            return [
                verdict | {"work_id": one.work_id, "summary_id": twin_id(verdict["summary_id"], self.by)}
                for one in given
                for verdict in reader.rows(one.sources[0], VerdictRow)
            ]

        return copies


def stages(experiment: Experiment, site: Site) -> list[Repair | Split | CopyVerdicts]:
    """Return the stage that makes twins by matrix, and those that follow; none if citations stay as written."""
    if experiment.citations != "matrix":
        return []
    return [
        Repair(run=site.run, bench=site.bench, units=experiment.units),
        *after_repair(
            site.run,
            experiment.units,
            by=versioned(repair.VERSION, experiment.units),
            judged=experiment.judges_of("coverage"),
        ),
    ]


def after_repair(run: str, units: UnitKind, *, by: str, judged: Iterable[str]) -> list[Split | CopyVerdicts]:
    """Return the stages that split twins, and copy the verdicts of judges of coverage to them if any *judged*."""
    copies = [CopyVerdicts(run=run, by=by)] if list(judged) else []
    return [Split(run=run, units=units, label="split twins", step="repair"), *copies]
