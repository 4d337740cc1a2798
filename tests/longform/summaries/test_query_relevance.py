from copy import copy

import numpy as np
import pytest

from longform.summaries.query_relevance import FEATURES, VectorQuery, relevance, relevance_here
from longform.summaries.sentence_support import SentenceSupport, first_candidates
from tests.longform.summaries.test_sentence_support import (
    PLANTED,
    SNOW,
    places_of,
    planted_documents,
    sentence_support,
    stem_vectors,
)

LIBRARY = "What changes at the library?"


def query(text: str, subtopic: str | None = None) -> VectorQuery:
    vector, subtopic_vector = stem_vectors([text, subtopic or text])
    return VectorQuery(text, vector, subtopic_vector)


def feature(support: SentenceSupport, text: str, name: str) -> np.ndarray:
    return relevance(support, query(text))[:, FEATURES.index(name)]


@pytest.fixture(scope="module", params=[10, 60], ids=["few", "many"])
def support(request: pytest.FixtureRequest) -> SentenceSupport:
    planted = {**PLANTED, SNOW: [1, 3, 4, 6, 33, 34, 35]}
    return sentence_support([text for _, text in planted_documents(request.param, planted)])


@pytest.mark.parametrize("name", ["relevance", "word_relevance", "query_cosine", "salience", "document_relevance"])
def test_what_the_query_asks_for_is_more_relevant_than_what_is_repeated_as_much(
    support: SentenceSupport, name: str
) -> None:
    values = feature(support, LIBRARY, name)
    asked = [place for text in PLANTED for place in places_of(support, text)]
    assert values[asked].mean() > values[places_of(support, SNOW)].max()
    assert values[asked].mean() > np.delete(values, asked).mean()


def test_repetition_does_not_hang_on_the_query(support: SentenceSupport) -> None:
    for name in ("repeated_3", "repeated_6", "mass", "words", "confirmed_mass", "relative_confirmed_mass"):
        values = feature(support, LIBRARY, name)
        assert np.array_equal(values, feature(support, "heavy snow", name)), name
        assert np.ptp(values) > 0, name
    assert feature(support, LIBRARY, "repeated_3") == pytest.approx(support.repeated[0], abs=1e-6)
    usual = support.weights[first_candidates(support)].mean()
    confirmed = support.confirmed * np.sqrt(support.weights)
    assert feature(support, LIBRARY, "confirmed_mass") == pytest.approx(confirmed, abs=1e-6)
    relative = confirmed / np.sqrt(usual)
    assert feature(support, LIBRARY, "relative_confirmed_mass") == pytest.approx(relative, abs=1e-6)
    assert feature(support, LIBRARY, "words").tolist() == [len(text.split()) for text in support.statements]


def test_confirmed_mass_is_also_read_in_proportion_to_the_other_sentences(support: SentenceSupport) -> None:
    """More documents make every word rarer and heavier: that alone must not lift a sentence."""
    heavier = copy(support)
    heavier.weights = 3 * support.weights
    mine, others = (feature(s, LIBRARY, "relative_confirmed_mass") for s in (heavier, support))
    assert mine == pytest.approx(others, abs=1e-5)
    assert feature(heavier, LIBRARY, "mass") == pytest.approx(3 * feature(support, LIBRARY, "mass"), abs=1e-5)


def test_the_subtopic_is_read_beside_the_query(support: SentenceSupport) -> None:
    plain, named = (relevance(support, query(LIBRARY, name)) for name in (None, "heavy snow"))
    differs = (plain != named).any(axis=0)
    assert [name for name, changed in zip(FEATURES, differs, strict=True) if changed] == ["subtopic_cosine"]
    snow = places_of(support, SNOW)
    column = FEATURES.index("subtopic_cosine")
    assert named[snow, column].mean() > plain[snow, column].mean()


def test_who_says_the_same_elsewhere_lends_relevance() -> None:
    """Neither copy has a word of the query; one stands beside it in a document, and both gain."""
    documents = [text for _, text in planted_documents(60, {SNOW: [11, 22], "Ferries stop at the harbour.": [22]})]
    support = sentence_support(documents)
    values = feature(support, "harbour ferries", "word_relevance")
    away = places_of(support, SNOW)[0]
    assert support.index.owners[away] == 10
    others = [place for place in range(*support.index.bounds[10:12].tolist()) if place != away]
    assert values[away] > values[others].max()


def test_a_query_of_unknown_words_has_no_word_relevance(support: SentenceSupport) -> None:
    for name in ("word_relevance", "salience", "word_context"):
        assert not feature(support, "xylophone", name).any(), name


def test_salience_is_a_share_of_the_most_salient(support: SentenceSupport) -> None:
    values = feature(support, LIBRARY, "salience")
    assert values.max() == 1
    assert 0 <= values.min() < 0.01


@pytest.mark.parametrize("documents", [["", ""], ["Rain fell on Oslo."]], ids=["empty", "one-sentence"])
def test_hardly_any_sentence_is_no_error(documents: list[str]) -> None:
    support = sentence_support(documents)
    found = relevance(support, query("rain"))
    n_sentences = sum(map(bool, documents))
    assert found.shape == (n_sentences, len(FEATURES))
    assert np.isfinite(found).all()
    assert relevance_here(support, query("rain")).shape == (n_sentences,)
