"""
Judges held against the same labels, as an answer: sentences that conclude, and tables that describe themselves.

Judges of targets have tables 1 and 4 of SummHay, those of support tables 2, 3, 4, 6 and 7 of Wan et al. Both have
differences of each two, people's own agreement, verdicts with their cost, and cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.judges.cards import STUDY_LABELS, STUDY_SUMMARIES, TABLE_1
from longform.judges.merges import ORDERS, ORIGINAL
from longform.judges.worth import ALL, AVERAGE, Worth
from longform.metrics.contrasts import contrast_words
from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.statistics import Estimate
from longform.results.judges import judges_tables
from longform.results.results import VerbAnswer
from longform.tables.table import JUDGE, Axes, Column, Table

Row = Mapping[str, Any]
_UNDEFINED = "a side does not vary, or no label was judged"
_NO_LINKS = "no pair has two links"
_TOGETHER = "intervals of differences, which hold for all of their table together, in 95 of 100 cases"
_PART = Column("part", title="kind of text")
_DATA_SET = Column("data_set", title="data set")
_PAIR = (Column("first"), Column("second"))
_CORRELATION = Column("pearson", "coefficient", "correlation", better="higher", digits=3, unknown=_UNDEFINED)
_KAPPA = Column("kappa", "coefficient", better="higher", unknown=_UNDEFINED)
_SAME = Column("same", "share", "equal answers", better="higher", unknown=_UNDEFINED)
_LINKS = Column("links", "share", "equal links", better="higher", unknown=_NO_LINKS)
_IN_SAMPLE = Column("in_sample", told="judge: it was fitted on some of these labels", shown=False)
_FINDING = Column("finding", title="in words")
_ON_PAGES = ("bias", "length", "judges_perturbed", "data_sets", "grid", "pairs", "printed", "judges", "made")


def judges_answer(found: Row, worth: Worth) -> VerbAnswer:
    """Return what `meta_evaluation` found, with what a family of kinds has besides; the title is the task."""
    whole = next((one for one in (ALL, AVERAGE) if one in found["parts"]), *found["parts"][:1])
    parts = [(judge, judge["parts"][whole]) for judge in found["judges"]]
    figures = {judge["judge"]: _estimate(part[worth.agreement], worth.factor).as_json() for judge, part in parts}
    overall = [row for row in found["differences"] if row[worth.part] == whole]
    told = [
        *_conclusion(figures, overall, worth.title, f".{worth.digits}f"),
        *(() if worth.averages else _labels_told(found, parts)),
    ]
    if (unknown := found["differences_reason"]) and len(parts) > 1:
        told.append(f"How judges differ is not known: {unknown}.")
    if found["people"] is None:
        told.append(f"The agreement of people, the ceiling for a judge, is not known: {found['people_reason']}.")
    first = _merges(found["grid"]) if worth.averages else _agreement(found, figures)
    last = [_data_sets(found["statistics"])] if worth.averages else [_bias(found["judges"]), _length(found["judges"])]
    tables = [
        *first,
        _differences(found["differences"], worth),
        *_orders(found),
        *_people(found["people"]),
        *last,
        _verdicts(parts, worth.judged),
        *judges_tables([{**judge, "card_reason": "a card is of mode document"} for judge in found["judges"]]),
    ]
    return VerbAnswer(found["task"], told, tables, pages_only=_ON_PAGES)


def _conclusion(figures: Mapping[str, Row], differences: Sequence[Row], what: str, shown: str) -> Iterator[str]:
    """Say which judge is best, and which others are surely below it."""
    known = {judge: one for judge, one in figures.items() if one["value"] is not None}
    if not known:
        return
    best = max(known, key=lambda judge: known[judge]["value"])
    low, high = (known[best][name] for name in ("low", "high"))
    interval = "" if low is None else f" [{low:{shown}}, {high:{shown}}]"
    told = [f"{best}: {what} {known[best]['value']:{shown}}{interval}{', the highest' if len(known) > 1 else ''}."]
    said: dict[str, list[str]] = {}
    for row in differences:
        if best in (pair := (row["first"], row["second"])):
            is_higher = contrast_words(row["difference"], *pair) == f"{best} is higher"
            words = "It is surely higher than" if is_higher else "It cannot be told from"
            said.setdefault(words, []).append(pair[pair[0] == best])
    yield " ".join([*told, *(f"{words} {', '.join(others)}." for words, others in said.items())])


def _labels_told(found: Row, parts: Sequence[tuple[Row, Row]]) -> Iterator[str]:
    """Say whose labels of targets they are, and which judge was fitted on some."""
    labels, n = found["labels"], found["n_labels"]
    topics = f"{labels['n_topics']} {'topic' if labels['n_topics'] == 1 else 'topics'}"
    by = " and ".join(labels["annotators"])
    yield f"{n:,} labels of {labels['n_summaries']} summaries on {topics}, by {by}. A judge counts on those it judged."
    if _printed_names(found):
        yield (
            f"These are {labels['n_summaries']} of the {STUDY_SUMMARIES} summaries and {n:,} of the {STUDY_LABELS:,} "
            "labels of SummHay's human study: its printed figures need not be reached on a part."
        )
    if fitted := [judge["judge"] for judge, part in parts if part["in_sample"]]:
        yield (
            f"In sample: {', '.join(fitted)} was fitted on some of these very labels; its figures are higher than on "
            "other text. Its card leads with text that it has not seen."
        )


def _estimate(one: Row, factor: float = 1) -> Estimate:
    """Return an estimate or a difference from its columns."""
    return Estimate(one["value"], one["low"], one["high"], one["n"]).scaled(factor)


def _marks(part: Row) -> list[str]:
    """Return the names to mark in a row on a part of the labels."""
    return ["judge"] if part["in_sample"] else []


# ---------------------------------------------------------------- of every kind


def _differences(rows: Sequence[Row], worth: Worth) -> Table:
    clusters, are_shares = worth.clusters, worth.averages
    part = Column(worth.part, title="data set" if are_shares else "kind of text")
    columns = [
        part,
        *_PAIR,
        Column("difference", "difference" if are_shares else "coefficient", "first less second", digits=worth.digits,
               unknown=_UNDEFINED, brackets=_TOGETHER, signed=True),
        Column("p", "p", digits=3, unknown=f"too few {clusters}"),
        Column("n", "count", "labels"),
        Column("n_clusters", "count", clusters),
        _FINDING,
        Column("in_sample", title="in sample", told="those that were fitted on some of these labels",
               shown=any(row.get("in_sample") for row in rows)),
    ]  # fmt: skip
    body = [
        {
            **{name: row[name] for name in (worth.part, "first", "second")},
            **{name: row["difference"][name] for name in ("p", "n", "n_clusters")},
            "difference": _estimate(row["difference"], worth.factor),
            "finding": contrast_words(row["difference"], "first", "second", clusters=clusters),
            "in_sample": [side for side in ("first", "second") if row[side] in row.get("in_sample", ())],
        }
        for row in rows
    ]
    about = (
        f"The {worth.told} of the first judge less that of the second, on the labels that both judged; "
        f"{clusters} are drawn."
    )
    key, apart = [worth.part, "first", "second"], () if worth.averages else [worth.part]
    return Table("differences", columns, body, "Differences between judges", about, key, apart=apart)


def _people(found: Row | None) -> Iterator[Table]:
    """Yield people against people and judges against people on the same items, then each pair of people."""
    if found is None:
        return
    links = _LINKS._replace(shown=bool(found["people"]["links"]["n"]))
    less = Column("less", "coefficient", "less people's", "correlation less that of people with each other", digits=3,
                  none="–", brackets=_TOGETHER, signed=True)  # fmt: skip
    rows = [
        {"who": "people", **found["people"], "finding": "the ceiling"},
        *(
            {
                "who": one["judge"],
                **{name: one[name] for name in found["people"]},
                "less": _estimate(one["less_people"]),
                "finding": contrast_words(one["less_people"], one["judge"], "people's agreement"),
            }
            for one in found["judges"]
        ),
    ]
    told = (
        f"{', '.join(found['annotators'])}: {found['n_items']} items of {found['n_summaries']} summaries have labels "
        "of two or more. Means over each two of them, and over a judge with each. A judge that reaches people's "
        "agreement is worth one more annotator."
    )
    columns = [Column("who"), Column("n_pairs", "count", "pairs"), _CORRELATION, _KAPPA, _SAME, links, less, _FINDING]
    plot = Axes("forest", x="pearson", y="who")
    yield Table("people", columns, (), "People against people", told, ["who"], plot=plot).having(rows)
    pairs = [
        {"first": one["annotators"][0], "second": one["annotators"][1], "n": one["same"]["n"]}
        | {name: one[name] for name in ("pearson", "kappa", "same", "links")}
        for one in found["pairs"]
    ]
    columns = [*_PAIR, Column("n", "count", "items"), _CORRELATION, _KAPPA, _SAME, links]
    told = "Each two annotators, on what both labelled."
    yield Table("pairs", columns, (), told=told, key=["first", "second"], section="people").having(pairs)


def _verdicts(parts: Sequence[tuple[Row, Row]], judged: str) -> Table:
    judges = [
        {**part, "n": judge.get("n_cells", part["n_labels"]), **judge, "in_sample": _marks(part)}
        for judge, part in parts
    ]
    columns = [
        JUDGE,
        Column("n", "count", judged),
        Column("n_unjudged", "count", "unjudged", "those without an answer, which are in no figure", of="n"),
        Column("threshold", "number", "supported above", digits=2, shown="threshold" in judges[0]),
        Column("usd", "usd", "cost", "dollars of the calls behind the verdicts, from the ledger", "lower", digits=2),
        _IN_SAMPLE,
    ]
    rows = [
        {**{one.name: judge[one.name] for one in columns if one.name in judge}, "usd": judge["cost"]["usd"]}
        for judge in judges
    ]
    whys = [{"usd": judge["cost"]["why"]} for judge in judges]
    return Table("verdicts", columns, rows, "Verdicts and their cost", key=["judge"], reasons=whys)


# ---------------------------------------------------------------- of targets


def _agreement(found: Row, figures: Mapping[str, Row]) -> Iterator[Table]:
    order = sorted(figures, key=lambda judge: -(-2.0 if (value := figures[judge]["value"]) is None else value))
    judges = sorted(found["judges"], key=lambda judge: order.index(judge["judge"]))
    parts = [(part, judge["judge"], judge["parts"][part]) for part in found["parts"] for judge in judges]
    what = "pairs of a summary and what it may say" if found["task"] == "coverage" else "pairs"
    columns = [
        _PART,
        JUDGE,
        _CORRELATION._replace(told=f"Pearson's, over {what}, of the judge's score with people's"),
        Column("linking_accuracy", "share", "right links", "of the pairs in which judge and people both name a bullet, "
               "those with the same", "higher", unknown=_NO_LINKS,
               shown=any(one["linking_accuracy"]["n"] for _, _, one in parts)),
        Column("n_labels", "count", shown=False),
        Column("n_unjudged", "count", "unjudged", of="n_labels"),
        _IN_SAMPLE,
    ]  # fmt: skip
    rows = [{"part": part, "judge": judge, **one, "in_sample": _marks(one)} for part, judge, one in parts]
    plot = Axes("forest", x="pearson", y="judge", apart=(), first=["part"])
    yield Table("agreement", columns, (), "Agreement with people", key=["part", "judge"], plot=plot, apart=["part"]
                ).having(rows)  # fmt: skip
    if names := _printed_names(found):
        yield _printed([judge for judge in judges if judge["judge"] in names])


def _printed_names(found: Row) -> list[str]:
    """Return the judges with printed figures, which are of labels of SummHay's study alone."""
    of_study = found["labels"]["annotators"] == ["human"]
    return [judge["judge"] for judge in found["judges"] if of_study and judge["judge"] in TABLE_1]


