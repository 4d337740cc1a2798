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

    A model names the fields that feed its ordinal part (`features`) and those that feed its guards (`strengths`).
    """

    closest: int | None  # index of the bullet that fits best; null: the summary has no bullet
    has_words: bool  # false: the insight has no word to look for
    recall: float  # share of the insight's weight in the bullet
    precision: float  # share of the bullet's weight in the insight
    share: float  # the part of the bullet that the insight wins in competition with its siblings
    numbers_missing: float  # share of the insight's numbers; 0 if it has none
    numbers_contradicted: float  # share of the insight's numbers in whose place the bullet states another
    denial_mismatch: float  # share of the shared weight that is denied on one side only, doubled; 1: they contradict
    order_lost: float  # 0: neighbouring words of the insight keep their order in the bullet; 1: as in shuffled text
    dilution: float  # 0: at least 30 % of the bullet's weight is the insight's; 1: at most 10 %
    bullet_share: float  # the part of the insight that this bullet wins in competition with the others
    cosine: float  # cosine of both vectors, in [-1, 1], rounded to three decimals; 0: the model reads none
    crowding: float  # 0: the insight weighs at least 40 % of the bullet; 1: at most 15 %
    token_recall: float  # mean cosine of the insight's word pieces to their nearest in the bullet; 0: not read
    token_lead: float  # token recall of the insight less the mean of those that compete for the bullet


class Fit(NamedTuple):
    """The rule by which an insight and a bullet are held against each other; recall counts 1 in it."""

    precision: float  # weight of precision
    cosine: float  # weight of the vectors' cosine
    tokens: float  # weight of token recall
    floor: float  # token recall below which a bullet says nothing of an insight, whatever its rivals say
    sharpness: float  # factor in softmaxes: at 8, a sibling that fits 0.3 better takes nine tenths of the share
    nobody: float  # the fit of nobody, who competes for each bullet beside the insights
    nobody_tokens: float  # the token recall of nobody
    # if fewer insights or bullets compete, nobody takes the places of those that lack; None: nobody competes once for
    # each bullet, and for no insight
    competitors: int | None
    # shares of neighbouring words in order: at the first and above no order is lost, at the second all of it
    order: tuple[float, float]

    @property
    def reads_vectors(self) -> bool:
        return bool(self.cosine or self.tokens)


class Design(NamedTuple):
    """The choices made for a judge before it is fitted; features and guards are fields of `Evidence`."""

    features: tuple[str, ...]
    guards: tuple[str, ...]
    fit: Fit


WORDS = Design(
    features=("recall", "share", "numbers_missing"),
    guards=("numbers_contradicted", "denial_mismatch", "order_lost", "dilution"),
    # nobody: a quarter of the words both ways. order: 95 % of covering bullets of news have more than 0.56, shuffled
    # ones 0.21 (median).
    fit=Fit(
        precision=1.0,
        cosine=0.0,
        tokens=0.0,
        floor=0.0,
        sharpness=8.0,
        nobody=0.5,
        nobody_tokens=0.0,
        competitors=None,
        order=(0.5, 0.2),
    ),
)
"""Shared words alone, chosen on news."""

VECTORS = Design(
    features=("share", "bullet_share", "token_lead"),
    guards=("numbers_contradicted", "denial_mismatch", "order_lost", "crowding"),
    # nobody, competitors: queries of the study have 5 insights or more, most others fewer; without nobody, a single
    # insight or a single bullet has no competitor, and any shared word covers it
    # floor: 99 % of covering bullets have more than 0.355 (conversations) and 0.52 (news); 95 % of the best bullets of
    # another topic less than 0.38 and 0.34, and they would win a part of the shares, since all features are relative
    # nobody_tokens: the mean over siblings in the closest bullet is 0.36 (conversations) and 0.43 (news) in the median
    # order: 95 % of covering bullets of news have more than 0.57, of conversations more than 0.43; a quarter of
    # shuffled ones has less than 0.12
    fit=Fit(
        precision=0.5,
        cosine=0.5,
        tokens=1.0,
        floor=0.35,
        sharpness=4.0,
        nobody=1.2,
        nobody_tokens=0.4,
        competitors=4,
        order=(0.4, 0.1),
    ),
)
"""
Words, sentence vectors and token vectors, chosen on news and conversations, each fitted on the other.

