"""Counts of each system's bullets by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.evidence.scan import pl
from longform.evidence.scores import final, means, with_facts
from longform.judges.failure_modes import CLASSES
from longform.results.aggregate import axes_in, by_system, marks_of
from longform.results.evidence import Evidence, rows_of
from longform.tables.table import AXES, CUT, NAMED, Column, Table

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
        rows = rows_of(evidence, MEASURES, lambda own: failure_modes(own.scores, own.facts, judge=own.judge))
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


def failure_modes(scores: pl.DataFrame, facts: pl.DataFrame, *, judge: str | None) -> list[Row]:
    """Count each system's bullets by class; systems whose bullets were not classified have no row."""
    summaries = final(facts)
    own = means(scores.filter(pl.col("measure").is_in(MEASURES)))
    linked = own.filter(pl.col("measure") == "bullets_linked", pl.col("n") > 0)
    systems = summaries.select("summary_id", "setting", "summarizer").join(linked, on="summary_id", how="semi")
    sums = by_system(with_facts(own, systems).group_by("setting", "summarizer", "measure").agg(pl.col("total").sum()))
    found: list[Row] = []
    for (setting, summarizer), group in by_system(summaries).items():
        if (setting, summarizer) in sums:
            totals = dict(sums[setting, summarizer].select("measure", "total").iter_rows())
            counts = {str(name): int(totals[f"bullets_{name}"]) for name in CLASSES}
            found.append(
                {
                    "summarizer": summarizer,
                    "setting": setting,
                    **marks_of(group),
                    **axes_in(group),
                    "judge": judge,
                    "dataset": group["dataset"][0],
                    "n_bullets": sum(counts.values()),
                    **counts,
                    "cut_share": group["cut_share"].mean(),
                    "in_sample": [],
                }
            )
    return found
