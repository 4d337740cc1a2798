"""Examples of bullets whose citations were repaired: what each cites rightly, wrongly and not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from longform.report.parts import Section
from longform.results.repaired_examples import Example, examples_in
from longform.results.results import Results

Side = Literal["before", "after"]
SIDES: dict[Side, str] = {"before": "As written", "after": "Supporting documents found"}
DocumentOf = Callable[[Example, Side, str], str | None]
"""Finds the address of a document of an example, by its number; None: it has none."""


def repair_sections(results: Results) -> Iterator[Section]:
    """One section if citations of bullets were repaired that cover an insight, else none."""
    if examples := examples_in(results.get("tables") or {}):
        told = (
            "Some bullets that became better, worse, and stayed, drawn by a hash; a document is right where it is one "
            "of those that state the insight."
        )
        yield Section("repair", "Bullets before and after repair", [told], [], examples=examples, page="citations")


def example_head(example: Example) -> str:
    """Say in a line what an example shows."""
    before, after = (f"{100 * share:.0f}" for share in (example["f1_before"], example["f1_after"]))
    return f"{example['kind']}: citation score {before} to {after} · {example['summarizer']}, {example['setting']}"


def chips(example: Example, side: Side) -> list[tuple[str, str, Sequence[str]]]:
    """Return the documents cited rightly, wrongly, and not though they state the insight: kind, words and numbers."""
    cited, gold = example[side], example["gold"]
    numbers = {
        "right": [number for number in cited if number in gold],
        "wrong": [number for number in cited if number not in gold],
        "missing": [number for number in gold if number not in cited],
    }
    return [
        (kind, f"{mark} {len(found)} {one if len(found) == 1 else several}:", found)
        for (kind, (mark, one, several)), found in zip(_CHIPS.items(), numbers.values(), strict=True)
        if found
    ]


_CHIPS = {
    "right": ("✓", "right citation", "right citations"),
    "wrong": ("✗", "wrong citation", "wrong citations"),
    "missing": ("○", "document not cited that states it", "documents not cited that state it"),
}


def evidence_line(example: Example) -> str:
    """Name the document of the quoted sentences, or say why there are none."""
    number = example["evidence_document"]
    if number is None:
        return "No document supports this bullet, so it cites none."
    right = "states the insight" if str(number) in example["gold"] else "not among those that state the insight"
    return f"Document {number} ({right}) supports it best:"


def markdown_examples(section: Section) -> list[tuple[str, list[str]]]:
    """Each example's head and its lines, not yet escaped."""
    return [(example_head(example), [*_lines(example)]) for example in section.examples]


def _lines(example: Example) -> Iterator[str]:
    yield f"Bullet: {example['bullet']}"
    yield f"Insight: {example['insight']}"
    for side, name in SIDES.items():
        cited = (f"{words} {', '.join(numbers)}" for _, words, numbers in chips(example, side))
        yield f"{name}: {'; '.join(cited)}"
    yield f"{evidence_line(example)} {example['evidence'] or ''}".rstrip()
