"""The sections of faithfulness: by system, by place in the prompt, by order, by length (Wan et al., 2025)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from longform.axes import Axes
from longform.report.line_plots import Line, line_plot
from longform.report.orders import BY_CHANCE, sensitivity_cells
from longform.report.parts import (
    INTERVAL,
    NO_DATASET,
    Judged,
    Results,
    Section,
    by_judge,
    dataset_words,
    has_datasets,
    judge_line,
    repeats_told,
)
from longform.report.plots import Plot
from longform.report.tables import Cell, Column, Row, Table, count, number, percent, words

FAITHFULNESS, PLACES, LENGTHS = "faithfulness", "places", "lengths"
DOCUMENTS, TOKENS = "documents", "tokens"
_UNITS = {DOCUMENTS: "the number of documents", TOKENS: "the tokens of whole documents"}
_ORDERS = ("given", "top", "middle", "bottom", "random")
_MODES = {
    "document": "each document apart",
    "full": "all documents of the prompt as one text",
}
_NO_SCORE = "no sentence could be scored"
_NOTHING_THERE = "no sentence is attributed to this place"
_FEW_PLACES = "fewer than three places"
_OLD = "These results were made by an older version; `longform evaluate` on the same run makes them again."
_MOST_BESIDE = 3  # settings beside the plain one in a figure


def faithfulness_sections(results: Results) -> Iterator[Section]:
    """Up to three sections if support judges were asked, else none."""
    found = results.get("faithfulness")
    if not found:
        return
    if "attributed" not in found:
        yield Section(FAITHFULNESS, "Faithfulness", [_OLD], [])
        return
    yield Section(
        FAITHFULNESS,
        "Faithfulness",
        [_about(found), *repeats_told(found["cells"]), *_not_applicable(found)],
        [*_scores(results, found), *_orders(results, found), *_permutations(results, found)],
    )
    if found["places"]:
        tables = [*_curves(results, found), *_indices(results, found), *_alignment(found)]
        about = [_ABOUT_PLACES, *_attributed(found)]
        yield Section(PLACES, "Faithfulness and coverage by place in the prompt", about, tables)
    if found["lengths"]:
        yield Section(LENGTHS, _lengths_title(found), [_ABOUT_LENGTHS], _lengths(results, found))


_ABOUT_PLACES = (
    "Faithfulness at a place: the mean of the sentences whose best supporting document stands there. Coverage at a "
    "place: the mean of all sentences against the document there, that is how much of the summary it supports; it says "
    "what the summary draws on, not what it gets wrong. Places are counted from 1; where prompts have different "
    "lengths, places are binned by their share of the prompt's documents."
)
_ABOUT_LENGTHS = "Each summary is judged against exactly the documents it was given."


def _about(found: Row) -> str:
    merging = found["merging"]
    return (
        f"How far documents support what summaries say, from 0 to 100, higher is better: judged against "
        f"{_MODES[found['mode']]}; of each sentence the {merging['documents']} over documents, of each summary the "
        f"{merging['sentences']} over sentences. A verdict that is missing leaves undecided what it could change."
    )


def _attributed(found: Row) -> list[str]:
    """Name the judge that places each judge's sentences; give the reason for a judge without a curve."""
    if (named := found["attribution"]) is not None:
        said = [f"A sentence stands where judge {named} finds its best supporting document, as the configuration says."]
        rows = [row for row in found["attributed"] if row["untestable"]]
    else:
        said = []
        rows = found["attributed"]
    several = has_datasets(found["attributed"])
    return said + [f"{f'{dataset_words(row)}. ' if several else ''}{_attribution(row)}" for row in rows]


def _attribution(row: Row) -> str:
    judge, by = row["judge"], row["by"]
    if row["untestable"]:
        return (
            f"Judge {judge}: faithfulness by place cannot be tested with this judge: {row['untestable']}. A curve "
            "without them would be 100 at every place, whatever the summaries say."
        )
    if by == judge:
        return f"Judge {judge}: a sentence stands where the judge itself finds its best supporting document."
    n, n_all = row["n_unplaced_by_itself"], row["n_decided"]
    return (
        f"Judge {judge} has no best document for {n} of {n_all} sentences, those that it calls unsupported. All its "
        f"sentences stand where judge {by} finds their best document, supported or not; how faithful they are, judge "
        f"{judge} says."
    )


def _not_applicable(found: Row) -> list[str]:
    rows = found["not_applicable"]
    if not rows:
        return []
    names = ", ".join(dict.fromkeys(f"{row['method']} with {row['summarizer']}" for row in rows))
    return [f"Not applicable, because the method needs a chat model: {names}."]


