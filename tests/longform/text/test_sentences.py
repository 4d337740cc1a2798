from hypothesis import given
from hypothesis import strategies as st

from longform.text.sentences import sentences


def test_abbreviations_and_decimals_end_no_sentence() -> None:
    text = "Dr. Smith paid $3.5 million to U.S. Steel Corp. in Jan. 2020. He left."
    assert [s.text for s in sentences(text)] == [text.removesuffix(" He left."), "He left."]


def test_line_break_ends_a_sentence() -> None:
    """A turn without a full stop must not run into the next speaker's."""
    assert [s.text for s in sentences("[student 1] yes\n[student 2] No way\n\n  Bye")] == [
        "[student 1] yes",
        "[student 2] No way",
        "Bye",
    ]


@given(st.text(alphabet="ab. A?!\n1,", max_size=60))
def test_sentences_cover_all_but_white_space_in_order(text: str) -> None:
    found = sentences(text)
    assert all(text[s.start : s.end] == s.text == s.text.strip() for s in found)
    assert all(s.text for s in found)
    gaps = zip([0, *[s.end for s in found]], [*[s.start for s in found], len(text)], strict=True)
    assert all(not text[end:start].strip() for end, start in gaps)
