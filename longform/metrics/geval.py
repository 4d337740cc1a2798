"""
G-Eval on the scales that are printed of it: the rating of a summary beside its reference texts.

A judge's number is a rating from 1 to 5 as 0 to 1 (`longform.judges.kinds.reference`). MSRS (section 4.1) prints its
mean rating times 20, from 20 to 100; `geval_01` and `reference_rating` begin at 0, and do not compare with it. Of
several references the mean counts, or the best one (`geval_x20_max`); MSRS's release asks about the first alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from longform.metrics.measure import Facts, Measure, Score, Unit

_LOWEST, _HIGHEST = 1, 5
_SCALES: dict[str, tuple[str, Unit, float, float]] = {
    "geval_1_5": ("G-Eval, 1 to 5", "rating", _LOWEST, _HIGHEST),
    "geval_01": ("G-Eval, 0 to 1", "share", 0.0, 1.0),
    "geval_x20": ("G-Eval", "points", _LOWEST / _HIGHEST, 1.0),
}
"""Name -> its title, unit, and the stored values of the lowest and the highest rating."""


def _score(facts: Facts, name: str, *, lowest: float, highest: float, best: bool) -> Score:
    known = [verdict.number for verdict in facts.verdicts if verdict.number is not None]
    n_unjudged = len(facts.verdicts) - len(known)
    if not known:
        reason = "no reference text has a readable judgement" if facts.verdicts else "the query has no reference text"
        return Score(name, 0.0, 0, n_unjudged, reason)
    scaled = [lowest + (highest - lowest) * number for number in known]
    return Score(name, max(scaled), 1, n_unjudged) if best else Score(name, sum(scaled), len(scaled), n_unjudged)


def _measures() -> Iterator[Measure]:
    for best in (False, True):
        for scale, (title, unit, lowest, highest) in _SCALES.items():
            name = f"{scale}_max" if best else scale
            yield Measure(
                name,
                partial(_score, name=name, lowest=lowest, highest=highest, best=best),
                judged_by="reference",
                version="geval_max@1" if best else "geval@1",
                title=f"{title}, best reference" if best else title,
                unit=unit,
                told="rating beside "
                f"{'the reference text that it matches best' if best else 'the reference text'}, "
                f"{_RANGES[scale]}",
            )


_RANGES = {
    "geval_1_5": "from 1 to 5",
    "geval_01": "where 1 of 5 counts 0 and 5 of 5 counts 1",
    "geval_x20": "times 20, from 20 to 100",
}
MEASURES = tuple(_measures())
