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

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.ndimage import gaussian_filter1d
from scipy.special import expit

from actors.local_models.encoder import Encoder
from actors.local_models.weights import MINILM
from jobs.command.run import Outcome, run_verb
from lab.fits import best_threshold, fit_logistic, significant
from lab.fits.checker_pairs import changed_words
from lab.parsers import support_judge
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
from longform.metrics.balanced import auroc, mean_recall, recall_sums
from longform.support.index import SupportIndex
from longform.text.words import without_marks, words

COMPONENTS = 32
"""The number of components of the words' vectors, and of the differences."""

RIDGE = 0.3
GROUPS = ((True, 1.0), (False, 0.5), (None, 0.5))
"""Edited words of unsupported claims, of supported ones, and words nobody edited: what each group weighs."""

STRENGTH = 0.1
"""Inverse regularisation, scikit-learn's C, on standardised signals."""

SMOOTHED = 0.02
"""The deviation of the kernel over cuts."""

UNSURE_SHARE = 0.2
"""The share of claims, those nearest to the cut, that is unsure."""

Array = NDArray[np.float64]


class LabelledClaim(NamedTuple):
    """
    A claim about one document.

    Attributes:
        domain: The kind of text; all of a domain is left out at once.
        document: The name of the document.
        supported: None: in part, or nobody knows.
        evidence: In its document.
        is_edit: True if the claims about its document are edits of one another.
    """

    domain: str
    document: str
    supported: bool | None
    evidence: Evidence
    is_edit: bool


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


class _Moments(NamedTuple):
    """Second moments of words' features, a one behind them; of a domain's groups, and of all its words."""

    groups: Sequence[tuple[Array, Array]]  # (features, features), (features,) with the target's sign
    all_words: Array


class Doubts:
    """
    Fits models of single words on any of the domains whose claims are edits.

    Args:
        claims: Of all domains.
    """

    def __init__(self, claims: Sequence[LabelledClaim]) -> None:
        edits = [claim for claim in claims if claim.is_edit]
        self._n_signals, self._n_dimensions = 0, 0
        self._moments: dict[str, _Moments] = {}
        for domain in sorted({claim.domain for claim in edits}):
            of_domain = [claim for claim in edits if claim.domain == domain]
            self._moments[domain] = self._read(of_domain)

    @property
    def domains(self) -> list[str]:
        """Return those whose claims are edits."""
        return list(self._moments)

    def _read(self, claims: Sequence[LabelledClaim]) -> _Moments:
        readings = [claim.evidence.words for claim in claims]
        self._n_signals, self._n_dimensions = readings[0].signals.shape[1], readings[0].said.shape[1]
        rows = np.concatenate([np.hstack([r.signals, r.said, r.change, np.ones((len(r.said), 1))]) for r in readings])
        edited = np.concatenate(edited_words(claims))
        wrong = np.concatenate([np.full(len(r.words), not c.supported) for r, c in zip(readings, claims, strict=True)])
        rows = rows.astype(np.float64)
        masks = [edited & (wrong == group) if group is not None else ~edited for group, _ in GROUPS]
        moments = []
        all_words = np.zeros((rows.shape[1], rows.shape[1]))
        for mask, (group, weight) in zip(masks, GROUPS, strict=True):
            share, own = weight / max(1, mask.sum()), rows[mask]
            squared = own.T @ own
            all_words += squared
            moments.append((share * squared, (1 if group else -1) * share * own.sum(axis=0)))
        return _Moments(moments, all_words)

    def fit(self, domains: Collection[str]) -> DoubtModel:
        """Return the model of *domains*."""
        used = [self._moments[domain] for domain in domains]
        to_parts = self._components(np.sum([one.all_words for one in used], axis=0))
        squared = sum(moment for one in used for moment, _ in one.groups) / len(used)
        target = sum(side for one in used for _, side in one.groups) / len(used)
        system = to_parts.T @ squared @ to_parts
        weights = to_parts @ np.linalg.solve(system + RIDGE * np.eye(len(system)), to_parts.T @ target)
        rounded = [significant(weight) for weight in weights]
        n, d = self._n_signals, self._n_dimensions
        return DoubtModel(tuple(rounded[:n]), tuple(rounded[n : n + d]), tuple(rounded[n + d : n + 2 * d]), rounded[-1])

    def _components(self, moments: Array) -> Array:
        """Return what makes of features, with their one, standardised parts with a one: signals and components."""
        n_words = moments[-1, -1]
        mean = moments[-1, :-1] / n_words
        covariance = moments[:-1, :-1] / n_words - np.outer(mean, mean)
        n, d = self._n_signals, self._n_dimensions
        blocks = [np.diag(1 / (np.sqrt(np.maximum(np.diag(covariance)[:n], 0)) + 1e-6))]
        for start in (n, n + d):
            values, vectors = np.linalg.eigh(covariance[start : start + d, start : start + d])
            blocks.append((vectors / np.sqrt(np.maximum(values, 0) + 1e-6))[:, ::-1][:, :COMPONENTS])
        parts: Array = block_diag(*blocks, 1.0)
        parts[-1, :-1] = -mean @ parts[:-1, :-1]
        return parts


