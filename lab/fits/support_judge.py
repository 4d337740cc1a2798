"""
Fit the offline support judge on claims that people labelled, and measure it with a domain left out.

Which word of an unsupported claim is wrong nobody labelled; SummEdits tells it nearly: its claims about one document
are edits of one another, so that a word which the nearest supported claim has not is *edited*. Edited words of
unsupported claims are to be doubted, edited words of supported claims (other words for the same thing) and all words
that nobody edited are not. Doubts are linear in what is known of a word, and are fitted by least squares on the largest
components of its vectors. The weights of a claim's signals are fitted to labels by doubts of models that have not seen
its domain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.ndimage import gaussian_filter1d
from scipy.special import expit
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.utils.class_weight import compute_sample_weight

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from lab.fits import best_threshold, fit_logistic, significant
from lab.fits.checker_pairs import changed_words
from longform.errors import UsageError
from longform.judges.doubt import DoubtModel
from longform.judges.lexical_support import (
    GIVEN,
    SIGNALS,
    VERSION,
    Evidence,
    LexicalSupportModel,
    SupportDocument,
    all_signals,
    evidence,
)
from longform.support.index import SupportIndex
from longform.text.words import without_marks, words

COMPONENTS = 32
"""The number of components of the words' vectors, and of the differences."""

RIDGE = 0.3
GROUPS = (1.0, 0.5, 0.5)
"""Weights of edited words of unsupported claims, of those of supported ones, and of words nobody edited."""

STRENGTH = 0.1
"""Inverse regularisation, scikit-learn's C, on standardised signals."""

SMOOTHED = 0.02
"""The deviation of the kernel over cuts."""

UNSURE_SHARE = 0.2
"""The share of claims, those nearest to the cut, that is unsure."""

Array = NDArray[np.float64]


class LabelledClaim(NamedTuple):
    """A claim about one document."""

    domain: str  # all claims of a domain are left out at once
    document: str
    supported: bool | None  # null: in part, or nobody knows
    evidence: Evidence
    is_edit: bool  # of the other claims about its document


def edited_words(claims: Sequence[LabelledClaim]) -> list[NDArray[np.bool_]]:
    """Return for each claim which of its words the nearest other supported claim about its document has not."""
    faithful: dict[str, list[tuple[str, ...]]] = {}
    for claim in claims:
        if claim.supported:
            faithful.setdefault(claim.document, []).append(claim.evidence.words.words)
    found = []
    for claim in claims:
        said = claim.evidence.words.words
        others = [one for one in faithful.get(claim.document, ()) if one != said]
        edited = np.zeros(len(said), dtype=bool)
        if others and claim.is_edit:
            some = sorted(others, key=lambda one: len({*said} ^ {*one}))[:3]
            nearest = max(some, key=lambda one: SequenceMatcher(None, one, said, autojunk=False).ratio())
            edited[:] = changed_words(nearest, said)
        found.append(edited)
    return found


def word_rows(claims: Sequence[LabelledClaim]) -> tuple[Array, Array, Array]:
    """Return features of a domain's words, a one behind them, with targets and weights, the last two (words,)."""
    readings = [claim.evidence.words for claim in claims]
    rows = [np.hstack([r.signals, r.said, r.change, np.ones((len(r.said), 1))]).astype(np.float64) for r in readings]
    edited = np.concatenate(edited_words(claims))
    wrong = np.repeat([not claim.supported for claim in claims], [len(reading.words) for reading in readings])
    groups = np.select([edited & wrong, edited], [0, 1], 2)
    weights = np.array(GROUPS) / np.maximum(np.bincount(groups, minlength=len(GROUPS)), 1)
    return np.concatenate(rows), np.where(groups == 0, 1.0, -1.0), weights[groups]


