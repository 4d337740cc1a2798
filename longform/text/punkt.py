"""Split sentences and words as NLTK does, whose counts released labels and statistics have; nothing is downloaded."""

from __future__ import annotations

from functools import cache
from typing import Protocol


class _Tokenizer(Protocol):
    def tokenize(self, text: str) -> list[str]: ...


def release_sentences(text: str) -> list[str]:
    """Return the sentences of *text*, stripped, as `nltk.sent_tokenize` gives them; nothing is downloaded."""
    return _tokenizer().tokenize(text.strip())


@cache
def _tokenizer() -> _Tokenizer:
    # NLTK's rules over the model's parameters from a package: that package's own rules split five of forty released
    # summaries otherwise.
    import punkt
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer  # slow to import

    model = punkt.load_model("english")
    parameters = PunktParameters()
    parameters.abbrev_types.update(model.abbrev_types)
    parameters.collocations.update(model.collocations)
    parameters.sent_starters.update(model.sent_starters)
    parameters.ortho_context.update({word: int(context) for word, context in model.ortho_context.items()})
    tokenizer: _Tokenizer = PunktSentenceTokenizer(parameters)
    return tokenizer


def n_words(text: str) -> int:
    """Return the number of words and marks of *text*, as `nltk.word_tokenize` splits it sentence by sentence."""
    return sum(len(_word_tokenizer().tokenize(sentence)) for sentence in release_sentences(text))


@cache
def _word_tokenizer() -> _Tokenizer:
    from nltk.tokenize.destructive import NLTKWordTokenizer  # slow to import

    tokenizer: _Tokenizer = NLTKWordTokenizer()
    return tokenizer
