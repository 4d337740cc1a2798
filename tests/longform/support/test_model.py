import json
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from longform.support.index import NUMBERS, VECTOR_SIGNALS, WORD_SIGNALS, Signals, SupportIndex
from longform.support.model import FEW_DOCUMENTS, Kind, SupportModel, expected_f1_sets, shipped_support_model

MODEL = SupportModel("vectors", (0.4, 5.0, 1.0), -5.0)
PROBABILITIES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 3), st.integers(1, 9)),
    elements=st.integers(0, 20).map(lambda n: n / 20),
)


def made_signals(n_claims: int = 4, n_documents: int = 60, *, seed: int = 1) -> dict[str, np.ndarray]:
    drawn = np.random.default_rng(seed).random((7, n_claims, n_documents), dtype=np.float32)
    return dict(zip((*WORD_SIGNALS, *VECTOR_SIGNALS, NUMBERS), drawn, strict=True))


def uniform_signals(values: np.ndarray) -> Signals:
    """One claim whose every signal is the same."""
    return dict.fromkeys((*WORD_SIGNALS, *VECTOR_SIGNALS, NUMBERS), values[None].astype(np.float32))


# ---------------------------------------------------------------- expected F1


def promised(probability: np.ndarray, chosen: tuple[int, ...]) -> float:
    """The expectation that a set is chosen by; it takes the sizes of both sets as known."""
    return 2 * sum(probability[list(chosen)]) / (len(chosen) + sum(probability)) if chosen else 0.0


@given(PROBABILITIES)
def test_no_set_at_all_promises_more_than_the_chosen_one(probability: np.ndarray) -> None:
    """All subsets are tried, not only the most probable documents."""
    for row, chosen in zip(probability, expected_f1_sets(probability), strict=True):
        every = (s for size in range(len(row) + 1) for s in combinations(range(len(row)), size))
        best = max(promised(row, subset) for subset in every)
        assert promised(row, tuple(np.flatnonzero(chosen))) == pytest.approx(best, abs=1e-8)


@given(PROBABILITIES)
def test_the_chosen_are_the_most_probable(probability: np.ndarray) -> None:
    for row, chosen in zip(probability, expected_f1_sets(probability), strict=True):
        assert min(row[chosen], default=1.0) >= max(row[~chosen], default=0.0)


@pytest.mark.parametrize(
    ("probability", "chosen"),
    [
        pytest.param([0.9, 0.9, 0.1, 0.0], [0, 1], id="clear"),
        pytest.param([0.1, 0.02, 0.0], [0], id="weak-best-is-still-the-best-guess"),
        pytest.param([0.0, 0.0], [], id="nobody"),
        pytest.param([0.0, 1.0, 1.0], [1, 2], id="certain"),
        pytest.param([], [], id="no-documents"),
    ],
)
def test_documents_worth_citing(probability: list[float], chosen: list[int]) -> None:
    assert np.flatnonzero(expected_f1_sets(np.array([probability]))[0]).tolist() == chosen


# ---------------------------------------------------------------- features


def test_features_are_distances_from_the_background_and_from_the_best() -> None:
    """Hand-worked where all signals agree: z-scores fall out of both ratios."""
    values = np.random.default_rng(3).random(100)
    features = MODEL.features(uniform_signals(values))[0]
    weakest, best = np.sort(values)[:85], np.sort(values)[-5:]
    assert features[:, 0] == pytest.approx((values - weakest.mean()) / weakest.std(), rel=1e-4, abs=1e-4)
    near_best = (values - np.median(values)) / (best.mean() - np.median(values))
    assert features[:, 1] == pytest.approx(near_best, rel=1e-4, abs=1e-4)
    assert features[:, 2] == pytest.approx(values)


WITH_GAP = SupportModel("words_and_gap", (0.4, 5.0, 1.0, 2.0), -5.0)


def beyond_gap(values: np.ndarray) -> np.ndarray:
    """The fourth feature where all signals agree."""
    return WITH_GAP.features(uniform_signals(values))[0, :, 3]


