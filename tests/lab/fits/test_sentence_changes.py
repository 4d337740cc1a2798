from __future__ import annotations

import numpy as np
import pytest

from lab.fits.sentence_changes import (
    ALTERING,
    Stock,
    denied,
    merged,
    other_date,
    other_entity,
    other_numbers,
    roles_swapped,
    shortened,
    wrongly_merged,
)

NOBODY = Stock.of([])
OTHERS = Stock.of(["On Monday the mayor of Lyon met Acme Corp in the morning.", "The trial of insulin ended early."])


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_one_number_changes_and_years_are_no_numbers() -> None:
    sentence = "In 2019 the bank cut 40 jobs and 7 branches."
    found = {other_numbers(sentence, rng(seed), NOBODY) for seed in range(30)}
    assert sentence not in found
    for changed in found:
        assert changed is not None
        words = changed.split()
        assert words[:2] == ["In", "2019"]
        assert (words[5] == "40") != (words[8] == "7"), changed
    assert other_numbers("It was in 1998.", rng(), NOBODY) is None


def test_dates_stay_dates() -> None:
    found = {other_date("They met in May 2003.", rng(seed), NOBODY) for seed in range(40)}
    months = {changed.split()[3] for changed in found if changed and changed.endswith("2003.")}
    years = {int(changed[-5:-1]) for changed in found if changed and "May" in changed}
    assert months
    assert "May" not in months
    assert years <= set(range(1994, 2013)) - {2003}
    assert len(years) > 3
    assert other_date("They met in spring.", rng(), NOBODY) is None


def test_a_name_is_replaced_by_a_name_of_the_stock() -> None:
    assert list(OTHERS.names) == ["Lyon", "Acme Corp"]
    found = {other_entity("Then the mayor of Oslo resigned.", rng(seed), OTHERS) for seed in range(10)}
    assert found == {"Then the mayor of Lyon resigned.", "Then the mayor of Acme Corp resigned."}


def test_without_names_a_term_is_replaced_by_one_of_its_ending() -> None:
    assert other_entity("the dose of aspirin", rng(), Stock.of(["some dolphin"])) is None
    assert other_entity("It needs penicillin daily.", rng(), OTHERS) == "It needs insulin daily."


def test_roles_are_swapped_but_not_those_of_a_list() -> None:
    assert roles_swapped("The bank sued the broker.", rng(), NOBODY) == "The broker sued the bank."
    assert roles_swapped("We met the bank and the broker.", rng(), NOBODY) is None
    assert roles_swapped("It rained.", rng(), NOBODY) is None


def test_denials_go_in_and_out() -> None:
    found = {denied("The drug is not effective.", rng(seed), NOBODY) for seed in range(30)}
    assert {"The drug is effective.", "The drug is not ineffective."} <= found
    assert all(changed != "The drug is not effective." for changed in found)


@pytest.mark.parametrize("kind", sorted(ALTERING))
def test_every_change_alters_or_says_that_it_cannot(kind: str) -> None:
    sentences = [
        "In March 2021 the court in Rome fined the company 12 million for the delay.",
        "Patients of the clinic with higher scores improved after treatment.",
        "Yes.",
    ]
    for sentence in sentences:
        for seed in range(20):
            changed = ALTERING[kind](sentence, rng(seed), OTHERS)
            assert changed is None or changed.lower() != sentence.lower()
            assert changed == ALTERING[kind](sentence, rng(seed), OTHERS)


def test_shortening_takes_asides_and_openings_only() -> None:
    sentence = "In the end, the firm (founded in 1990) moved to Berlin, hiring forty people there."
    found = {shortened(sentence, rng(seed)) for seed in range(30)}
    assert found == {
        "The firm (founded in 1990) moved to Berlin, hiring forty people there.",
        "In the end, the firm moved to Berlin, hiring forty people there.",
        "In the end, the firm (founded in 1990) moved to Berlin.",
    }
    assert shortened("The firm moved to Berlin.", rng()) is None


def test_a_merge_says_both_and_a_wrong_one_says_neither() -> None:
    first, second = "The bank was fined.", "The broker has left the city."
    assert merged(first, second, rng()) in {
        f"The bank was fined{joint}the broker has left the city." for joint in (", and ", "; ", ", while ")
    }
    assert wrongly_merged(first, second) == "The bank has left the city."
    assert wrongly_merged("It rained.", second) is None
    assert wrongly_merged("The broker was fined.", second) is None
