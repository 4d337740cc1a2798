"""
Repair: `summaries` -> `summaries`, beside each summary a twin that cites the documents that support its bullets. 1:1.

They are found by matrix, from the words of bullets and documents, or by the verdicts that a support judge gave in the
check stage; nothing is asked. Bullets and their order stay, so the verdicts on a summary are true of its twin: they are
copied, not asked again, and no call is paid twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

from actors.judges.opening import make_judge
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.items import WHOLE, Item, Source, SourceReader
from jobs.stages.split import Split
from jobs.stages.stage import Plan, Site, Stage, Works
from jobs.stages.verdicts import Judged, checks_of, with_repeats
from longform.errors import UsageError
from longform.judges.kinds.support import SUPPORT, YES
from longform.judges.means import merged_repeats
from longform.keys import content_key
from longform.repair import by_matrix as repair
from longform.repair.twins import JUDGED, Held, JudgedText, counts, judged_text, twin, twin_id, twin_label
from longform.results.evidence import TwinDriver
from longform.rows import SummaryRow, VerdictRow
from longform.schemas import DOCUMENTS, SUMMARIES, VERDICTS
from longform.settings.experiment import Experiment
from longform.settings.named_judges import whole_identity
from longform.support.index import SupportIndex
from longform.text.units import UnitKind, lined, versioned

_COLUMNS = [
    "work_id", "unit_index", "target_id", "answer", "probability", "summary_id", "mode", "text_index", "doc_position",
    "repeat", "reply",
]  # fmt: skip


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
class _Repairs(Stage[Twin]):
    """Makes twins."""

    step = "repair"
    table = "summaries"
    columns = SUMMARIES.names
    per_task = 64

    bench: str  # URL
    units: UnitKind  # the kind of text that cites


@dataclass(frozen=True, kw_only=True)
class Repair(_Repairs):
    """Cites by the words that bullets and documents share."""

    reads: ClassVar = {"summaries": WHOLE, "documents": DOCUMENTS.names}

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

        def twins(given: Sequence[Item[Twin]]) -> list[SummaryRow]:
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
class RepairByJudge(_Repairs):
    """Cites by the stored verdicts of a support judge."""

    reads: ClassVar = {"summaries": WHOLE, "verdicts": _COLUMNS, "documents": DOCUMENTS.names}

    judge: str
    by: str  # changes with any change of what is cited

    def items(self, plan: Plan) -> list[Item[Twin]]:
        return [
            Item(
                twin_work_id(repeats[0].key.summary, self.by),
                Twin(repeats[0].key.summary),
                (Source("summaries", repeats[0].key.summary), *(Source("verdicts", one.work_id) for one in repeats)),
            )
            for repeats in with_repeats(checked for checked in checks_of(plan) if checked.key.judge == self.judge)
        ]

    def worker(self, reader: SourceReader) -> Works[Twin]:
        benchmark = Benchmark(self.bench)

        def twins(given: Sequence[Item[Twin]]) -> Iterator[SummaryRow]:
            for one in given:
                summary, cited = self._cited(reader, benchmark, one)
                text = None if cited is None else cited.text
                yield twin(summary, text, by=self.by, cited_by=self.judge) | {"work_id": one.work_id}

        return twins

    def _cited(
        self, reader: SourceReader, benchmark: Benchmark, one: Item[Twin]
    ) -> tuple[SummaryRow, JudgedText | None]:
        """Return a summary, and its text as the verdicts let it cite; None: it has none."""
        original, *repeats = one.sources
        (summary,) = (row for row in reader.rows(original, SummaryRow) if row["step"] is None)
        verdicts = [row for repeat in repeats for row in reader.rows(repeat, VerdictRow)]
        numbers = {document.doc_id: document.number for document in benchmark.documents(summary["haystack_id"])}
        text = with_lines(summary, self.units)["text"]
        return summary, None if text is None else judged_text(text, support_of(verdicts, numbers))

    def driver(self, run: Folder, plan: Plan) -> TwinDriver:
        """Describe the judge for the report, with the number of bullets by the origin of their citations."""
        reader, parts = self.reader(), run.locate("verdicts")
        twins = sorted(
            plan.items(self), key=lambda one: parts[one.sources[1].work_id]
        )  # so that each part is read once
        found = (self._cited(reader, plan.benchmark, one)[1] for one in twins)
        hows = (how for text in found if text is not None for how in text.hows)
        return {"by": self.judge, "label": twin_label(self.judge), "bullets": counts(hows)}


def support_of(verdicts: Iterable[VerdictRow], numbers: Mapping[str, int]) -> dict[int, dict[int, Held | None]]:
    """
    Map each unit of a summary, by index, to the judge's verdict for each document number, None if unjudged.

    *verdicts* have `unit_index`, `target_id`, `answer` and `probability`; *numbers* map a document id to the number
    that cites it.
    """
    found: dict[int, dict[int, Held | None]] = {}
    for row in merged_repeats(SUPPORT, verdicts):
        value, unit = SUPPORT.number(row["answer"], row["probability"]), row["unit_index"]
        assert unit is not None, "a verdict of support is on a unit"
        held = None if value is None else Held(row["answer"] == YES, value)
        found.setdefault(unit, {})[numbers[row["target_id"]]] = held
    return found


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
        def copies(given: Sequence[Item[Judged]]) -> list[VerdictRow]:
            return [
                verdict | {"work_id": one.work_id, "summary_id": twin_id(verdict["summary_id"], self.by)}
                for one in given
                for verdict in reader.rows(one.sources[0], VerdictRow)
            ]

        return copies


def stages(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return the stage that makes twins, and those that follow; none if citations stay as written."""
    given: dict[str, Any] = {"run": site.run, "bench": site.bench, "units": experiment.units}
    repairs: Repair | RepairByJudge
    if experiment.citations == "matrix":
        repairs, by = Repair(**given), versioned(repair.VERSION, experiment.units)
    elif (judge := experiment.citing_judge) is not None:
        by = judge_key(experiment, judge)
        repairs = RepairByJudge(**given, judge=judge, by=by)
    else:
        return []
    copies = [CopyVerdicts(run=site.run, by=by)] if experiment.judges_of("coverage") else []
    return [repairs, Split(run=site.run, units=experiment.units, label="split twins", step="repair"), *copies]


def judge_key(experiment: Experiment, name: str) -> str:
    """Return a key that changes with any change of what twins by judge *name* cite."""
    settings = experiment.support_judges[name]
    how = whole_identity(settings, experiment.judges)
    version = make_judge(name, experiment.judges, prompts=experiment.prompts).version.work
    repeats = [f"{settings.times} repeats"] if settings.times > 1 else []
    return content_key(versioned(JUDGED, experiment.units), name, how, version, *repeats)