All three features are relative to siblings or to other bullets: the level of a share of words or of a cosine differs
between topics, and with it the level of the answers.
"""

DESIGNS: Mapping[str, Design] = {"words": WORDS, "vectors": VECTORS}
"""The designs by the names of `features` in a configuration."""


class JudgeModel(NamedTuple):
    """A fitted judge. Arrays follow `features`; pairs are (at least partial, full)."""

    calibration: Calibration
    fitted_on: str
    fitted_haystacks: tuple[str, ...]  # haystacks of the summaries that it has seen, sorted
    coefficients: tuple[tuple[float, ...], tuple[float, ...]]
    intercepts: tuple[float, float]
    strengths: Mapping[str, float]  # guard -> what it takes away at most
    cuts: tuple[float, float]  # scores from which the answer is partial, and full
    features: tuple[str, ...]
    fit: Fit

    @property
    def told(self) -> tuple[str, ...]:
        """The fields of the evidence by which a reader can follow a score."""
        read = {"recall", "precision", *self.features, *self.strengths}
        read |= {"cosine"} if self.fit.cosine else set()
        read |= {"token_recall"} if self.fit.tokens else set()
        return tuple(name for name in Evidence._fields if name in read)

    def scores(self, evidence: Sequence[Evidence]) -> NDArray[np.float64]:
        """The expected label of each insight, shape (insights,), in [0, 1]; 0 if no word is shared, or no meaning."""
        guarded = self.unguarded_scores(evidence)
        for name, strength in self.strengths.items():
            guarded *= 1 - strength * column(evidence, name)
        return np.asarray(np.round(guarded, _DIGITS))

    def unguarded_scores(self, evidence: Sequence[Evidence]) -> NDArray[np.float64]:
        """The ordinal model alone."""
        features = np.stack([column(evidence, name) for name in self.features], axis=1)
        logits = features @ np.array(self.coefficients).T + np.array(self.intercepts)
        expected = (1 / (1 + np.exp(-logits))).mean(axis=1)  # of two logistic regressions, shape (insights,)
        is_near = column(evidence, "token_recall") >= self.fit.floor
        return np.where(is_near & (column(evidence, "recall") > 0), expected, 0.0)

    def as_json(self) -> dict[str, Any]:
        """The model as it ships, numbers of six significant digits; without `fit`, it is that of words."""
        lists = {"fitted_haystacks": list(self.fitted_haystacks), "features": list(self.features)}
        content = self._asdict() | lists | {"strengths": dict(self.strengths)}
        fit = content.pop("fit")
        return content if fit == WORDS.fit else content | {"fit": fit._asdict()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], *, file: str) -> JudgeModel:
        """
        The model of `as_json`.

        Raises:
            InputError: The content is of other features or guards than this version reads.
        """
        read = {"features": tuple(content["features"]), "strengths": tuple(content["strengths"])}
        known = {
            "features": [design.features for design in DESIGNS.values()],
            "strengths": [design.guards for design in DESIGNS.values()],
        }
        for field, names in read.items():
            if names not in known[field]:
                expected = " or ".join(map(str, known[field]))
                raise InputError(
                    file=file, record="the model", field=field, expected=expected, found=str(content[field])
                )
        at_least_partial, full = content["coefficients"]
        fit = content.get("fit")
        return cls(
            calibration=content["calibration"],
            fitted_on=content["fitted_on"],
            fitted_haystacks=tuple(content["fitted_haystacks"]),
            coefficients=(tuple(at_least_partial), tuple(full)),
            intercepts=(content["intercepts"][0], content["intercepts"][1]),
            strengths=dict(content["strengths"]),
            cuts=(content["cuts"][0], content["cuts"][1]),
            features=read["features"],
            fit=WORDS.fit if fit is None else Fit(**fit | {"order": tuple(fit["order"])}),
        )


def answer_of(score: float, cuts: Sequence[float]) -> Answer:
    """Return the three-way answer for a score: partial and full from the first and the second of the *cuts* on."""
    partial_from, full_from = cuts
    if score >= full_from:
        return "full"
    return "partial" if score >= partial_from else "none"


def column(evidence: Sequence[Evidence], name: str) -> NDArray[np.float64]:
    return np.array([getattr(row, name) for row in evidence], dtype=np.float64)
