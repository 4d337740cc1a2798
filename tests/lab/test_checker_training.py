from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lab.fits.checker_pairs import CheckerPair

if TYPE_CHECKING:
    from lab.checker_training import CheckerTrainer

PASSAGE = "The ferry leaves at nine. It takes forty cars."
KNOWN = CheckerPair("a", PASSAGE, "The ferry leaves at ten.", False, "number", (False, False, False, False, True))
NEAR = CheckerPair("a", PASSAGE, "The ferry carries cars.", True, "near", (), 0.8)


def make_trainer(*, word_weight: float) -> CheckerTrainer:
    from lab.checker_training import CheckerTrainer, Recipe

    return CheckerTrainer(replace(Recipe(), word_weight=word_weight), threads=1)


def loss(pairs: list[CheckerPair], *, word_weight: float) -> float:
    import torch

    with torch.inference_mode():
        return float(make_trainer(word_weight=word_weight)._loss(pairs))


def test_words_are_learned_where_it_is_known_which_are_wrong() -> None:
    assert loss([KNOWN], word_weight=2) > loss([KNOWN], word_weight=0)
    assert loss([NEAR], word_weight=2) == loss([NEAR], word_weight=0)
    assert loss([KNOWN, NEAR], word_weight=2) > loss([KNOWN, NEAR], word_weight=0)


def test_a_likeness_is_learned_in_the_place_of_a_label() -> None:
    """The cross entropy of a probability p against the likeness."""
    import torch

    trainer = make_trainer(word_weight=0)
    with torch.inference_mode():
        p = torch.tensor(trainer.probabilities([NEAR])[0])
        assert float(trainer._loss([NEAR])) == pytest.approx(float(-0.8 * p.log() - 0.2 * (1 - p).log()), abs=1e-4)


def test_before_training_a_sentence_is_about_as_likely_as_not() -> None:
    from lab.checker_training import Recipe

    probability = make_trainer(word_weight=Recipe().word_weight).probabilities([KNOWN])[0]
    assert 0.2 < probability < 0.95
