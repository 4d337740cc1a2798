"""Tables of faithfulness and coverage by place in the prompt: curves, their shapes, and what placed the sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from longform.axes import SystemAxes
from longform.metrics.position_bias import FOUND
from longform.studies.faithfulness_systems import (
    APART,
    CURVES,
    KEY,
    NAMED_BY,
    SETTING,
    SHORTER,
    Row,
    flat,
    nothing_there,
)
from longform.tables.table import DATASET, JUDGE, Axes, Column, Table

MEASURES = ("faithfulness", "coverage")
INDEX = ("spread", "lead", "ends", "p", "p_lead", "p_ends", "p_holm", "shape")
DEGENERATE = ("n_summaries", "n_empty", "n_sentences", "n_unattributed", "n_bins_never_attributed")

CURVES_TITLE = "Faithfulness and coverage by place in the prompt"
UNTESTED = "_untested"
"""Ends the names of tables of judges without a curve, which only programs read."""
_FEW_PLACES = "fewer than three places"
_ABOUT_PLACES = (
    "Faithfulness at a place: the mean of the sentences whose best supporting document stands there. Coverage at a "
    "place: the mean of all sentences against the document there, that is how much of the summary it supports; it says "
    "what the summary draws on, not what it gets wrong. Places are counted from 1; where prompts have different "
    "lengths, places are binned by their share of the prompt's documents."
)


def places(found: Row, untested: set[tuple[Any, Any]]) -> Iterator[Table]:
    """Yield curves and their shapes; those of judges that cannot be tested are for programs alone."""

    def of(name: str, *, hidden: bool = False) -> list[Row]:
        judges = ("judge", "second")
        own = ({(row[one], row.get("dataset")) for one in judges if one in row} for row in found[name])
        return [row for row, named in zip(found[name], own, strict=True) if bool(named & untested) == hidden]

    yield _curves(of("places"))
    yield _attribution(found, is_shown=bool(found["places"]))
    yield _shapes(of("places"))
    yield _alignment(of("alignment"))
    hidden = of("places", hidden=True)
    for table in (_curves(hidden), _shapes(hidden), _alignment(of("alignment", hidden=True))):
        yield table._replace(name=f"{table.name}{UNTESTED}", shown=False, plot=None)


def _curves(systems: Sequence[Row]) -> Table:
    rows = [
        {**flat(row), "measure": measure, "beside": _beside(row), "place": place, "value": point}
        for measure in MEASURES
        for row in systems
        for place, point in enumerate(row[measure]["curve"] or [], start=1)
    ]
    return Table(
        CURVES,
        [
            Column("measure"),
            *NAMED_BY,
            *SETTING,
            Column("beside", told="the plain system that another one stands beside in a figure", shown=False),
            Column("place", "count"),
            Column("value", "points", "mean probability", unknown=SHORTER),
        ],
        (),
        title=CURVES_TITLE,
        told=_ABOUT_PLACES,
        key=("measure", *KEY, "place"),
        reasons=nothing_there(rows),
        plot=Axes(
            "line",
            "place",
            "value",
            by="summarizer, setting",
            apart=("measure", "judge"),
            panels="dataset",
            beside="beside",
        ),
        apart=("measure", "judge", "dataset"),
        across="place",
        page="position",
    ).having(rows)


def _beside(row: Row) -> str | None:
    """Name the plain system of a row's summarizer, ranking and budget; None: it is that one."""
    axes = SystemAxes(**{"retriever": "", **(row.get("axes") or {})})
    plain = SystemAxes(axes.retriever, axes.reranker, axes.budget_tokens)
    has_budget = row["setting"] == axes.words(with_budget=True) != axes.words(with_budget=False)
    return None if axes == plain else f"{row['summarizer']}, {plain.words(with_budget=has_budget)}"


def _attribution(found: Row, *, is_shown: bool) -> Table:
    named, rows = found["attribution"], found["attributed"]
    told = (
        f"A sentence stands where judge {named} finds its best supporting document, as the configuration says."
        if named is not None
        else "A sentence stands where the judge that places it finds its best supporting document, supported or not. "
        "If that is another judge, the first one still says how faithful the sentences are."
    )
    columns = [
        DATASET,
        JUDGE,
        Column("by", title="placed by"),
        Column("n_decided", "count", "sentences"),
        Column(
            "n_unplaced_by_itself",
            "count",
            "without a place by itself",
            "sentences that the judge calls unsupported, and has no best document for",
            of="n_decided",
        ),
        Column(
            "untestable",
            title="cannot be tested with this judge",
            told="why it has no curve",
            shown=any(row["untestable"] for row in rows),
            unknown="it has a curve",
        ),
    ]
    return Table(
        "faithfulness_attribution",
        columns,
        (),
        title=CURVES_TITLE,
        told="" if all(row["untestable"] for row in rows) else told,
        key=("dataset", "judge"),
        section=CURVES,
        page="position",
        shown=is_shown,
    ).having(rows)