def plain_beyond_gap(near_best: np.ndarray) -> np.ndarray:
    """The definition, gap by gap."""
    ranked = sorted(near_best, reverse=True)
    most = round(0.3 * len(ranked))
    sides = []
    for exponent, least in product((0.0, 0.5, 1.0), range(1, 9)):
        gaps = [((ranked[k - 1] - ranked[k]) * k**exponent, -k) for k in range(least, most + 1)]
        k = -max(gaps)[1]
        width = ranked[k - 1] - ranked[k]
        sides.append([width**0.5 if value >= ranked[k - 1] else -(width**0.5) for value in near_best])
    return np.mean(sides, axis=0)


def test_a_documents_side_of_the_widest_gap_is_the_mean_over_definitions() -> None:
    """Gaps behind the first, the fourth and the twentieth document, so that definitions choose different ones."""
    values = np.repeat([0.95, 0.45, 0.2, 0.1], [1, 3, 16, 80]) - np.arange(100) * 1e-5
    features = WITH_GAP.features(uniform_signals(values))[0]
    assert features[:, 3] == pytest.approx(plain_beyond_gap(features[:, 1]), abs=1e-6)
    assert features[:, :3] == pytest.approx(MODEL.features(uniform_signals(values))[0])


def test_documents_above_a_gap_stand_on_one_side_of_it() -> None:
    """Nine documents apart from the others, of which no two are far from each other."""
    found = beyond_gap(np.concatenate([np.linspace(0.9, 0.8, 9), np.linspace(0.5, 0.1, 91)]))
    assert found[:9] == pytest.approx(np.full(9, found[0]))
    assert found[9:] == pytest.approx(np.full(91, -found[0]))
    assert found[0] > 0.5


def test_documents_that_are_no_small_group_have_no_gap_to_stand_beyond() -> None:
    """More than three in ten are above the only wide gap."""
    many, few = (
        beyond_gap(np.concatenate([np.linspace(0.9, 0.8, n), np.linspace(0.5, 0.1, 100 - n)])) for n in (31, 30)
    )
    assert np.abs(many).max() < 0.2 < few[:30].min()


def test_a_claims_own_document_is_no_side_of_a_gap() -> None:
    values = np.random.default_rng(4).random((1, 60)) ** 3
    signals = dict.fromkeys((*WORD_SIGNALS, *VECTOR_SIGNALS, NUMBERS), values.astype(np.float32))
    others = {name: signal[:, 1:] for name, signal in signals.items()}
    with_own = WITH_GAP.features(signals, np.array([0]))[0, 1:, 3]
    assert with_own == pytest.approx(WITH_GAP.features(others)[0, :, 3], abs=1e-6)


@pytest.mark.parametrize("n_documents", [1, 2, 3, 8])
def test_hardly_any_document_has_a_side(n_documents: int) -> None:
    assert np.isfinite(beyond_gap(np.arange(n_documents, dtype=np.float64))).all()


@pytest.mark.parametrize("scale", [0.25, 3.0])
def test_the_level_of_a_claims_signals_is_no_feature(scale: float) -> None:
    """A paraphrase is weak everywhere; its documents must still be found."""
    signals = made_signals()
    scaled = {name: values * np.float32(scale if name != NUMBERS else 1) for name, values in signals.items()}
    assert MODEL.features(scaled) == pytest.approx(MODEL.features(signals), rel=1e-3, abs=1e-3)


def test_one_claim_says_nothing_about_another() -> None:
    signals = made_signals()
    alone = {name: values[1:2] for name, values in signals.items()}
    assert np.array_equal(MODEL.probability(alone)[0], MODEL.probability(signals)[1])


@pytest.mark.parametrize("n_documents", [8, 60])
def test_order_of_documents_changes_nothing(n_documents: int) -> None:
    signals, own = made_signals(n_documents=n_documents), np.array([0, 3, 7, 3])
    order = np.random.default_rng(2).permutation(n_documents)
    shuffled = {name: values[:, order] for name, values in signals.items()}
    expected = MODEL.probability(signals, own)[:, order]
    assert MODEL.probability(shuffled, np.argsort(order)[own]) == pytest.approx(expected, abs=1e-6)


def test_own_document_is_certain_and_no_part_of_the_background() -> None:
    signals, own = made_signals(), np.array([5, 0, 59, 5])
    rows = np.arange(4)
    other = {name: values.copy() for name, values in signals.items()}
    for values in other.values():
        values[rows, own] = 9.0
    found = MODEL.probability(signals, own)
    assert (found[rows, own] == 1).all()
    assert np.array_equal(MODEL.probability(other, own), found)
    assert not np.array_equal(MODEL.probability(other), MODEL.probability(signals))


