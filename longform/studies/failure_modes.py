"""Counts of each system's bullets by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.judges.failure_modes import CLASSES
from longform.results.aggregate import Group, axes_json, final_summaries, mean_cut_share, systems_of, twin_names
from longform.results.evidence import Evidence, rows_of
from longform.tables.names import AXES, CUT, NAMED
from longform.tables.table import Column, Table

Row = Mapping[str, Any]
MEASURES = tuple(f"bullets_{name}" for name in CLASSES)


_TOLD = {
    "linked": "an insight was found in it",
    "header": "introduces a list",
    "other_subtopic": "matches an insight of another query",
    "generic": "names nothing specific",
    "unsupported": "no document of the haystack has its words",
    "unclassified": "none of these",
}


class FailureModes:
    """Bullets of each system by what became of them."""

    name = "failure_modes"
    needs = ("scores", "summaries")
    measures = MEASURES

    def result(self, evidence: Evidence) -> Table | None:
        """Return a row for each system under every judge and data set."""
        rows = rows_of(evidence, MEASURES, lambda own: failure_modes(own.summaries, judge=own.judge))
        return table(rows) if rows else None


def table(rows: Sequence[Row]) -> Table:
    """Return the counts as a table that describes itself."""
    classes = [
        Column(name, "count", name.replace("_", " "), told, "higher" if name == "linked" else "lower", of="n_bullets")
        for name, told in _TOLD.items()
    ]
    return Table(
        "failure_modes",
        [*NAMED, *AXES, Column("order", shown=False), Column("n_bullets", "count", "bullets"), *classes, CUT],
        (),
        title="What bullets fail by",
        told="Bullets by what became of them, and their share. By rule, so indications only.",
        key=["dataset", "judge", "summarizer", "setting"],
        page="scores",
    ).having(rows)


def failure_modes(summaries: Group, *, judge: str | None) -> list[Row]:
    """Count each system's bullets by class; systems whose bullets were not classified have no row."""
    found: list[Row] = []
    for (setting, summarizer), group in sorted(systems_of(final_summaries(summaries)).items()):
        classified = [s for s in group if s.measures.get("bullets_linked", (0, 0, 0))[1]]
        if classified:
            counts = {str(name): int(sum(s.measures[f"bullets_{name}"][0] for s in classified)) for name in CLASSES}
            found.append(
                {
                    "summarizer": summarizer,
                    "setting": setting,
                    **twin_names(group),
                    **(axes_json(group[0].info) or {}),
                    "judge": judge,
                    "dataset": group[0].info.dataset,
                    "n_bullets": sum(counts.values()),
                    **counts,
                    "cut_share": mean_cut_share(group),
                    "in_sample": [],
                }
            )
    return found
