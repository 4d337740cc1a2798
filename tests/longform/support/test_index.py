from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.support import index as support
from longform.support.index import NO_NUMBERS, NUMBERS, VECTOR_SIGNALS, WORD_SIGNALS, SupportIndex
from longform.text.sentences import sentences
from longform.text.words import inverse_document_frequency, stems, unseen_idf

VOCABULARY = "apple banana cherry date elder fig grape".split()
CLAIMS = st.lists(st.sampled_from([*VOCABULARY, "zebra"]), min_size=1, max_size=6).map(" ".join)
DOCUMENTS = st.lists(
    st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4), max_size=7).map(
        lambda lines: "\n".join(" ".join(words) for words in lines)
    ),
    min_size=1,
    max_size=4,
)
LEDGER = "Ann sold boats.\nRain fell.\nDogs slept.\nBob bought lemons.\nTrains ran.\nBread rose.\nCarl rented towers."


def plain_recall(documents: Sequence[str], claim: str, window: int) -> list[float]:
    """The definition, without matrices."""
    split = [[set(stems(s.text)) for s in sentences(text)] for text in documents]
    every = [held for texts in split for held in texts]
    known, unseen = inverse_document_frequency(every), unseen_idf(len(every))
    weights = {stem: known.get(stem, unseen) for stem in set(stems(claim))}
    return [
        max(
            (
                sum(weights[stem] for stem in weights if any(stem in held for held in texts[at : at + window]))
                / sum(weights.values())
                for at in range(len(texts))
            ),
            default=0.0,
        )
        for texts in split
    ]


def unit_vectors(n: int, *, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(n, 5))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


# ---------------------------------------------------------------- words


@given(DOCUMENTS, CLAIMS, st.sampled_from([1, 2, 3, 5]))
def test_support_is_the_best_window_of_the_definition(documents: list[str], claim: str, window: int) -> None:
    found = SupportIndex(documents).support([claim], window=window)
    assert found.shape == (1, len(documents))
    assert found[0] == pytest.approx(plain_recall(documents, claim, window), abs=1e-5)


@given(DOCUMENTS, CLAIMS)
def test_word_signals_are_the_same_definition_in_windows_and_in_whole_documents(
    documents: list[str], claim: str
) -> None:
    signals = SupportIndex(documents).signals([claim])
    for name, window in {"recall_2": 2, "recall_3": 3, "recall_5": 5, "recall_document": 100}.items():
        assert signals[name][0] == pytest.approx(plain_recall(documents, claim, window), abs=1e-5), name


def test_wider_windows_find_what_stands_further_apart() -> None:
    """Hand-worked: each word stands in one of seven sentences, so all weigh the same; three facts, three apart."""
    claim = "Ann sold boats, Bob bought lemons, Carl rented towers"
    signals = SupportIndex([LEDGER, "Snow."]).signals([claim])
    shares = {"recall_2": 3, "recall_3": 3, "recall_5": 6, "recall_document": 9}
    for name, n_words in shares.items():
        assert signals[name][0].tolist() == pytest.approx([n_words / 9, 0.0], abs=1e-6), name
    assert SupportIndex([LEDGER]).support([claim], window=4)[0, 0] == pytest.approx(6 / 9, abs=1e-6)


def test_words_must_meet_in_one_place() -> None:
    """A document that holds all words, far apart, supports less than one that says it."""
    filler = "Rain fell. Dogs slept. Trains ran. Bread rose."
    documents = [f"Ann sold boats. {filler}", f"Ann slept. {filler} Sold out. {filler} Boats sank."]
    together, apart = SupportIndex(documents).support(["Ann sold boats"])[0]
    assert together == 1
    assert apart < 0.7


def test_best_window_starts_where_the_statement_stands() -> None:
    index = SupportIndex(
        ["Rain fell. Dogs slept.", "Trains ran. Bread rose. Milk went sour. Ann sold boats. The end came."]
    )
    found = index.best_windows([stems("Bread rose and Ann sold boats")])
    assert found.start[0].tolist() == [0, 3]
    assert index.sentences[3] == "Bread rose."


def test_a_window_ends_with_its_document() -> None:
    documents = ["Rain fell.\nAnn sold boats.", "Bob bought lemons.\nDogs slept."]
    found = SupportIndex(documents).signals(["Ann sold boats, Bob bought lemons"])
    assert found["recall_5"][0] == pytest.approx([0.5, 0.5], abs=1e-6)


def test_citations_and_list_markers_of_a_claim_are_left_aside() -> None:
    index = SupportIndex([LEDGER, "Trains of 12 cars ran."])
    plain, marked = (index.signals([claim]) for claim in ("Ann sold boats.", "- **Ann** sold boats. [12][3]"))
    for name in plain:
        assert np.array_equal(plain[name], marked[name]), name


@pytest.mark.parametrize("documents", [[], [""], ["", "apple", ""]], ids=["none", "empty", "beside-empty"])
def test_empty_documents_and_claims_of_stop_words_have_no_support(documents: list[str]) -> None:
    index = SupportIndex(documents).with_vectors(unit_vectors(sum(map(bool, documents)), seed=1))
    signals = index.signals(["apple", "the of"], unit_vectors(2, seed=2))
    for name in WORD_SIGNALS:
        assert signals[name].tolist() == [[float(text == "apple") for text in documents], [0.0] * len(documents)], name
    for name in VECTOR_SIGNALS:
        assert not signals[name][:, [text == "" for text in documents]].any(), name