def test_words_alone_leave_vectors_unread() -> None:
    signals = made_signals()
    words_only = {name: values for name, values in signals.items() if name not in VECTOR_SIGNALS}
    model = MODEL._replace(kind="words")
    assert np.array_equal(model.probability(words_only), model.probability(signals))


@pytest.mark.parametrize("missing", [["cosine"], list(VECTOR_SIGNALS)], ids=["one", "both"])
def test_missing_vector_signals_are_an_error(missing: list[str]) -> None:
    signals = {name: values for name, values in made_signals().items() if name not in missing}
    with pytest.raises(ValueError, match=rf"reads \['{missing[0]}'.*use kind 'words'"):
        MODEL.probability(signals)


@pytest.mark.parametrize("n_same", [0, 1, 30, 59, 60])
def test_signals_that_many_documents_share_to_the_last_digit_give_probabilities(n_same: int) -> None:
    """No background to stand out from: neither an overflow nor NaN may come of it."""
    found = MODEL.probability(uniform_signals(np.repeat([1.0, 0.2], [n_same, 60 - n_same])))
    assert found.shape == (1, 60)
    assert ((found >= 0) & (found <= 1)).all()


def test_a_document_without_a_word_of_the_claim_does_not_support_it() -> None:
    signals = made_signals()
    signals["recall_document"][2, 4] = 0.0
    assert MODEL._replace(intercept=50.0).probability(signals)[2, 4] == 0
    assert MODEL._replace(intercept=50.0).probability(signals)[2, 5] == 1


# ---------------------------------------------------------------- few documents


def test_few_documents_are_measured_by_the_best_one() -> None:
    """Hand-worked: 0.586 of the best is even odds, whatever the weights; none of it is none."""
    signals = uniform_signals(np.array([0.8, 0.8 * 0.586, 0.0]))
    for model in (MODEL, SupportModel("words", (9.0, 9.0, 9.0), 9.0)):
        assert model.probability(signals)[0].tolist() == pytest.approx([0.993093, 0.5, 0.0], abs=1e-5)
    assert MODEL.probability(signals, np.array([2]))[0, 2] == 1


def test_the_model_begins_where_there_is_a_background() -> None:
    def moves(n_documents: int) -> bool:
        signals = made_signals(n_documents=n_documents)
        return not np.array_equal(MODEL.probability(signals), MODEL._replace(intercept=0.0).probability(signals))

    assert not moves(FEW_DOCUMENTS - 1)
    assert moves(FEW_DOCUMENTS)


@pytest.mark.parametrize("n_documents", [0, 1])
def test_hardly_any_document_is_no_error(n_documents: int) -> None:
    signals = made_signals(n_documents=n_documents)
    assert MODEL.probability(signals).shape == (4, n_documents)
    assert expected_f1_sets(MODEL.probability(signals)).sum() == 4 * n_documents


# ---------------------------------------------------------------- as text


def test_a_model_survives_its_text() -> None:
    for model in (MODEL, WITH_GAP):
        assert SupportModel.from_json(json.loads(json.dumps(model.as_json()))) == model


@pytest.mark.parametrize("kind", ["words", "vectors", "words_and_gap"])
def test_shipped_models_rise_with_every_feature(kind: Kind) -> None:
    model = shipped_support_model(kind)
    assert model.kind == kind
    assert min(model.weights) > 0


@pytest.mark.parametrize("kind", ["words", "words_and_gap"])
def test_shipped_model_finds_who_says_it_among_many(kind: Kind) -> None:
    """Sixty documents, four of them say it; the words of the claim also stand scattered in another."""
    said = "Ann Weaver sold 40 wooden boats to the harbour museum."
    documents = [f"Trains {n} ran late.\nDogs of street {n} slept.\nBread {n} rose." for n in range(60)]
    for n in (3, 17, 30, 59):
        documents[n] += f"\n{said}"
    documents[8] += "\nAnn slept.\nNothing came.\nMilk went sour.\nThe harbour froze.\nGrass grew.\nA museum shut."
    signals = SupportIndex(documents).signals([said])
    probability = shipped_support_model(kind).probability(signals)
    assert np.flatnonzero(expected_f1_sets(probability)[0]).tolist() == [3, 17, 30, 59]
    assert probability[0, [3, 17, 30, 59]].min() > 0.9
