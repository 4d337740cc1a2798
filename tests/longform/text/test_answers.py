"""Answers read as statements: the same words are the same statements in any form."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.text.answers import statements
from longform.text.citations import Bullet
from longform.text.reasoning import set_aside
from longform.text.units import lined

SAID = [
    ("The council voted 7 to 2 to rebuild the bridge on Alder Street.", [1, 2]),
    ("Rebuilding it will cost 3.4 million euros, said Dr. Ames of the U.S. office.", [3]),
    ("Shops nearby fear a quiet summer.", []),
    ("The library opens on Sundays from May.", [5]),
]
READ = [Bullet(f"{said} [{', '.join(map(str, cited))}]" if cited else said, cited) for said, cited in SAID]


def _before(said: str, cited: Sequence[int]) -> str:
    return f"{said.removesuffix('.')} [{', '.join(map(str, cited))}]." if cited else said


def _behind(said: str, cited: Sequence[int]) -> str:
    return f"{said} {''.join(f'[{one}]' for one in cited)}".rstrip()


def _glued(said: str, cited: Sequence[int]) -> str:
    return f"{said}{''.join(f'【{one}†source】' for one in cited)}"


def _stopped(said: str, cited: Sequence[int]) -> str:
    return f"{said} [^{'][^'.join(map(str, cited))}]." if cited else said


MARKED: list[Callable[[str, Sequence[int]], str]] = [_before, _behind, _glued, _stopped]
SOURCES = [
    "",
    "\n\nSources:\n[1] town-hall\n[2] herald\n[3] ames\n[5] library",
    "\n\n## References\n1. a\n2. b\n3. c\n5. d",
]

FORMS: dict[str, Callable[[Sequence[str]], str]] = {
    "prose": " ".join,
    "lines": "\n".join,
    "paragraphs": "\n\n".join,
    "quoted": lambda said: "\n".join(f"> - {one}" for one in said),
    "tags": lambda said: f"<ul>{''.join(f'<li>{one}</li>' for one in said)}</ul>",
    "own tags": lambda said: f"<points>{''.join(f'<point>{one}</point>' for one in said)}</points>",
    "rows": lambda said: "\n".join(
        ["| # | Finding |", "|---|:--|", *(f"| {n} | {x} |" for n, x in enumerate(said, 1))]
    ),
    "grid": lambda said: "\n".join(["+---+", "| Finding |", "+===+", *(f"| {one} |\n+---+" for one in said)]),
    "tagged rows": lambda said: (
        "<table>\n<tr><th>Finding</th></tr>\n" + "\n".join(f"<tr>\n<td>{x}</td></tr>" for x in said) + "</table>"
    ),
    "fenced": lambda said: "```\n" + "\n".join(f"- {one}" for one in said) + "\n```",
    "a list in a line": lambda said: " ".join(f"{n}. {one}" for n, one in enumerate(said, 1)),
    "bullets in a line": lambda said: " • ".join(["", *said]).strip(),
    "bold": lambda said: "\n\n".join(f"**{one}**" for one in said),
    "windows": lambda said: "\r\n".join(f"* {one}" for one in said),
}
for labels in (
    ["- "], ["* "], ["• "], ["➤ "], ["✅ "], ["=> "], ["– "], ["- [ ] "], ["I. ", "II. ", "III. ", "IV. "],
    ["A. ", "B. ", "C. ", "D. "], ["① ", "② ", "③ ", "④ "],
    *([form.format(n) for n in range(1, 5)] for form in (
        "{}. ", "{}) ", "({}) ", "{}: ", "{} - ", "#{} ", "{}\ufe0f\u20e3 ", "Fact {}: ", "**{}.** ", "No. {}: ",
    )),
):  # fmt: skip
    FORMS[repr(labels)] = lambda said, labels=labels: "\n".join(
        f"{labels[n % len(labels)]}{one}" for n, one in enumerate(said)
    )
LEADS = [
    "", "# Findings\n\n", "**Findings**\n\n", "Findings\n========\n\n", "Here is what was found:\n\n",
    "Key findings:\n", "*Findings*\n", "== Findings ==\n", "Certainly! Below are the main findings.\n\n",
    "##Findings\n",
]  # fmt: skip
ENDS = ["", "\n\nI hope this helps!", "\n\nWord count: 52", "\n\n---\n\nLet me know if you need more.", "<|im_end|>"]


@given(
    marked=st.sampled_from(MARKED),
    form=st.sampled_from(sorted(FORMS)),
    lead=st.sampled_from(LEADS),
    end=st.sampled_from(ENDS),
    sources=st.sampled_from(SOURCES),
    thought=st.sampled_from(["", "<think>\nThe bridge [4].\n</think>\n", "I look at [4].\n</think>\n\n"]),
)
def test_the_same_words_are_the_same_statements_in_any_form(  # noqa: PLR0917 # parts of a layout
    marked: Callable[[str, Sequence[int]], str], form: str, lead: str, end: str, sources: str, thought: str
) -> None:
    text = FORMS[form]([marked(said, cited) for said, cited in SAID])

    assert statements(f"{thought}{lead}{text}{end}{sources}") == READ


@given(
    marked=st.sampled_from(MARKED),
    lead=st.sampled_from(LEADS),
    between=st.sampled_from(["\n", "\n\n"]),
    width=st.integers(30, 90),
    sources=st.sampled_from(SOURCES),
)
def test_items_that_are_wrapped_are_one_each(
    marked: Callable[[str, Sequence[int]], str], lead: str, between: str, width: int, sources: str
) -> None:
    written = [marked(said, cited) for said, cited in SAID]
    text = between.join("\n  ".join(textwrap.wrap(f"- {one}", width)) for one in written)

    assert statements(f"{lead}{text}{sources}") == READ


@given(width=st.integers(25, 100), marked=st.sampled_from([_before, _behind]))
def test_a_paragraph_that_is_wrapped_is_one(width: int, marked: Callable[[str, Sequence[int]], str]) -> None:
    text = textwrap.fill(" ".join(marked(said, cited) for said, cited in SAID), width, break_long_words=False)

    assert statements(text) == READ


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("[1] One is so. [2] Two is so.", [("One is so. [1]", [1]), ("Two is so. [2]", [2])]),
        ("One is so.\n[1]\n\nTwo is so.\n\n[2]", [("One is so. [1]", [1]), ("Two is so. [2]", [2])]),
        ("- One is so [1]. Two is so [2].\n- Three is so. Four is so [3].",
         [("One is so. [1]", [1]), ("Two is so. [2]", [2]), ("Three is so. Four is so. [3]", [3])]),
        ("- **Costs:** it is 3.4 million [1].\n- Shops:\n  1. one [2]\n  2. two [3]",
         [("Costs: it is 3.4 million. [1]", [1]), ("one. [2]", [2]), ("two. [3]", [3])]),
        ("| Town | People | Source |\n|---|---|---|\n| Alder | 410 | [1] |\n| Birch | 92 | [2, 3] |",
         [("Town: Alder; People: 410. [1]", [1]), ("Town: Birch; People: 92. [2, 3]", [2, 3])]),
        ("## Head [9]\n\nOne is so. [1]\n\n```\nx = [8]\n```\n***\nTwo is so [2].",
         [("One is so. [1]", [1]), ("Two is so. [2]", [2])]),
        ("It was so (see [1]) in 2019 ([2], [3]). Source: [4]", [("It was so in 2019. [1, 2, 3, 4]", [1, 2, 3, 4])]),
        ("It is *so* and `so` [siehe oben]. In [2019] it [sic] was.",
         [("It is so and so.", []), ("In (2019) it [sic] was.", [])]),
        ("One line [1]\nAnother line [2]", [("One line. [1]", [1]), ("Another line. [2]", [2])]),
        ("So it is. [1]\n\nSources: [1] Document 4, [2] Document 5", [("So it is. [4]", [4])]),
        ("So it is. [1]\n\n[1]: https://a.org/x", [("So it is. [1]", [1])]),
        ("So it is [2147483648].", [("So it is. [2147483647]", [2147483647])]),
        ("```markdown\n- One is so [1].\n```", [("One is so. [1]", [1])]),
        ("", []),
        ("[1][2]\n\n---\n", []),
        ("* It comes in\n  June [1]\n* It is so [2]", [("It comes in June. [1]", [1]), ("It is so. [2]", [2])]),
        ("- Costs\n  - It is dear [1]", [("It is dear. [1]", [1])]),
        ("**Point 1.** It is so [1].", [("It is so. [1]", [1])]),
        ("It is so [1]. According to [2], it is dear. It rains, as reported in [3].",
         [("It is so. [1]", [1]), ("It is dear. [2]", [2]), ("It rains. [3]", [3])]),
        ("It is so<sup>[2]</sup>. It was<sup>[1][3]</sup>, on 5 km<sup>2</sup>.",
         [("It is so. [2]", [2]), ("It was, on 5 km2. [1, 3]", [1, 3])]),
        ("It is so [2]–[4]. It was [7] - [9]. It fell [3]-[2].",
         [("It is so. [2, 3, 4]", [2, 3, 4]), ("It was. [7, 8, 9]", [7, 8, 9]), ("It fell. [2, 3]", [2, 3])]),
        ("According to document 3, it is so. As stated in Sources 1 and 2, it was. Laut Quelle 4 regnet es.",
         [("It is so. [3]", [3]), ("It was. [1, 2]", [1, 2]), ("Regnet es. [4]", [4])]),
        ("According to document 3 of the annex, it is so.", [("According to document 3 of the annex, it is so.", [])]),
        ("Am 3. Mai stand die Brücke [1]. Der 1. Preis ging an Bonn [2].",
         [("Am 3. Mai stand die Brücke. [1]", [1]), ("Der 1. Preis ging an Bonn. [2]", [2])]),
        ("I am 3. It is so [1].", [("I am 3.", []), ("It is so. [1]", [1])]),
        ("I. Newton fell asleep [1].\nV. Hugo wrote [2].",
         [("I. Newton fell asleep. [1]", [1]), ("V. Hugo wrote. [2]", [2])]),
        ("Yes\n\nThe bridge was rebuilt [1].", [("Yes.", []), ("The bridge was rebuilt. [1]", [1])]),
        ("Costs rose\n- by a third [1]", [("by a third. [1]", [1])]),
        ("[1] One is so [1, 2]\n[2] Two is so [3]", [("One is so. [1, 2]", [1, 2]), ("Two is so. [3]", [3])]),
        ('{"summary": [{"text": "One is so.", "citations": [1, 2]}, {"text": "Two is so.", "citations": [3]}]}',
         [("One is so. [1, 2]", [1, 2]), ("Two is so. [3]", [3])]),
        ("| Finding | Sources |\n|---|---|\n| One is so now | 1, 2 |\n| Two is so now | Document 3 |",
         [("One is so now. [1, 2]", [1, 2]), ("Two is so now. [3]", [3])]),
        ("| One is so now [1] |\n|---|\n| Two is so now [2] |",
         [("One is so now. [1]", [1]), ("Two is so now. [2]", [2])]),
        ("| Town | Finding |\n|---|---|\n| Alder | The mill was closed in May [1] |",
         [("Alder: The mill was closed in May. [1]", [1])]),
        ("Document 3: The mill closed.\nDocuments 1 and 2 report that it was sold.",
         [("The mill closed. [3]", [3]), ("Documents 1 and 2 report that it was sold. [1, 2]", [1, 2])]),
        ("It is so.\nSources: 1, 2\n\nIt was.\nSource: Document 3",
         [("It is so. [1, 2]", [1, 2]), ("It was. [3]", [3])]),
        ("The source: a river that rises in the hills near the town.",
         [("The source: a river that rises in the hills near the town.", [])]),
        ("These are the findings of the commission. Of course, it rained. If you need a permit, ask the council.",
         [("These are the findings of the commission.", []), ("Of course, it rained.", []),
          ("If you need a permit, ask the council.", [])]),
        ("If a < b and c > d, it is so [1].", [("If a < b and c > d, it is so. [1]", [1])]),
        ("Apollo 11: it flew [1].\nWorld War 2: it ended [2].",
         [("Apollo 11: it flew. [1]", [1]), ("World War 2: it ended. [2]", [2])]),
    ],
)  # fmt: skip
def test_what_is_a_statement_and_what_it_cites(text: str, read: list[tuple[str, list[int]]]) -> None:
    assert statements(text) == [Bullet(*one) for one in read]


@given(
    st.sampled_from(("Point", "Insight", "key finding", "Observation", "Punkt")),
    st.sampled_from(("{0} {1}: ", "**{0} {1}:** ", "**{0} {1}**: ", "- {0} #{1}: ", "{0} {1}) ", "{1}. *{0} {1}.* ")),
    st.sampled_from(("\n", "\n\n")),
)
def test_a_label_that_counts_statements_is_no_part_of_them(noun: str, label: str, between: str) -> None:
    said = [("The mill closed in May.", 1), ("Fares fell by a third.", 3)]
    text = between.join(f"{label.format(noun, n)}{words} [{cited}]" for n, (words, cited) in enumerate(said, start=1))
    assert [(one.text, one.citations) for one in statements(text)] == [(f"{words} [{c}]", [c]) for words, c in said]


@pytest.mark.parametrize(
    ("text", "answer", "thought"),
    [
        ("<think>a</think>b", "b", "<think>a</think>"),
        ("a\n</think>\nb", "b", "a\n</think>"),
        ("b\n<think>\na", "b", "<think>\na"),
        ("<thinking>a</thinking>\nb <think>c</think>\nd", "b \nd", "<thinking>a</thinking>\n<think>c</think>"),
        ("<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b", "b",
         "<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>"),
        ("It says <think> in a sentence.", "It says <think> in a sentence.", ""),
    ],
)  # fmt: skip
def test_thinking_is_set_aside_and_kept(text: str, answer: str, thought: str) -> None:
    assert set_aside(text) == (answer, thought)


@given(st.text(alphabet="ab. A!?\n-*#|>`[]()1,2:<>¹【】\\_= \t\r", max_size=120) | st.text(max_size=80))
def test_any_text_is_read_and_its_statements_are_read_again_as_they_are(text: str) -> None:
    read = statements(text)
    again = statements(lined(text, "statements"))

    assert all(any(character.isalnum() for character in one.text) and "\n" not in one.text for one in read)
    assert [one.citations for one in again] == [one.citations for one in read]


@given(depth=st.integers(1, 5_000), opened=st.sampled_from(["[", '{"a":']))
def test_json_is_read_however_deep_it_is(depth: int, opened: str) -> None:
    closed = "]" if opened == "[" else "}"
    text = f'{opened * depth}"It was so."{closed * depth}'

    assert [one.citations for one in statements(text)] in ([[]], [])


@pytest.mark.parametrize(
    "piece",
    [
        "> ",
        "- ",
        "Sources:\n",
        "|",
        "| a | b |\n|---|\n",
        "a [1] ",
        "\n[1]: ",
        "<think>",
        "1. ",
        "<li>",
        "am 3. M ",
        "[1]-",
        "Point 1: ",
        "laut Quelle 1 ",
        "<sup>[",
        "<table><tr><td>",
        "<th>",
        "<!--",
        "```\n",
        "1. a 2. b ",
        "[1] a [1]\n",
        "Source: a, ",
        "• a ",
        "short one. ",
        "Document 1, ",
        "{[",
        "https://a.b ",
        "\\item ",
    ],
)
def test_hostile_texts_are_read_in_time(piece: str) -> None:
    """A time that grows as the square of the length would be hours, which no test is given."""
    statements(piece * 10_000)


SENTENCES = {
    "th": (["สภาเมืองลงมติให้สร้างสะพานใหม่", "การสร้างสะพานใหม่จะใช้เงิน 3.4 ล้านยูโร", "ห้องสมุดเปิดวันอาทิตย์"], ""),
    "lo": (["ສະພາໄດ້ລົງມະຕິສ້າງຂົວໃໝ່", "ຫໍສະໝຸດເປີດວັນອາທິດ"], ""),
    "km": (["ក្រុមប្រឹក្សាបានបោះឆ្នោត", "តម្លៃ ៣,៤ លានអឺរ៉ូ"], "។"),
    "my": (["ကောင်စီသည် မဲပေးခဲ့သည်", "ကုန်ကျစရိတ် ၃.၄ သန်း"], "။"),
    "hy": (["Խորհուրդը քվեարկեց մայիսի 3-ին", "Ծախսը 3,4 մլն եվրո է"], "։"),
    "am": (["ምክር ቤቱ ድልድዩን ለመገንባት ወሰነ", "ወጪው 3.4 ሚሊዮን ዩሮ ነው"], "።"),
    "ur": (["کونسل نے پل کے حق میں ووٹ دیا", "لاگت 3.4 ملین یورو ہوگی"], "۔"),
    "de": (["Die Bürgermeisterin sagte: „Wir bauen.“", "Das 1. Quartal brachte der Stadt rd. 5 Euro"], "."),
    "pt": (["O Sr. Silva e a Dra. Costa disseram “sim”", "A av. Brasil n.º 5 fica fechada"], "."),
}


@pytest.mark.parametrize(
    "layout", ["- {words} [{number}]{stop}", "{words}{stop} [{number}]", "{words} [{number}]{stop}"]
)
@pytest.mark.parametrize("code", SENTENCES)
def test_a_paragraph_of_any_script_has_the_statements_of_its_list(code: str, layout: str) -> None:
    found, stop = SENTENCES[code]
    said = [layout.format(words=words, number=place, stop=stop) for place, words in enumerate(found, 1)]
    text = ("\n" if layout.startswith("-") else " ").join(said)
    assert [one.citations for one in statements(text)] == [[place] for place in range(1, len(found) + 1)]
