"""Count words as NLTK's word tokenizer does; statistics of released data sets count these. Nothing is downloaded."""

from __future__ import annotations

from functools import cache
from typing import Protocol

from longform.text.punkt import release_sentences


class _Tokenizer(Protocol):
    def tokenize(self, text: str) -> list[str]: ...


def n_words(text: str) -> int:
    """Return the number of words and marks of *text*, as `nltk.word_tokenize` splits it sentence by sentence."""
    return sum(len(_tokenizer().tokenize(sentence)) for sentence in release_sentences(text))


@cache
def _tokenizer() -> _Tokenizer:
    from nltk.tokenize.destructive import NLTKWordTokenizer  # slow to import

    tokenizer: _Tokenizer = NLTKWordTokenizer()
    return tokenizer
