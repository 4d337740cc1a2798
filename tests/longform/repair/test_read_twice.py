"""Claims read twice: the words of the documents that seem to support a claim widen it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import sparse

from longform.repair import by_matrix
from longform.repair.by_matrix import SHARE, WINDOWS, read_twice, shipped_readers, widen
from longform.support.index import SupportIndex
from longform.support.model import FEW_DOCUMENTS
from longform.text.words import stems
from tests.longform.support.collection import CLAIM, COLLECTION, PARAPHRASE

READERS = shipped_readers()
INDEX = SupportIndex(COLLECTION)


def once(claims: Sequence[str], index: SupportIndex = INDEX) -> np.ndarray:
    return READERS.first.probability(index.signals(claims))


def test_document_in_other_words_is_found_through_those_that_say_it_in_the_claims() -> None:
    first, second = once([CLAIM])[0], read_twice([CLAIM], INDEX, READERS)[0]

    assert first[PARAPHRASE] < 0.5 < second[PARAPHRASE]
    assert second[PARAPHRASE + 1 :].max() < 0.5 < second[:PARAPHRASE].min()


def test_claim_is_read_without_the_other_claims() -> None:
    """A summary's citations do not depend on the summaries repaired beside it."""
    claims = [CLAIM, "The orchard opened in 1902.", "Zebras migrate", ""]

    together = read_twice(claims, INDEX, READERS)

    for claim, row in zip(claims, together, strict=True):
        assert np.array_equal(read_twice([claim], INDEX, READERS)[0], row)


def test_claims_that_do_not_fit_into_one_block_are_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [CLAIM, "The orchard opened in 1902.", "Visitors liked the garden number 7."]
    together = read_twice(claims, INDEX, READERS)

    monkeypatch.setattr(by_matrix, "_BLOCK_CELLS", 1)

    assert np.array_equal(read_twice(claims, INDEX, READERS), together)


def test_claim_without_a_known_word_is_supported_by_nothing() -> None:
    assert not read_twice(["Zebras migrate", ""], INDEX, READERS).any()
    assert read_twice([], INDEX, READERS).shape == (0, len(COLLECTION))


def test_each_reading_has_its_model() -> None:
    """The first chooses the words that the second is given."""
    blind = READERS.first._replace(weights=(0.0, 0.0, 0.0))
    found, with_blind_first, with_blind_second = (
        read_twice([CLAIM], INDEX, readers)
        for readers in (READERS, READERS._replace(first=blind), READERS._replace(second=blind))
    )

    assert found[0, PARAPHRASE] > 0.5 > with_blind_first[0, PARAPHRASE]
    assert len(np.unique(with_blind_second[with_blind_second > 0])) == 1


def test_few_documents_are_read_once() -> None:
    few = SupportIndex(COLLECTION[: FEW_DOCUMENTS - 1])

    assert np.array_equal(read_twice([CLAIM], few, READERS), once([CLAIM], few))


def test_document_without_sentences_gives_no_words_and_changes_nothing() -> None:
    """Its best window would be the first one of the collection."""
    with_empty = read_twice([CLAIM], SupportIndex([*COLLECTION, "", ""]), READERS)

    assert not with_empty[0, -2:].any()
    assert with_empty[0, PARAPHRASE] > 0.5


def plain_words(index: SupportIndex, claim: str, probability: Sequence[float], size: int) -> dict[str, float]:
    """The definition, without matrices."""
    best = index.best_windows([stems(claim)], window=size)
    windows = {}
    for document, (begin, end) in enumerate(zip(index.bounds[:-1], index.bounds[1:], strict=True)):
        start = int(best.start[0, document])
        if end > begin and best.recall[0, document] > 0:
            windows[document] = frozenset[str]().union(*index.stems[start : min(start + size, end)])
    least = sorted(probability, reverse=True)[by_matrix.DOCUMENTS - 1]
    nearest = [document for document, p in enumerate(probability) if p >= least]  # with those as probable as the last

    def held(share: dict[int, float]) -> Counter[str]:
        total: Counter[str] = Counter()
        for document, weight in share.items():
            for stem in windows.get(document, ()):
                total[stem] += weight / sum(share.values())
        return total

    here = held({d: probability[d] for d in nearest if d in windows})
    elsewhere = held({d: 1 - p for d, p in enumerate(probability) if d in windows})
    parts = {stem: p * max(0.0, math.log((p + 0.02) / (elsewhere[stem] + 0.02))) for stem, p in here.items()}
    weakest = sorted(parts.values(), reverse=True)[: by_matrix.WORDS][-1]
    kept = {stem: part for stem, part in parts.items() if part >= weakest - 1e-9 and part > 1e-9}
    return {stem: part / sum(kept.values()) for stem, part in kept.items()}


@pytest.mark.parametrize("words", [pytest.param(7, id="a choice"), pytest.param(99, id="all that the windows hold")])
def test_words_are_weighed_by_their_part_in_the_divergence(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the definition; a claim keeps the rest of its weight."""
    monkeypatch.setattr(by_matrix, "WORDS", words)
    monkeypatch.setattr(by_matrix, "DOCUMENTS", 7)  # a bystander too, with words that are as frequent elsewhere
    claim = "Work on the bridge is postponed"
    probability = once([claim])
    weights = INDEX.weights([stems(claim)])
    expected = {stem: (1 - SHARE) * value for stem, value in named(INDEX, weights).items()}
    for size in WINDOWS:
        for stem, part in plain_words(INDEX, claim, probability[0].tolist(), size).items():
            expected[stem] = expected.get(stem, 0.0) + SHARE / len(WINDOWS) * part

    found = named(INDEX, widen(weights, probability, INDEX))

    assert found == pytest.approx(expected, abs=1e-6)
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-6)
    assert "girder" in found


def named(index: SupportIndex, weights: sparse.csr_array) -> dict[str, float]:
    """The one row of *weights* by its stems."""
    names = sorted(frozenset[str]().union(*index.stems))
    row = np.asarray(weights.toarray())[0]
    return {names[column]: float(row[column]) for column in np.flatnonzero(row)}
