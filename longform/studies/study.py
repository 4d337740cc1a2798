"""
A study: what a run shows that is no mean over summaries.

A study is a class of one file (`longform.studies`, `docs/extending.md`) that returns tables, and needs nothing else:
they stand in `results.json` under `tables`, and whoever shows or exports them asks their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from longform.errors import UsageError, meant
from longform.results.evidence import Evidence
from longform.settings.strict import imported
from longform.studies import LISTED
from longform.tables.table import Table, Value

TABLES = frozenset({"calls", "contexts", "documents", "qrels", "rankings", "scores", "summaries", "units", "verdicts"})
Result = Table | Sequence[Table]


class RunStudy(Protocol):
    """
    A study as a class, shipped or a user's.

    A class attribute `name` is its key in `results.json`: that of its table, or the beginning of the names of several.
    These may stand beside it: `title` and `told`, the head and the text of its section; `needs`, the tables that it
    reads; `measures`, shipped ones that are scored for it.
    """

    def result(self, evidence: Evidence) -> Table | Sequence[Table] | Sequence[Mapping[str, Value]] | None:
        """Return its tables, or rows whose columns nothing describes; None: the run has nothing to study."""
        ...


@dataclass(frozen=True)
class Study:
    """A study of a run."""

    name: str  # key in a configuration and in `results.json`
    needs: Collection[str]  # the TABLES that it reads
    result: Callable[[Evidence], Result | None]  # pure; None: the run has nothing to study
    measures: tuple[str, ...] = ()  # scored for it, whether or not a configuration lists them
    of_user: bool = False  # a user brought it, perhaps under the name of a shipped one


def _opened(path: str) -> Study:
    made = imported(path)()
    return Study(made.name, made.needs, made.result, tuple(getattr(made, "measures", ())))


SHIPPED = tuple(map(_opened, LISTED.values()))

_OF_FAITHFULNESS = (
    "curves curves_untested shapes shapes_untested alignment alignment_untested attribution orders against_plain "
    "placed_twice permutations not_applicable lengths lengths_curves lengths_tokens lengths_tokens_curves"
)
RESERVED = frozenset(
    "cells measures failures judges judges_perturbed elsewhere several_models order_independent missing_ledgers "
    "comparisons_families comparisons_groups pairwise_systems pairwise_families pairwise_plans retrieval_pairs_systems "
    "retrieval_pairs_families retrieval_pairs_plans retrieval_pairs_best retrieval_against_generation_systems "
    "retrieval_against_generation_queries repair_changes repair_citations repair_examples cost_systems cost_judges "
    "facets_lengths key_points_judges calls_planned".split()
) | {f"faithfulness_{part}" for part in _OF_FAITHFULNESS.split()}
"""Names that no study of a user may have: a run makes tables of these. A listed one may be replaced by a user's."""


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


def study_tables(studies: Iterable[Study], evidence: Evidence) -> dict[str, Any]:
    """Return the tables of studies by name, as `results.json` has them; a study with nothing to study has none."""
    tables = [table for study in studies for table in tables_in(study.result(evidence)) or ()]
    return {table.name: table.as_json() for table in tables}


def tables_in(result: object) -> list[Table] | None:
    """Return the tables of a result; None: it is of another form."""
    if isinstance(result, Table):
        return [result]
    parts = list(result) if isinstance(result, list | tuple) else []
    own = [one for one in parts if isinstance(one, Table)]
    return own if own and len(own) == len(parts) else None
