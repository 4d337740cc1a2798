"""
A small ordinal model, and guards, that turn the evidence for an insight into a score and an answer.

The model is two logistic regressions over a few features, one for "at least partially covered" and one for "fully
covered"; their mean estimates the expected label, with full 1, partial 0.5 and none 0. A guard multiplies that: a
bullet that denies the insight, states another number, lost the order of words or drowns the statement in other
matter scores lower by up to the guard's strength, whatever words it shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError

Answer = Literal["full", "partial", "none"]
Calibration = Literal["people", "gpt-4o"]
"""Whose labels the scale follows; GPT-4o marks more generously than people."""

_DIGITS = 6


class Evidence(NamedTuple):
    """
    Evidence for an insight in the bullet closest to it; all shares in [0, 1], rounded to six decimals.

    recall, precision, share and numbers_missing feed the ordinal model; the last four feed the guards.
    """

    closest: int | None  # index of the bullet that fits best; null: the summary has no bullet
    has_words: bool  # false: the insight has no word to look for
    recall: float  # of the insight's weight in the bullet
    precision: float  # of the bullet's weight in the insight
    share: float  # of the bullet that is the insight's, in competition with its siblings
    numbers_missing: float  # of the insight's numbers; 0 where it has none
    numbers_contradicted: float  # of the insight's numbers: the bullet states another in their place
    denial_mismatch: float  # of the shared weight that is denied on one side only, doubled, at most 1
    order_lost: float  # 0: neighbouring words of the insight keep their order in the bullet; 1: as in shuffled text
    dilution: float  # 0: at least 30 % of the bullet's weight is the insight's; 1: at most 10 %


FEATURES = ("recall", "share", "numbers_missing")
GUARDS = ("numbers_contradicted", "denial_mismatch", "order_lost", "dilution")


class JudgeModel(NamedTuple):
    """A fitted judge. Arrays follow `FEATURES`; pairs are (at least partial, full)."""

    calibration: Calibration
    fitted_on: str
    fitted_haystacks: tuple[str, ...]  # whose summaries it has seen, sorted
    coefficients: tuple[tuple[float, ...], tuple[float, ...]]
    intercepts: tuple[float, float]
    strengths: Mapping[str, float]  # guard -> what it takes away at most
    cuts: tuple[float, float]  # scores from which the answer is partial, and full

    def scores(self, evidence: Sequence[Evidence]) -> NDArray[np.float64]:
        """The expected label of each insight, shape (insights,), in [0, 1]; 0 if no word is shared."""
        guarded = self.unguarded_scores(evidence)
        for name, strength in self.strengths.items():
            guarded *= 1 - strength * column(evidence, name)
        return np.asarray(np.round(guarded, _DIGITS))

    def unguarded_scores(self, evidence: Sequence[Evidence]) -> NDArray[np.float64]:
        """The ordinal model alone."""
        features = np.stack([column(evidence, name) for name in FEATURES], axis=1)
        # (insights, features) @ (features, 2) -> (insights, 2)
        logits = features @ np.array(self.coefficients).T + np.array(self.intercepts)
        expected = (1 / (1 + np.exp(-logits))).mean(axis=1)
        return np.where(column(evidence, "recall") > 0, expected, 0.0)

    def answer(self, score: float) -> Answer:
        """The three-way answer for a score; a cut belongs to the higher answer."""
        partial_from, full_from = self.cuts
        if score >= full_from:
            return "full"
        return "partial" if score >= partial_from else "none"

    def as_json(self) -> dict[str, Any]:
        """The model as it ships, numbers of six significant digits."""
        lists = {"fitted_haystacks": list(self.fitted_haystacks), "features": list(FEATURES)}
        return self._asdict() | lists | {"strengths": dict(self.strengths)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], *, file: str) -> JudgeModel:
        """
        The model of `as_json`.

        Raises:
            InputError: The content is of other features or guards than this version reads.
        """
        if tuple(content["features"]) != FEATURES:
            raise InputError(
                file=file, record="the model", field="features", expected=str(FEATURES), found=str(content["features"])
            )
        if tuple(content["strengths"]) != GUARDS:
            raise InputError(
                file=file, record="the model", field="strengths", expected=str(GUARDS), found=str(content["strengths"])
            )
        at_least_partial, full = content["coefficients"]
        return cls(
            calibration=content["calibration"],
            fitted_on=content["fitted_on"],
            fitted_haystacks=tuple(content["fitted_haystacks"]),
            coefficients=(tuple(at_least_partial), tuple(full)),
            intercepts=(content["intercepts"][0], content["intercepts"][1]),
            strengths=dict(content["strengths"]),
            cuts=(content["cuts"][0], content["cuts"][1]),
        )


def column(evidence: Sequence[Evidence], name: str) -> NDArray[np.float64]:
    """One field of all rows as numbers."""
    return np.array([getattr(row, name) for row in evidence], dtype=np.float64)
