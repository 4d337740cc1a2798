"""
Faithfulness to documents: by system, by place in the prompt, by order, by length, methods against the plain one.

Wan et al. (2025). Every number is in points of 100 and stands with its interval over queries. The statistics are those
of `longform.results.faithfulness_tables` and `alignment`; here they become tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from longform.evidence.scan import pl
from longform.judges.matrix import BEST
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import GRID
from longform.results import faithfulness_tables as statistics
from longform.results.alignment import alignment_rows, attributed, placed_twice
from longform.results.evidence import Evidence
from longform.settings.named_judges import ALIGNERS
from longform.settings.systems import Permutations
from longform.studies.faithfulness_places import placed_twice_table, places
from longform.studies.faithfulness_systems import TOP, Row, against, against_told, lengths, orders, permutations
from longform.tables.table import SYSTEM, Column, Table

_MODES = {
    "cited": f"the documents that it cites and, if none of these supports it, the {BEST} others that an index finds "
    "nearest to it. No more are checked: nothing is said of places (`faithfulness: {mode: document}` checks all)",
    "document": "each document apart",
    "full": "all documents of the prompt as one text",
}


class Faithfulness:
    """All tables of summaries that support judges checked."""

    name = "faithfulness"
    needs = ("scores", "summaries", "verdicts", "contexts")
    measures = (*(merging.name for merging in GRID), SHARE)

    def result(self, evidence: Evidence) -> list[Table] | None:
        """Return the tables; None if no support judge was asked."""
        checked, experiment = evidence.checked, evidence.experiment
        if checked is None or experiment is None:
            return None
        how = evidence.averaging._replace(aggregate="pooled")
        merging = statistics.merging_of(experiment)
        placed, rows = attributed(checked, experiment)
        every = statistics.scored_summaries(evidence, placed, merging)
        summaries = every.filter(~pl.col("judge").is_in(ALIGNERS))
        width = experiment.permutations.half_width
        return tables(
            {
                "mode": experiment.support_mode,
                "merging": merging._asdict(),
                "attribution": experiment.faithfulness.attribution,
                "attributed": [one for one in rows if one["judge"] not in ALIGNERS],
                "places": statistics.place_rows(summaries, how),
                "orders": statistics.order_rows(summaries, how),
                "against_plain": statistics.against_plain(summaries, how),
                "lengths": statistics.length_rows(summaries, how),
                "alignment": alignment_rows(every, how),
                "placed_twice": placed_twice(every, how),
                "permutations": [
                    {**row, "stopped": _why_enough(row, experiment.permutations, budget_ended=evidence.budget_ended)}
                    for row in statistics.permutation_rows(summaries, width)
                ],
                "not_applicable": [
                    {"summarizer": system.summarizer, "setting": system.setting, "method": system.method}
                    for system in experiment.not_applicable()
                ],
            }
        )


def _why_enough(row: Row, settings: Permutations, *, budget_ended: bool) -> str:
    if settings.half_width is None:
        return "as many as asked for"
    if row["narrow"]:
        return f"narrower than {settings.half_width:g} to either side"
    if budget_ended:
        return "the budget ended"
    return "the most allowed" if row["n_orders"] >= settings.most else "not narrow yet"


def tables(found: Row) -> list[Table]:
    """Return the tables of the study."""
    untested = {(row["judge"], row.get("dataset")) for row in found["attributed"] if row["untestable"]}
    made = [
        _head(found),
        _not_applicable(found["not_applicable"]),
        against(found.get("against_plain") or []),
        orders(found["orders"]),
        permutations(found["permutations"]),
        *places(found, untested),
        placed_twice_table(found.get("placed_twice") or []),
        *lengths(found["lengths"]),
    ]
    return [table for table in made if table.rows]


def _head(found: Row) -> Table:
    """Return how sentences were checked and merged, below words on all tables; scores of systems are cells."""
    about = (
        "Whether documents support what summaries say. Each sentence is judged against "
        f"{_MODES[found['mode']]}. A verdict that is missing leaves undecided what it could change. Scores of systems "
        "stand under Scores."
    )
    return Table(
        TOP,
        [
            Column("mode", title="judged against", told="the documents that a sentence is judged against"),
            Column("documents_merged", title="over documents", told="how documents become one number a sentence"),
            Column("sentences_merged", title="over sentences", told="how sentences become one number a summary"),
            Column(
                "attribution",
                title="placed by",
                told="the judge that the configuration names for placing sentences",
                none="each judge",
            ),
        ],
        (),
        title="Faithfulness",
        told="\n\n".join([about, *against_told(found.get("against_plain") or [])]),
        page="faithfulness",
    ).having(
        [
            {
                "mode": found["mode"],
                "documents_merged": found["merging"]["documents"],
                "sentences_merged": found["merging"]["sentences"],
                "attribution": found["attribution"],
            }
        ]
    )


def _not_applicable(rows: Sequence[Row]) -> Table:
    return Table(
        "faithfulness_not_applicable",
        [Column("method"), *SYSTEM[:2]],
        (),
        told="Not applicable, because the method needs a chat model.",
        key=("setting", "summarizer"),
        section=TOP,
    ).having(rows)
