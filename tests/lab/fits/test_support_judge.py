"""The support judge on made claims: a word that nobody said is what makes a claim wrong."""

from __future__ import annotations

import numpy as np
import pytest

from lab.fits.support_judge import Fitting, LabelledClaim, calibration_error, edited_words
from longform.judges.doubt import WORD_SIGNALS, WordReading
from longform.judges.lexical_support import SIGNALS, Evidence

DIMENSIONS = 40


def made(domain: str, place: int, supported: bool, rng: np.random.Generator) -> LabelledClaim:
    said = tuple(f"w{n}" for n in range(8))
    likeness = rng.uniform(0.7, 1.0, size=8)
    edited = int(rng.integers(8))
    likeness[edited] = rng.uniform(0.5, 0.9) if supported else rng.uniform(0.1, 0.5)
    said = (*said[:edited], f"{domain}-{place}", *said[edited + 1 :])
    signals = np.zeros((8, len(WORD_SIGNALS)), dtype=np.float32)
    signals[:, 0] = likeness
    vectors = rng.normal(size=(2, 8, DIMENSIONS)).astype(np.float16)
    reading = WordReading(said, signals, vectors[0], vectors[1], 0.0, 0.0, 0.0)
    counted = {name: float(rng.normal()) for name in SIGNALS[2:]} | {"token_recall": 0.6, "verbatim": 0.0}
    return LabelledClaim(domain, f"{domain} {place // 20}", supported, Evidence(reading, counted, 0, 0, (0, "")), True)


@pytest.fixture(scope="module")
def claims() -> list[LabelledClaim]:
    rng = np.random.default_rng(5)
    return [made(domain, place, bool(place % 3 == 0), rng) for domain in "abc" for place in range(60)]


def test_edited_words_are_those_that_the_nearest_supported_claim_has_not(claims: list[LabelledClaim]) -> None:
    marks = edited_words(claims)
    own = [claim.evidence.words.words.index(f"{claim.domain}-{n % 60}") for n, claim in enumerate(claims)]
    assert all(mark[place] and mark.sum() <= 2 for mark, place in zip(marks, own, strict=True))
    alone = [claim._replace(is_edit=False) for claim in claims]
    assert not any(mark.any() for mark in edited_words(alone))


def test_the_fit_doubts_unlike_words_and_tells_a_domain_that_it_has_not_seen(claims: list[LabelledClaim]) -> None:
    fitting = Fitting(claims)
    model = fitting.fit_without("c")
    assert model.doubt.signals[0] < 0
    assert model.weights["doubt"] < 0
    assert model.bounds[0] <= model.threshold <= model.bounds[1]
    own = [claim for claim in claims if claim.domain == "c"]
    numbers = model.probability([claim.evidence for claim in own])
    labels = np.array([claim.supported for claim in own])
    assert np.median(numbers[labels]) > np.median(numbers[~labels])


def test_labels_of_a_left_out_domain_never_reach_the_fit(claims: list[LabelledClaim]) -> None:
    turned = [claim._replace(supported=not claim.supported) if claim.domain == "c" else claim for claim in claims]
    assert Fitting(turned).odds_without("c")[0] == Fitting(claims).odds_without("c")[0]


def test_calibration_error_is_the_distance_of_probability_and_share() -> None:
    labels = np.array([True, False, False, False])
    assert calibration_error(np.full(4, 0.25), labels) == pytest.approx(0)
    assert calibration_error(np.full(4, 0.75), labels) == pytest.approx(0.5)