def _printed(judges: Sequence[Row]) -> Table:
    columns = [
        JUDGE,
        _CORRELATION,
        Column("printed_pearson", "coefficient", "printed correlation", digits=3),
        Column("linking_accuracy", "share", "right links", unknown=_NO_LINKS),
        Column("printed_links", "share", "printed right links"),
        Column("printed_usd", "usd", "printed cost", digits=1),
    ]
    rows = [
        {
            "judge": judge["judge"],
            **{name: judge["parts"][ALL][name]["value"] for name in ("pearson", "linking_accuracy")},
            "printed_pearson": printed.pearson,
            "printed_links": printed.linking_accuracy / 100,
            "printed_usd": printed.usd,
        }
        for judge in judges
        for printed in [TABLE_1[judge["judge"]]]
    ]
    told = f"Beside SummHay's table 1, printed for {STUDY_SUMMARIES} summaries."
    return Table("printed", columns, rows, told=told, key=["judge"], section="agreement")


def _bias(judges: Sequence[Row]) -> Table:
    bias = Column("bias", "number", digits=3, signed=True, unknown="not judged")
    columns = [Column("summarizer"), Column("n", "count", "summaries"), JUDGE, bias]
    names = dict.fromkeys(row["summarizer"] for judge in judges for row in judge["bias"]["by_summarizer"])
    by_judge = {
        judge["judge"]: {**{row["summarizer"]: row for row in judge["bias"]["by_summarizer"]},
                         "average over summarizers": judge["bias"]["average"]}
        for judge in judges
    }  # fmt: skip
    rows = [
        {"summarizer": name, "judge": judge, "n": own[name]["n"], "bias": _estimate(own[name])}
        for name in [*names, "average over summarizers"]
        for judge, own in by_judge.items()
        if name in own
    ]
    told = (
        "Mean score of a judge less that of people, from 0 to 1, over the summaries of each summarizer. Above 0 the "
        "judge is generous. The average counts each summarizer once (SummHay, table 4)."
    )
    return Table("bias", columns, rows, "Bias by summarizer", told, ["summarizer", "judge"], across="judge")