class Fitting:
    """
    Fits the judge on labelled claims, whole or without a domain.

    Args:
        claims: Of several domains, some of which are edits.
    """

    def __init__(self, claims: Sequence[LabelledClaim]) -> None:
        self.claims = claims
        self._doubts = Doubts(claims)
        self.odds_without = cache(self._odds_without)

    def _odds_without(self, domain: str | None) -> tuple[LexicalSupportModel, Array]:
        """Return the model fitted without *domain*, not yet on the scale of probabilities, and its log odds there."""
        edits = [one for one in self._doubts.domains if one != domain]
        used = [claim for claim in self.claims if claim.domain in edits and claim.supported is not None]
        inner = {one: self._doubts.fit([other for other in edits if other != one]) for one in edits}
        rows = [all_signals(claim.evidence, inner[claim.domain]) for claim in used]
        features = np.array([[row[name] for name in SIGNALS] for row in rows])
        labels = np.array([bool(claim.supported) for claim in used])
        weights, intercept = fit_logistic(
            features, labels, strength=STRENGTH, weights=balanced_weights(used, by_label=True)
        )
        both = dict(zip(SIGNALS, weights, strict=True)) | dict(GIVEN)
        model = LexicalSupportModel(self._doubts.fit(edits), both, intercept, (0.0, 0.0), 0.0)
        own = [claim.evidence for claim in self.claims if claim.domain == domain]
        return model, model.log_odds(own)

    @property
    def edited_domains(self) -> list[str]:
        """Return the domains whose claims are edits."""
        return self._doubts.domains

    @cached_property
    def held_out(self) -> Array:
        """Return the log odds of each claim by the model that has not seen its domain, shape (claims,)."""
        found = np.zeros(len(self.claims))
        domains = np.array([claim.domain for claim in self.claims])
        for domain in dict.fromkeys(domains.tolist()):
            found[domains == domain] = self.odds_without(domain)[1]
        return found

    def scaled(self, model: LexicalSupportModel, *, without: str | None) -> LexicalSupportModel:
        """Return *model* with probabilities and bounds by the held-out log odds of all domains but *without*."""
        places = [i for i, one in enumerate(self.claims) if one.supported is not None and one.domain != without]
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

    def fit(self) -> LexicalSupportModel:
        """Return the model of all claims."""
        return self.scaled(self.odds_without(None)[0], without=None)

    def fit_without(self, domain: str) -> LexicalSupportModel:
        """Return the model of all domains but one."""
        return self.scaled(self.odds_without(domain)[0], without=domain)


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

    def accuracy(cut: float, of: NDArray[np.bool_]) -> float:
        return float(mean_recall(recall_sums(numbers[of], labels[of], threshold=cut).sum(axis=0, keepdims=True))[0])

    everything = np.ones(len(labels), dtype=bool)
    found = {
        "auroc": auroc(numbers, labels, [claim.document for claim in claims], seed=1, resamples=1).value or 0.0,
        "balanced_accuracy": accuracy(model.threshold, everything),
        "best": accuracy(best_threshold(numbers, labels), everything),
        "calibration_error": calibration_error(numbers, labels),
        "unsure": float((~sure).mean()),
        "sure": accuracy(model.threshold, sure),
    }
    rounded = {name: round(value, 3) for name, value in found.items()}
    return {"n": len(labels), "n_supported": int(labels.sum()), **rounded}