def _estimate(estimate: Row | None, *, reason: str = _NO_SCORE) -> Cell:
    if estimate is None:
        return Cell(None, reason="not run")
    return number(estimate["value"], interval=(estimate["low"], estimate["high"]), reason=reason)


def _scores(results: Results, found: Row) -> Iterator[Table]:
    columns = [Column(name, numeric=False) for name in ("summarizer", "setting")]
    columns += [Column(name) for name in ("faithfulness", "summaries", "failed", "without score", "unjudged")]
    for judge, rows in by_judge(found["cells"]):
        ordered = sorted(rows, key=lambda row: -(row["faithfulness"]["value"] or 0.0))
        body = [
            [
                words(row["summarizer"]),
                words(row["setting"]),
                _estimate(row["faithfulness"], reason=_why_no_score(row)),
                count(row["n_summaries"]),
                _failed(row),
                count(row["n_without_score"]),
                percent(row["unjudged_share"], reason="nothing to judge"),
            ]
            for row in ordered
        ]
        caption = (
            f"{judge_line(results, judge)}. {INTERVAL} Failed: summaries without a text, by reason (length: cut at the "
            "model's `max_tokens`). Without score: summaries that have no sentence, or none that is decided. Unjudged: "
            "share of cells without a readable verdict; lower is better."
        )
        yield Table(caption, columns, body)


def _failed(row: Row) -> Cell:
    return count(row["n_failed"])._replace(detail=_reasons(row) or None)


def _reasons(row: Row) -> str:
    """Name the reasons of failed summaries, the most frequent first; older results have none."""
    by_reason = sorted((row.get("failures") or {}).items(), key=lambda item: -item[1])
    return ", ".join(reason if n == row["n_failed"] else f"{reason} {n}" for reason, n in by_reason)


def _why_no_score(row: Row) -> str:
    if row["n_failed"] < row["n_summaries"]:
        return _NO_SCORE
    return f"every summary failed: {_reasons(row) or 'no reason recorded'}"


def _orders(results: Results, found: Row) -> Iterator[Table]:
    for judge, rows in by_judge(found["orders"]):
        orders = [order for order in _ORDERS if any(order in row for row in rows)]
        columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
        columns += [Column(name) for name in (*orders, "sensitivity", "by chance", "p", "independent")]
        body = [
            [
                words(row["summarizer"]),
                words(row["setting"]),
                *(_estimate(row.get(order)) for order in orders),
                *sensitivity_cells(row),
            ]
            for row in rows
        ]
        caption = (
            f"{judge_line(results, judge)}. Faithfulness by where the important documents stand. {INTERVAL} "
            f"Sensitivity: largest less smallest of the row; lower is better. {BY_CHANCE}"
        )
        yield Table(caption, columns, body)


def _permutations(results: Results, found: Row) -> Iterator[Table]:
    columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
    columns += [Column(name) for name in ("mean", "orders", "lowest", "highest")] + [
        Column("why so many", numeric=False)
    ]
    for judge, rows in by_judge(found["permutations"]):
        body = [
            [
                words(row["summarizer"]),
                words(row["setting"]),
                _estimate(row["calibrated"]),
                count(row["n_orders"]),
                number(row["lowest"], reason=_NO_SCORE),
                number(row["highest"], reason=_NO_SCORE),
                words(row["stopped"]),
            ]
            for row in rows
        ]
        caption = (
            f"{judge_line(results, judge)}. Faithfulness over drawn orders of the documents: the mean, with its 95 % "
            "interval over orders."
        )
        yield Table(caption, columns, body)


def _curves(results: Results, found: Row) -> Iterator[Table]:
    for measure in ("faithfulness", "coverage"):
        for judge, rows in by_judge([row for row in found["places"] if row[measure]["curve"] is not None]):
            bins = max(row["bins"] for row in rows)
            columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
            columns += [Column(str(place + 1), group="place") for place in range(bins)]
            body = [
                [
                    words(row["summarizer"]),
                    words(row["setting"]),
                    *(_estimate(point, reason=_NOTHING_THERE) for point in row[measure]["curve"]),
                    *(Cell(None, reason="prompts of this system are shorter") for _ in range(bins - row["bins"])),
                ]
                for row in rows
            ]
            caption = f"{measure.capitalize()} by place. {judge_line(results, judge)}. {INTERVAL}"
            yield Table(caption, columns, body)


