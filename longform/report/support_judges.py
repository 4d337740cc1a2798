"""The page of several judges of support: tables 2, 3, 4, 6 and 7 of Wan et al., people's agreement, differences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from longform.judges.card_columns import OrderRow, OrderStudy
from longform.judges.meta_evaluation import ORDERS
from longform.judges.support_meta import (
    AVERAGE,
    ORIGINAL,
    MergedColumns,
    SupportJudgeColumns,
    SupportMeta,
)
from longform.metrics.balanced import Separation
from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.statistics import EstimateColumns
from longform.report.judge_parts import TOGETHER, card_sections, contrast_cells, cost_cell, estimate, people_sections
from longform.report.parts import INTERVAL, Section
from longform.report.tables import Column, Table
from longform.tables.cells import Cell, count, number, words

_CHUNK = re.compile(r"chunk-(\d+)")
_BALANCED = "Balanced accuracy in per cent, 50 is chance; higher is better."
_MERGES = (ORIGINAL, "full", "min", "mean", "max")
_NOT_RUN = "not judged so"


def support_sections(found: SupportMeta) -> Iterator[Section]:
    """Yield the sections of the page, but for those that all pages on judges have."""
    yield Section("sets", "Data sets", [], [_data_sets(found)])
    yield Section("judged", "Judges", [], [_judges(found)])
    yield from _merges(found)
    if len(found["judges"]) > 1:
        yield _differences(found)
    yield from _orders(found)
    yield from _chunks(found)
    yield from _grid(found)
    yield from people_sections(found["people"], found["people_reason"], links=False)
    yield from card_sections({judge["judge"]: judge["card"] for judge in found["judges"]})


# ---------------------------------------------------------------- data sets and judges


def _data_sets(found: SupportMeta) -> Table:
    names = ("examples", "documents", "document words", "summary sentences", "summary words")
    columns = [Column("data set", numeric=False), *(Column(name) for name in names)]
    columns += [Column("labels of", numeric=False), Column("labels"), Column("supported")]
    columns += [Column("summarizers", numeric=False)]
    body = [
        [
            Cell(row["data_set"]),
            count(row["n_examples"]),
            number(row["documents"]),
            number(row["document_words"]),
            number(row["summary_sentences"]),
            number(row["summary_words"]),
            Cell(row["level"]),
            count(row["n_labels"]),
            count(row["n_supported"], of=row["n_labels"]),
            words(", ".join(row["models"]) or None, reason="the data do not say"),
        ]
        for row in found["statistics"]
    ]
    caption = (
        "What the data sets hold (Wan et al., table 2): means over examples. Documents: those with text; the paper "
        "counts empty ones, too. Words and sentences as NLTK counts them; document words are of all documents together."
    )
    return Table(caption, columns, body)


def _judges(found: SupportMeta) -> Table:
    columns = [Column("judge", numeric=False), Column("supported above"), Column("pairs"), Column("unjudged")]
    columns += [Column("cost"), Column("fitted on", numeric=False)]
    body = [
        [
            Cell(judge["judge"]),
            number(judge["threshold"], digits=2),
            count(judge["n_cells"]),
            count(judge["n_unjudged"], of=judge["n_cells"]),
            cost_cell(judge["cost"]),
            words(", ".join(judge["in_sample"]) or "none of these"),
        ]
        for judge in found["judges"]
    ]
    caption = (
        "Pairs: text and sentence, of all ways of showing the documents. Cost: dollars of the calls behind the "
        "verdicts, from the ledger. A judge that was fitted on a data set judges each article there by a "
        "model without it."
    )
    return Table(caption, columns, body)


# ---------------------------------------------------------------- merging


def _merges(found: SupportMeta) -> Iterator[Section]:
    """Table 3: merging over documents, the mean over sentences."""
    rows = [row for row in found["grid"] if row["documents"] in _MERGES and row["sentences"] == RECOMMENDED.sentences]
    if rows:
        told = (
            "Original: the documents joined, cut into the judge's own windows, and the best window. Full: the "
            "documents joined, as one text. Min, mean and max: each document apart. Sentences are merged by their mean "
            "where a label is of a summary."
        )
        table = _best_marked(found, sorted(rows, key=_merge_order), with_sentences=False)
        yield Section("merges", "Merging over documents", [told], [table])


def _merge_order(row: MergedColumns) -> tuple[str, int]:
    return row["judge"], _MERGES.index(row["documents"])


def _best_marked(found: SupportMeta, rows: Sequence[MergedColumns], *, with_sentences: bool) -> Table:
    sets = [row["data_set"] for row in found["statistics"]]
    columns = [Column("judge", numeric=False), Column("documents", numeric=False)]
    columns += [Column("sentences", numeric=False)] if with_sentences else []
    columns += [Column(name) for name in (*sets, AVERAGE)]
    places = {name: _places([_estimate_of(row, name) for row in rows]) for name in (*sets, AVERAGE)}
    body = []
    for place, row in enumerate(rows):
        cells = [Cell(row["judge"]), Cell(row["documents"])]
        cells += [Cell(row["sentences"])] if with_sentences else []
        cells += [_cell(row, name, places[name][place]) for name in (*sets, AVERAGE)]
        body.append(cells)
    caption = f"{_BALANCED} {INTERVAL} Best and second of each column are marked; ties share the mark."
    return Table(caption, columns, body)


def _estimate_of(row: MergedColumns, name: str) -> EstimateColumns | None:
    return row["average"] if name == AVERAGE else row["data_sets"].get(name)


def _places(estimates: Sequence[EstimateColumns | None]) -> list[str]:
    """Return `best` or `second` for each of a column's cells, or nothing; with one value nothing is best."""
    values = [None if one is None or one["value"] is None else round(one["value"], 9) for one in estimates]
    ranked = sorted({value for value in values if value is not None}, reverse=True)
    names = dict(zip(ranked, ("best", "second"), strict=False)) if len(ranked) > 1 else {}
    return ["" if value is None else names.get(value, "") for value in values]


