from __future__ import annotations

from collections import Counter

import pytest

from lab.fits.checker_pairs import (
    NEAR,
    OTHER_DOCUMENT,
    PASSAGE_WORDS,
    STATEMENT,
    SUPPORTED,
    UNSUPPORTED,
    CheckerPair,
    Stated,
    checker_pairs,
    passages,
)
from longform.synthesis.grammar.assignment import Bounds
from longform.synthesis.grammar.haystack import HaystackSize, write_haystack

N = 400


@pytest.fixture(scope="module")
def corpus() -> dict[str, tuple[str, str]]:
    """Name -> text and group, of two haystacks the project writes."""
    size = HaystackSize(100, 200, Bounds(3, 3), Bounds(5, 25), distractors=0, contradictions=0)
    found = {}
    for variant in (0, 1):
        haystack = write_haystack("railway", variant=variant, size=size, seed=1)
        found |= {document.doc_id: (document.text, haystack.haystack_id) for document in haystack.documents}
    return found


def made(corpus: dict[str, tuple[str, str]], n: int = N, seed: int = 1, **settings: object) -> list[CheckerPair]:
    texts = {name: text for name, (text, _) in corpus.items()}
    groups = {name: group for name, (_, group) in corpus.items()}
    return checker_pairs(texts, n, seed=seed, groups=groups, **settings)  # type: ignore[arg-type]


def test_half_are_supported_and_every_kind_is_there(corpus: dict[str, tuple[str, str]]) -> None:
    pairs = made(corpus)
    kinds = Counter(pair.kind for pair in pairs)
    assert set(SUPPORTED) <= set(kinds)
    assert set(kinds) - set(SUPPORTED) <= set(UNSUPPORTED)
    assert len(set(kinds) & set(UNSUPPORTED)) >= 5
    assert 0.4 < sum(pair.supported for pair in pairs) / N < 0.6
    assert all(pair.supported == (pair.kind in SUPPORTED) for pair in pairs)


def test_same_arguments_same_pairs(corpus: dict[str, tuple[str, str]]) -> None:
    assert made(corpus, 50) == made(corpus, 60)[:50]
    assert made(corpus, 50) != made(corpus, 50, seed=2)


def test_what_is_quoted_stands_in_the_passage_and_what_is_wrong_does_not(corpus: dict[str, tuple[str, str]]) -> None:
    for pair in made(corpus):
        if pair.kind == "sentence":
            assert pair.sentence in pair.passage
        if not pair.supported:
            assert pair.sentence not in pair.passage


def test_marks_are_of_the_words_that_are_wrong(corpus: dict[str, tuple[str, str]]) -> None:
    for pair in made(corpus):
        assert len(pair.wrong) == len(pair.sentence.split())
        assert not (pair.supported and any(pair.wrong))
        if pair.kind == OTHER_DOCUMENT:
            assert all(pair.wrong)
        elif pair.kind in ("number", "date", "entity"):
            assert any(pair.wrong)
            assert not all(pair.wrong)


def test_passages_are_short_and_of_their_document(corpus: dict[str, tuple[str, str]]) -> None:
    for pair in made(corpus):
        longest = max(len(pair.sentence.split()), PASSAGE_WORDS)
        assert len(pair.passage.split()) <= longest + 12  # a change in the passage may add words
    text = next(iter(corpus.values()))[0]
    assert " ".join(passages(text)).split() == text.split()


def test_known_statements_are_a_sixth_and_may_be_changed(corpus: dict[str, tuple[str, str]]) -> None:
    stated = [
        Stated("d1", "The port closed in 2019 after a storm.", "A storm closed the port in 2019.", 1.0),
        Stated("d2", "The market opened.", "A storm closed the port in 2019.", 0.0),
    ]
    pairs = [pair for pair in made(corpus, 600, stated=stated) if pair.document in ("d1", "d2")]
    assert 70 <= len(pairs) <= 130
    kinds = Counter((pair.kind, pair.document, pair.supported) for pair in pairs)
    assert kinds[STATEMENT, "d1", True] > 20
    assert kinds[OTHER_DOCUMENT, "d2", False] > 5
    assert kinds["date", "d1", False] > 0
    assert all(pair.supported == (pair.kind == STATEMENT) for pair in pairs)


def test_documents_of_one_group_are_not_enough(corpus: dict[str, tuple[str, str]]) -> None:
    name, (text, _) = next(iter(corpus.items()))
    with pytest.raises(ValueError, match="two groups"):
        checker_pairs({name: text}, 3, seed=1, groups={name: "one"})


def test_what_is_nearly_said_takes_three_in_ten_with_likenesses_spread_evenly(
    corpus: dict[str, tuple[str, str]],
) -> None:
    """Most likenesses are low; all other pairs stay as they are without."""
    near = [Stated("a", f"passage {n}", "A sentence of six words here.", (n / 999) ** 4) for n in range(1000)]
    pairs, plain = made(corpus, near=near), made(corpus)
    found = [pair for pair in pairs if pair.kind == NEAR]
    assert len(found) == 3 * N // 10
    quarters = Counter(int(4 * min(pair.likeness or 0.0, 0.999)) for pair in found)
    assert min(quarters.values()) > len(found) / 8
    assert all(pair.supported == ((pair.likeness or 0.0) > 0.5) and not pair.wrong for pair in found)
    others = [(a, b) for a, b in zip(pairs, plain, strict=True) if a.kind != NEAR]
    assert all(a == b and a.likeness is None for a, b in others)
