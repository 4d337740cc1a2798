"""Every kind, as far as all kinds are alike."""

from __future__ import annotations

import pytest

from longform.judges.kind import Group, Kind, Verdict
from longform.judges.kinds import KINDS
from longform.judges.matrix import JudgedText, TargetText, groups_of, rows_of
from longform.measures import default_names, named
from longform.metrics.measure import Measure
from longform.prompts import load_prompt
from longform.schemas import VERDICTS, conform

EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.task)


@EVERY
def test_its_prompt_shows_its_fields_and_offers_its_answers(kind: Kind) -> None:
    prompt = load_prompt(kind.prompt)

    assert prompt.fields == kind.prompt_fields
    told_apart = kind.counts.keys() - set(kind.as_one.values())
    assert len(prompt.answers) == len(kind.labels or told_apart)


@EVERY
def test_its_answers_count_from_0_to_1(kind: Kind) -> None:
    assert (min(kind.counts.values()), max(kind.counts.values())) == (0.0, 1.0)
    assert {kind.number(answer, None) for answer in kind.counts} == set(kind.counts.values())
    assert kind.number(next(iter(kind.counts)), 0.3) == 0.3
    assert kind.number(None, 0.3) is None


@EVERY
def test_a_row_of_each_pair_fits_the_table(kind: Kind) -> None:
    targets = tuple(TargetText(kind.targets, f"t{n}", f"A target {n}.") for n in range(3))
    judged = JudgedText("w", "s", ("One line. [1]", "Another."), targets)
    groups = groups_of(kind, judged)
    verdicts = [[Verdict(next(iter(kind.counts)), None)] * len(g.items) for g in groups]
    rows = rows_of(kind, "judge", judged, verdicts, version="v")

    assert conform(rows, VERDICTS).num_rows == 3 * (1 if kind.shared == "summary" else 2)
    assert [row["target_id"] for row in rows] == sorted(row["target_id"] for row in rows)


@EVERY
def test_every_target_of_a_summary_that_failed_is_unjudged(kind: Kind) -> None:
    judged = JudgedText("w", "s", (), (TargetText(kind.targets, "t", "A target."),), failure="http_500")
    rows = rows_of(kind, "judge", judged, [], version="v")

    assert groups_of(kind, judged) == []
    assert [row["failure"] for row in rows] == ["summary_failed: http_500"] * (kind.shared == "summary")


@EVERY
def test_the_measures_that_follow_from_it_ship_and_read_its_verdicts(kind: Kind) -> None:
    for measure in named(kind.measures):
        assert isinstance(measure, Measure)
        assert measure.judged_by in (kind.task, None)
    assert set(kind.measures) <= set(default_names([kind.task]))


@EVERY
def test_an_item_without_text_is_asked_of_nobody(kind: Kind) -> None:
    """Nothing can be judged of it; and an empty shared text gets the lowest answer."""
    settled = kind.settle(Group("k", (), ("Said.",)), "Said.")
    assert settled is not None
    assert settled.answer is not None
    assert kind.counts[settled.answer] == 0
    if kind.task != "coverage":
        assert kind.settle(Group("k", ("A text.",), (" ",)), " ") is not None
    assert kind.settle(Group("k", ("A text.",), ("Said.",)), "Said.") is None
