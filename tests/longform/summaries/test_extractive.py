import numpy as np
import pytest

from longform.summaries import extractive
from longform.summaries.extractive import Extractor, Tree, TreeEnsemble, bullet_lines, shipped_ranker
from longform.summaries.query_relevance import FEATURES, VectorQuery
from longform.summaries.sentence_support import candidates
from longform.text.citations import bullets
from tests.longform.summaries.test_sentence_support import (
    MODEL,
    PLANTED,
    SNOW,
    planted_documents,
    sentence_support,
    stem_vectors,
)

LIBRARY = "What about the library?"
WITH_SNOW = {**PLANTED, SNOW: [1, 2, 3, 4, 5, 6, 31, 32]}


def staircase(feature: str, highest: float, gain: float) -> list[Tree]:
    """Twenty trees of one step each: about *gain* a unit of the feature, from 0 up to *highest*."""
    step = highest / 20
    return [
        Tree(
            np.array([FEATURES.index(feature), -1, -1]),
            np.array([step * n, 0.0, 0.0]),
            np.array([1, 0, 0]),
            np.array([2, 0, 0]),
            np.array([0.0, 0.0, step * gain]),
        )
        for n in range(20)
    ]


RANKER = TreeEnsemble(FEATURES, 0.0, (*staircase("word_relevance", 8.0, 0.1), *staircase("repeated_3", 1.0, 0.5)))


def extractor(documents: list[tuple[int, str]]) -> Extractor:
    return Extractor(documents, stem_vectors, model=MODEL, ranker=RANKER)


def query(text: str) -> VectorQuery:
    (vector,) = stem_vectors([text])
    return VectorQuery(text, vector, vector)


def extract(documents: list[tuple[int, str]], text: str, n: int, max_words: int = 300) -> list[tuple[str, list[int]]]:
    return extractor(documents).extract(query(text), n, max_words)


@pytest.fixture(scope="module", params=[10, 60], ids=["few", "many"])
def haystack(request: pytest.FixtureRequest) -> list[tuple[int, str]]:
    """Library news planted in three or four documents each; snow in more; the rest is said once."""
    return planted_documents(request.param, WITH_SNOW)


@pytest.fixture(scope="module")
def reader(haystack: list[tuple[int, str]]) -> Extractor:
    return extractor(haystack)


# ---------------------------------------------------------------- what is found


def test_planted_statements_are_found_with_their_documents(reader: Extractor) -> None:
    """The known answer: what the query asks for, what several documents repeat, and those documents."""
    expected = {text: [n for n in numbers if n <= len(reader.numbers)] for text, numbers in PLANTED.items()}
    assert dict(reader.extract(query(LIBRARY), 3, 300)) == expected


def test_order_and_numbers_of_documents_change_only_what_is_cited(
    haystack: list[tuple[int, str]], reader: Extractor
) -> None:
    """Documents come in any order, with any numbers of that order."""
    renumbered = [(10 * number + 3, text) for number, text in haystack[::-1]]
    expected = [(text, [10 * n + 3 for n in numbers]) for text, numbers in reader.extract(query(LIBRARY), 5, 300)]
    assert extract(renumbered, LIBRARY, 5) == expected


def test_asking_changes_nothing_for_the_next_query(reader: Extractor) -> None:
    first = reader.extract(query(LIBRARY), 3, 300)
    assert reader.extract(query("heavy snow"), 1, 300)[0][0] == SNOW
    assert reader.extract(query(LIBRARY), 3, 300) == first


def test_a_query_of_unknown_words_leaves_repetition_to_decide(reader: Extractor) -> None:
    assert reader.extract(query("xylophone"), 1, 300)[0][0] in WITH_SNOW


def test_ranked_choice_is_what_is_quoted_best_first(reader: Extractor) -> None:
    ranked = reader.ranked_choice(query(LIBRARY), 3, 300)
    quoted = [text for text, _ in reader.extract(query(LIBRARY), 3, 300)]
    assert [reader.support.statements[place] for place, _ in ranked] == quoted
    assert ranked[0][1] == max(score for _, score in ranked) > 0


# ---------------------------------------------------------------- likeness


def test_a_statement_is_not_said_twice(reader: Extractor) -> None:
    """Many documents tell of the snow in the same words; it takes one bullet, then the rest come."""
    texts = [text for text, _ in reader.extract(query("cold snow and the library"), 4, 300)]
    assert set(texts) == set(WITH_SNOW)
    assert len(set(texts)) == len(texts)


