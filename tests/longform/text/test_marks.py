"""The grammar of citation marks: what each style cites, what is no citation, and that no text is too much for it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.text.citations import LARGEST
from longform.text.marks import marks


@pytest.mark.parametrize(
    ("text", "cites"),
    [
        ("so [1, 2].", [(1, 2)]),
        ("so [1][2].", [(1,), (2,)]),
        ("so [1-3], [4–5] and [6;8].", [(1, 2, 3), (4, 5), (6, 8)]),
        ("so [1 and 2] [3 & 4] [5 6]", [(1, 2), (3, 4), (5, 6)]),
        ("so [1,\n  2].", [(1, 2)]),
        ("so [^1][^2].", [(1,), (2,)]),
        ("so【1†source】【2】［３］〔4〕", [(1,), (2,), (3,), (4,)]),
        ("so 【4:0†town.txt】【5:1†source】【6†L1-L4】", [("town.txt", 0), (1,), (6,)]),
        ("so [doc 1, doc 2] [Document 3] [Source 4] [S5] [doc_6]", [(1, 2), (3,), (4,), (5,), (6,)]),
        ("so (Source 1, Source 2) (see Document 3)", [(1, 2), (3,)]),
        ("so [cite: 1, 2] [citation:3] [oaicite:4] [source_id: 5]", [(1, 2), (3,), (4,), (5,)]),
        ("so¹ it goes.²,³", [(1,), (2, 3)]),
        ("so<sup>1, 2</sup> it is<cite>3</cite> <source id='4'/>", [(1, 2), (3,), (4,)]),
        ("so [١، ٢] [文档3] [来源：4] [Quelle 5 und 6]", [(1, 2), (3,), (4,), (5, 6)]),
        ("so \\[1\\] [[2]] [#3] {4}", [(1,), (2,), (3,), (4,)]),
        ("so [3, p. 4] [5, §2] [6, lines 1-3]", [(3,), (5,), (6,)]),
        ("so [town-hall; a.txt] [@b; @c] \\cite{d,e}", [("town-hall", "a.txt"), ("b", "c"), ("d", "e")]),
        ("so [Source: town-hall] [siehe oben].", [("town-hall",), ("siehe oben",)]),
        ("so (Source: Document 1, Document 2) [Sources: Documents 1 and 2] [doc_id: 3]", [(1, 2), (1, 2), (3,)]),
        ("so [web:1] [webpage 2] [No. 3] [doc_id: town-hall]", [(1,), (2,), (3,), ("town-hall",)]),
        ("fell^1^2 and rose.^3 It went. ^[4]^[5]", [(1, 2), (3,), (4,), (5,)]),
        ("so ¹⸴² then ③④. Then \ue200cite\ue202turn0file0\ue201.", [(1, 2), (3, 4), ("turn0file0",)]),
        (
            "so https://a.org/b. So <https://a.org/c> (https://a.org/d, https://a.org/e)",
            [(f"https://a.org/{page}",) for page in "bcde"],
        ),
        ("so <sup>[[1]](https://a.org/b)</sup> `[2]` [**3**]", [("https://a.org/b", 1), (2,), (3,)]),
        ("so [town-hall, 2023].", [("town-hall",)]),
        (
            "It fell.\nSources: Document 1, 2\nIt rose. Source: town-hall.txt, herald",
            [(1, 2), ("town-hall.txt", "herald")],
        ),
        ("Document 3: it fell.\nThe documents 1 and 2 report it.\nIt rose — Source 4", [(3,), (1, 2), (4,)]),
        ("so [2147483648] [99999999999999999999999999].", [(LARGEST,), (LARGEST,)]),
        ("so [" + "9" * 100 + "]", [("9" * 100,)]),
    ],
)
def test_a_mark_cites_what_it_says_however_it_is_written(text: str, cites: list[tuple[int | str, ...]]) -> None:
    assert [mark.cites for mark in marks(text) if mark.kind != "round"] == cites


@pytest.mark.parametrize(
    "text",
    [
        "It is [sic] so [...] and [ ] or [x].",
        "The book [978-3-16-148410-0] or [9783161484100] or [ISBN 3-16-148410-X].",
        "On [2024-05-01], from [2019-2020], call [+49 30 1234567].",
        "Take `a[1]` and ``b = [1, 2]``.",
        "```python\nx = [1, 2]\n```",
        "A field of 5 m² and 10³ trees, 3 km<sup>2</sup>.",
        "![a picture](town.png)",
        "10^6 trees, x^2 and e^3 at 2^10 a day.",
        "Sources: the river rises in hills that nobody has ever seen from the town.",
        "Document 3 of the annex reports it, and a source of 2 rivers says more.",
    ],
)
def test_what_is_no_citation_is_no_mark(text: str) -> None:
    assert [mark.raw for mark in marks(text)] == []


@pytest.mark.parametrize(
    ("text", "said", "cites"),
    [
        ("It is so [council](council-march).", "", ("council-march", "council")),
        ("It is so [1](https://a.org/x).", "", ("https://a.org/x", 1)),
        ("The [council voted](council-march) so.", "council voted", ("council-march", "council voted")),
        ('It is so <a href="council-march">2</a>', "", ("council-march", 2)),
    ],
)
def test_the_words_of_a_link_stay_unless_they_only_name_it(text: str, said: str, cites: tuple[int | str, ...]) -> None:
    assert [(mark.said, mark.cites) for mark in marks(text)] == [(said, cites)]


def test_a_mark_is_known_by_its_place() -> None:
    inner, last = marks("It [see a] so\nit is [see b].")

    assert (inner.closing, last.closing) == (False, True)


@given(st.text(alphabet="[]()【】^¹²`<>{}\\$1,2-–: \nabdoc†", max_size=80))
def test_marks_stand_in_the_text_in_order_and_never_overlap(text: str) -> None:
    found = list(marks(text))

    assert all(" ".join(text[mark.start : mark.end].split()) == mark.raw for mark in found)
    assert all(one.end <= two.start for one, two in itertools.pairwise(found))


@pytest.mark.parametrize(
    "piece", ["[", "[1]", "(", "`", "<a ", "<sup>", "[a", "¹", "^{[", "```\n", "[1,", "[x](y ", "\\"]
)
def test_hostile_texts_are_read_in_time(piece: str) -> None:
    """A time that grows as the square of the length would be hours, which no test is given."""
    list(marks(piece * 40_000))
