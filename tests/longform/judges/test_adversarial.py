"""Perturbed copies of labelled summaries, and what cards say of a judge that was asked about them."""

from __future__ import annotations

import pytest

from longform.judges.adversarial import (
    ADVERSARIAL,
    PRECISION,
    LabelledLines,
    Others,
    Perturbed,
    ScoredPair,
    adversarial,
    perturbed_summaries,
    row_words,
)
from longform.judges.card_columns import AdversarialRow

DAM = "The dam was closed in May."
LINES = ("- The dam shut in May [1].", "- 40 farmers met [2][3].")
SUMMARY = LabelledLines(
    summary_id="s",
    lines=LINES,
    query="What happened?",
    insights={"dam": DAM, "farmers": "40 farmers met.", "rain": "It rained."},
    covered={"dam": 0, "farmers": 1},
    n_documents=4,
)
OTHERS = Others(foreign=["- A ferry sank [9]."], saying={"dam": [LINES[0], "- In May they shut the dam [4]."]})


def copy(name: str, summary: LabelledLines = SUMMARY, others: Others = OTHERS) -> Perturbed | None:
    return perturbed_summaries([summary], lambda _one: others, [name]).get((name, "s"))


@pytest.mark.parametrize(
    ("name", "lines", "targets"),
    [
        ("copy", (*LINES, f"- {DAM}", "- 40 farmers met.", "- It rained."), ("dam", "farmers", "rain")),
        ("paraphrase", ("- In May they shut the dam [4].", LINES[1]), ("dam",)),
        (
            "cite all",
            ("- The dam shut in May. [1, 2, 3, 4]", "- 40 farmers met. [1, 2, 3, 4]"),
            ("dam", "farmers", "rain"),
        ),
        ("echo", ("- What happened?", "- What happened?"), ("dam", "farmers", "rain")),
        ("merge", ("- The dam shut in May [1]. 40 farmers met [2][3].",), ("dam", "farmers")),
        ("prose", ("The dam shut in May. [1]", "40 farmers met. [2, 3]"), ("dam", "farmers")),
        (
            "pad",
            ("- The dam shut in May A ferry sank [1].", "- 40 farmers met A ferry sank [2][3]."),
            ("dam", "farmers"),
        ),
    ],
)
def test_a_copy_is_changed_as_its_name_says(name: str, lines: tuple[str, ...], targets: tuple[str, ...]) -> None:
    assert copy(name) == Perturbed(lines, targets)


def test_only_insights_with_a_number_tell_of_changed_numbers() -> None:
    made = copy("number")

    assert made is not None
    assert made.targets == ("farmers",)
    assert "40" not in made.lines[1]
    assert made.lines[0] == LINES[0]


@pytest.mark.parametrize(
    ("name", "summary", "others"),
    [
        ("paraphrase", SUMMARY, Others([], {"dam": [LINES[0]]})),  # its own bullet is no paraphrase
        ("paraphrase", SUMMARY._replace(covered={"dam": None}), OTHERS),
        ("paraphrase", SUMMARY._replace(covered={"dam": 7}), OTHERS),
        ("pad", SUMMARY, Others([], {})),
        ("negate", SUMMARY._replace(covered={}), OTHERS),
        ("echo", SUMMARY._replace(query=""), OTHERS),
        ("number", SUMMARY._replace(covered={"dam": 0}), OTHERS),
    ],
)
def test_a_summary_that_cannot_be_changed_so_has_no_copy(name: str, summary: LabelledLines, others: Others) -> None:
    assert copy(name, summary, others) is None


def test_two_insights_of_one_bullet_are_not_both_paraphrased() -> None:
    """The other system's bullet says the first; of the second nothing is known."""
    both = SUMMARY._replace(covered={"dam": 0, "rain": 0})
    made = copy("paraphrase", both, Others([], {"dam": ["- Shut [4]."], "rain": ["- Wet [4]."]}))

    assert made == Perturbed(("- Shut [4].", LINES[1]), ("dam",))


def rows(after: dict[str, ScoredPair]) -> dict[tuple[str, str], AdversarialRow]:
    """The section of a judge that scores three summaries alike: 0.9 before, *after* by perturbation."""
    copies = {(name, one): Perturbed(LINES, ("dam",)) for name in after for one in "abc"}

    def scored(name: str | None, _summary: str, _target: str) -> ScoredPair:
        return ScoredPair(0.9, 1.0) if name is None else after[name]

    found = adversarial(copies, scored, seed=1, resamples=50)
    return {(row["perturbation"], row["measure"]): row for row in found["rows"]}


def test_a_row_has_the_means_before_and_after_with_what_should_be() -> None:
    found = rows({"negate": ScoredPair(0.5), "cite all": ScoredPair(0.9, 0.25), "merge": ScoredPair(None)})

    negated = found["negate", "score"]
    assert (negated["before"]["value"], negated["after"]["value"]) == (pytest.approx(0.9), 0.5)
    assert negated["drop"]["value"] == pytest.approx(0.4)
    assert (negated["should"], negated["n_summaries"], negated["drop"]["n"]) == ("nothing", 3, 3)
    assert found["cite all", PRECISION]["drop"]["value"] == pytest.approx(0.75)
    assert (found["merge", "score"]["before"]["value"], found["merge", "score"]["n_unjudged"]) == (None, 3)


@pytest.mark.parametrize(
    ("name", "after", "words"),
    [
        ("negate", 0.5, "loses 0.40 [0.40, 0.40] of 0.90 when negated; should lose all (n 3, 3 summaries)"),
        ("merge", 0.9, "keeps its 0.90 when all bullets are merged into one, which is not split; should keep it"),
        ("merge", 1.0, "gains 0.10 [0.10, 0.10] of 0.90"),
        (
            "copy",
            0.9,
            "counts 0.90 [0.90, 0.90] when copied from the reference into a bullet of its own; should count 1",
        ),
        ("merge", None, "unknown: no insight was judged on both sides (3 unjudged)"),
    ],
)
def test_a_row_is_told_in_one_sentence(name: str, after: float | None, words: str) -> None:
    assert words in row_words(rows({name: ScoredPair(after)})[name, "score"])


def test_what_could_not_be_measured_is_named() -> None:
    copies = {("cite all", "a"): Perturbed(LINES, ("dam",))}
    found = adversarial(copies, lambda *_place: ScoredPair(0.5), seed=1, resamples=50)

    assert found["missing"][PRECISION] == "the documents that state the insights are not known"
    assert found["missing"]["number"] == "no fully covered insight states a number"
    assert len(found["missing"]) == len(ADVERSARIAL)