def _shapes(systems: Sequence[Row]) -> Table:
    rows = [
        {
            **flat(row),
            "measure": measure,
            "bins": row["bins"],
            **{name: (row[measure]["index"] or {}).get(name) for name in INDEX},
            "untestable": row[measure].get("reason"),
            **{name: row["degenerate"].get(name) for name in DEGENERATE},
        }
        for row in systems
        for measure in MEASURES
    ]
    columns = [
        *NAMED_BY,
        *SETTING,
        Column("measure"),
        Column("bins", "count", "places", "those of a curve", shown=False),
        Column(
            "spread",
            "points",
            "distance from flat",
            "root of the mean square distance of places from their mean",
            unknown=_FEW_PLACES,
        ),
        Column("lead", "difference", "lead of the first third", "over the last third", unknown=_FEW_PLACES),
        Column(
            "ends", "difference", "lead of the ends", "of the first and last third over the middle", unknown=_FEW_PLACES
        ),
        *(Column(name, "p", shown=False, unknown=_FEW_PLACES) for name in ("p", "p_lead", "p_ends")),
        Column(
            "p_holm",
            "p",
            "p",
            "of the distance from flat, when the documents of each prompt change places at random, adjusted for the "
            "rows of a judge, data set and measure (Holm)",
            unknown=_FEW_PLACES,
        ),
        Column(
            "shape",
            told=f"named only if that p, and the p of either lead, is at most {FOUND:g}; a flat curve gets a name in "
            f"about 1 of {round(1 / FOUND):,} families",
            unknown=_FEW_PLACES,
        ),
        Column(
            "n_unattributed",
            "count",
            "sentences without a place",
            "no document supports them, or they are undecided",
            of="n_sentences",
        ),
        Column("n_empty", "count", "empty summaries", "without a sentence", of="n_summaries"),
        Column("n_sentences", "count", shown=False),
        Column("n_summaries", "count", shown=False),
        Column("n_bins_never_attributed", "count", told="places that no sentence is attributed to", shown=False),
        Column("untestable", told="why the measure has no curve", shown=False),
    ]
    return Table(
        "faithfulness_shapes",
        columns,
        (),
        told="How far the curves are from flat, in points.",
        key=(*KEY, "measure"),
        apart=APART,
        section=CURVES,
    ).having(rows)


def _alignment(pairs: Sequence[Row]) -> Table:
    rows = [
        {
            **{name: row.get(name) for name in ("dataset", "judge", "second", "same", "n")},
            "spearman": _spearman(row),
        }
        for row in pairs
    ]
    columns = [
        DATASET,
        JUDGE,
        Column("second", title="second judge"),
        Column(
            "spearman",
            "coefficient",
            "Spearman",
            "between the places; 1 is the same order",
            unknown="fewer than two sentences, or all at one place",
        ),
        Column(
            "same",
            "count",
            "same place",
            "sentences that both put to one document; chance alone puts some there",
            of="n",
            unknown="results of an older version",
        ),
        Column("n", "count", "sentences"),
    ]
    return Table(
        "faithfulness_alignment",
        columns,
        (),
        told="Whether two judges attribute sentences to the same places.",
        key=("dataset", "judge", "second"),
        section=CURVES,
    ).having(rows)


def _spearman(row: Row) -> Row | None:
    bounds = {name: row.get(name) for name in ("low", "high")}
    return None if row["spearman"] is None else {"value": row["spearman"], **bounds, "n": row["n"]}


def placed_twice_table(systems: Sequence[Row]) -> Table:
    rows = [
        {
            **flat(row),
            "second": row["second"],
            "by": by,
            "place": place,
            "value": point,
            "spearman": row["spearman"],
        }
        for row in systems
        for by, curve in ((row["judge"], row["own"]), (row["second"], row["other"]))
        for place, point in enumerate(curve, start=1)
    ]
    seconds = " or ".join(dict.fromkeys(row["second"] for row in systems))
    return Table(
        "faithfulness_placed_twice",
        [
            *NAMED_BY,
            *SETTING,
            Column("second", shown=False),
            Column("by", title="placed by"),
            Column("place", "count"),
            Column("value", "points", "faithfulness", unknown=SHORTER),
            Column(
                "spearman",
                "coefficient",
                "Spearman",
                "between the two curves; few places make it coarse",
                unknown="a place without a sentence, or all places alike",
            ),
        ],
        (),
        told="Faithfulness by place, documents as given, with sentences placed twice: by the attribution that the "
        f"curves above have, and by {seconds}, which reads no judge's numbers.",
        key=(*KEY, "by", "place"),
        reasons=nothing_there(rows),
        plot=Axes("line", "place", "value", by="summarizer, setting, by", apart=("judge",), panels="dataset"),
        apart=APART,
        across="place",
        section=CURVES,
    ).having(rows)
