"""The same words have the same scores, whatever the form of the answer and the style of its citations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

import longform

DOCUMENTS = [
    "The council met on 4 March. It voted 7 to 2 to rebuild the old stone bridge on Alder Street. The mayor was away.",
    "Rebuilding the bridge will cost 3.4 million euros, the treasurer wrote. The region pays half of the costs.",
    "The shops of Alder Street ask for a footbridge while the works last. Their association counts 41 members.",
    "The library opens on Sundays from May. Volunteers read to children in the afternoon.",
    "Divers found cracks in two of the four pillars. The bridge has been closed to lorries since January.",
]
SAID: list[tuple[str, list[int]]] = [
    ("The council voted 7 to 2 to rebuild the bridge on Alder Street.", [1]),
    ("Rebuilding the bridge will cost 3.4 million euros.", [2]),
    ("The region pays half of the costs.", [2, 1]),
    ("The shops ask for a footbridge while the works last.", [3]),
    ("Divers found cracks in two of the four pillars.", [5]),
    ("The library opens on Sundays from May.", [4]),
    ("A hotel has bought the bridge.", [1]),
    ("The bridge has been closed to lorries since January.", [3, 5]),
]
INSIGHTS = [longform.Insight(said, cited[:1]) for said, cited in SAID[:6]] + [
    longform.Insight("The mayor resigned.", [1])
]
ANSWERS = [
    [SAID[(start + step * place) % len(SAID)] for place in range(3 + start % 4)]
    for start in range(5)
    for step in (1, 3)
]
"""Ten answers of three to six statements."""


def marked(said: str, cited: Sequence[int]) -> str:
    return f"{said.removesuffix('.')} [{', '.join(map(str, cited))}]."


def _lines(answer: Sequence[str]) -> str:
    return "\n".join(answer)


def _prose(answer: Sequence[str]) -> str:
    return " ".join(answer)


def _items(answer: Sequence[str]) -> str:
    return "\n\n".join(f"{place}. {one}" for place, one in enumerate(answer, start=1))


def _table(answer: Sequence[str]) -> str:
    return "\n".join(["| Finding |", "| --- |", *(f"| {one} |" for one in answer)])


def _sourced(answer: Sequence[str]) -> str:
    listed = "\n".join(f"[{number}] Document {number}" for number in range(1, 6))
    return f"## Summary\n\n{' '.join(answer)}\n\n**Sources**\n{listed}"


FORMS: dict[str, Callable[[Sequence[str]], str]] = {
    "lines": _lines, "prose": _prose, "items": _items, "table": _table, "prose with sources": _sourced,
}  # fmt: skip


def scores(text: str) -> tuple[float, float]:
    """Return the joint score and the mean support of a text, in points."""
    found = longform.judge(text, INSIGHTS)
    checked = longform.check([one.text for one in found.bullets], DOCUMENTS)
    return 100 * (found.joint or 0.0), 100 * checked.value


@pytest.mark.parametrize("answer", ANSWERS)
def test_ten_answers_in_five_forms_agree(answer: list[tuple[str, list[int]]]) -> None:
    written = [marked(*one) for one in answer]
    joint, support = zip(*(scores(form(written)) for form in FORMS.values()), strict=True)

    assert max(joint) - min(joint) <= 3
    assert max(support) - min(support) <= 3
    assert max(joint) > 10


STYLES: list[Callable[[int], str]] = [
    lambda n: f" [{n}]", lambda n: f"[^{n}]", lambda n: f"【{n}†source】", lambda n: f"［{n}］",
    lambda n: f" [doc {n}]", lambda n: f" [Document {n}]", lambda n: f" (Source {n})", lambda n: f" [cite: {n}]",
    lambda n: f"[citation:{n}]",
    lambda n: f" {'⁰¹²³⁴⁵'[n]}", lambda n: f"<sup>{n}</sup>", lambda n: f" [[{n}]](https://a.org/{n})",
    lambda n: f" \\[{n}\\]", lambda n: f" [#{n}]", lambda n: f" [{n}-{n}]", lambda n: f" [Quelle {n}]",
    lambda n: f" [{n}, p. 7]",
    lambda n: f" ([{n}])", lambda n: f" (see [{n}])", lambda n: f" **[{n}]**", lambda n: f" [{'٠١٢٣٤٥'[n]}]",
    lambda n: f"<cite>{n}</cite>",
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(STYLES)))
def test_styles_of_citations_have_one_score(place: int) -> None:
    written = "\n".join(f"- {said.removesuffix('.')}{''.join(map(STYLES[place], cited))}." for said, cited in SAID)
    plain = longform.judge("\n".join(f"- {said} {cited}" for said, cited in SAID), INSIGHTS)
    found = longform.judge(written, INSIGHTS)

    assert [one.citations for one in found.bullets] == [sorted(cited) for _, cited in SAID]
    assert found.bullets == plain.bullets
    assert found.scores == plain.scores


def test_a_mark_that_is_not_understood_is_named_and_taken_out() -> None:
    found = longform.judge("It rained on the bridge [siehe oben]. The shops are shut [2].", ["It rained."])

    assert found.not_understood == ("[siehe oben]",)
    assert [one.text for one in found.bullets] == ["It rained on the bridge.", "The shops are shut. [2]"]
