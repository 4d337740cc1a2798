"""
Repair by a support judge: `summaries` x `verdicts` of the check -> `summaries`, twins that cite what the verdicts say.

The verdicts are those that the check stage stored; nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from actors.judges.opening import make_judge
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.items import WHOLE, Given, Item, Source, SourceReader
from jobs.stages.judge import Judged, checks_of, with_repeats
from jobs.stages.repair import CopyVerdicts, Twin, after_repair, twin_work_id, with_lines
from jobs.stages.split import Split
from jobs.stages.stage import Plan, Site, Stage, Works
from longform.judges.kinds.support import SUPPORT, YES
from longform.judges.means import merged_repeats
from longform.keys import content_key, in_groups
from longform.repair.twins import JUDGED, Held, How, JudgedText, Support, counts, judged_text, twin, twin_label
from longform.results.evidence import TwinDriver
from longform.rows import SummaryRow, VerdictRow
from longform.schemas import DOCUMENTS, SUMMARIES
from longform.settings.experiment import Experiment
from longform.settings.named_judges import whole_identity
from longform.text.units import UnitKind, versioned

_COLUMNS = [
    "work_id", "unit_index", "target_id", "answer", "probability", "summary_id", "mode", "text_index", "doc_position",
    "repeat", "reply",
]  # fmt: skip
_SUMMARIES_AT_ONCE = 64


def judge_key(experiment: Experiment, name: str) -> str:
    """Return a key that changes with any change of what twins by judge *name* cite."""
    settings = experiment.support_judges[name]
    how = whole_identity(settings, experiment.judges)
    version = make_judge(name, experiment.judges, prompts=experiment.prompts).version.work
    repeats = [f"{settings.times} repeats"] if settings.times > 1 else []
    return content_key(versioned(JUDGED, experiment.units), name, how, version, *repeats)


@dataclass(frozen=True, kw_only=True)
class RepairByJudge(Stage[Twin]):
    """Cites by the stored verdicts of a support judge."""

    step = "repair"
    reads: ClassVar = {"summaries": WHOLE, "verdicts": _COLUMNS, "documents": DOCUMENTS.names}
    table = "summaries"
    columns = SUMMARIES.names
    per_task = 64

    bench: str  # URL
    units: UnitKind  # the kind of text that cites
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

        def twins(given: Sequence[Given[Twin]]) -> Iterator[SummaryRow]:
            for one in given:
                originals, *repeats = one.sources
                (summary,) = (row for row in reader.rows(originals, SummaryRow) if row["step"] is None)
                verdicts = [row for repeat in repeats for row in reader.rows(repeat, VerdictRow)]
                support = support_of(verdicts, _numbers(benchmark, summary["haystack_id"]))
                found = _judged(with_lines(summary, self.units), support)
                text = None if found is None else found.text
                yield twin(summary, text, by=self.by, cited_by=self.judge) | {"work_id": one.work_id}

        return twins


def stages(experiment: Experiment, site: Site) -> list[RepairByJudge | Split | CopyVerdicts]:
    """Return the stage that makes twins by a judge, and those that follow; none if no judge is to drive citations."""
    judge = experiment.citing_judge
    if judge is None:
        return []
    by = judge_key(experiment, judge)
    repaired = RepairByJudge(run=site.run, bench=site.bench, units=experiment.units, judge=judge, by=by)
    return [repaired, *after_repair(site.run, experiment.units, by=by, judged=experiment.judges_of("coverage"))]


def _judged(summary: SummaryRow, support: Mapping[int, Support]) -> JudgedText | None:
    return None if summary["text"] is None else judged_text(summary["text"], support)


def _numbers(benchmark: Benchmark, haystack_id: str) -> dict[str, int]:
    return {document.doc_id: document.number for document in benchmark.documents(haystack_id)}


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


# ---------------------------------------------------------------- for the report


def judge_driver(
    run: Folder, benchmark: Benchmark, experiment: Experiment, name: str, checks: Iterable[Item[Judged]]
) -> TwinDriver:
    """
    Describe the judge that drove the citations for the report, with the number of bullets by the origin of their
    citations.
    """
    hows = _hows(run, benchmark, [item for item in checks if item.key.judge == name], experiment.units)
    return {
        "by": name,
        "label": twin_label(name),
        "bullets": counts(hows),
    }


def _hows(run: Folder, benchmark: Benchmark, checked: Sequence[Item[Judged]], units: UnitKind) -> Iterator[How]:
    """Give the origin of each bullet's citations; the verdicts of a few summaries are in memory at a time."""
    summaries, verdicts = run.snapshot("summaries"), run.snapshot("verdicts")
    by_summary = with_repeats(checked)
    by_summary.sort(key=lambda repeats: verdicts.located[repeats[0].work_id])  # those of one part together
    for start in range(0, len(by_summary), _SUMMARIES_AT_ONCE):
        some = by_summary[start : start + _SUMMARIES_AT_ONCE]
        chunk = {repeats[0].key.summary: repeats[0] for repeats in some}
        first = {one.work_id: repeats[0].work_id for repeats in some for one in repeats}
        rows: list[VerdictRow] = verdicts.read(work_ids=list(first), columns=_COLUMNS).to_pylist()
        said = in_groups((first[row["work_id"]], row) for row in rows)
        for summary in summaries.read(work_ids=list(chunk), columns=["work_id", "step", "text"]).to_pylist():
            one = chunk[summary["work_id"]]
            numbers = _numbers(benchmark, benchmark.queries[one.key.query_id].haystack_id)
            support = support_of(said.get(one.work_id, []), numbers)
            found = _judged(with_lines(summary, units), support) if summary["step"] is None else None
            yield from found.hows if found else ()