def fit_doubts(domains: Sequence[tuple[Array, Array, Array]], n_signals: int) -> DoubtModel:
    """Return the model of single words that the `word_rows` of *domains* teach, which all count the same."""
    rows, target, weights = (np.concatenate(side) for side in zip(*domains, strict=True))
    edges = [n_signals, (n_signals + rows.shape[1] - 1) // 2]
    mean, covariance = rows[:, :-1].mean(axis=0), np.cov(rows[:, :-1], rowvar=False, bias=True)
    blocks = [np.diag(1 / (np.sqrt(np.diag(covariance)[:n_signals]) + 1e-6))]
    for own in np.split(np.arange(len(mean)), edges)[1:]:
        values, vectors = np.linalg.eigh(covariance[np.ix_(own, own)])
        blocks.append((vectors / np.sqrt(np.maximum(values, 0) + 1e-6))[:, ::-1][:, :COMPONENTS])
    to_parts: Array = block_diag(*blocks, 1.0)  # from features to standardised signals and components
    to_parts[-1, :-1] = -mean @ to_parts[:-1, :-1]
    parts = rows @ to_parts
    weighed = parts.T * (weights / len(domains))
    fitted_weights = to_parts @ np.linalg.solve(weighed @ parts + RIDGE * np.eye(len(weighed)), weighed @ target)
    signals, said, change = np.split([significant(weight) for weight in fitted_weights[:-1]], edges)
    return DoubtModel(
        tuple(signals.tolist()), tuple(said.tolist()), tuple(change.tolist()), significant(fitted_weights[-1])
    )


class Fitting:
    """Fits the judge on labelled claims, whole or without a domain."""

    def __init__(self, claims: Sequence[LabelledClaim]) -> None:
        self.claims = claims
        self.edited_domains = sorted({claim.domain for claim in claims if claim.is_edit})
        own = {name: [claim for claim in claims if claim.domain == name] for name in self.edited_domains}
        self._words = {name: word_rows(edits) for name, edits in own.items()}
        self._doubts_of = cache(self._fitted_doubts)
        self.odds_without = cache(self._odds_without)

    def _fitted_doubts(self, *domains: str) -> DoubtModel:
        n_signals = self.claims[0].evidence.words.signals.shape[1]
        return fit_doubts([self._words[domain] for domain in domains], n_signals)

    def _odds_without(self, domain: str | None) -> tuple[LexicalSupportModel, Array]:
        """Return the model fitted without *domain*, not yet on the scale of probabilities, and its log odds there."""
        edits = [one for one in self.edited_domains if one != domain]
        used = [claim for claim in self.claims if claim.domain in edits and claim.supported is not None]
        inner = {one: self._doubts_of(*(other for other in edits if other != one)) for one in edits}
        rows = [all_signals(claim.evidence, inner[claim.domain]) for claim in used]
        features = np.array([[row[name] for name in SIGNALS] for row in rows])
        labels = np.array([bool(claim.supported) for claim in used])
        weights, intercept = fit_logistic(
            features, labels, strength=STRENGTH, weights=balanced_weights(used, by_label=True)
        )
        both = dict(zip(SIGNALS, weights, strict=True)) | dict(GIVEN)
        model = LexicalSupportModel(self._doubts_of(*edits), both, intercept, (0.0, 0.0), 0.0)
        own = [claim.evidence for claim in self.claims if claim.domain == domain]
        return model, model.log_odds(own)

    @cached_property
    def held_out(self) -> Array:
        """Return the log odds of each claim by the model that has not seen its domain, shape (claims,)."""
        found = np.zeros(len(self.claims))
        domains = np.array([claim.domain for claim in self.claims])
        for domain in dict.fromkeys(domains.tolist()):
            found[domains == domain] = self.odds_without(domain)[1]
        return found

    def fit_without(self, domain: str | None) -> LexicalSupportModel:
        """Return the model of all domains but one; probabilities and bounds are by their held-out log odds."""
        model, _ = self.odds_without(domain)
        places = [i for i, one in enumerate(self.claims) if one.supported is not None and one.domain != domain]
        claims, odds = [self.claims[place] for place in places], self.held_out[places]
        labels = np.array([bool(claim.supported) for claim in claims])
        (slope,), shift = fit_logistic(
            odds[:, None], labels, strength=1e6, weights=balanced_weights(claims, by_label=False)
        )
        probability = expit(slope * odds + shift)
        cut = steady_cut(probability, labels, balanced_weights(claims, by_label=True))
        around = np.abs(probability - cut)
        margin = float(np.quantile(around, UNSURE_SHARE))
        scaled = {name: significant(slope * weight) for name, weight in model.weights.items()}
        intercept = significant(slope * model.intercept + shift)
        low, high = round(cut - margin, 3), round(cut + margin, 3)
        return model._replace(weights=scaled, intercept=intercept, bounds=(low, high), threshold=round(cut, 3))


def domain_reach(fitting: Fitting, domain: str) -> dict[str, float]:
    """
    Measure the judge on a domain that it has not seen, supported against unsupported.

    Returns:
        Numbers of claims; AUROC of probabilities; balanced accuracy at the cut of the other domains, and at the cut
        that is `best` here; the share of claims between the bounds, and the balanced accuracy of the others (`sure`).
    """
    model = fitting.fit_without(domain)
    claims = [claim for claim in fitting.claims if claim.domain == domain and claim.supported is not None]
    labels = np.array([bool(claim.supported) for claim in claims])
    numbers = model.probability([claim.evidence for claim in claims])
    low, high = model.bounds
    sure = (numbers <= low) | (numbers > high)
    found = {
        "auroc": roc_auc_score(labels, numbers),
        "balanced_accuracy": balanced_accuracy_score(labels, numbers > model.threshold),
        "best": balanced_accuracy_score(labels, numbers > best_threshold(numbers, labels)),
        "calibration_error": calibration_error(numbers, labels),
        "unsure": (~sure).mean(),
        "sure": balanced_accuracy_score(labels[sure], numbers[sure] > model.threshold),
    }
    rounded = {name: round(float(value), 3) for name, value in found.items()}
    return {"n": len(labels), "n_supported": int(labels.sum()), **rounded}


def calibration_error(numbers: Array, labels: NDArray[np.bool_]) -> float:
    """Return the mean distance of probability and share of supported in ten bins, weighed by their claims."""
    bins = np.minimum((numbers * 10).astype(int), 9)
    return float(np.abs(np.bincount(bins, numbers - labels)).sum() / len(labels))


def balanced_weights(claims: Sequence[LabelledClaim], *, by_label: bool) -> Array:
    """Return weights by which all domains count the same, and in each, if asked for, both labels; their mean is 1."""
    groups = [f"{claim.domain}, {claim.supported if by_label else 'any'}" for claim in claims]
    return np.asarray(compute_sample_weight("balanced", groups))


def steady_cut(numbers: Array, labels: NDArray[np.bool_], weights: Array) -> float:
    """
    Return the number above which supported is right for the greatest share of both labels, weighed.

    The share is smoothed over cuts: its very maximum moves by hundredths with a claim more or less.
    """
    cuts = np.linspace(0, 1, 1001)
    shares = [weights[labels == label] / weights[labels == label].sum() for label in (True, False)]
    below = [
        np.sum((numbers[labels == label] <= cuts[:, None]) * share, axis=1)
        for label, share in zip((True, False), shares, strict=True)
    ]
    return float(cuts[int(gaussian_filter1d(below[1] - below[0], SMOOTHED * 1000, mode="nearest").argmax())])


# ---------------------------------------------------------------- claims

_ANSWERS: Mapping[str, bool | None] = {"supported": True, "unsupported": False, "partial": None}
_EDITS = "summedits"
"""The set whose claims about one document are edits of one another."""

_RECIPE = (
    "lab/fits/support_judge.py: doubts of words by least squares on SummEdits, a logistic regression on their "
    "greatest and on what the document lacks; token recall and verbatim runs weigh what they are given; a scale and a "
    "cut by log odds with the domain left out; claims supported in part are not in the fit"
)


def _lines(file: Path) -> pl.DataFrame:
    try:
        return pl.read_ndjson(file, infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UsageError(f"{file}: expected lines of JSON, compressed by gzip, found {error}") from error


def labelled_claims(folder: Path, *, threads: int) -> list[LabelledClaim]:
    """
    Read the claims of *folder*, each with its evidence; those without a word are left out.

    Raises:
        UsageError: A file is not there, or no claims are in it.
    """
    documents, claims = (_lines(folder / f"{name}.jsonl.gz") for name in ("documents", "claims"))
    encoder = Encoder(MINILM, threads=threads)
    found = []
    said = claims.filter([bool(words(without_marks(claim))) for claim in claims["claim"]])
    for (document,), own in said.group_by("document", maintain_order=True):
        rows = own.to_dicts()
        index = SupportIndex([documents.row(by_predicate=pl.col("document") == document, named=True)["text"]])
        index.with_vectors(encoder.embed(index.sentences))
        encoder.forget()
        for row, one in zip(
            rows, evidence(SupportDocument(index), [row["claim"] for row in rows], encoder), strict=True
        ):
            is_edit = row["set"] == _EDITS
            domain = row["domain"] if is_edit else row["set"]
            found.append(LabelledClaim(domain, row["document"], _ANSWERS[row["label"]], one, is_edit))
    if not found:
        raise UsageError(f"{folder}: expected labelled claims, found none")
    return found


def fitted(claims: Sequence[LabelledClaim]) -> dict[str, Any]:
    """Return the content of `support_judge.json`."""
    fitting = Fitting(claims)
    domains = dict(Counter(claim.domain for claim in claims))
    reach = {name: domain_reach(fitting, name) for name in domains}
    edits = [one["auroc"] for name, one in reach.items() if name in fitting.edited_domains]
    return {
        "model": fitting.fit_without(None).as_json(),
        "version": VERSION,
        "fitted_on": f"claims of SummEdits and of WiCE's development part: {domains}".replace("'", ""),
        "recipe": _RECIPE,
        "reach": {
            "how": "a domain left out at a time; its cut and scale are those of the others; partial support left aside",
            "mean_auroc_of_edits": round(float(np.mean(edits)), 3),
            "domains": reach,
        },
    }
