"""
ROUGE of a summary against reference texts: F1 of shared words (1), word pairs (2), the longest common subsequence (L).

Lin, ROUGE: A Package for Automatic Evaluation of Summaries (2004), as Google's `rouge_score` computes it with stemming:
lower-case runs of a-z and 0-9, Porter stems of words of more than three letters, and L over the whole text. The best of
several references counts. Citations are taken out first; MSRS's release leaves them in (`rouge_1_released` and so on).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial

from longform.metrics.measure import Facts, Measure, Score, beside_references

_WORD = re.compile("[a-z0-9]+")


@cache
def _stemmer() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer  # slow to import

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return _stemmer()(word) if len(word) > 3 else word


@lru_cache(maxsize=512)
def rouge_words(text: str) -> tuple[str, ...]:
    """Return the words of *text* as ROUGE compares them."""
    return tuple(_stem(word) for word in _WORD.findall(text.lower()))


def rouge_n(summary: Sequence[str], reference: Sequence[str], n: int) -> float:
    """F1 of the runs of *n* words that both hold, each as often as the one that holds it less."""
    own, wanted = (Counter(zip(*(words[at:] for at in range(n)), strict=False)) for words in (summary, reference))
    return _f1((own & wanted).total(), own.total(), wanted.total())


def rouge_l(summary: Sequence[str], reference: Sequence[str]) -> float:
    """F1 of the longest common subsequence of words."""
    return _f1(longest_common(summary, reference), len(summary), len(reference))


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest common subsequence; each bit of a whole number is a place of *one* (Hyyrö, 2004)."""
    places: dict[str, int] = {}
    for at, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << at
    everything = (1 << len(one)) - 1
    open_ = everything
    for word in other:
        matched = open_ & places.get(word, 0)
        open_ = ((open_ + matched) | (open_ - matched)) & everything
    return len(one) - open_.bit_count()


def _f1(shared: int, n_own: int, n_wanted: int) -> float:
    return 2 * shared / (n_own + n_wanted) if shared else 0.0


def _score(
    facts: Facts, name: str, compare: Callable[[Sequence[str], Sequence[str]], float], *, as_released: bool
) -> Score:
    def best(text: str, references: Sequence[str]) -> float:
        return max(compare(rouge_words(text), rouge_words(one)) for one in references)

    return beside_references(facts, name, best, cited=as_released)


def _measures(version: str, *, as_released: bool) -> Iterator[Measure]:
    """Yield the three measures; the released ones count a number in square brackets as a word."""
    for name, title, told, compare in (
        ("rouge_1", "ROUGE-1", "words", partial(rouge_n, n=1)),
        ("rouge_2", "ROUGE-2", "pairs of neighbouring words", partial(rouge_n, n=2)),
        ("rouge_l", "ROUGE-L", "longest sequence of words", rouge_l),
    ):
        named = f"{name}_released" if as_released else name
        kept = ", with citations as words" if as_released else ""
        yield Measure(
            named,
            partial(_score, name=named, compare=compare, as_released=as_released),
            needs=frozenset({"text", "references"}),
            version=version,
            title=f"{title}, as released" if as_released else title,
            told=f"F1 of the {told} that summary and reference share{kept}",
        )


MEASURES = tuple(_measures("rouge@1", as_released=False))
RELEASED = tuple(_measures("rouge-released@1", as_released=True))
