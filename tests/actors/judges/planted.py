"""Twenty collections of five documents whose sentences tell where they are from."""

from collections.abc import Sequence
from random import Random

from longform.text.words import words

N_EXAMPLES, N_DOCUMENTS = 20, 5
LETTERS = "bcdfghklmnprstvwz"


def document(example: int, place: int) -> str:
    """Five sentences of words that no other document has, each with a number."""
    draw = Random(1000 * example + place)

    def word() -> str:
        return "".join(draw.choice(LETTERS) for _ in range(8))

    return " ".join(
        f"The {word()} of {word()} sold {draw.randint(100, 999)} barrels to {word()} and {word()}." for _ in range(5)
    )


EXAMPLES = [[document(example, place) for place in range(N_DOCUMENTS)] for example in range(N_EXAMPLES)]


def about(sentence: str, texts: Sequence[str]) -> int:
    shared = [len(set(words(sentence)) & set(words(text))) for text in texts]
    return shared.index(max(shared))