def calibration_error(numbers: Array, labels: NDArray[np.bool_]) -> float:
    """Return the mean distance of probability and share of supported in ten bins, weighed by their claims."""
    bins = np.minimum((numbers * 10).astype(int), 9)
    return float(sum(abs(np.sum((numbers - labels)[bins == one])) for one in range(10)) / len(labels))


def balanced_weights(claims: Sequence[LabelledClaim], *, by_label: bool) -> Array:
    """Return weights by which all domains count the same, and in each, if asked for, both labels; their mean is 1."""
    groups = [(claim.domain, claim.supported if by_label else None) for claim in claims]
    sizes = Counter(groups)
    weights = np.array([1 / sizes[group] for group in groups])
    return np.asarray(weights / weights.mean())


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


# ---------------------------------------------------------------- command line

_ANSWERS: Mapping[str, bool | None] = {"supported": True, "unsupported": False, "partial": None}
_EDITS = "summedits"
"""The set whose claims about one document are edits of one another."""

_RECIPE = (
    "lab/fits/support_judge.py: doubts of words by least squares on SummEdits, a logistic regression on their "
    "greatest and on what the document lacks; token recall and verbatim runs weigh what they are given; a scale and a "
    "cut by log odds with the domain left out; claims supported in part are not in the fit"
)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: expected lines of JSON, compressed by gzip, found {error}") from error


def labelled_claims(folder: Path, *, threads: int) -> list[LabelledClaim]:
    """
    Read the claims of *folder*, each with its evidence; those without a word are left out.

    Raises:
        UsageError: A file is not there, or no claims are in it.
    """
    texts = {row["document"]: row["text"] for row in _lines(folder / "documents.jsonl.gz")}
    by_document: dict[str, list[dict[str, Any]]] = {}
    for row in _lines(folder / "claims.jsonl.gz"):
        if words(without_marks(row["claim"])):
            by_document.setdefault(row["document"], []).append(row)
    encoder = Encoder(MINILM, threads=threads)
    found = []
    for document, rows in by_document.items():
        index = SupportIndex([texts[document]])
        index.with_vectors(encoder.embed(index.sentences))
        encoder.forget()
        found_here = evidence(SupportDocument(index), [row["claim"] for row in rows], encoder)
        for row, one in zip(rows, found_here, strict=True):
            is_edit = row["set"] == _EDITS
            domain = row["domain"] if is_edit else row["set"]
            found.append(LabelledClaim(domain, document, _ANSWERS[row["label"]], one, is_edit))
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
        "model": fitting.fit().as_json(),
        "version": VERSION,
        "fitted_on": f"claims of SummEdits and of WiCE's development part: {domains}".replace("'", ""),
        "recipe": _RECIPE,
        "reach": {
            "how": "a domain left out at a time; its cut and scale are those of the others; partial support left aside",
            "mean_auroc_of_edits": round(float(np.mean(edits)), 3),
            "domains": reach,
        },
    }


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(support_judge(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    content = fitted(labelled_claims(arguments.folder, threads=arguments.threads))
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "support_judge.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    lines = [f"{name}: {json.dumps(one)}" for name, one in content["reach"]["domains"].items()]
    return Outcome({"reach": content["reach"]}, "\n".join(lines))
