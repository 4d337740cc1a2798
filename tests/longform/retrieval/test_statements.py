from collections.abc import Collection, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from longform.keys import stable_seed
from longform.retrieval.bm25 import Bm25, stem_documents
from longform.retrieval.statements import cluster_feedback_scores, statement_scores
from longform.summaries.extractive import Extractor
from longform.summaries.query_relevance import FEATURES, VectorQuery
from longform.summaries.sentence_support import SentenceSupport
from longform.support.model import FEW_DOCUMENTS, shipped_support_model
from longform.text.words import stems

QUERY = "What about the library?"
TOLD = "Doors open at seven on exam days, two hours earlier than usual."
NAMED = "The library has news."
SNOW = "A cold front crosses the northern valley and brings heavy snow."
WITH_THE_WORD, WITHOUT_IT, SNOWED_ON = (2, 5, 9), 7, (1, 4, 6, 8)
ZEBRAS = "Keepers shut the zebra house on stormy nights before dusk."
SIZES = pytest.mark.parametrize("size", [12, FEW_DOCUMENTS + 10], ids=["few", "many"])


def documents(size: int, *, of_zebras: Collection[int] = ()) -> list[str]:
    """Library news in four documents, of which one never says `library`; snow in four; a line of its own in each."""
    texts = []
    for number in range(size):
        told = [NAMED, TOLD] if number in WITH_THE_WORD else [TOLD] if number == WITHOUT_IT else []
        snow = [SNOW] if number in SNOWED_ON else []
        zebras = [ZEBRAS] if number in of_zebras else []
        own = " ".join(made_up_word(4 * number + place) for place in range(4))
        texts.append("\n".join([*told, *snow, *zebras, f"Parcel {own} left."]))
    return texts


def made_up_word(number: int) -> str:
    """Another one for each number."""
    return "".join("bcdfghjklm"[int(digit)] + "aeiou"[int(digit) % 5] for digit in f"{number:03}")


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Bags of stems as unit vectors; no words, no direction."""
    vectors = np.zeros((len(texts), 4096), dtype=np.float32)
    for row, text in enumerate(texts):
        for stem in stems(text):
            vectors[row, stable_seed(stem) % 4096] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)


class BySalience:
    """In the ranker's place: one feature as it is."""

    def predict(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows[:, FEATURES.index("salience")]


def query(text: str = QUERY) -> VectorQuery:
    vector = embed([text])[0]
    return VectorQuery(text, vector, vector)


def cluster_feedback(texts: Sequence[str], text: str = QUERY) -> NDArray[np.float64]:
    return cluster_feedback_scores(SentenceSupport(texts, embed, shipped_support_model("vectors")), query(text))


def by_statements(texts: Sequence[str], text: str = QUERY, *, n_statements: int = 2) -> NDArray[np.float64]:
    model = shipped_support_model("vectors")
    extractor = Extractor(list(enumerate(texts)), embed, model=model, ranker=BySalience())
    return statement_scores(extractor, query(text), n_statements=n_statements)


BOTH = pytest.mark.parametrize("scores_of", [cluster_feedback, by_statements])


@SIZES
@BOTH
def test_a_document_without_the_querys_words_is_found_by_what_others_say(scores_of, size: int) -> None:
    """BM25 gives it nothing; it says what the documents about the library say."""
    texts = documents(size)
    assert Bm25(stem_documents(texts), k1=1.5, b=0.75).scores(stems(QUERY))[WITHOUT_IT] == 0
    assert set(np.argsort(-scores_of(texts))[:4]) == {*WITH_THE_WORD, WITHOUT_IT}


@BOTH
def test_the_query_decides_which_repeated_statement_counts(scores_of) -> None:
    texts = documents(FEW_DOCUMENTS + 10)
    assert set(np.argsort(-scores_of(texts, "heavy snow in the valley"))[:4]) == set(SNOWED_ON)


@SIZES
@BOTH
def test_permuting_documents_permutes_scores(scores_of, size: int) -> None:
    texts = documents(size)
    order = np.random.default_rng(3).permutation(size)
    shuffled = scores_of([texts[place] for place in order])
    assert shuffled == pytest.approx(scores_of(texts)[order], abs=1e-9)
    assert np.ptp(shuffled) > 0


@BOTH
def test_every_document_has_a_finite_score_also_an_empty_one(scores_of) -> None:
    scores = scores_of([*documents(12), ""])
    assert scores.shape == (13,)
    assert np.isfinite(scores).all()
    assert scores.min() == scores[-1] == 0


@BOTH
@pytest.mark.parametrize("texts", [["", ""], [TOLD]], ids=["no-sentence", "one-document"])
def test_nothing_repeated_is_no_error(scores_of, texts: list[str]) -> None:
    assert np.isfinite(scores_of(texts)).all()


@pytest.mark.parametrize(
    ("n_tellers", "size", "counts"), [(2, 60, False), (3, 60, True), (30, 130, True), (31, 130, False)]
)
def test_feedback_reads_what_some_documents_say_but_not_most(n_tellers: int, size: int, counts: bool) -> None:
    """Two repeat each other by chance; what most say is common ground."""
    tellers = range(10, 10 + n_tellers)
    scores = cluster_feedback(documents(size, of_zebras=tellers), "zebra")
    assert (set(np.argsort(-scores)[:n_tellers]) == set(tellers)) == counts


def test_of_two_documents_that_say_the_same_the_shorter_stands_first() -> None:
    """Twice the words take twice the room in a context."""
    texts = documents(FEW_DOCUMENTS + 10)
    long = [f"{text}\n{'Hm, hm. ' * 40}" if place == WITHOUT_IT else text for place, text in enumerate(texts)]
    short = by_statements(texts)
    assert by_statements(long)[WITHOUT_IT] < short[WITHOUT_IT] / 2


def test_statements_are_the_sum_of_score_times_support_a_relative_word() -> None:
    texts = documents(12)
    model = shipped_support_model("vectors")
    extractor = Extractor(list(enumerate(texts)), embed, model=model, ranker=BySalience())
    quoted = extractor.ranked_choice(query(), 3, 1000)
    lengths = np.array([len(text.split()) for text in texts])
    expected = sum(score * extractor.support.probability[place] for place, score in quoted) * lengths.mean() / lengths
    assert len(quoted) == 3
    assert statement_scores(extractor, query(), n_statements=3) == pytest.approx(expected)
