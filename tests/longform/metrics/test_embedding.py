"""Embedding similarity of sentences whose vectors are known, and of real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from longform.metrics.similarity import MEASURES, similarity
from tests.longform.metrics.test_rouge import facts

SIMILARITY = MEASURES[0]
VECTORS = {"east": (1.0, 0.0), "north": (0.0, 1.0), "west": (-1.0, 0.0), "between": (0.6, 0.8)}


def known(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([VECTORS[text] for text in texts], dtype=np.float32)


@pytest.mark.parametrize(
    ("summary", "reference", "expected"),
    [
        pytest.param(["east", "north"], ["between"], 2 * 0.7 * 0.8 / 1.5, id="precision 0.7, recall 0.8"),
        pytest.param(["between"], ["between"], 1.0, id="the same"),
        pytest.param(["east"], ["west"], 0.0, id="opposite counts 0"),
        pytest.param([], ["west"], 0.0, id="no sentence"),
    ],
)
def test_known_answers(summary: list[str], reference: list[str], expected: float) -> None:
    assert similarity(summary, reference, known) == pytest.approx(expected, abs=1e-6)


def test_the_best_reference_counts_without_citations() -> None:
    found = SIMILARITY.per_summary(replace(facts("between [1, 2]", "east", "north"), encode=known))

    assert (found.total, found.n) == (pytest.approx(0.8, abs=1e-6), 1)
    assert SIMILARITY.per_summary(facts("east")).reason == "the query has no reference text"
    assert SIMILARITY.per_summary(facts(None, "east", failure="length")).reason == "summary_failed: length"


@pytest.mark.slow
def test_a_paraphrase_is_nearer_than_another_subject() -> None:
    encode = Encoder(MINILM, threads=1).embed
    reference = "The dam on the river was finished in May."
    texts = [reference, "In May they completed the river dam.", "Trams run at night."]
    same, near, far = (SIMILARITY.per_summary(replace(facts(text, reference), encode=encode)).total for text in texts)

    assert same == pytest.approx(1.0, abs=1e-4)
    assert near > far + 0.3
