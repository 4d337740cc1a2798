"""
A study: what a run shows that is no mean over summaries.

Its result stands in `results.json` under its name. A section of the report draws it (`longform.report.sections`). A new
study is a file in `longform/results/`, its place in this list, and its section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longform.errors import UsageError
from longform.metrics.faithfulness import GRID
from longform.results.before_after import MEASURES as REPAIRED
from longform.results.bullet_classes import MEASURES as CLASSES
from longform.results.bullet_classes import bullet_classes
from longform.results.comparisons import MEASURE, comparisons
from longform.results.evidence import Evidence
from longform.results.faithfulness import faithfulness
from longform.results.minutes import over_minutes
from longform.results.position import position
from longform.results.repair import repair
from longform.results.retrieval_tables import retrieval

FAITHFULNESS = tuple(merging.name for merging in GRID)
Table = Literal["calls", "contexts", "documents", "qrels", "rankings", "scores", "summaries", "units", "verdicts"]


@dataclass(frozen=True)
class Study:
    """
    A study of a run.

    Attributes:
        name: In a configuration and in `results.json`.
        needs: The tables that it reads.
        result: A pure function from a run's evidence to JSON values; None: the run has nothing to study.
        measures: Measures that are scored for it, whether or not a configuration lists them.
    """

    name: str
    needs: frozenset[Table]
    result: Callable[[Evidence], Any | None]
    measures: tuple[str, ...] = ()


SHIPPED = (
    Study("comparisons", frozenset({"scores", "summaries"}), comparisons, (MEASURE,)),
    Study("position", frozenset({"scores", "summaries"}), position, (MEASURE,)),
    Study("retrieval", frozenset({"rankings", "contexts", "qrels"}), retrieval),
    Study("repair", frozenset({"scores", "summaries", "units", "verdicts", "documents"}), repair, REPAIRED),
    Study("faithfulness", frozenset({"scores", "summaries", "verdicts", "contexts"}), faithfulness, FAITHFULNESS),
    Study("curve", frozenset({"scores", "summaries"}), over_minutes),
    Study("failure_modes", frozenset({"scores", "summaries"}), bullet_classes, CLASSES),
    Study("calls", frozenset({"calls"}), lambda evidence: evidence.calls),
)


def named_studies(names: Sequence[str] | None) -> list[Study]:
    """
    Return the studies of these *names*, in their order; None: all.

    Raises:
        UsageError: There is no such study.
    """
    known = {study.name: study for study in SHIPPED}
    for name in names or ():
        if name not in known:
            raise UsageError(f"studies: expected some of {', '.join(sorted(known))}, found {name!r}")
    return list(SHIPPED) if names is None else [known[name] for name in names]


def study_results(studies: Iterable[Study], evidence: Evidence) -> dict[str, Any]:
    """Return the result of each study by its name; a study without a result is left out."""
    found = {study.name: study.result(evidence) for study in studies}
    return {name: result for name, result in found.items() if result is not None}