def test_the_same_words_are_quoted_once_though_more_is_asked_for() -> None:
    documents = [(number, SNOW) for number in range(1, 5)]
    assert extract(documents, "snow", 3) == [(SNOW, [1, 2, 3, 4])]


def test_close_paraphrase_from_the_same_documents_waits_for_what_is_new() -> None:
    lines = [
        "The harbour bridge carries heavy trucks, trams and cyclists.",
        "The harbour bridge carries heavy trucks, trams and pedestrians.",
        "The harbour museum reopened again.",
    ]
    documents = [(number, "\n".join(lines)) for number in range(1, 5)]
    assert lines[2] in [text for text, _ in extract(documents, "harbour", 2)]


# ---------------------------------------------------------------- limits


def test_words_stay_within_the_limit(reader: Extractor) -> None:
    for limit in (0, 4, 12, 13, 30):
        found = reader.extract(query(LIBRARY), 3, limit)
        assert sum(len(text.split()) for text, _ in found) <= limit
    assert len(reader.extract(query(LIBRARY), 3, 26)) == 2


@pytest.mark.parametrize("n_bullets", [0, 1, 2, 7])
def test_bullets_stay_within_their_number(reader: Extractor, n_bullets: int) -> None:
    assert len(reader.extract(query(LIBRARY), n_bullets, 300)) == n_bullets


def test_what_is_too_short_or_too_long_is_never_quoted() -> None:
    long = "The library " + "lends many books " * 20 + "daily."
    documents = [(number, f"Library shut.\n{long}\nThe library opens at seven.") for number in range(1, 5)]
    assert [text for text, _ in extract(documents, "library", 5)] == ["The library opens at seven."]


@pytest.mark.parametrize("documents", [[(1, "")], [(1, "Too short.")]], ids=["empty", "no-sentence"])
def test_nothing_to_quote_gives_no_bullet(documents: list[tuple[int, str]]) -> None:
    assert extract(documents, "museum", 3) == []


# ---------------------------------------------------------------- what comes last


def test_questions_and_dangling_openings_come_last() -> None:
    lines = [
        "They reopened the harbour bridge to all heavy trucks in March.",
        "Who paid for the harbour bridge and its new steel towers?",
        "Tolls there rise.",
        "Engineers painted the old lighthouse.",
    ]
    documents = [(number, "\n".join(lines)) for number in range(1, 5)]
    texts = [text for text, _ in extract(documents, "harbour bridge", 3)]
    assert texts[0] == lines[3]
    assert set(texts[1:]) == set(lines[:2])


def test_what_few_documents_say_comes_last() -> None:
    """Two documents are no repetition, however well they answer."""
    once = "Librarians of the library count library books in the library."
    added = [
        (number, f"{text}\n{once}" if number in (2, 6) else text) for number, text in planted_documents(10, WITH_SNOW)
    ]
    texts = [text for text, _ in extract(added, LIBRARY, 5)]
    assert set(texts[:4]) == set(WITH_SNOW)
    assert texts[4] == once


def test_one_document_is_summarized_by_relevance() -> None:
    text = "Trains ran late on Monday evening. The museum buys a famous painting today. Bread got dearer this year."
    assert extract([(7, text)], "museum painting", 1) == [("The museum buys a famous painting today.", [7])]


def test_candidates_are_what_three_documents_say_without_need_of_context() -> None:
    told = "They all agree on the main point."
    support = sentence_support([f"{text}\n{told}" for _, text in planted_documents(10, WITH_SNOW)])
    usable, preferred = candidates(support)
    assert {support.statements[place] for place in np.flatnonzero(preferred)} == set(WITH_SNOW)
    assert usable.all()


# ---------------------------------------------------------------- the shipped ranker


def test_shipped_ranker_quotes_what_is_planted() -> None:
    """Fitted on real documents, it finds the same sentences in made-up ones."""
    reader = Extractor(planted_documents(60, WITH_SNOW), stem_vectors, model=MODEL, ranker=shipped_ranker())
    assert {text for text, _ in reader.extract(query(LIBRARY), 3, 300)} == set(PLANTED)


def test_a_ranker_of_other_features_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractive, "FEATURES", (*FEATURES, "colour"))
    shipped_ranker.cache_clear()
    with pytest.raises(ValueError, match=r"expected .*'colour'.*longform train ranker"):
        shipped_ranker()


# ---------------------------------------------------------------- text


def test_lines_are_bullets_that_cite() -> None:
    text = bullet_lines([("Sales rose.", [3, 17]), ("Costs fell.", [2])])
    assert text == "- Sales rose. [3][17]\n- Costs fell. [2]"
    assert [bullet.citations for bullet in bullets(text)] == [[3, 17], [2]]
