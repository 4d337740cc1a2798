"""
Merges of verdicts on (text, sentence) into a judge's answers to labels of whole summaries or of their sentences.

Wan et al. (On Positional Bias of Faithfulness for Long-form Summarization), section 3 and appendix B: what a judge said
of each (text, sentence) is merged over texts and, where a label is of a whole summary, over sentences; balanced
accuracy of the merged numbers is taken in each data set, then its mean over data sets. The texts are the documents, all
of them joined in one order or another (table 4), or chunks of that (table 6); tables 3 and 7 have the ways to merge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from longform.chat.first_word import Fidelity
from longform.judges.card_columns import LabelSet
from longform.judges.worth import AVERAGE, Items, LabelledItem, balanced_accuracy, pairs_of
from longform.keys import content_key, in_groups
from longform.metrics.agreement import Label
from longform.metrics.balanced import Separation, separation
from longform.metrics.faithfulness import (
    MERGES,
    RECOMMENDED,
    SUPPORTED,
    Merge,
    Merging,
    merge_documents,
    merge_documents_as_released,
    sensitivity,
    summary_faithfulness,
)
from longform.metrics.statistics import Array
from longform.rows import JudgementRow

Json = dict[str, Any]
Level = Literal["sentence", "summary"]
DOCUMENT, CITED, FULL = "document", "cited", "full"


class Mode(NamedTuple):
    """The text against which the sentences of a summary are checked."""

    name: str  # in rows and tables: `document`, `full`, `full-ORDER`, `chunk-TOKENS`
    order: Literal["top", "middle", "bottom"] | None = None  # order of joined documents by importance; None: their own
    # length of the pieces that the joined documents are cut into; None: they are not cut
    chunk_tokens: int | None = None


EACH_DOCUMENT, JOINED = Mode(DOCUMENT), Mode(FULL)
BY_ORDER: Mapping[str, Mode] = {
    "original": JOINED,
    "top": Mode("full-top", "top"),
    "middle": Mode("full-middle", "middle"),
    "bottom": Mode("full-bottom", "bottom"),
}
"""Order of the joined documents (Table 4): as they are, or by where the most important ones stand."""


ORDERS = tuple(BY_ORDER)


def chunks_of(n_tokens: int) -> Mode:
    return Mode(f"chunk-{n_tokens}", chunk_tokens=n_tokens)


_UNCUT = frozenset(mode.name for mode in (EACH_DOCUMENT, Mode(CITED), *BY_ORDER.values()))


def text_index(verdict: JudgementRow) -> int:
    """
    Return the place of a verdict's text among those that its summary is checked against.

    Rows that were made before the column have it as the document's position, or as the chunk's index.
    """
    if (known := verdict.get("text_index")) is not None:
        return int(known)
    if (place := verdict["doc_position"]) is not None:
        return int(place)
    return 0 if verdict["mode"] in _UNCUT else int(verdict["chunk_index"] or 0)


SAID, NOT_SAID = "supported", "unsupported"
_COUNTS = {SAID: 1.0, NOT_SAID: 0.0}
"""People's answers; a number of a judge is above its threshold or not."""


class LabelledSummary(NamedTuple):
    """A summary with what people say of it."""

    summary_id: str
    data_set: str  # measures are of one data set; a data set has one level
    article: str  # stands for the text of its documents: summaries of equal documents are one cluster
    level: Level  # unit that a label is about
    labels: tuple[Label, ...]  # one a labelled sentence, or one in all; more, if several people labelled it
    # the sentence of each label; none: the labels are of one sentence after the other, or of the summary
    places: tuple[int, ...] = ()

    @property
    def said(self) -> tuple[bool, ...]:
        return tuple(label.answer == SAID for label in self.labels)


def label_set(summaries: Sequence[LabelledSummary], annotators: Sequence[str]) -> LabelSet:
    """Name a set of labels by its hash, annotators and size."""
    return {
        "hash": content_key([_label_key(summary) for summary in summaries]),
        "annotators": list(annotators),
        "n_summaries": len(summaries),
        "n_articles": len({summary.article for summary in summaries}),
    }


def _label_key(summary: LabelledSummary) -> list[str | Sequence[int]]:
    places = [summary.places] if summary.places else []
    return [summary.summary_id, summary.article, summary.level, summary.said, *places]