def _indices(results: Results, found: Row) -> Iterator[Table]:
    columns = [Column(name, numeric=False) for name in ("summarizer", "setting", "measure")]
    columns += [Column(name) for name in ("spread", "lead", "ends", "p")]
    columns += [Column("shape", numeric=False), Column("unattributed"), Column("empty")]
    for judge, rows in by_judge(found["places"]):
        body = [
            [words(row["summarizer"]), words(row["setting"]), words(measure), *_index(row, measure)]
            for row in rows
            for measure in ("faithfulness", "coverage")
            if row[measure]["curve"] is not None
        ]
        caption = (
            f"{judge_line(results, judge)}. Distance from flat, in points. Spread: root of the mean square distance of "
            "places from their mean. Lead: first third less last third. Ends: first and last third less the middle. p: "
            "of the spread, when the documents of each prompt change places at random, adjusted for the rows of a "
            "judge, data set and measure (Holm); the shape is named from unadjusted tests. Unattributed: sentences "
            "that no document supports, or that are undecided; empty: summaries without a sentence."
        )
        yield Table(caption, columns, body)


def _index(row: Row, measure: str) -> list[Cell]:
    index, counts = row[measure]["index"], row["degenerate"]
    if index is None:
        values = [Cell(None, reason=_FEW_PLACES)] * 5
    else:
        values = [
            *(number(index[key], sign=key != "spread") for key in ("spread", "lead", "ends")),
            number(index["p_holm"], digits=4),
            words(index["shape"]),
        ]
    unattributed = count(counts["n_unattributed"], of=counts["n_sentences"])
    return [*values, unattributed, count(counts["n_empty"], of=counts["n_summaries"])]


def _alignment(found: Row) -> Iterator[Table]:
    if not found["alignment"]:
        return
    several = has_datasets(found["alignment"])
    columns = [Column(name, numeric=False) for name in (*(["data set"] if several else []), "judge", "second judge")]
    columns += [Column("Spearman"), Column("sentences")]
    body = [
        [
            *([words(row["dataset"], reason=NO_DATASET)] if several else []),
            *(words(row["judge"]), words(row["second"]), _spearman(row), count(row["n"])),
        ]
        for row in found["alignment"]
    ]
    caption = "Whether two judges attribute sentences to the same places; 1: the same order of places."
    yield Table(caption, columns, body)


def _spearman(row: Row) -> Cell:
    return number(row["spearman"], digits=2, reason="fewer than two sentences, or all at one place")


def _unit(row: Row) -> str:
    """Return the unit of a row of lengths; older rows count documents."""
    return str(row.get("unit", DOCUMENTS))


def _by_judge_and_unit(found: Row) -> Iterator[tuple[Judged, str, list[Row]]]:
    for judge, rows in by_judge(found["lengths"]):
        for unit in (DOCUMENTS, TOKENS):
            if own := [row for row in rows if _unit(row) == unit]:
                yield judge, unit, own


def _lengths_title(found: Row) -> str:
    units = {_unit(row) for row in found["lengths"]}
    return f"Faithfulness by {' and by '.join(_UNITS[unit] for unit in (DOCUMENTS, TOKENS) if unit in units)}"


def _lengths(results: Results, found: Row) -> list[Table]:
    tables = []
    for judge, unit, rows in _by_judge_and_unit(found):
        if unit == TOKENS:
            tables += [_token_lengths(results, judge, rows), *_surface(results, judge, rows)]
            continue
        lengths = sorted({point["n_documents"] for row in rows for point in row["lengths"]})
        columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
        columns += [Column(str(length), group="documents") for length in lengths]
        body = []
        for row in rows:
            by_length = {point["n_documents"]: point["faithfulness"] for point in row["lengths"]}
            cells = [_estimate(by_length.get(length)) for length in lengths]
            body.append([words(row["summarizer"]), words(row["setting"]), *cells])
        tables.append(Table(f"{judge_line(results, judge)}. {INTERVAL}", columns, body))
        tables += _surface(results, judge, rows)
    return tables


def _token_lengths(results: Results, judge: Judged, rows: Sequence[Row]) -> Table:
    """A row a length, with both units: the budget in tokens, and the documents that fit it."""
    columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
    columns += [Column("tokens"), Column("documents"), Column("faithfulness")]
    body = [
        [
            words(row["summarizer"]),
            words(row["setting"]),
            count(point["length_tokens"]),
            _documents(point),
            _estimate(point["faithfulness"]),
        ]
        for row in rows
        for point in row["lengths"]
    ]
    caption = (
        f"{judge_line(results, judge)}. {INTERVAL} Tokens: the budget, filled with whole documents in order while they "
        "fit. Documents: how many did; the mean over prompts, and from fewest to most."
    )
    return Table(caption, columns, body)


