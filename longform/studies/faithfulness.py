"""
Faithfulness to documents: by system, by place in the prompt, by order, by length, methods against the plain one.

Wan et al. (2025). Every number is in points of 100 and stands with its interval over queries. The statistics are those
of `longform.results.faithfulness_tables`, `alignment` and `against_plain`; here they become tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.axes import Axes as SystemAxes
from longform.judges.cited_first import BEST
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import GRID
from longform.metrics.paired_differences import ALPHA
from longform.metrics.position_bias import FOUND
from longform.results import faithfulness_tables as statistics
from longform.results.against_plain import against_plain
from longform.results.alignment import alignment_rows, placed_twice
from longform.results.checked import CheckedRun, CheckedSummary
from longform.results.comparisons import NOT_DISTINGUISHABLE
from longform.results.evidence import Evidence
from longform.results.faithfulness_rows import DrawnRow
from longform.results.spent import mean_spent
from longform.studies.sensitivity import finding, sensitivity_columns
from longform.tables.names import AXES, DATASET, JUDGE, SYSTEM
from longform.tables.table import Axes, Column, Table

Row = Mapping[str, Any]
ORDERS = ("given", "top", "middle", "bottom", "random")
MEASURES = ("faithfulness", "coverage")
INDEX = ("spread", "lead", "ends", "p", "p_lead", "p_ends", "p_holm", "shape")
DEGENERATE = ("n_summaries", "n_empty", "n_sentences", "n_unattributed", "n_bins_never_attributed")

_TOP = "faithfulness"
_CURVES, _CURVES_TITLE = "faithfulness_curves", "Faithfulness and coverage by place in the prompt"
_UNTESTED = "_untested"
"""Ends the names of tables of judges without a curve, which only programs read."""
_NO_SCORE = "no sentence could be scored"
_NOTHING_THERE = "no sentence is attributed to this place"
_SHORTER = "prompts of this system are shorter"
_FEW_PLACES = "fewer than three places"
_NOT_IN_BOTH = "no query has a score in both"
_UNBOUNDED = "so few queries bound no difference"
_NAMED = (DATASET, *SYSTEM[:2], JUDGE)
_SETTING = (*AXES, Column("order", shown=False))
_KEY = ("judge", "dataset", "setting", "summarizer")
_APART = ("judge", "dataset")
_MODES = {
    "cited": f"the documents that it cites and, if none of these supports it, the {BEST} others that an index finds "
    "nearest to it. No more are checked: nothing is said of places (`faithfulness: {mode: document}` checks all)",
    "document": "each document apart",
    "full": "all documents of the prompt as one text",
}
_ABOUT_PLACES = (
    "Faithfulness at a place: the mean of the sentences whose best supporting document stands there. Coverage at a "
    "place: the mean of all sentences against the document there, that is how much of the summary it supports; it says "
    "what the summary draws on, not what it gets wrong. Places are counted from 1; where prompts have different "
    "lengths, places are binned by their share of the prompt's documents."
)
_COSTS = [
    Column(
        "usd_a_summary",
        "usd",
        "dollars a summary",
        "over the calls that wrote it, judges apart; 0 only if no model is asked or its price is 0",
        digits=5,
    ),
    Column("tokens_in", "number", "tokens in, a summary", digits=0),
    Column("tokens_out", "number", "tokens out, a summary", digits=0),
    Column("seconds", "number", "seconds a summary"),
]


class Faithfulness:
    """All tables of summaries that support judges checked."""

    name = "faithfulness"
    needs = ("scores", "summaries", "verdicts", "contexts")
    measures = (*(merging.name for merging in GRID), SHARE)

    def result(self, evidence: Evidence) -> list[Table] | None:
        """Return the tables; None if no support judge was asked."""
        checked = evidence.checked
        if checked is None:
            return None
        how = evidence.averaging._replace(aggregate="pooled")
        summaries = [summary for summary in checked.summaries if summary.judge not in checked.aligners]
        untestable = {(one.judge, one.dataset): why for one in checked.attributions if (why := one.untestable)}
        return tables(
            {
                "mode": checked.mode,
                "merging": {"documents": checked.merging.documents, "sentences": checked.merging.sentences},
                "attribution": checked.attribution,
                "attributed": [one.as_json() for one in checked.attributions if one.judge not in checked.aligners],
                "cells": statistics.cells(summaries, how),
                "places": statistics.place_rows(summaries, how, untestable),
                "orders": statistics.order_rows(summaries, how),
                "against_plain": against_plain(summaries, how),
                "lengths": statistics.length_rows(summaries, how, untestable),
                "alignment": alignment_rows(checked.summaries, how),
                "placed_twice": placed_twice(summaries, checked.summaries, how, untestable),
                "permutations": [
                    {**row, "stopped": _why_enough(row, checked)}
                    for row in statistics.permutation_rows(summaries, checked.permutations.half_width)
                ],
                "not_applicable": [
                    {"summarizer": system.summarizer, "setting": system.setting, "method": system.method}
                    for system in checked.not_applicable
                ],
            },
            costs=_costs(summaries, evidence),
        )


def _costs(summaries: Sequence[CheckedSummary], evidence: Evidence) -> Mapping[tuple[Any, ...], Row]:
    """Return the mean cost of each row of cells, with reasons; none if the run knows of no cost."""
    groups = statistics.groups(summaries) if evidence.spent else ()
    found = {}
    for key, group in groups:
        means, reasons = mean_spent([one.scored for one in group], evidence.spent)
        named = key.named()
        found[tuple(named.get(name) for name in _KEY)] = {**means, "reasons": reasons}
    return found


def _why_enough(row: DrawnRow, checked: CheckedRun) -> str:
    settings = checked.permutations
    if settings.half_width is None:
        return "as many as asked for"
    if row["narrow"]:
        return f"narrower than {settings.half_width:g} to either side"
    if checked.budget_ended:
        return "the budget ended"
    return "the most allowed" if row["n_orders"] >= settings.most else "not narrow yet"


def tables(found: Row, *, costs: Mapping[tuple[Any, ...], Row] | None = None) -> list[Table]:
    """Return the tables of the study; *costs* are those of the rows of cells, by their keys."""
    untested = {(row["judge"], row.get("dataset")) for row in found["attributed"] if row["untestable"]}
    made = [
        _cells(found, costs or {}),
        _not_applicable(found["not_applicable"]),
        _against(found.get("against_plain") or []),
        _orders(found["orders"]),
        _permutations(found["permutations"]),
        *_places(found, untested),
        _placed_twice(found.get("placed_twice") or []),
        *_lengths(found["lengths"]),
    ]
    return [table for table in made if table.rows]


def _flat(row: Row) -> dict[str, Any]:
    """Return the columns that name a row, those of its setting each by itself."""
    names = {name: row.get(name) for name in ("judge", "dataset", "summarizer", "setting")}
    axes = row.get("axes") or {}
    return {**names, **{column.name: axes.get(column.name) for column in _SETTING}}


# ---------------------------------------------------------------- by system


def _cells(found: Row, costs: Mapping[tuple[Any, ...], Row]) -> Table:
    merging, cells = found["merging"], _best_first(found["cells"])
    run_wide = {
        "mode": found["mode"],
        "documents_merged": merging["documents"],
        "sentences_merged": merging["sentences"],
        "attribution": found["attribution"],
    }
    own = [costs.get(tuple(row.get(name) for name in _KEY), {}) for row in cells]
    known = [column for column in _COSTS if any(column.name in cost for cost in own)]
    columns = [
        *_NAMED,
        *SYSTEM[4:5],
        *_SETTING,
        Column(
            "supported",
            "points",
            "sentences supported",
            "the share with the answer supported on some document, at the judge's own cut",
            "higher",
        ),
        Column(
            "faithfulness",
            "points",
            "mean probability",
            f"of support, times 100, called faithfulness below; of each sentence the {merging['documents']} over "
            f"documents, of each summary the {merging['sentences']} over sentences",
            "higher",
        ),
        Column("n_summaries", "count", "summaries"),
        Column(
            "n_repeats",
            "count",
            "repeats",
            "summaries of one query from the same documents, which are averaged within it and count as one",
            shown=any((row.get("n_repeats") or 1) > 1 for row in cells),
        ),
        Column("n_failed", "count", "failed", "summaries without a text"),
        Column(
            "failures",
            title="failed by",
            told="reasons, and the summaries of each (length: cut at the model's `max_tokens`)",
            shown=any(row.get("failures") for row in cells),
        ),
        Column("n_without_score", "count", "without score", "summaries that have no sentence, or none that is decided"),
        Column(
            "unjudged_share",
            "share",
            "unjudged",
            "share of cells without a readable verdict",
            "lower",
            unknown="nothing to judge",
        ),
        *known,
        Column("mode", told="the documents that a sentence is judged against", shown=False),
        Column("documents_merged", told="how documents become one number a sentence", shown=False),
        Column("sentences_merged", told="how sentences become one number a summary", shown=False),
        Column("attribution", told="the judge that the configuration names for placing sentences", shown=False),
    ]
    names = ("supported", "faithfulness", "n_summaries", "n_repeats", "n_failed", "n_without_score", "unjudged_share")
    rows = [
        {
            **_flat(row),
            **{name: row.get(name) for name in ("order", *names)},
            **({"elsewhere": row["elsewhere"]} if "elsewhere" in row else {}),
            "failures": _reasons(row),
            **{column.name: cost.get(column.name) for column in known},
            **run_wide,
        }
        for row, cost in zip(cells, own, strict=True)
    ]
    about = (
        "Whether documents support what summaries say. Each sentence is judged against "
        f"{_MODES[found['mode']]}. A verdict that is missing leaves undecided what it could change."
    )
    told = [about, *_against_told(found.get("against_plain") or [])]
    reasons = [
        {"supported": _why_no_score(row), "faithfulness": _why_no_score(row), **cost.get("reasons", {})}
        for row, cost in zip(cells, own, strict=True)
    ]
    return Table(
        _TOP,
        columns,
        (),
        title="Faithfulness",
        told="\n\n".join(told),
        key=_KEY,
        reasons=reasons,
        apart=_APART,
        page="faithfulness",
    ).having(rows)


def _best_first(cells: Sequence[Row]) -> list[Row]:
    judges = list(dict.fromkeys(row["judge"] for row in cells))

    def place(row: Row) -> tuple[int, float]:
        return judges.index(row["judge"]), -((row.get("supported") or row["faithfulness"])["value"] or 0.0)

    return sorted(cells, key=place)


def _reasons(row: Row) -> list[str]:
    """Return the reasons of failed summaries with their counts, the most frequent first; older results have none."""
    return [
        f"{reason} {n}" for reason, n in sorted((row.get("failures") or {}).items(), key=lambda failure: -failure[1])
    ]


def _why_no_score(row: Row) -> str:
    if row["n_failed"] < row["n_summaries"]:
        return _NO_SCORE
    failures = row.get("failures") or {}
    why = ", ".join(_reasons(row)) if len(failures) > 1 else "".join(failures)
    return f"every summary failed: {why or 'no reason recorded'}"


def _not_applicable(rows: Sequence[Row]) -> Table:
    return Table(
        "faithfulness_not_applicable",
        [Column("method"), *SYSTEM[:2]],
        (),
        told="Not applicable, because the method needs a chat model.",
        key=("setting", "summarizer"),
        section=_TOP,
    ).having(rows)


# ---------------------------------------------------------------- methods and orders


def _against_told(families: Sequence[Row]) -> Iterator[str]:
    """Yield a paragraph for each judge and data set: what each method and order does to faithfulness."""
    several = len({family.get("dataset") for family in families}) > 1
    for family in families:
        dataset = f"Data set {family.get('dataset') or 'not stated'}. " if several else ""
        yield f"{dataset}Judge {family['judge']}. {_found_in(family)}"


def _found_in(family: Row) -> str:
    findings = Counter(row["finding"] for row in family["rows"])
    n = len(family["rows"])
    lead = f"Methods and orders against the plain one, {n} {'pair' if n == 1 else 'pairs'}: "
    counted = "; ".join(f"{times} {words}" for words, times in findings.most_common())
    named = [f"{words} than it: {'; '.join(_names(family, words))}" for words in ("better", "worse") if findings[words]]
    alike = _names(family, NOT_DISTINGUISHABLE)
    parts = [*named, *([f"{NOT_DISTINGUISHABLE} from it: {'; '.join(alike)}"] if alike and named else [])]
    return f"{lead}{counted}. {' '.join(f'{part[0].upper()}{part[1:]}.' for part in parts)}".rstrip()


def _names(family: Row, words: str) -> list[str]:
    return [f"{row['summarizer']}, {row['setting']}" for row in family["rows"] if row["finding"] == words]


def _against(families: Sequence[Row]) -> Table:
    changes = " or ".join(f"{n:,}" for n in dict.fromkeys(family["n_sign_changes"] for family in families))
    columns = [
        *_NAMED,
        Column("plain"),
        Column("order", shown=False),
        Column("method", shown=False),
        Column("score", "points", unknown=_NO_SCORE),
        Column("plain_score", "points", "plain's score", unknown=_NO_SCORE),
        Column("difference", "difference", told="over the queries that both have", unknown=_NOT_IN_BOTH),
        Column(
            "low",
            "difference",
            "at least",
            "the lower end of an interval at the level at which Holm's procedure tests the row; it excludes 0 "
            f"exactly if p is at most {ALPHA:.2f}",
            unknown=_UNBOUNDED,
        ),
        Column("high", "difference", "at most", "its upper end", unknown=_UNBOUNDED),
        Column("p", "p", "p by itself", "the same, adjusted for nothing", shown=False, unknown=_NOT_IN_BOTH),
        Column(
            "p_holm",
            "p",
            "p",
            f"two-sided, by {changes} changes of sign of the queries' differences, adjusted for the rows of this table "
            "(Holm)",
            unknown=_NOT_IN_BOTH,
        ),
        Column("n_queries", "count", "queries"),
        Column("finding"),
        Column("n_sign_changes", "count", shown=False),
    ]
    rows = [
        {
            **row,
            "judge": family["judge"],
            "dataset": family.get("dataset"),
            "n_sign_changes": family["n_sign_changes"],
        }
        for family in families
        for row in family["rows"]
    ]
    return Table(
        "faithfulness_against_plain",
        columns,
        (),
        told="Faithfulness of each method and order less that of the plain method with the documents as given.",
        key=_KEY,
        apart=_APART,
        section=_TOP,
    ).having(rows)


def _orders(systems: Sequence[Row]) -> Table:
    run = [order for order in ORDERS if any(order in row for row in systems)]
    moved = ("sensitivity", "chance", "chance_high", "p", "p_holm", "n_independent")
    rows = [
        {
            **_flat(row),
            **{name: row.get(name) for name in moved},
            "finding": finding(row),
            "order": order,
            "faithfulness": row.get(order),
        }
        for row in systems
        for order in run
    ]
    return Table(
        "faithfulness_orders",
        [
            *_NAMED,
            *AXES,
            Column("order", title="where important documents stand"),
            Column("faithfulness", "points", "mean probability", unknown=_NO_SCORE),
            *sensitivity_columns("largest less smallest of the row"),
        ],
        (),
        told="Mean probability of support by where important documents stand.",
        key=(*_KEY, "order"),
        reasons=[{"faithfulness": "not run"} if row["faithfulness"] is None else {} for row in rows],
        apart=_APART,
        across="order",
        section=_TOP,
    ).having(rows)


def _permutations(drawn: Sequence[Row]) -> Table:
    columns = [
        *_NAMED,
        *_SETTING,
        Column("calibrated", "points", "mean", "with its interval over orders", unknown=_NO_SCORE),
        Column("n_orders", "count", "orders"),
        Column("lowest", "points", unknown=_NO_SCORE),
        Column("highest", "points", unknown=_NO_SCORE),
        Column("narrow", "count", told="true if the interval is as narrow as asked for", shown=False),
        Column("stopped", title="why so many"),
    ]
    names = ("calibrated", "n_orders", "lowest", "highest", "narrow", "stopped")
    return Table(
        "faithfulness_permutations",
        columns,
        (),
        told="Mean probability of support over drawn orders.",
        key=_KEY,
        apart=_APART,
        section=_TOP,
    ).having({**_flat(row), **{name: row[name] for name in names}} for row in drawn)


# ---------------------------------------------------------------- by place


def _places(found: Row, untested: set[tuple[Any, Any]]) -> Iterator[Table]:
    """Yield curves and their shapes; those of judges that cannot be tested are for programs alone."""
    shown = [row for row in found["places"] if (row["judge"], row.get("dataset")) not in untested]
    hidden = [row for row in found["places"] if (row["judge"], row.get("dataset")) in untested]
    alike = [
        row
        for row in found["alignment"]
        if not {(judge, row.get("dataset")) for judge in (row["judge"], row["second"])} & untested
    ]
    yield _curves(shown)
    yield _attribution(found, is_shown=bool(found["places"]))
    yield _shapes(shown)
    yield _alignment(alike)
    for table in (
        _curves(hidden),
        _shapes(hidden),
        _alignment([row for row in found["alignment"] if row not in alike]),
    ):
        yield table._replace(name=f"{table.name}{_UNTESTED}", shown=False, plot=None)


def _curves(systems: Sequence[Row]) -> Table:
    rows = [
        {**_flat(row), "measure": measure, "beside": _beside(row), "place": place, "value": point}
        for measure in MEASURES
        for row in systems
        for place, point in enumerate(row[measure]["curve"] or [], start=1)
    ]
    return Table(
        _CURVES,
        [
            Column("measure"),
            *_NAMED,
            *_SETTING,
            Column("beside", told="the plain system that another one stands beside in a figure", shown=False),
            Column("place", "count"),
            Column("value", "points", "mean probability", unknown=_SHORTER),
        ],
        (),
        title=_CURVES_TITLE,
        told=_ABOUT_PLACES,
        key=("measure", *_KEY, "place"),
        reasons=_nothing_there(rows),
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


def _nothing_there(rows: Sequence[Row]) -> list[dict[str, str]]:
    return [{} if row["value"] and row["value"]["value"] is not None else {"value": _NOTHING_THERE} for row in rows]


def _beside(row: Row) -> str | None:
    """Name the plain system of a row's summarizer, ranking and budget; None: it is that one."""
    given = row.get("axes") or {}
    axes = SystemAxes(**{**given, "retriever": given.get("retriever", "")})
    plain = SystemAxes(axes.retriever, axes.reranker, axes.budget_tokens)
    return None if axes == plain else f"{row['summarizer']}, {_setting_of(row, axes, plain)}"