Cells = Mapping[tuple[str, str], Array]
"""(mode, summary id) -> numbers of shape (texts, sentences), NaN unjudged; the sentences are those labelled, or all."""


class Scoring(NamedTuple):
    """Rules by which numbers are made of cells, and measures of numbers."""

    # release: missing cells are left out of a merge, and documents without text are judged like others
    fidelity: Fidelity = "ours"
    threshold: float = SUPPORTED
    seed: int = 1
    resamples: int = 2000

    @property
    def settings(self) -> dict[str, int]:
        return {"seed": self.seed, "resamples": self.resamples}


def labelled_items(
    summary: LabelledSummary, cells: Array | None, merging: Merging, scoring: Scoring
) -> list[LabelledItem]:
    """
    Return the labels of *summary* with the judge's merged answers.

    *cells*, shape (texts, sentences), are NaN if unjudged; None: the judge was not asked. They are merged over texts,
    and over sentences if the label is of the summary. Fidelity `ours` leaves undecided what a missing cell could
    decide; `release` leaves missing cells out.

    Raises:
        ValueError: There is not a sentence for each label of a sentence.
    """
    numbers = [None] * len(summary.labels) if cells is None else _numbers(summary, cells, merging, scoring.fidelity)
    return [
        LabelledItem(
            summary_id=summary.summary_id,
            cluster=summary.article,
            source=summary.article,
            part=summary.data_set,
            people=label,
            judge=None if number is None else _answer(label, number, scoring.threshold),
            counts=_COUNTS,
        )
        for label, number in zip(summary.labels, numbers, strict=True)
    ]


def _answer(label: Label, number: float, threshold: float) -> Label:
    return Label("", label.summary_id, label.item, SAID if number > threshold else NOT_SAID, None, number)


def _numbers(summary: LabelledSummary, cells: Array, merging: Merging, fidelity: Fidelity) -> list[float | None]:
    """Return the judge's number beside each label."""
    merge = merge_documents if fidelity == "ours" else merge_documents_as_released
    sentences = merge(cells, merging.documents)
    if summary.level == "summary":
        known = sentences if fidelity == "ours" else sentences[~np.isnan(sentences)]
        return [summary_faithfulness(known, merging.sentences).value] * len(summary.labels)
    if not summary.places and len(sentences) != len(summary.labels):
        raise ValueError(
            f"{summary.summary_id}: expected a sentence for each of {len(summary.labels)} labels, got {len(sentences)}"
        )
    numbers = [None if np.isnan(number) else float(number) for number in sentences]
    return [numbers[place] for place in summary.places or range(len(numbers))]


def by_data_set(
    summaries: Sequence[LabelledSummary], cells: Cells, mode: str, merging: Merging, scoring: Scoring
) -> dict[str, Separation]:
    """Data set -> how well its labels are told apart; a data set without cells of *mode* has none."""
    return _separations(items_by_data_set(summaries, cells, mode, merging, scoring), scoring)


def _separations(sets: Mapping[str, Items], scoring: Scoring) -> dict[str, Separation]:
    return {
        name: separation(pairs, n_unjudged=len(items) - len(pairs), threshold=scoring.threshold, **scoring.settings)
        for name, items in sets.items()
        for pairs in [pairs_of(items)]
    }


def items_by_data_set(
    summaries: Sequence[LabelledSummary], cells: Cells, mode: str, merging: Merging, scoring: Scoring
) -> dict[str, list[LabelledItem]]:
    """Data set -> its labels with the judge's merged answers; a data set without cells of *mode* has none."""
    found = ((summary, cells.get((mode, summary.summary_id))) for summary in summaries)
    return in_groups(
        (summary.data_set, item)
        for summary, of in found
        if of is not None
        for item in labelled_items(summary, of, merging, scoring)
    )


def graded(summaries: Sequence[LabelledSummary], cells: Cells, modes: Sequence[str], scoring: Scoring) -> Json:
    """Return the figures of all merges, with the rules and the labels that they are of."""
    return {
        "scoring": scoring._asdict(),
        "data_sets": label_counts(summaries),
        "grid": grid(summaries, cells, modes, scoring),
    }


