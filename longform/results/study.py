"""
A study: what a run shows that is no mean over summaries.

A study that returns a `longform.tables.table.Table` needs nothing else: the table stands in `results.json` under
`tables`, and whoever shows or exports it asks its columns. So do classes of users (`actors.studies`). The result of an
older one stands under its name, and a section of the report of its own draws it (`longform.report.sections`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longform.errors import UsageError
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import GRID
from longform.nearest import meant
from longform.results.before_after import MEASURES as REPAIRED
from longform.results.bullet_classes import MEASURES as CLASSES
from longform.results.bullet_classes import bullet_classes
from longform.results.comparisons import MEASURE, comparisons
from longform.results.cost import cost
from longform.results.evidence import Evidence
from longform.results.facets import facets
from longform.results.faithfulness import faithfulness
from longform.results.key_points import POOLED, PRECISION, RECALL, key_points
from longform.results.minutes import over_minutes
from longform.results.pairwise import pairwise
from longform.results.position import position
from longform.results.repair import repair
from longform.results.retest import retests
from longform.results.retrieval_against_generation import retrieval_against_generation
from longform.results.retrieval_pairs import retrieval_pairs
from longform.results.retrieval_tables import retrieval
from longform.results.rouge_bootstrap import rouge_bootstrap
from longform.tables.table import Table

FAITHFULNESS = (*(merging.name for merging in GRID), SHARE)
TABLES = frozenset({"calls", "contexts", "documents", "qrels", "rankings", "scores", "summaries", "units", "verdicts"})
Result = Sequence[Mapping[str, object]] | Mapping[str, object] | Table
"""A table; or rows or one mapping of JSON values, of which the type that each study returns says more."""


@dataclass(frozen=True)
class Study:
    """
    A study of a run.

    Attributes:
        name: In a configuration and in `results.json`.
        needs: The TABLES that it reads.
        result: A pure function from a run's evidence to a result; None: the run has nothing to study.
        measures: Measures that are scored for it, whether or not a configuration lists them.
    """

    name: str
    needs: Collection[str]
    result: Callable[[Evidence], Result | None]
    measures: tuple[str, ...] = ()


SHIPPED = (
    Study("comparisons", {"scores", "summaries"}, comparisons, (MEASURE,)),
    Study("pairwise", {"scores", "summaries"}, pairwise),
    Study("position", {"scores", "summaries"}, position, (MEASURE,)),
    Study("retrieval", {"rankings", "contexts", "qrels"}, retrieval),
    Study("retrieval_pairs", {"rankings", "contexts", "qrels", "summaries"}, retrieval_pairs),
    Study(
        "retrieval_against_generation",
        {"rankings", "contexts", "documents", "qrels", "scores", "summaries"},
        retrieval_against_generation,
    ),
    Study("repair", {"scores", "summaries", "units", "verdicts", "documents"}, repair, REPAIRED),
    Study("faithfulness", {"scores", "summaries", "verdicts", "contexts"}, faithfulness, FAITHFULNESS),
    Study("facets", {"scores", "summaries"}, facets),
    Study("key_points", {"scores", "summaries"}, key_points, (RECALL, POOLED, PRECISION)),
    Study("curve", {"scores", "summaries"}, over_minutes),
    Study("failure_modes", {"scores", "summaries"}, bullet_classes, CLASSES),
    Study("rouge_bootstrap", {"scores", "summaries"}, rouge_bootstrap),
    Study("cost", {"scores", "summaries", "calls"}, cost, (MEASURE,)),
    Study("retest", {"verdicts", "summaries"}, retests),
    Study("calls", {"calls"}, lambda evidence: evidence.calls),
)

RESERVED = frozenset(study.name for study in SHIPPED)
"""Names that no study of a user may have."""


def named_studies(names: Sequence[str] | None) -> list[Study]:
    """
    Return the studies of these *names*, in their order; None: all.

    Raises:
        UsageError: There is no such study.
    """
    known = {study.name: study for study in SHIPPED}
    for name in names or ():
        if name not in known:
            raise UsageError(
                f"studies: expected some of {', '.join(sorted(known))}, found {name!r}{meant(name, known)}"
            )
    return list(SHIPPED) if names is None else [known[name] for name in names]


def study_results(studies: Iterable[Study], evidence: Evidence) -> dict[str, Any]:
    """Return the tables of studies under `tables`, and other results by name; None is left out."""
    found: dict[str, Any] = {}
    tables: dict[str, Any] = {}
    for study in studies:
        result = study.result(evidence)
        if isinstance(result, Table):
            tables[study.name] = result.as_json()
        elif result is not None:
            found[study.name] = result
    return found | ({"own_studies": _as_before(tables), "tables": tables} if tables else {})


def _as_before(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {name: {key: table[key] for key in ("title", "told", "rows")} for name, table in tables.items()}
