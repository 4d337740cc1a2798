"""
Scores that MSRS's release has of each summary of its systems: G-Eval and BERTScore.

G-Eval is a label, since a judge gave it: GPT-4o, beside the first reference text (stories have four). BERTScore (F1) is
a score, as nobody judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from longform.formats.fields import Entry, Expected, Filled, Text
from longform.formats.rows import ShippedLabel, ShippedSummary
from longform.metrics.similarity import BERTSCORE
from longform.rows import ReleasedScoreRow

RATER = "released:geval"
"""The annotator whose labels the release's ratings are: GPT-4o, the mean of five ratings by their probabilities."""

_Rating = Annotated[float, Field(strict=True, ge=1, le=5), Expected("a number from 1 to 5")]
_Share = Annotated[float, Field(strict=True, ge=-1, le=1), Expected("a number from -1 to 1")]


class Output(Entry):
    """A line of `outputs.jsonl`."""

    setting: Filled
    model: Filled
    query_id: Filled
    summary: Text
    geval: _Rating | None = None
    bert_f1: _Share | None = None


def shipped_summary(haystack_id: str, summary_id: str, output: Output) -> ShippedSummary:
    """Return the summary of an output."""
    return {
        "summary_id": summary_id,
        "query_id": output.query_id,
        "haystack_id": haystack_id,
        "summarizer": output.model,
        "setting": output.setting,
        "method": "plain",
        "text": output.summary,
    }


def rating(summary_id: str, output: Output) -> Iterator[ShippedLabel]:
    """Yield the label of an output that was rated: the nearest rating, and the rating itself from 0 to 1."""
    if output.geval is not None:
        yield {
            "annotator": RATER,
            "summary_id": summary_id,
            "target_kind": "reference",
            "target_id": f"{output.query_id}:0",
            "mode": "full",
            "repeat": 0,
            "answer": str(round(output.geval)),
            "probability": (output.geval - 1) / 4,
        }


def scores(summary_id: str, output: Output) -> Iterator[ReleasedScoreRow]:
    """Yield the scores of an output."""
    if output.bert_f1 is not None:
        yield {"summary_id": summary_id, "measure": BERTSCORE, "value": output.bert_f1}