def _cell(row: MergedColumns, name: str, mark: str) -> Cell:
    one = _estimate_of(row, name)
    if one is None:
        return Cell(None, reason=_NOT_RUN)
    cell = estimate(one, factor=100, digits=1, reason=row["reasons"].get(name, "undefined"))
    return cell._replace(detail=" ".join(part for part in (cell.detail, mark) if part)) if mark else cell


def _chunks(found: SupportMeta) -> Iterator[Section]:
    """Table 6: sizes of chunks, the maximum over chunks, the mean over sentences."""
    wanted = [row for row in found["grid"] if row["sentences"] == RECOMMENDED.sentences]
    if not any(_CHUNK.fullmatch(row["documents"]) for row in wanted):
        return
    shown: list[MergedColumns] = [
        {**row, "documents": _chunk_name(row["documents"])}
        for row in sorted(wanted, key=lambda row: (row["judge"], _chunk_size(row["documents"])))
        if _chunk_size(row["documents"]) >= 0
    ]
    told = (
        "Natural: each document apart. N tokens: the joined documents cut behind every N tokens. The best chunk "
        "counts, and the mean over sentences."
    )
    yield Section("chunks", "Sizes of chunks", [told], [_best_marked(found, shown, with_sentences=False)])


def _chunk_size(documents: str) -> float:
    """Return what sorts the sizes: natural, the whole text, then tokens; below 0 for other merges."""
    if chunk := _CHUNK.fullmatch(documents):
        return float(chunk[1])
    return {RECOMMENDED.documents: 0.0, ORIGINAL: 0.1, "full": 0.1}.get(documents, -1.0)


def _chunk_name(documents: str) -> str:
    if chunk := _CHUNK.fullmatch(documents):
        return f"{chunk[1]} tokens"
    return "natural" if documents == RECOMMENDED.documents else documents


