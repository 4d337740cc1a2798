import pytest
from hypothesis import given
from hypothesis import strategies as st
from nupunkt import sentence_spans

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


@given(st.text(alphabet="ab. A?!\n1,。？」と．", max_size=60))
def test_sentences_cover_all_but_white_space_in_order(text: str) -> None:
    found = sentences(text)
    assert all(text[s.start : s.end] == s.text == s.text.strip() for s in found)
    assert all(s.text for s in found)
    gaps = zip([0, *[s.end for s in found]], [*[s.start for s in found], len(text)], strict=True)
    assert all(not text[end:start].strip() for end, start in gaps)


@pytest.mark.parametrize(
    "found",
    [
        ["市议会以七票通过[1]。", "大桥要花费三百四十万欧元[2]。"],
        ["（これは例です。）", "「はい。」と言った。", "本当？！", "行った"],
        ["他说：“走吧。”", "是“对。”、“错。”吗？", "好！"],
        ["هل هذا صحيح؟", "نعم، صحيح۔", "آخر"],
        ["यह सही है।", "वह गया॥", "अंत"],
        ["割合は３．５％である．", "Ｕ．Ｓ．社のもの．", "以上"],
    ],
)
@pytest.mark.parametrize("space", ["", " "])
def test_stops_of_other_scripts_end_a_sentence_with_what_they_close(found: list[str], space: str) -> None:
    assert [s.text for s in sentences(space.join(found))] == found


@given(st.text(alphabet=st.characters(codec="latin-1") | st.sampled_from("“”’—…ЖБжд"), max_size=80))
def test_text_without_such_stops_has_the_sentences_that_it_had(text: str) -> None:
    expected = [line[a:b] for line in text.split("\n") for a, b in sentence_spans(line)]
    assert [s.text for s in sentences(text)] == expected