def _setting_of(row: Row, axes: SystemAxes, plain: SystemAxes) -> str:
    """Return the words of the plain setting, with its budget if those of the row's setting have it."""
    has_budget = row["setting"] == axes.words(with_budget=True) != axes.words(with_budget=False)
    return plain.words(with_budget=has_budget)


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
        title=_CURVES_TITLE,
        told="" if all(row["untestable"] for row in rows) else told,
        key=("dataset", "judge"),
        section=_CURVES,
        page="position",
        shown=is_shown,
    ).having(rows)


def _shapes(systems: Sequence[Row]) -> Table:
    rows = [
        {
            **_flat(row),
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
        *_NAMED,
        *_SETTING,
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
        key=(*_KEY, "measure"),
        apart=_APART,
        section=_CURVES,
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
        section=_CURVES,
    ).having(rows)


def _spearman(row: Row) -> Row | None:
    bounds = {name: row.get(name) for name in ("low", "high")}
    return None if row["spearman"] is None else {"value": row["spearman"], **bounds, "n": row["n"]}


def _placed_twice(systems: Sequence[Row]) -> Table:
    rows = [
        {
            **_flat(row),
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
            *_NAMED,
            *_SETTING,
            Column("second", shown=False),
            Column("by", title="placed by"),
            Column("place", "count"),
            Column("value", "points", "faithfulness", unknown=_SHORTER),
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
        key=(*_KEY, "by", "place"),
        reasons=_nothing_there(rows),
        plot=Axes("line", "place", "value", by="summarizer, setting, by", apart=("judge",), panels="dataset"),
        apart=_APART,
        across="place",
        section=_CURVES,
    ).having(rows)


# ---------------------------------------------------------------- by length


def _lengths(systems: Sequence[Row]) -> Iterator[Table]:
    """Yield faithfulness by the number of documents, and by the tokens that whole documents fit, with their curves."""
    for unit, name, title in (
        ("documents", "faithfulness_lengths", "Faithfulness by the number of documents"),
        ("tokens", "faithfulness_lengths_tokens", "Faithfulness by the tokens of whole documents"),
    ):
        own = [row for row in systems if row.get("unit", "documents") == unit]
        yield _by_length(own, unit, name, title)
        yield _by_place_and_length(own, unit, name)


_LENGTH = ("n_documents", "fewest", "most", "length_tokens")


def _by_length(systems: Sequence[Row], unit: str, name: str, title: str) -> Table:
    rows = [
        {
            **_flat(row),
            **{one: point.get(one) for one in _LENGTH},
            "faithfulness": point["faithfulness"],
            "has_curve": int(point["curve"] is not None),
        }
        for row in systems
        for point in row["lengths"]
    ]
    in_tokens = unit == "tokens"
    return Table(
        name,
        [
            *_NAMED,
            *_columns_of_length(in_tokens=in_tokens),
            Column("faithfulness", "points", unknown=_NO_SCORE),
            Column("has_curve", "count", told="1: places are known", shown=False),
        ],
        (),
        title=title,
        told="Each summary is judged against exactly the documents it was given.",
        key=(*_KEY, "length_tokens" if in_tokens else "n_documents"),
        plot=Axes(
            "line",
            "length_tokens" if in_tokens else "n_documents",
            "faithfulness",
            by="summarizer, setting",
            apart=("judge",),
            panels="dataset",
        ),
        apart=_APART,
        across="" if in_tokens else "n_documents",
        page="position",
    ).having(rows)


def _columns_of_length(*, in_tokens: bool) -> list[Column]:
    setting = [column for column in _SETTING if column.name not in _LENGTH]
    if not in_tokens:
        hidden = [Column(one, "count", shown=False) for one in ("fewest", "most", "length_tokens")]
        return [*setting, *hidden, Column("n_documents", "count", "documents")]
    return [
        *setting,
        Column("length_tokens", "count", "tokens", "the budget, filled with whole documents in order while they fit"),
        Column("n_documents", "number", "documents", "those that did; the mean over prompts"),
        Column("fewest", "count", "fewest documents", "of any prompt"),
        Column("most", "count", "most documents", "of any prompt"),
    ]


def _by_place_and_length(systems: Sequence[Row], unit: str, name: str) -> Table:
    rows = [
        {**_flat(row), **{one: point.get(one) for one in _LENGTH}, "place": place, "value": estimate}
        for row in systems
        for point in row["lengths"]
        for place, estimate in enumerate(point["curve"] or [], start=1)
    ]
    in_tokens = unit == "tokens"
    return Table(
        f"{name}_curves",
        [
            *_NAMED,
            *_columns_of_length(in_tokens=in_tokens),
            Column("place", "count"),
            Column("value", "points", "faithfulness", unknown="no such place"),
        ],
        (),
        told="Faithfulness by place and length.",
        key=(*_KEY, "length_tokens" if in_tokens else "n_documents", "place"),
        reasons=_nothing_there(rows),
        apart=_APART,
        across="place",
        section=name,
    ).having(rows)
