"""
Means of a judge's verdicts on one summary: on the key points of its query, and beside its reference texts.

Key points. Key point recall of LONG2RAG, section 3: the share of a query's key points that a response entails; and the
three ways of section 6.1 and figure 8 to miss one, as shares of the missed.

Reference texts, several of which count by their mean. A judge's number is a rating from 1 to 5 as 0 to 1
(`longform.judges.kinds.reference`). `reference_rating` is shown from 0 to 100 as MSRS judges (appendix D.3.2), and
`geval_01` from 0 to 1; MSRS (section 4.1) prints its mean rating times 20, from 20 to 100 (`geval_x20`), which does not
compare with them. The best of several references may count (`geval_x20_max`); MSRS's release asks about the first
alone. The six kinds of error are those of MSRS, section 5.3 and appendix B.4, table 12; an answer has any number of
them, and stands as one text, its labels in the order of `ERRORS_MADE`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from longform.metrics.measure import Facts, Measure, Score, Unit

SAID = "said"
WAYS = {
    "incomplete": "are said in part",
    "general": "are said in more general words than they have",
    "missing": "are not said at all",
}
"""The ways to miss a key point -> words of key points that are missed so."""
ERRORS_MADE = {
    "minor_details": "leave out many minor details",
    "major_details": "leave out many major details",
    "minor_misunderstanding": "misunderstand a minor point of the query",
    "major_misunderstanding": "misunderstand the query in the main",
    "hallucination": "say what the reference gives no ground for",
    "too_general": "stay too general",
}
"""The errors -> words of summaries that make them."""
_LOWEST, _HIGHEST = 1, 5
_SCALES: dict[str, tuple[str, Unit, float, float, str]] = {
    "geval_1_5": ("G-Eval, 1 to 5", "rating", _LOWEST, _HIGHEST, "from 1 to 5"),
    "geval_01": ("G-Eval, 0 to 1", "share", 0.0, 1.0, "where 1 of 5 counts 0 and 5 of 5 counts 1"),
    "geval_x20": ("G-Eval", "points", _LOWEST / _HIGHEST, 1.0, "times 20, from 20 to 100"),
}
"""Name -> its title, unit, the stored values of the lowest and the highest rating, and the range in words."""


def _answers(facts: Facts) -> list[str]:
    return [verdict.answer for verdict in facts.verdicts if verdict.answer is not None]


def _mean(name: str, facts: Facts, values: Sequence[float], what: str, *, n_judged: int, none: str = "") -> Score:
    """Return the mean of *values*; *what* is judged, and *none* says why there is no value if all of it is."""
    reason = f"no {what} has a readable judgement" if facts.verdicts else f"the query has no {what}"
    reason = none if none and n_judged else reason
    return Score(name, sum(values, 0.0), len(values), len(facts.verdicts) - n_judged, None if values else reason)


# ---------------------------------------------------------------- key points


def _key_points(facts: Facts) -> Score:
    said = [float(answer == "entailed") for answer in _answers(facts)]
    return _mean("key_point_recall", facts, said, "key point", n_judged=len(said))


def _recall_of_question(facts: Facts) -> Score:
    recall = _key_points(facts)
    return recall._replace(measure="KPR", total=recall.value or 0.0, n=int(recall.n > 0))


def _way(facts: Facts, way: str) -> Score:
    answers = _answers(facts)
    missed = [float(answer == way) for answer in answers if answer != SAID]
    return _mean(f"miss_{way}", facts, missed, "key point", n_judged=len(answers), none="no key point is missed")


# ---------------------------------------------------------------- beside reference texts


def _rating(facts: Facts, name: str, *, lowest: float = 0.0, highest: float = 1.0, best: bool = False) -> Score:
    scaled = [lowest + (highest - lowest) * one.number for one in facts.verdicts if one.number is not None]
    n_judged = len(scaled)
    return _mean(name, facts, [max(scaled)] if best and scaled else scaled, "reference text", n_judged=n_judged)


def _errors(facts: Facts, name: str, error: str | None = None) -> Score:
    """Return the share of answers that name an *error*, or none at all."""
    found = [labels_in(answer) for answer in _answers(facts)]
    held = [float(not labels if error is None else error in labels) for labels in found]
    return _mean(name, facts, held, "reference text", n_judged=len(held))


def _geval() -> Iterator[Measure]:
    for best in (False, True):
        for scale, (title, unit, lowest, highest, range_) in _SCALES.items():
            name = f"{scale}_max" if best else scale
            beside = "the reference text that it matches best" if best else "the reference text"
            yield Measure(
                name,
                partial(_rating, name=name, lowest=lowest, highest=highest, best=best),
                judged_by="reference",
                version="geval_max@1" if best else "geval@1",
                title=f"{title}, best reference" if best else title,
                unit=unit,
                told=f"rating beside {beside}, {range_}",
            )


# ---------------------------------------------------------------- answers that are several labels at once

NO_LABEL = "none"
LABEL_SEPARATOR = "+"


def label_set(stated: Collection[str], labels: Sequence[str]) -> str | None:
    """
    Return the answer that has the *stated* labels, in any order; `none`, or nothing, has none.

    Returns:
        None if a label is none of *labels*, or if `none` stands beside another.
    """
    chosen = set(stated) - {NO_LABEL}
    if not chosen <= set(labels) or (chosen and NO_LABEL in stated):
        return None
    return LABEL_SEPARATOR.join(label for label in labels if label in chosen) or NO_LABEL


def labels_in(answer: str) -> frozenset[str]:
    """Return the labels of an answer."""
    return frozenset() if answer == NO_LABEL else frozenset(answer.split(LABEL_SEPARATOR))


def label_sets(labels: Sequence[str]) -> list[str]:
    """Return all answers, `none` first."""
    chosen = (some for n in range(1, len(labels) + 1) for some in combinations(labels, n))
    return [NO_LABEL, *(LABEL_SEPARATOR.join(some) for some in chosen)]


_ERRORS: Any = {"judged_by": "errors", "version": "errors@1", "unit": "share"}
MEASURES = (
    Measure(
        "key_point_recall",
        _key_points,
        judged_by="key_point",
        version="key_point_recall@1",
        title="key point recall",
        told="share of the key points that the summary entails",
    ),
    Measure(
        "KPR",
        _recall_of_question,
        judged_by="key_point",
        version="KPR@1",
        told="key point recall of a question (LONG2RAG, equation 2): the share of its key points that the response "
        "entails; every question counts once, however many key points it has",
    ),
    Measure(
        "reference_rating",
        partial(_rating, name="reference_rating"),
        judged_by="reference",
        version="reference_rating@1",
        title="reference rating",
        told="rating beside the reference text, where 1 of 5 counts 0 and 5 of 5 counts 100",
    ),
    *_geval(),
    Measure(
        "error_free",
        partial(_errors, name="error_free"),
        told="share of the summaries in which no error is found",
        **_ERRORS,
    ),
    *(
        Measure(
            f"error_{error}",
            partial(_errors, name=f"error_{error}", error=error),
            better="lower",
            told=f"share of the summaries that {told}",
            **_ERRORS,
        )
        for error, told in ERRORS_MADE.items()
    ),
    *(
        Measure(
            f"miss_{way}",
            partial(_way, way=way),
            judged_by="misses",
            version="misses@1",
            better=None,
            told=f"share of the missed key points that {told}",
        )
        for way, told in WAYS.items()
    ),
)
