"""Split sentences as NLTK's English Punkt model does; released sentence labels count these."""

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
