"""Counts of each system's bullets by class."""

from __future__ import annotations

from longform.judges.failure_modes import CLASSES
from longform.results.aggregate import Group, axes_json, final_summaries, mean_cut_share, systems_of, twin_names
from longform.results.columns import AxesColumns, SystemRow, with_columns
from longform.results.evidence import Evidence, rows_of

MEASURES = tuple(f"bullets_{name}" for name in CLASSES)


class ClassesRow(SystemRow):
    """Bullets of a system; a column for each class has their number."""

    axes: AxesColumns | None
    n_bullets: int


def bullet_classes(evidence: Evidence) -> list[ClassesRow]:
    """Return the rows of every judge and data set."""
    return rows_of(evidence, MEASURES, lambda own: failure_modes(own.summaries, judge=own.judge))


def failure_modes(summaries: Group, *, judge: str | None) -> list[ClassesRow]:
    """Count each system's bullets by class; systems whose bullets were not classified have no row."""
    found: list[ClassesRow] = []
    for (setting, summarizer), group in sorted(systems_of(final_summaries(summaries)).items()):
        classified = [s for s in group if s.measures.get("bullets_linked", (0, 0, 0))[1]]
        if classified:
            counts = {str(name): int(sum(s.measures[f"bullets_{name}"][0] for s in classified)) for name in CLASSES}
            row: ClassesRow = {
                "summarizer": summarizer,
                "setting": setting,
                **twin_names(group),
                "axes": axes_json(group[0].info),
                "judge": judge,
                "dataset": group[0].info.dataset,
                "n_bullets": sum(counts.values()),
                "cut_share": mean_cut_share(group),
                "in_sample": [],
            }
            found.append(with_columns(row, counts))
    return found
