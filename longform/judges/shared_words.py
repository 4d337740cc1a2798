"""
The second aligner: says how much of a sentence's wording stands in one sentence of a document.

It is no judge of support, and reads the text alone: no model, no vectors, nothing fitted. The paper holds its
attribution by the largest support against an aligner of sentences (SuperPAL; Wan et al., appendix C.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from longform.judges.kind import Group
from longform.text.sentences import sentences
from longform.text.words import stems


class SharedWords:
    """Gives each item the best mean, over the text's sentences, of the shares of its stems and of its pairs of them."""

    version = "1"

    def judge(self, group: Group) -> Sequence[float]:
        """Return a share in [0, 1] for each item."""
        held = [_parts(sentence.text) for sentence in sentences(group.text)]
        return [_likeness(_parts(item), held) for item in group.items]


_Parts = tuple[frozenset[str], frozenset[tuple[str, str]]]


def _parts(text: str) -> _Parts:
    found = stems(text)
    return frozenset(found), frozenset(pairwise(found))


def _likeness(item: _Parts, held: Sequence[_Parts]) -> float:
    n_words, n_pairs = (max(1, len(part)) for part in item)
    return (
        max((len(item[0] & words) / n_words + len(item[1] & pairs) / n_pairs for words, pairs in held), default=0) / 2
    )
