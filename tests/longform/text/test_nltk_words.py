"""Words as NLTK counts them."""

import pytest

from longform.text.sentences import n_words


@pytest.mark.parametrize(
    ("text", "n"),
    [("", 0), ("One two.", 3), ("It didn't rain, they said.", 8), ("First one. Second one.", 6)],
)
def test_marks_and_parts_of_contractions_are_words(text: str, n: int) -> None:
    assert n_words(text) == n