_LENGTHS = {"length_to_score": "with its score", "length_to_bias": "with its bias"}


def _length(judges: Sequence[Row]) -> Table:
    with_score, with_bias = (
        Column(name, "coefficient", title, digits=3, unknown=_UNDEFINED, signed=True)
        for name, title in _LENGTHS.items()
    )
    rows = [
        {
            "judge": one["judge"],
            "in_sample": _marks(one["parts"][ALL]),
            **{name: one["bias"][name] for name in _LENGTHS},
        }
        for one in judges
    ]
    told = (
        "Correlation, over summaries, of the words a bullet with the judge's mean score, and with that score less "
        "people's. A judge that length misleads has a correlation with its bias (SummHay, table 4)."
    )
    columns = [JUDGE, with_score, with_bias, _IN_SAMPLE]
    return Table("length", columns, (), "Bias by length", told, ["judge"]).having(rows)


# ---------------------------------------------------------------- of sentences


def _data_sets(rows: Sequence[Row]) -> Table:
    columns = [
        _DATA_SET,
        Column("n_examples", "count", "examples"),
        Column("documents", "number", told="those with text; the paper counts empty ones, too"),
        Column("document_words", "words", "document words", "of all documents together, as NLTK counts them"),
        Column("summary_sentences", "number", "summary sentences"),
        Column("summary_words", "words", "summary words"),
        Column("level", title="labels of"),
        Column("n_labels", "count", "labels"),
        Column("n_supported", "count", "supported", of="n_labels"),
        Column("models", title="summarizers", unknown="the data do not say"),
    ]
    told = "What the data sets hold (Wan et al., table 2): means over examples."
    body = [{**row, "models": row["models"] or None} for row in rows]
    return Table("data_sets", columns, body, "Data sets", told, ["data_set"])