def grid(summaries: Sequence[LabelledSummary], cells: Cells, modes: Sequence[str], scoring: Scoring) -> list[Json]:
    """
    The measures of every merging (Table 7) and of every size of chunk (Table 6), as JSON values.

    A row has `documents` (full, min, mean, max, or chunk-N: the maximum over chunks), `sentences` (min, mean, max; no
    matter where the labels are of sentences), `data_sets`, and over them `mean`, of balanced accuracy and AUROC, and
    `average`, of balanced accuracy, with the interval of data sets drawn apart.
    """
    rows = []
    for mode in modes:
        ways: list[tuple[str, Merge]] = [(merge, merge) for merge in MERGES] if mode == DOCUMENT else [(mode, "max")]
        for (name, merge), how in product(ways, MERGES):
            sets = items_by_data_set(summaries, cells, mode, Merging(merge, how), scoring)
            rows.append({"documents": name, "sentences": how, **_figures(sets, scoring)})
    return rows


def _figures(sets: Mapping[str, Items], scoring: Scoring) -> Json:
    found = _separations(sets, scoring)
    undefined = [name for name, one in found.items() if one["reason"]]
    return {
        "data_sets": found,
        "mean": {
            "balanced_accuracy": _mean([one["balanced_accuracy"]["value"] for one in found.values()]),
            "auroc": _mean([one["auroc"]["value"] for one in found.values()]),
        },
        "mean_reason": f"undefined in {', '.join(undefined)}" if undefined else None if found else "no data set",
        "average": balanced_accuracy([*sets.values()], scoring.settings).as_json(),
    }


ORIGINAL = "original"
"""The joined documents as a judge cuts them itself, and the maximum over its windows (table 3's first row)."""


def merged_rows(found: Sequence[Json], *, cuts: bool) -> Iterator[Json]:
    """Yield the rows of a grid as tables of several judges have them; *cuts*: the judge cuts long texts itself."""
    for row in found:
        undefined = [name for name, one in row["data_sets"].items() if one["reason"]]
        yield {
            "documents": ORIGINAL if row["documents"] == FULL and cuts else row["documents"],
            "sentences": row["sentences"],
            "data_sets": {name: one["balanced_accuracy"] for name, one in row["data_sets"].items()},
            "average": row["average"],
            "reasons": dict.fromkeys(undefined, "labels of one class alone, or none judged")
            | ({AVERAGE: row["mean_reason"]} if undefined else {}),
        }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


def order_study(summaries: Sequence[LabelledSummary], cells: Cells, scoring: Scoring) -> Json:
    """
    Measure how the order of the joined documents moves the judge (Table 4), as JSON values, mean over sentences.

    Data sets whose summaries have no order by importance are left out. `sensitivity` has `data_sets` and `orders` of
    balanced accuracy; null, with `reason`, if a figure of the table is.
    """
    tables = {order: by_data_set(summaries, cells, mode.name, RECOMMENDED, scoring) for order, mode in BY_ORDER.items()}
    names = list(tables["top"])
    scores = [[tables[order][name]["balanced_accuracy"]["value"] for order in ORDERS] for name in names]
    rows = [{"data_set": name, **{order: tables[order][name] for order in ORDERS}} for name in names]
    if not names or any(value is None for row in scores for value in row):
        return {"rows": rows, "sensitivity": None, "reason": "a data set has no balanced accuracy in some order"}
    of_sets, of_orders = sensitivity([[value for value in row if value is not None] for row in scores])
    found = {
        "data_sets": dict(zip(names, of_sets, strict=True)),
        "orders": dict(zip(ORDERS, of_orders, strict=True)),
    }
    return {"rows": rows, "sensitivity": found, "reason": None}


def label_counts(summaries: Sequence[LabelledSummary]) -> list[Json]:
    found: list[Json] = []
    for name in dict.fromkeys(summary.data_set for summary in summaries):
        members = [summary for summary in summaries if summary.data_set == name]
        labels = [said for summary in members for said in summary.said]
        found.append(
            {
                "data_set": name,
                "level": members[0].level,
                "n_labels": len(labels),
                "n_supported": sum(labels),
                "n_summaries": len(members),
                "n_articles": len({summary.article for summary in members}),
                "held_out": False,
            }
        )
    return found