def test_no_claims_give_empty_signals() -> None:
    signals = SupportIndex(["apple", "fig"]).signals([])
    assert {values.shape for values in signals.values()} == {(0, 2)}


def test_numbers_are_shared_in_digits_or_words_and_say_nothing_where_there_are_none() -> None:
    index = SupportIndex(["Five boats cost $1,200.", "A boat cost 5.\nTwelve hundred.", "Boats cost much."])
    signals = index.signals(["5 boats cost 1200.00 dollars", "Boats cost much", "Only 77 boats"])
    assert signals[NUMBERS].tolist() == [[1.0, 0.5, 0.0], [NO_NUMBERS] * 3, [0.0, 0.0, 0.0]]


# ---------------------------------------------------------------- vectors


def test_cosine_is_the_best_of_a_sentence_and_of_two_neighbours() -> None:
    """Two axes: the claim lies between them, so only the two neighbours together match it in full."""
    first, second = np.eye(2, dtype=np.float32)
    index = SupportIndex(["Rain fell.\nDogs slept.", "Trains ran.", "Bread rose."])
    index.with_vectors(np.stack([first, second, first, second]))
    signals = index.signals(["Dogs slept"], (first + second)[None] / np.sqrt(np.float32(2)))
    half = np.sqrt(0.5)
    assert signals["cosine"][0] == pytest.approx([1, half, half], abs=1e-6)
    assert signals["recall_and_cosine"][0] == pytest.approx([2, half, half], abs=1e-6)


def test_recall_and_cosine_must_meet_in_one_place() -> None:
    first, second = np.eye(2, dtype=np.float32)
    index = SupportIndex(["Ann sold boats.\nRain fell.\nDogs slept.", "Trains ran."])
    index.with_vectors(np.stack([second, second, first, second]))
    signals = index.signals(["Ann sold boats"], first[None])
    assert signals["recall_2"][0, 0] == 1
    assert signals["cosine"][0, 0] == 1
    assert signals["recall_and_cosine"][0, 0] == pytest.approx(1, abs=1e-6)


@given(DOCUMENTS, CLAIMS, st.integers(0, 99))
def test_vector_signals_are_their_definition(documents: list[str], claim: str, seed: int) -> None:
    index = SupportIndex(documents)
    vectors = unit_vectors(len(index.sentences), seed=seed)
    asked = unit_vectors(1, seed=seed + 1000)
    found = index.with_vectors(vectors).signals([claim], asked)
    weigh = {stem: index.idf(stem) for stem in stems(claim)}
    for document, (begin, end) in enumerate(pairwise(index.bounds.tolist())):
        cosines, sums = [], []
        for at in range(begin, end):
            pair = vectors[at : min(at + 2, end)].sum(axis=0)
            cosines.append(max(vectors[at] @ asked[0], pair @ asked[0] / np.linalg.norm(pair)))
            held = frozenset().union(*index.stems[at : min(at + 2, end)])
            sums.append(cosines[-1] + sum(w for stem, w in weigh.items() if stem in held) / sum(weigh.values()))
        assert found["cosine"][0, document] == pytest.approx(max(cosines, default=0.0), abs=1e-5)
        assert found["recall_and_cosine"][0, document] == pytest.approx(max(sums, default=0.0), abs=1e-5)


@pytest.mark.parametrize("sides", ["sentences", "claims", "neither"])
def test_vector_signals_need_vectors_on_both_sides(sides: str) -> None:
    index = SupportIndex(["apple", "fig"])
    if sides == "sentences":
        index.with_vectors(unit_vectors(2, seed=1))
    signals = index.signals(["fig"], unit_vectors(1, seed=2) if sides == "claims" else None)
    assert set(signals) == {*WORD_SIGNALS, NUMBERS}


def test_a_vector_is_wanted_for_each_sentence() -> None:
    with pytest.raises(ValueError, match="each of 2 sentences, got 3"):
        SupportIndex(["apple", "fig"]).with_vectors(unit_vectors(3, seed=1))


# ---------------------------------------------------------------- blocks


def test_more_claims_than_one_block_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    index = SupportIndex(["apple banana\ncherry", "date\n\nelder fig", ""])
    index.with_vectors(unit_vectors(4, seed=1))
    claims = [f"{a} {b}" for a, b in pairwise(VOCABULARY)]
    vectors = unit_vectors(len(claims), seed=2)
    windows, signals = index.best_windows(map(stems, claims)), index.signals(claims, vectors)
    monkeypatch.setattr(support, "_BLOCK_CELLS", 5)
    again = index.best_windows(map(stems, claims))
    assert np.array_equal(again.recall, windows.recall)
    assert np.array_equal(again.start, windows.start)
    for name, values in index.signals(claims, vectors).items():
        assert values == pytest.approx(signals[name], abs=1e-6), name


def test_sentences_know_their_document_and_whether_they_open_a_line() -> None:
    index = SupportIndex(["Rain fell. Dogs slept.\n  Trains ran. Bread rose.", "", "Snow."])
    assert index.owners.tolist() == [0, 0, 0, 0, 2]
    assert index.opens_line == [True, False, True, False, True]
