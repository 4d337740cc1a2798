"""Labelled summaries, and judges that were held against labels, as tests write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.judges.card_figures import average_bias, sample_bias
from longform.judges.kinds.coverage import COVERAGE
from longform.judges.merges import DOCUMENT, Cells, LabelledSummary, Scoring, label_set, labelled_items
from longform.judges.meta_evaluation import NOT_EACH, HeldJudge, meta_evaluation
from longform.judges.worth import WORTHS, pairs_of, target_item
from longform.metrics.agreement import Label
from longform.metrics.faithfulness import RECOMMENDED

PEOPLE = ("ann", "bo", "cy")
SETTINGS = {"seed": 1, "resamples": 200}
SCORING = Scoring(resamples=200)


def summary(name: str, *said: bool, data_set: str = "x", level: str = "summary", article: str = "") -> LabelledSummary:
    """Return a summary with a label of each of its sentences by one person, or of it as a whole by several."""
    labels = tuple(
        Label("ann", name, (name, place), "supported" if one else "unsupported")
        if level == "sentence"
        else Label(PEOPLE[place], name, (name, None), "supported" if one else "unsupported")
        for place, one in enumerate(said)
    )
    return LabelledSummary(name, data_set, article or name, level, labels)  # type: ignore[arg-type]


def by_documents(name: str, summaries: Sequence[LabelledSummary], cells: Cells) -> HeldJudge:
    """Return a judge of sentences by its cells."""
    items = [
        item
        for one in summaries
        for item in labelled_items(one, cells.get((DOCUMENT, one.summary_id)), RECOMMENDED, SCORING)
    ]
    more = {"threshold": SCORING.threshold, "n_cells": 10, "n_unjudged": 0, "orders": None}
    return HeldJudge(name, items, frozenset(), {"usd": 0.0, "why": "none"}, "its card", more)


def compared_by_documents(
    judges: Sequence[HeldJudge], summaries: Sequence[LabelledSummary], *, each: bool = True
) -> dict[str, Any]:
    """Hold judges of sentences beside each other; *each*: each document was judged apart."""
    labels, unanswered = label_set(summaries, ["ann"]), None if each else NOT_EACH
    worth = WORTHS["balanced_accuracy"]
    return meta_evaluation(worth, judges, labels, task="support", settings=SETTINGS, unanswered=unanswered)


def by_targets(
    name: str,
    people: Sequence[str],
    answers: Sequence[str | None],
    summaries: Mapping[str, Any],
    *,
    fitted: frozenset[str] = frozenset(),
) -> HeldJudge:
    """Return a judge of coverage that answers two insights of each of *summaries*, which have their kind of text."""
    items = []
    for place, (label, answer) in enumerate(zip(people, answers, strict=True)):
        one = f"s{place // 2}"
        row: Any = {"summary_id": one, "target_id": f"i{place % 2}", "annotator": "human", "linked_unit": 0}
        verdict: Any = {"answer": answer, "linked_unit": 0, "probability": None, "failure": None}
        source, part = summaries[one]["haystack_id"], summaries[one]["text_kind"]
        items.append(target_item(COVERAGE, {**row, "answer": label}, verdict, source=source, part=part))
    pairs = pairs_of(items)
    average = average_bias(pairs, summaries, SETTINGS).as_json()
    more = {"bias": {**sample_bias(pairs, summaries, SETTINGS), "average": average}}
    return HeldJudge(name, items, fitted, {"usd": None, "why": "there is no ledger"}, "its card", more)


def compared_by_targets(judges: Sequence[HeldJudge], *, annotator: str = "human") -> dict[str, Any]:
    """Hold judges of coverage beside each other."""
    n = len({one.summary_id for one in judges[0].items})
    labels: Any = {"hash": "h", "annotators": [annotator], "n_summaries": n, "n_topics": 1}
    return meta_evaluation(WORTHS["correlation"], judges, labels, task="coverage", settings=SETTINGS)
