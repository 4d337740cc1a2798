import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.judges.perturbations import NEGATIONS, PERTURBATIONS, dropped, perturb
from longform.text.citations import cited_numbers

BULLETS = [
    "- The company reported a loss of $2.33 billion in 2026. [3][14]",
    "2. Sales were 4.2% lower in Q4, said five analysts [7]",
    "Members earn points.",
    "",
]
FOREIGN = ["- Penguins breed on the ice. [9]"]


def changed(name: str, seed: int = 1) -> list[str]:
    return perturb(name, BULLETS, seed=seed, foreign=FOREIGN, query="What of the sales?")


@pytest.mark.parametrize("name", [p for p in PERTURBATIONS if p != "echo"])
def test_citations_stay_with_their_bullets(name: str) -> None:
    def cited(lines: list[str]) -> list[int]:
        return sorted(number for line in lines for number in cited_numbers(line))

    assert cited(changed(name)) == cited(BULLETS)


@pytest.mark.parametrize("name", PERTURBATIONS)
@given(seed=st.integers(0, 50))
def test_same_seed_gives_the_same_bullets(name: str, seed: int) -> None:
    assert changed(name, seed) == changed(name, seed)


@pytest.mark.parametrize("name", ["negate", "number", "shuffle", "delete"])
def test_change_of_a_bullet_does_not_depend_on_its_company(name: str) -> None:
    assert perturb(name, BULLETS[1:2], seed=1) == changed(name)[1:2]


@pytest.mark.parametrize(
    ("form", "denial"),
    [
        ("not", "The firm did not report a loss."),
        ("contracted", "The firm didn't report a loss."),
        ("never", "The firm did never report a loss."),
        ("no_longer", "The firm did no longer report a loss."),
        ("denied", "Those concerned denied that the firm reported a loss."),
        ("untrue", "It is untrue that the firm reported a loss."),
        ("myth", "It is a myth that the firm reported a loss."),
    ],
)
def test_negation_has_several_forms(form: str, denial: str) -> None:
    assert NEGATIONS[form]("The firm reported a loss.") == denial


@pytest.mark.parametrize(
    ("statement", "denial"),
    [
        ("Margins are expected to rise.", "Margins are not expected to rise."),
        ("The plan includes a new store.", "The plan does not include a new store."),
        ("Last year sales rose to a peak.", "Last year sales did not rise to a peak."),
        ("The board planned to vote.", "The board did not plan to vote."),
        ("The bank carries the loss.", "The bank does not carry the loss."),
        ("No verb here", None),
    ],
)
def test_the_first_finite_verb_is_negated(statement: str, denial: str | None) -> None:
    assert NEGATIONS["not"](statement) == denial


def test_seeds_choose_among_the_forms() -> None:
    assert len({changed("negate", seed)[0] for seed in range(40)}) == len(NEGATIONS)


@given(st.integers(0, 200))
def test_every_number_changes_and_names_do_not(seed: int) -> None:
    first, second, *_ = changed("number", seed)
    assert "2.33" not in first
    assert "2026" not in first
    assert re.search(r"\$\d\.33 billion in 202\d", first)
    assert "Q4" in second
    assert "five" not in second
    assert "4.2%" not in second


def test_shuffle_keeps_the_words_and_loses_their_order() -> None:
    shuffled = changed("shuffle")[0]
    assert shuffled != BULLETS[0]
    assert sorted(shuffled.split()) == sorted(BULLETS[0].split())


def test_delete_takes_30_percent_of_the_words_in_order() -> None:
    text = " ".join(map(str, range(100)))
    left = perturb("delete", [text], seed=3)[0].split()
    assert len(left) == 70
    assert [int(word) for word in left] == sorted(map(int, left))


def test_merge_makes_one_bullet_and_pad_doubles_each() -> None:
    assert len(changed("merge")) == 1
    assert all("Penguins breed on the ice." in bullet for bullet in changed("pad"))
    assert perturb("merge", [], seed=1) == perturb("prose", [], seed=1) == []


def test_prose_is_read_as_the_statements_that_stood_in_bullets() -> None:
    bullets = ["- The dam shut in May. [3][14]", "2. Sales were 4.2% lower in Q4, said five analysts [7]", "It rained."]
    assert perturb("prose", bullets, seed=1) == [
        "The dam shut in May. [3, 14]",
        "Sales were 4.2% lower in Q4, said five analysts. [7]",
        "It rained.",
    ]


def test_echo_says_the_query_in_place_of_every_bullet() -> None:
    assert changed("echo") == ["- What of the sales?"] * len(BULLETS)


@pytest.mark.parametrize(("name", "given_"), [("pad", {}), ("echo", {}), ("invert", {"foreign": FOREIGN})])
def test_unknown_name_or_missing_material_is_an_error(name: str, given_: dict) -> None:
    with pytest.raises(ValueError, match=f"'{name}'"):
        perturb(name, BULLETS, seed=1, **given_)


def test_a_drop_is_a_mean_over_pairs_whose_interval_draws_summaries() -> None:
    covered = [("a", 0.9, 0.1), ("b", 0.7, 0.3)]
    means = dropped([*covered, ("b", 0.2, 0.2)], seed=1, resamples=100)
    assert means["drop"].value == pytest.approx((0.8 + 0.4 + 0) / 3)
    assert np.isclose(means["before"].value - means["after"].value, means["drop"].value)
    assert dropped(covered, seed=1, resamples=100)["drop"].value == pytest.approx((0.8 + 0.4) / 2)
    assert dropped(covered, seed=1, resamples=100)["drop"].low == pytest.approx(0.4)