def _grid(found: SupportMeta) -> Iterator[Section]:
    """Table 7: merging over documents and over sentences."""
    rows = [row for row in found["grid"] if row["documents"] in _MERGES]
    if not rows:
        return
    told = (
        "Merging over sentences is of data sets whose labels are of whole summaries; where a label is of a sentence, "
        "the three rows are one."
    )
    tables = [
        _best_marked(found, [row for row in rows if row["judge"] == judge["judge"]], with_sentences=True)
        for judge in found["judges"]
    ]
    yield Section("grid", "Merging over documents and sentences", [told], tables)


# ---------------------------------------------------------------- orders


def _orders(found: SupportMeta) -> Iterator[Section]:
    """Table 4: orders of the joined documents by importance."""
    studies = [(judge, judge["orders"]) for judge in found["judges"] if judge["orders"] is not None]
    if not studies:
        return
    told = [
        (
            "The documents joined, with the important ones at the top, in the middle or at the bottom. Sensitivity of "
            "a row: the largest less the smallest of its orders. Sensitivity of an order: the mean over data sets of "
            "the row's largest less this order's (Wan et al., table 4)."
        ),
        f"Importance of a document: {found['importance']}.",
        *(f"{judge['judge']}: sensitivity is unknown, {one['reason']}." for judge, one in studies if one["reason"]),
    ]
    yield Section("orders", "Orders of documents", told, [_order_table(studies)])


def _order_table(studies: Sequence[tuple[SupportJudgeColumns, OrderStudy]]) -> Table:
    columns = [Column("judge", numeric=False), Column("data set", numeric=False)]
    columns += [Column(order) for order in ORDERS] + [Column("sensitivity")]
    body = []
    for judge, study in studies:
        of_sets = study["sensitivity"]["data_sets"] if study["sensitivity"] else {}
        for row in study["rows"]:
            cells = [_separated(one) for one in _by_order(row)]
            moved = number(of_sets.get(row["data_set"]), factor=100, reason=study["reason"])
            body.append([Cell(judge["judge"]), Cell(row["data_set"]), *cells, moved])
        if study["sensitivity"]:
            of_orders = study["sensitivity"]["orders"]
            cells = [number(of_orders[order], factor=100) for order in ORDERS]
            body.append([Cell(judge["judge"]), Cell("sensitivity of the order"), *cells, Cell("", order=None)])
    return Table(f"{_BALANCED} {INTERVAL}", columns, body)


def _by_order(row: OrderRow) -> list[Separation]:
    return [row["original"], row["top"], row["middle"], row["bottom"]]


def _separated(one: Separation) -> Cell:
    return estimate(one["balanced_accuracy"], factor=100, digits=1, reason=one["reason"] or "undefined")


# ---------------------------------------------------------------- differences


def _differences(found: SupportMeta) -> Section:
    title = "Differences between judges"
    if found["differences_reason"]:
        return Section("differences", title, [f"Not known: {found['differences_reason']}."], [])
    columns = [Column("data set", numeric=False), Column("first", numeric=False), Column("second", numeric=False)]
    columns += [Column("first less second"), Column("p"), Column("labels"), Column("articles")]
    columns += [Column("in words", numeric=False)]
    body = []
    for row in found["differences"]:
        names = (row["first"], row["second"])
        shown = contrast_cells(row["difference"], *names, clusters="articles", factor=100, digits=1)
        body.append([Cell(row["data_set"]), Cell(names[0]), Cell(names[1]), *shown])
    caption = (
        "Balanced accuracy of the first judge less that of the second, in points, on the labels that both judged: each "
        f"document apart, the best one, the mean over sentences. {TOGETHER} Articles are drawn."
    )
    return Section(title=title, anchor="differences", paragraphs=[], tables=[Table(caption, columns, body)])
