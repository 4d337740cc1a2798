"""The size of a study of positions, planned before anything is asked: what it must be, and what that assumes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.judges.card_columns import DataSetRow
from longform.metrics.position_bias import FOUND
from longform.metrics.power import U_POWER, Assumed, summaries_needed

Row = Mapping[str, Any]
MEAN = 0.75
"""Assumed faithfulness over all places: near that of the paper's summaries (Table 5: 66 to 86, of 100)."""
ACCURACY = 0.8
"""Assumed balanced accuracy of a judge without a card, of single sentences."""
DEPTHS = (40.0, 20.0, 10.0)
"""Points from the best to the worst place of a U, if none is named."""
_POINTS = 100.0


def sentence_accuracy(rows: Sequence[DataSetRow]) -> float | None:
    """
    Return the mean balanced accuracy of a card's data sets, in [0, 1]; None if none is known.

    Data sets that are labelled by the sentence count alone if there are any: a study of positions asks of sentences.
    """
    known = [(row["level"], value) for row in rows if (value := row["balanced_accuracy"]["value"]) is not None]
    found = [value for level, value in known if level == "sentence"] or [value for _, value in known]
    return sum(found) / len(found) if found else None


def positions_row(prompts: Row, judge: str, accuracy: float | None, *, n_curves: int, depths: Sequence[float]) -> Row:
    """
    Return the sizes that find a U of each of *depths*, in points from the best to the worst place.

    *prompts* has the `dataset`, `n_summaries` of each system that the run will have, `n_documents` of the usual prompt,
    and the mean `n_sentences` that are asked for; *accuracy* is that of the judge's card; *n_curves* are tested
    together.
    """
    sure = ACCURACY if accuracy is None else accuracy

    def size(depth: float) -> Row:
        n_documents, n_sentences = prompts["n_documents"], prompts["n_sentences"]
        assumed = Assumed(depth / _POINTS, MEAN, n_documents, n_sentences, sure, max(1, n_curves))
        if not assumed.fits:
            return {"depth": depth, "summaries": None, "why_none": f"no U of {depth:g} points has a mean of {MEAN:.0%}"}
        found = summaries_needed(assumed) if sure > 0.5 else None
        why = None if found else f"a judge of {sure:.0%} balanced accuracy sees too little of it"
        return {"depth": depth, "summaries": found, "why_none": why}

    return {
        **prompts,
        "judge": judge,
        "n_curves": n_curves,
        "mean": MEAN,
        "accuracy": sure,
        "accuracy_from": "assumed" if accuracy is None else "card",
        "level": FOUND,
        "power": U_POWER,
        "sizes": [size(depth) for depth in depths],
    }


def positions_words(rows: Sequence[Row]) -> Iterator[str]:
    """Yield two lines a row: the sizes, and what they assume."""
    for row in rows:
        on = f" on {row['dataset']}" if row["dataset"] else ""
        sizes = "; ".join(_size_words(size) for size in row["sizes"])
        yield f"positions{on}, judge {row['judge']}: to find {sizes}. The run has {row['n_summaries']:,}."
        source = "of its card" if row["accuracy_from"] == "card" else "assumed, as it has no card"
        curves = "1 curve" if row["n_curves"] == 1 else f"{row['n_curves']} curves tested together"
        yield (
            f"  assumed: {row['mean']:.0%} of sentences faithful, {row['n_sentences']:g} sentences a summary, "
            f"{row['n_documents']} documents a prompt, a judge of {row['accuracy']:.0%} balanced accuracy ({source}), "
            f"{curves}; level {row['level']:g}, power {row['power']:g}"
        )


def _size_words(size: Row) -> str:
    lead = f"a U of {size['depth']:g} points"
    if size["summaries"] is None:
        return f"{lead}, no size: {size['why_none']}"
    return f"{lead}, {size['summaries']:,} summaries of each system"