_CHUNK = re.compile(r"chunk-(\d+)")
_MERGED = (ORIGINAL, "full", "min", "mean", "max")
_BALANCED = "Balanced accuracy, 50 % is chance; higher is better."


def _merges(grid: Sequence[Row]) -> Iterator[Table]:
    """Yield tables 3, 6 and 7: merging over documents, sizes of chunks, merging over documents and sentences."""
    merged = [row for row in grid if row["documents"] in _MERGED]
    by_mean = [row for row in grid if row["sentences"] == RECOMMENDED.sentences]
    sized = [(row, size) for row in by_mean if (size := _chunk(row["documents"]))]
    sized.sort(key=lambda one: (one[0]["judge"], one[1][0]))
    if table_3 := [row for row in merged if row in by_mean]:
        told = (
            "Original: the documents joined, cut into the judge's own windows, and the best window. Full: the "
            "documents joined, as one text. Min, mean and max: each document apart. Sentences are merged by their mean "
            "if a label is of a summary."
        )
        yield _merging("merges", "Merging over documents", table_3, told)
    if any(order >= 1 for _, (order, _) in sized):
        named = [{**row, "documents": name} for row, (_, name) in sized]
        told = (
            "Natural: each document apart. N tokens: the joined documents cut behind every N tokens. The best chunk "
            "counts, and the mean over sentences."
        )
        yield _merging("chunks", "Sizes of chunks", named, told)
    if merged:
        told = "Sentences are merged if a label is of a whole summary; else the three rows are one."
        table = _merging("grid", "Merging over documents and sentences", merged, told)
        yield table._replace(apart=["judge"])


