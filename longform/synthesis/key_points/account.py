"""Turn questions, documents and points into the tables of a benchmark, and count what was made of what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longform.formats.rows import HaystackRows, facet_rows
from longform.keys import content_key, in_groups
from longform.records import Document, Qrel, Query, Target
from longform.synthesis.key_points.points import Selected
from longform.synthesis.key_points.questions import TopicCell
from longform.synthesis.key_points.search import Searched, SourceDocument, SourceQuestion
from longform.synthesis.recipe import SynthesisWords, made_table
from longform.tables.table import Table

ALL = "(all questions)"
"""The haystack under which attempts about questions stand before there is one for each."""

_NOT_STATED = "not stated"
_STEPS = 20  # of the distribution of scores


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """A question as far as it came."""

    question: SourceQuestion
    searched: Searched
    documents: Sequence[SourceDocument]  # those that were found, whole, the best first
    n_extracted: int  # points of all documents before repetitions were merged
    points: Sequence[Selected]  # after it, kept ones and others

    @property
    def kept(self) -> list[Selected]:
        return [point for point in self.points if point.kept]


def haystack_rows(asked: AskedQuestion) -> HaystackRows:
    """Return the tables of a question: a haystack of its own, with its documents in the order of their rank."""
    question_id = asked.question.question_id
    targets = [
        Target(target_id(question_id, one), "key_point", question_id, question_id, n, None, one.text)
        for n, one in enumerate(asked.kept)
    ]
    qrels = [
        Qrel(question_id, target.target_id, doc_id, 1)
        for target, one in zip(targets, asked.kept, strict=True)
        for doc_id in dict.fromkeys(grounds.doc_id for grounds in one.grounds)
    ]
    documents = [
        Document(document.doc_id, question_id, n, document.title, document.text)
        for n, document in enumerate(asked.documents)
    ]
    facets = facet_rows(asked.question.facets) or None
    query = Query(question_id, question_id, asked.question.text, facets=facets)
    return HaystackRows(question_id, documents, [query], targets, qrels)


def target_id(question_id: str, point: Selected) -> str:
    """Return the id of a point as a target; two points of a question may have the same words."""
    return content_key(question_id, list(point.numbers), point.text)


# ---------------------------------------------------------------- the account


def question_account(asked: AskedQuestion) -> dict[str, Any]:
    """Count what became of a question, with every point, its score and its spans."""
    question_id = asked.question.question_id
    return {
        "haystack_id": question_id,
        "question": asked.question.text,
        "facets": asked.question.facets,
        "kind": asked.searched.kind,
        "searches": asked.searched.searches,
        "documents": [one._asdict() for one in asked.searched.documents],
        "words": [len(document.text.split()) for document in asked.documents],
        "extracted": asked.n_extracted,
        "merged": len(asked.points),
        "key_points": len(asked.kept),
        "in_benchmark": bool(asked.kept),
        "points": [
            {
                "target_id": target_id(question_id, one),
                "point": one.text,
                "score": one.score,
                "kept": one.kept,
                "numbers": [*one.numbers],
                "spans": [grounds.model_dump(mode="json") for grounds in one.grounds],
            }
            for one in asked.points
        ],
    }


def all_account(
    asked: Sequence[AskedQuestion], made: Mapping[TopicCell, int], per_cell: int, repeated: int, *, with_scores: bool
) -> dict[str, Any]:
    """
    Count what all questions came to; *repeated* new questions stand in another cell, too.

    Scores are told if they are probabilities (*with_scores*). *made* is empty if questions were given.
    """
    lengths = [len(document.text.split()) for one in asked for document in one.documents]
    values = [point.score for one in asked for point in one.points if point.score is not None] if with_scores else []
    steps, farthest = score_steps(values)
    return {
        "haystack_id": ALL,
        "cells": [{"category": c.category, "domain": c.domain, "wanted": per_cell, "made": n} for c, n in made.items()],
        "repeated_across_cells": repeated,
        "document_words": _spread(lengths) if lengths else None,
        "segment_fit": _segment_fit([value for one in asked for value in one.searched.fits or ()]),
        "scores": steps,
        "farthest_from_diagonal": farthest,
    }


def _spread(lengths: Sequence[int]) -> dict[str, float]:
    names = ("least", "quarter", "median", "three_quarters", "most")
    quartiles = np.quantile(lengths, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return dict(zip(names, quartiles, strict=True)) | {"mean": float(np.mean(lengths))}


def _segment_fit(cosines: Sequence[float]) -> dict[str, float] | None:
    """Return the mean and the deviation of segments' cosines to their question (LONG2RAG: 0.627, 0.081)."""
    if not cosines:
        return None
    return {"segments": len(cosines), "mean": float(np.mean(cosines)), "deviation": float(np.std(cosines))}