def _documents(point: Row) -> Cell:
    """Show the number of documents that fit a number of tokens."""
    cell = number(point["n_documents"])
    return cell if point["fewest"] == point["most"] else cell._replace(detail=f"{point['fewest']} to {point['most']}")


def _surface(results: Results, judge: Judged, rows: Sequence[Row]) -> Iterator[Table]:
    """A table, if any length has a curve."""
    bins = max((len(point["curve"]) for row in rows for point in row["lengths"] if point["curve"]), default=0)
    if not bins:
        return
    tokens = [Column("tokens")] if _unit(rows[0]) == TOKENS else []
    columns = [Column("summarizer", numeric=False), Column("setting", numeric=False), *tokens, Column("documents")]
    columns += [Column(str(place + 1), group="place") for place in range(bins)]
    body = [
        [
            words(row["summarizer"]),
            words(row["setting"]),
            *([count(point["length_tokens"])] if tokens else []),
            _documents(point) if tokens else count(point["n_documents"]),
            *(_estimate(estimate, reason=_NOTHING_THERE) for estimate in point["curve"]),
            *(Cell(None, reason="no such place") for _ in range(bins - len(point["curve"]))),
        ]
        for row in rows
        for point in row["lengths"]
        if point["curve"]
    ]
    yield Table(f"Faithfulness by place and length. {judge_line(results, judge)}. {INTERVAL}", columns, body)


# ---------------------------------------------------------------- figures


def place_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Draw the paper's Figures 2, 6 and 7 (summarizers side by side), then Figure 4 (a summarizer's settings)."""
    found = results["faithfulness"]
    for number_, (judge, rows) in enumerate(by_judge(found["places"])):
        plain = [row for row in rows if _is_plain(row)]
        for measure in ("faithfulness", "coverage"):
            told = f"{measure.capitalize()} by place, documents as given. {judge_line(results, judge)}"
            yield _place_plot(plain, measure, by="summarizer", name=f"place-{measure}{number_}"), told
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            axes = Axes(**row["axes"])
            groups.setdefault((row["summarizer"], axes.ranking, axes.budget_tokens), []).append(row)
        for place, own in enumerate(groups.values()):
            for part, shown in enumerate(_panels(own)):
                told = f"{own[0]['summarizer']}: faithfulness by place. {judge_line(results, judge)}"
                yield _place_plot(shown, "faithfulness", by="setting", name=f"place{number_}-{place}-{part}"), told


def _is_plain(row: Row) -> bool:
    """Return whether a row's system has only a retriever and a budget."""
    axes = Axes(**row["axes"])
    return axes == Axes(axes.retriever, axes.reranker, axes.budget_tokens)


def _panels(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The settings of a summarizer with one retriever and budget, a few a panel, each beside the plain one."""
    plain, others = ([row for row in rows if _is_plain(row) == is_plain] for is_plain in (True, False))
    for start in range(0, len(others), _MOST_BESIDE):
        yield [*plain[:1], *others[start : start + _MOST_BESIDE]]


def _place_plot(rows: Sequence[Row], measure: str, *, by: str, name: str) -> Plot | None:
    rows = [row for row in rows if row[measure]["curve"] is not None]
    several = len({row["setting"] for row in rows}) > 1
    lines = [
        Line(
            row[by] if by == "setting" or not several else f"{row['summarizer']}, {row['setting']}",
            [(place + 1, estimate) for place, estimate in enumerate(row[measure]["curve"])],
        )
        for row in rows
    ]
    return line_plot(lines, x_label="place in the prompt", y_label=measure, name=name)


def length_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Draw the paper's Figure 3."""
    for number_, (judge, unit, rows) in enumerate(_by_judge_and_unit(results["faithfulness"])):
        lines = [
            Line(
                f"{row['summarizer']}, {row['setting']}",
                [(_along(point, unit), point["faithfulness"]) for point in row["lengths"]],
            )
            for row in rows
        ]
        x_label = "number of documents" if unit == DOCUMENTS else "thousand tokens of whole documents"
        plot = line_plot(lines, x_label=x_label, y_label="faithfulness", name=f"length{number_}")
        yield plot, f"Faithfulness by length. {judge_line(results, judge)}"


def _along(point: Row, unit: str) -> float:
    return float(point["n_documents"] if unit == DOCUMENTS else point["length_tokens"] / 1000)