def _chunk(documents: str) -> tuple[float, str] | None:
    """Return what sorts a size, natural, the whole text, then tokens, and its name; None: another merge."""
    if chunk := _CHUNK.fullmatch(documents):
        return float(chunk[1]), f"{chunk[1]} tokens"
    if documents == RECOMMENDED.documents:
        return 0.0, "natural"
    return (0.1, documents) if documents in (ORIGINAL, "full") else None


def _merging(name: str, title: str, rows: Sequence[Row], told: str) -> Table:
    """Return a table of merges: a row for each, a column for each data set and their average."""
    columns = [
        JUDGE,
        Column("documents"),
        Column("sentences", shown=len({row["sentences"] for row in rows}) > 1),
        _DATA_SET,
        Column("balanced_accuracy", "share", unknown="not judged so"),
        Column("best", title="best in", told="the columns in which its value is the highest", none="none"),
    ]
    wide = [{**row["data_sets"], AVERAGE: row["average"]} for row in rows]
    names = list(dict.fromkeys(one for row in wide for one in row if one != AVERAGE))
    by_name = {one: [_rounded(row.get(one)) for row in wide] for one in (*names, AVERAGE)}
    values = {one: {value for value in column if value is not None} for one, column in by_name.items()}
    tops = {one: max(known) for one, known in values.items() if len(known) > 1}  # a value alone is no best
    body, reasons = [], []
    for row, own in zip(rows, wide, strict=True):
        best = "; ".join(one for one, top in tops.items() if _rounded(own.get(one)) == top)
        for one in (*names, AVERAGE):
            kept = {key: row[key] for key in ("judge", "documents", "sentences")}
            body.append({**kept, "data_set": one, "balanced_accuracy": own.get(one), "best": best or None})
            reasons.append({"balanced_accuracy": row["reasons"][one]} if one in row["reasons"] else {})
    key = ["judge", "documents", "sentences", "data_set"]
    table = Table(name, columns, (), title, f"{_BALANCED} {told}", key, reasons, across="data_set")
    return table.having(body)


def _rounded(one: Row | None) -> float | None:
    """Return a value such that ties are equal."""
    return None if one is None or one["value"] is None else round(one["value"], 9)


def _orders(found: Row) -> Iterator[Table]:
    """Yield table 4: orders of the joined documents by importance."""
    studies = {judge["judge"]: judge["orders"] for judge in found["judges"] if judge.get("orders") is not None}
    if not studies:
        return
    told = (
        "The documents joined, with the important ones at the top, in the middle or at the bottom. Sensitivity: the "
        f"largest less the smallest of the orders (Wan et al., table 4). Importance: {found['importance']}."
    )
    shares = [Column(order, "share", unknown="undefined") for order in ORDERS]
    rows, reasons = [], []
    for judge, study in studies.items():
        moved = study["sensitivity"]["data_sets"] if study["sensitivity"] else {}
        for row in study["rows"]:
            accuracy = {order: row[order]["balanced_accuracy"] for order in ORDERS}
            names = {"judge": judge, "data_set": row["data_set"]}
            rows.append({**names, **accuracy, "sensitivity": moved.get(row["data_set"])})
            whys = {**{order: row[order]["reason"] for order in ORDERS}, "sensitivity": study["reason"]}
            reasons.append({name: why for name, why in whys.items() if why})
    columns = [JUDGE, _DATA_SET, *shares, Column("sensitivity", "share")]
    told = f"{_BALANCED} {told}"
    yield Table("orders", columns, (), "Orders of documents", told, ["judge", "data_set"], reasons).having(rows)
    known = {judge: study["sensitivity"]["orders"] for judge, study in studies.items() if study["sensitivity"]}
    told = "Sensitivity of an order: the mean over data sets of the largest of their orders less this one."
    of_orders = [{"judge": judge, **own} for judge, own in known.items()]
    yield Table("orders_moved", [JUDGE, *shares], of_orders, told=told, key=["judge"], section="orders")