def score_steps(scores: Sequence[float]) -> tuple[list[dict[str, float]] | None, float | None]:
    """
    Return the distribution of scores in steps of 0.05, and how far it is from the diagonal at most (LONG2RAG, figure
    13: the nearer to the diagonal, the more evenly scores are spread); None if there is no score.
    """
    if not scores:
        return None, None
    values = np.sort(np.array(scores))
    edges = np.round(np.linspace(0, 1, _STEPS + 1), 6)
    shares = np.searchsorted(values, edges, side="right") / len(values)
    steps = [{"score": float(e), "share": float(s)} for e, s in zip(edges, shares, strict=True)]
    return steps, float(np.abs(shares - edges).max())


# ---------------------------------------------------------------- in words


def told(haystacks: Sequence[Mapping[str, Any]]) -> SynthesisWords:
    """Tell accounts in words."""
    questions = [one for one in haystacks if one["haystack_id"] != ALL]
    (together,) = (one for one in haystacks if one["haystack_id"] == ALL)
    missing = sum(cell["wanted"] - cell["made"] for cell in together["cells"]) + together["repeated_across_cells"]
    without = sum(not one["in_benchmark"] for one in questions)
    kept = [one for one in questions if one["in_benchmark"]]
    n_points = sum(one["key_points"] for one in kept)
    return SynthesisWords(
        first=f"questions: {len(kept):,}, key points: {n_points:,}",
        table=made(haystacks),
        columns=[*_COLUMNS],
        notes=list(_notes(together, without, missing)),
        is_short=bool(missing or without),
    )


_COLUMNS = {
    "category": "",
    "questions": "",
    "documents": "",
    "extracted": "points extracted",
    "merged": "after merging",
    "key_points": "key points",
}


def made(haystacks: Sequence[Mapping[str, Any]]) -> Table:
    """Return what was made of questions, a row for each category."""
    questions = [one for one in haystacks if one["haystack_id"] != ALL]
    categories = in_groups((one["facets"].get("category", _NOT_STATED), one) for one in questions)
    rows = [
        {
            "category": category,
            "questions": len(some),
            "documents": sum(len(one["documents"]) for one in some),
            **{name: sum(one[name] for one in some) for name in ("extracted", "merged", "key_points")},
        }
        for category, some in sorted(categories.items())
    ]
    return made_table(_COLUMNS, rows)


def _notes(together: Mapping[str, Any], without: int, missing: int) -> list[str]:
    notes = ["synthesis.json has every point with its score and its spans; the table attempts has every rejection"]
    if without:
        notes.append(f"left out of the benchmark: {without:,} questions without a key point")
    if missing:
        cells = [cell for cell in together["cells"] if cell["made"] < cell["wanted"]]
        shown = ", ".join(
            f"{cell['category']} x {cell['domain']} {cell['wanted'] - cell['made']}" for cell in cells[:5]
        )
        more = f" and {len(cells) - 5} cells more" if len(cells) > 5 else ""
        notes.append(f"missing: {missing:,} questions: {shown}{more}")
    if together["segment_fit"] is not None:
        fit = "cosine of questions and segments: mean {mean:.3f}, deviation {deviation:.3f}, {segments:,} segments"
        notes.append(fit.format(**together["segment_fit"]))
    if together["farthest_from_diagonal"] is not None:
        far = together["farthest_from_diagonal"]
        notes.append(f"scores: their distribution is {far:.2f} from the diagonal at most (0: spread evenly)")
    return notes
