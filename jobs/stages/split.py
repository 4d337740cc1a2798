"""
Split: `summaries` -> `units`, the statements, bullets or sentences of each summary with their citations. 1:N.

A summary that failed has no units; one that is empty has none either, and only the first is unjudged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from jobs.stages.items import Item, Source, SourceReader
from jobs.stages.stage import Plan, Site, Stage, Works
from longform.keys import content_key
from longform.rows import SummaryRow, UnitRow
from longform.schemas import UNITS
from longform.settings.experiment import Experiment
from longform.text.units import VERSIONS, UnitKind, units_of


def unit_work_id(summary_work_id: str, kind: UnitKind = "bullets") -> str:
    return content_key("units", summary_work_id, VERSIONS[kind])


class UnitsOf(NamedTuple):
    """The units of one summary, by its work id."""

    summary: str


@dataclass(frozen=True, kw_only=True)
class Split(Stage[UnitsOf]):
    """Splits all summaries of the stages before it that are not split yet."""

    reads: ClassVar = {"summaries": ("work_id", "summary_id", "query_id", "haystack_id", "step", "text")}
    table = "units"
    columns = UNITS.names
    per_task = 256

    units: UnitKind = "bullets"
    label: str = "split"  # its name; a run may split twice
    step: str = "split"

    @property
    def name(self) -> str:
        return self.label

    def items(self, plan: Plan) -> list[Item[UnitsOf]]:
        split = {units.key.summary for units in plan.of(UnitsOf)}
        return [
            Item(unit_work_id(summary, self.units), UnitsOf(summary), (Source("summaries", summary),))
            for summary in plan.work_ids("summaries")
            if summary not in split
        ]

    def worker(self, reader: SourceReader) -> Works[UnitsOf]:
        def split(given: Sequence[Item[UnitsOf]]) -> list[UnitRow]:
            return [
                unit
                for one in given
                for summary in reader.rows(one.sources[0], SummaryRow)
                if summary["step"] is None  # what a method wrote on its way is no summary
                for unit in unit_rows(summary, one.work_id, self.units)
            ]

        return split


def stages(experiment: Experiment, site: Site) -> list[Split]:
    """Return the stage that splits what summarizers wrote."""
    return [Split(run=site.run, units=experiment.units)]


def unit_rows(summary: SummaryRow, work_id: str, kind: UnitKind) -> list[UnitRow]:
    """Return the rows of one summary."""
    return [
        {
            "work_id": work_id,
            "summary_id": summary["summary_id"],
            "query_id": summary["query_id"],
            "haystack_id": summary["haystack_id"],
            "unit_index": index,
            "text": bullet.text,
            "citations": bullet.citations,
        }
        for index, bullet in enumerate(units_of(summary["text"] or "", kind))
    ]
