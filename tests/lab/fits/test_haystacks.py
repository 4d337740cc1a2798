import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from lab.fits.haystacks import HaystackClaims, fit_support, set_f1
from longform.support.index import NUMBERS, VECTOR_SIGNALS, WORD_SIGNALS, SupportIndex
from longform.support.model import SupportModel, expected_f1_sets

NAMES = (*WORD_SIGNALS, *VECTOR_SIGNALS, NUMBERS)


def made_haystack(haystack_id: str, *, seed: int, n_claims: int = 8, n_documents: int = 60) -> HaystackClaims:
    """Signals that are higher, though not always, in the few documents that state a claim."""
    rng = np.random.default_rng(seed)
    gold = rng.random((n_claims, n_documents)) < 0.08
    gold[:, 0] = True
    signals = {name: (0.3 * gold + 0.5 * rng.random(gold.shape)).astype(np.float32) for name in NAMES}
    return HaystackClaims(haystack_id, tuple(f"{haystack_id}-q{n % 3}" for n in range(n_claims)), signals, gold)


HAYSTACKS = [made_haystack(f"h{seed}", seed=seed) for seed in range(3)]


def poisoned(haystack: HaystackClaims) -> HaystackClaims:
    garbage = {name: values[:, ::-1] ** 9 for name, values in haystack.signals.items()}
    return haystack._replace(signals=garbage, gold=~haystack.gold)


def as_text(haystacks: list[HaystackClaims], *, left_out: tuple[str, ...] = ()) -> str:
    return json.dumps(fit_support(haystacks, "vectors", left_out=left_out).as_json())


# ---------------------------------------------------------------- what reaches the fit


@pytest.mark.parametrize("left_out", [("h0",), ("h1",), ("h0", "h2")], ids="+".join)
def test_rows_of_a_left_out_haystack_never_reach_the_fit(left_out: tuple[str, ...]) -> None:
    """Whatever stands in them, the model is the one fitted without them, to the byte."""
    spoilt = [poisoned(h) if h.haystack_id in left_out else h for h in HAYSTACKS]
    absent = [h for h in HAYSTACKS if h.haystack_id not in left_out]
    assert as_text(spoilt, left_out=left_out) == as_text(absent) == as_text(HAYSTACKS, left_out=left_out)
    assert as_text(spoilt) != as_text(HAYSTACKS)
    assert as_text(HAYSTACKS) != as_text(absent)


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(ValueError, match="no haystack is left"):
        fit_support(HAYSTACKS, "vectors", left_out=("h0", "h1", "h2"))


def test_fitting_twice_gives_the_same_text() -> None:
    again = [made_haystack(f"h{seed}", seed=seed) for seed in range(3)]
    assert as_text(again) == as_text(HAYSTACKS)


def test_a_model_of_words_reads_no_vectors() -> None:
    words_only = [
        h._replace(signals={name: v for name, v in h.signals.items() if name not in VECTOR_SIGNALS}) for h in HAYSTACKS
    ]
    fitted = fit_support(words_only, "words", left_out=())
    assert fitted == fit_support(HAYSTACKS, "words", left_out=())
    assert fitted.kind == "words"
    assert fitted.weights != fit_support(HAYSTACKS, "vectors", left_out=()).weights


# ---------------------------------------------------------------- what is reached


def mean_f1(haystack: HaystackClaims, model: SupportModel) -> float:
    return float(set_f1(expected_f1_sets(model.probability(haystack.signals)), haystack.gold).mean())


def test_gold_documents_of_an_unseen_haystack_are_found() -> None:
    fitted = fit_support(HAYSTACKS, "vectors", left_out=("h1",))
    backwards = SupportModel("vectors", tuple(-weight for weight in fitted.weights), -fitted.intercept)
    assert mean_f1(HAYSTACKS[1], fitted) > 0.7
    assert mean_f1(HAYSTACKS[1], backwards) < 0.3


def test_f1_of_a_set_is_the_harmonic_mean_of_precision_and_recall() -> None:
    """Hand-worked: 1 of 2 found is gold, 1 of 4 gold is found; none found; all found."""
    found = np.array([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]], dtype=bool)
    gold = np.array([[1, 0, 1, 1, 1], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]], dtype=bool)
    assert set_f1(found, gold).tolist() == pytest.approx([1 / 3, 0.0, 1.0])


# ---------------------------------------------------------------- released data


def released_claims(released: Path, name: str) -> HaystackClaims:
    topic = json.loads(gzip.decompress((released / f"summhay/topic_{name}.json.gz").read_bytes()))
    index = SupportIndex([document["document_text"] for document in topic["documents"]])
    insights = [insight for subtopic in topic["subtopics"] for insight in subtopic["insights"]]
    gold = np.array([[i["insight_id"] in d["insights_included"] for d in topic["documents"]] for i in insights])
    return HaystackClaims(name, ("q",) * len(insights), index.signals([i["insight"] for i in insights]), gold)


def test_planted_documents_of_a_released_haystack_are_found_by_a_model_of_another(released: Path) -> None:
    """SummHay, by the insight's own words: one number without training reached 0.91 on this haystack."""
    fitted_on, scored_on = (released_claims(released, name) for name in ("news3", "news5"))
    fitted = fit_support([fitted_on, scored_on], "words", left_out=("news5",))
    assert mean_f1(scored_on, fitted) > 0.92
