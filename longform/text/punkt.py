"""Split sentences as NLTK's English Punkt model does; released sentence labels count these."""

from __future__ import annotations

from functools import cache

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer


def release_sentences(text: str) -> list[str]:
    """Return the sentences of *text*, stripped, as `nltk.sent_tokenize` gives them; nothing is downloaded."""
    found: list[str] = _tokenizer().tokenize(text.strip())
    return found


@cache
def _tokenizer() -> PunktSentenceTokenizer:
    # NLTK's rules over the model's parameters from a package: that package's own rules split five of forty released
    # summaries otherwise.
    import punkt

    model = punkt.load_model("english")
    parameters = PunktParameters()
    parameters.abbrev_types.update(model.abbrev_types)
    parameters.collocations.update(model.collocations)
    parameters.sent_starters.update(model.sent_starters)
    parameters.ortho_context.update({word: int(context) for word, context in model.ortho_context.items()})
    return PunktSentenceTokenizer(parameters)
