from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pytest

from longform.keys import stable_seed
from longform.summaries.sentence_support import SentenceSupport
from longform.support.index import SupportIndex
from longform.support.model import shipped_support_model
from longform.text.words import stems

PLANTED = {
    "The library opens at seven on exam days, two hours earlier than usual.": [2, 5, 9, 14],
    "Library lockers can be rented for ten dollars a month from October.": [3, 5, 7, 21],
    "Quiet rooms in the library must be booked a week before.": [2, 4, 8, 30],
}
SNOW = "A cold front crosses the northern valley and brings heavy snow tonight."
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()
MODEL = shipped_support_model("vectors")


def stem_vectors(texts: Sequence[str]) -> np.ndarray:
    """A deterministic embedding: the unit sum of a random direction for each stem."""
    summed = np.zeros((len(texts), 48), dtype=np.float32)
    for place, text in enumerate(texts):
        for stem in sorted(set(stems(text))):
            summed[place] += np.random.default_rng(stable_seed(stem)).normal(size=48).astype(np.float32)
    return summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), np.float32(1e-6))


def talk(seed: int, n_lines: int = 8) -> list[str]:
    """Lines of made-up words, of which a few are everywhere, as in real documents."""
    rng = np.random.default_rng(seed)
    vocabulary = [a + b + c for a in SYLLABLES for b in SYLLABLES for c in ("nt", "rd")]
    places = np.minimum(rng.geometric(0.01, size=(n_lines, 9)) - 1, len(vocabulary) - 1)
    return [" ".join(vocabulary[place] for place in row).capitalize() + "." for row in places.tolist()]


def planted_documents(
    n_documents: int, planted: Mapping[str, Sequence[int]] = PLANTED, *, seed: int = 0
) -> list[tuple[int, str]]:
    """Documents numbered from 1, each of its own lines with the statements planted in it among them."""
    documents = []
    for number in range(1, n_documents + 1):
        lines = talk(stable_seed(seed, number))
        for place, text in enumerate(text for text, numbers in planted.items() if number in numbers):
            lines.insert(3 * place + 2, text)
        documents.append((number, "\n".join(lines)))
    return documents


def sentence_support(documents: Sequence[str]) -> SentenceSupport:
    return SentenceSupport(documents, stem_vectors, MODEL)


@pytest.fixture(scope="module", params=[10, 60], ids=["few", "many"])
def support(request: pytest.FixtureRequest) -> SentenceSupport:
    """Fewer documents than the model asks for, and more."""
    return sentence_support([text for _, text in planted_documents(request.param)])


def places_of(support: SentenceSupport, text: str) -> list[int]:
    return [place for place, statement in enumerate(support.statements) if statement == text]


def planted_in(support: SentenceSupport, text: str) -> list[int]:
    """Documents from 0, of those there are."""
    return [number - 1 for number in PLANTED[text] if number <= support.probability.shape[1]]


@pytest.mark.parametrize("text", PLANTED)
def test_each_copy_of_a_planted_sentence_cites_all_its_documents(support: SentenceSupport, text: str) -> None:
    found = places_of(support, text)
    assert len(found) == len(planted_in(support, text)) > 1
    for place in found:
        assert np.flatnonzero(support.cited[place]).tolist() == planted_in(support, text)


@pytest.mark.parametrize("text", PLANTED)
def test_supporting_places_are_where_the_others_say_it(support: SentenceSupport, text: str) -> None:
    """The window around the place holds the sentence; in its own document a sentence stands where it stands."""
    found = places_of(support, text)
    for place in found:
        middles = support.places[place, planted_in(support, text)]
        assert (np.abs(middles - found) <= 1).all()
        assert support.places[place, support.index.owners[place]] == place


def test_own_document_is_certain(support: SentenceSupport) -> None:
    every = np.arange(len(support.statements))
    assert (support.probability[every, support.index.owners] == 1).all()
    assert support.probability.min() >= 0
    assert support.probability.max() == 1


def test_repetition_is_recall_in_the_best_other_documents(support: SentenceSupport) -> None:
    every = np.arange(len(support.statements))
    recall = support.index.support(support.statements).astype(np.float64)
    recall[every, support.index.owners] = -1
    strongest = -np.sort(-recall, axis=1)
    assert support.repeated == pytest.approx(np.stack([strongest[:, :n].mean(axis=1) for n in (3, 6)]), abs=1e-6)


def test_confirmation_is_recall_in_the_cited_documents(support: SentenceSupport) -> None:
    recall = support.index.signals(support.statements, support.vectors)["recall_3"].astype(float)
    for place, own in enumerate(support.index.owners.tolist()):
        recall[place, own] = 1
        assert support.confirmed[place] == pytest.approx(recall[place, support.cited[place]].mean(), abs=1e-6)
    for text in PLANTED:
        assert support.confirmed[places_of(support, text)] == pytest.approx(1, abs=1e-6)


def test_around_is_the_mean_of_the_neighbours_in_the_document(support: SentenceSupport) -> None:
    values = np.random.default_rng(1).random((len(support.statements), 2))
    for reach in (0, 2, 5):
        found = support.around(values, reach)
        for begin, end in pairwise(support.index.bounds.tolist()):
            for at in range(begin, end):
                near = values[max(begin, at - reach) : min(end, at + reach + 1)]
                assert found[at] == pytest.approx(near.mean(axis=0))


def test_over_support_is_the_weighted_mean_over_supporting_places(support: SentenceSupport) -> None:
    values = np.random.default_rng(2).random(len(support.statements))
    found = support.over_support(values)
    for place in range(0, len(values), 7):
        probability = support.probability[place]
        expected = probability @ values[support.places[place]] / probability.sum()
        assert found[place] == pytest.approx(expected)


def test_a_measure_that_is_the_same_everywhere_stays_so(support: SentenceSupport) -> None:
    same = np.full(len(support.statements), 0.3)
    assert support.over_support(same) == pytest.approx(same)
    assert support.around(same, 3) == pytest.approx(same)


def test_statements_know_their_words_and_weight() -> None:
    lines = ["Ann sold boats.\nRain fell on Ann."]
    support, index = sentence_support(lines), SupportIndex(lines)
    assert support.weights == pytest.approx([sum(map(index.idf, stems(text))) for text in support.statements])
    assert [len(text.split()) for text in support.statements] == [3, 4]


def test_a_joined_statement_has_the_meaning_and_words_of_both_sentences() -> None:
    support = sentence_support(["Rates rose sharply in May. They hurt banks.", "Snow fell."])
    assert support.statements[1] == "Rates rose sharply in May. They hurt banks."
    both = support.sentence_vectors[:2].sum(axis=0)
    assert support.vectors[1] == pytest.approx(both / np.linalg.norm(both), abs=1e-6)
    assert support.vectors[0] == pytest.approx(support.sentence_vectors[0], abs=1e-6)
    assert support.stems[1] == frozenset(stems(support.statements[1]))
    assert support.alone.tolist() == [True, True, True]


def test_nothing_is_read_across_documents() -> None:
    support = sentence_support(["Rates rose sharply in May.", "They hurt small banks badly."])
    assert support.statements[1] == "They hurt small banks badly."
    assert support.alone.tolist() == [True, False]
    assert support.around(np.array([1.0, 5.0]), 3).tolist() == [1.0, 5.0]


def test_order_of_documents_changes_no_sentence() -> None:
    texts = [text for _, text in planted_documents(60)]
    order = np.random.default_rng(4).permutation(60)
    here, there = sentence_support(texts), sentence_support([texts[i] for i in order])
    bounds = here.index.bounds
    moved = np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in order])
    assert there.statements == [here.statements[i] for i in moved]
    assert there.probability == pytest.approx(here.probability[moved][:, order], abs=1e-5)
    assert np.array_equal(there.cited, here.cited[moved][:, order])
    assert there.repeated == pytest.approx(here.repeated[:, moved], abs=1e-6)


@pytest.mark.parametrize("documents", [[""], ["", "Rain fell on Oslo.", ""]], ids=["empty", "beside-empty"])
def test_empty_documents_are_no_error(documents: list[str]) -> None:
    support = sentence_support(documents)
    n_sentences = sum(map(bool, documents))
    assert support.probability.shape == support.cited.shape == support.places.shape == (n_sentences, len(documents))
    assert support.over_support(np.ones(n_sentences)).tolist() == [1.0] * n_sentences
    assert support.cited.sum() == n_sentences
