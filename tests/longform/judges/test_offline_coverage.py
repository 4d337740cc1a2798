import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import InputError, UsageError
from longform.judges.coverage_model import WORDS, Evidence, JudgeModel, answer_of
from longform.judges.offline_coverage import QueryInsights, Reading, shipped_judge, stem_weights

SALES = "Sales fell 3% to $2.33 billion in the winter quarter."
STORES = "The company closes 400 mall stores by 2026."
LOYALTY = "Members of the loyalty program earn points in the app."
INSIGHTS = [SALES, STORES, LOYALTY]
WEIGHTS = stem_weights(INSIGHTS)
PEOPLE = shipped_judge("people")
CALIBRATIONS = ["people", "gpt-4o"]


def readings(bullets: list[str], insights: list[str] = INSIGHTS, model: JudgeModel = PEOPLE) -> list[Reading]:
    return QueryInsights(insights, WEIGHTS).readings(bullets, model)


def scores(bullets: list[str], insights: list[str] = INSIGHTS) -> list[float | None]:
    return [reading.score for reading in readings(bullets, insights)]


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_copied_insights_are_full_and_linked_to_their_copies(calibration: str) -> None:
    found = readings([f"- {text} [3][14]" for text in reversed(INSIGHTS)], model=shipped_judge(calibration))
    assert [reading.answer for reading in found] == ["full"] * 3
    assert [reading.linked for reading in found] == [2, 1, 0]
    assert all(reading.evidence.recall == reading.evidence.precision == 1 for reading in found)
    assert all(getattr(reading.evidence, guard) == 0 for reading in found for guard in WORDS.guards)


def test_foreign_bullets_say_nothing() -> None:
    found = readings(["Penguins breed on Antarctic ice."])
    assert [(r.answer, r.score, r.linked) for r in found] == [("none", 0.0, None)] * 3


def test_no_bullet_is_the_answer_none_and_not_a_missing_answer() -> None:
    """A summary that says nothing covers nothing: that is known, not unjudged."""
    found = readings([])
    assert [(r.answer, r.score, r.linked, r.evidence.closest) for r in found] == [("none", 0.0, None, None)] * 3


def test_insight_without_words_is_unjudged() -> None:
    reading = readings([SALES], ["It is what it is."])[0]
    assert (reading.answer, reading.score) == (None, None)


def test_recall_and_precision_are_shares_of_weight() -> None:
    """Hand-worked: three insights of one text, so each stem known has df 1 and weighs ln(4 / 1.5), unseen ln 8."""
    known, unseen = np.log(4 / 1.5), np.log(8)
    evidence = readings(["Mall stores reopened."], [STORES])[0].evidence  # compani close 400 mall store 2026
    assert evidence.recall == pytest.approx(2 / 6, abs=1e-6)
    assert evidence.precision == pytest.approx(2 * known / (2 * known + unseen), abs=1e-6)


def test_bullet_that_fits_a_sibling_better_is_weaker_evidence() -> None:
    insight = "Members earn points on birthdays."
    sibling = "Members earn double points in the app on weekends."
    bullet = ["Members earn double points in the app on weekends."]
    alone = scores(bullet, [insight])[0]
    beside = scores(bullet, [insight, sibling])[0]
    assert alone is not None
    assert beside is not None
    assert beside < alone - 0.1


def test_one_shared_common_word_is_not_evidence() -> None:
    """Without siblings nobody competes but the one who stands for no insight."""
    assert readings(["Sales matter to every retailer and its owners."], [SALES])[0].answer == "none"


@pytest.mark.parametrize(
    ("score", "answer"), [(0.0, "none"), (0.299999, "none"), (0.3, "partial"), (0.699999, "partial"), (0.7, "full")]
)
def test_cuts_belong_to_the_higher_answer(score: float, answer: str) -> None:
    assert answer_of(score, (0.3, 0.7)) == answer


def test_score_is_the_mean_of_two_probabilities_less_the_guards() -> None:
    """Hand-worked: logits ln 3 and 0 give probabilities 3/4 and 1/2; one guard at half of a strength of 0.4."""
    model = PEOPLE._replace(
        coefficients=((2 * np.log(3), 0.0, 0.0), (0.0, 0.0, 0.0)),
        intercepts=(0.0, 0.0),
        strengths=dict.fromkeys(WORDS.guards, 0.0) | {"dilution": 0.4},
    )
    evidence = Evidence(0, True, 0.5, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert model.scores([evidence]).tolist() == [pytest.approx((0.75 + 0.5) / 2 * (1 - 0.5 * 0.4))]


# ---------------------------------------------------------------- what a bullet says with the words


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize(
    ("guard", "bullet"),
    [
        pytest.param("numbers_contradicted", "Sales fell 7% to $2.93 billion in the winter quarter.", id="number"),
        pytest.param("denial_mismatch", "Sales did not fall 3% to $2.33 billion in the winter quarter.", id="negated"),
        pytest.param("denial_mismatch", "It is untrue that sales fell 3% to $2.33 billion in winter.", id="untrue"),
        pytest.param("order_lost", "quarter winter the in billion $2.33 to 3% fell Sales", id="shuffled"),
    ],
)
def test_bullet_that_says_otherwise_in_the_same_words_loses_at_least_a_third(
    guard: str, bullet: str, calibration: str
) -> None:
    model = shipped_judge(calibration)
    said, otherwise = readings([SALES], model=model)[0], readings([bullet], model=model)[0]
    assert said.evidence.recall > 0.9
    assert getattr(otherwise.evidence, guard) >= 0.5
    assert said.score is not None
    assert otherwise.score is not None
    assert otherwise.score < said.score - 0.3


@pytest.mark.parametrize(
    ("insight", "bullet"),
    [
        ("A refund of the fee after 30 days is possible.", "A refund of the fee after 30 days was declined."),
        ("Business and Enterprise plans have single sign-on.", "Only Enterprise plans have single sign-on."),
    ],
)
def test_a_bullet_that_says_the_opposite_covers_nothing(insight: str, bullet: str) -> None:
    said, otherwise = readings([insight], [insight])[0], readings([bullet], [insight])[0]
    assert (said.answer, otherwise.answer) == ("full", "none")


def test_denial_that_the_insight_makes_too_is_no_mismatch() -> None:
    insight = "The council did not approve the bridge."
    evidence = readings(["The council didn't approve the bridge. [2]"], [insight])[0].evidence
    assert evidence.denial_mismatch == 0


def test_number_that_stands_elsewhere_contradicts_nothing() -> None:
    """A missing number is missing; only another in its place denies it."""
    evidence = readings(["Sales fell in winter, and 12 members voted."], [SALES])[0].evidence
    assert evidence.numbers_missing == 1
    assert evidence.numbers_contradicted == 0


def test_one_bullet_of_everything_scores_below_a_bullet_each() -> None:
    filler = [f"{word} bridges cross rivers near {word} towns." for word in ("Old", "New", "Steel", "Stone", "Long")]
    apart, merged = scores([*INSIGHTS, *filler]), scores([" ".join([*INSIGHTS, *filler])])
    assert all(one < other - 0.05 for one, other in zip(merged, apart, strict=True))


def test_foreign_text_beside_the_statement_lowers_the_score() -> None:
    padding = " Penguins breed on Antarctic ice while orcas hunt under frozen southern waters, whales sing, gulls dive."
    assert scores([STORES + padding])[1] < scores([STORES])[1] - 0.05


# ---------------------------------------------------------------- properties


@given(st.permutations([*INSIGHTS, "The mall closes.", "Points for winter members."]))
def test_order_of_bullets_changes_no_score(bullets: list[str]) -> None:
    assert scores(bullets) == pytest.approx(scores(sorted(bullets)), abs=2e-6)


@given(st.lists(st.sampled_from([*INSIGHTS, "Mall.", "", "- **Winter** [2]", "2026 points"]), max_size=6))
def test_scores_lie_between_0_and_1_and_links_name_bullets(bullets: list[str]) -> None:
    for reading in readings(bullets):
        assert reading.score is not None
        assert 0 <= reading.score <= 1
        assert (reading.linked is None) == (reading.answer == "none")
        assert reading.linked is None or reading.linked < len(bullets)


def test_best_score_of_a_bullet_does_not_depend_on_its_company_nor_on_denial() -> None:
    """It tells what a bullet is about."""
    insights = ["The bridge costs 5 million euros.", "The council voted 7 to 2.", ""]
    of_query = QueryInsights(insights, stem_weights(insights))
    lines = ["- The bridge costs 5 million. [1]", "- The bridge does not cost 5 million. [1]", "- Nothing shared", ""]
    alone = [of_query.best_scores([line])[0] for line in lines]

    assert of_query.best_scores(lines) == pytest.approx(alone, abs=2e-6)
    assert alone[0] == pytest.approx(alone[1])
    assert alone[0] > 0.5
    assert alone[2:] == [0, 0]
    assert of_query.best_scores([]).tolist() == []
    assert QueryInsights([], stem_weights([])).best_scores(["x"]).tolist() == [0.0]


# ---------------------------------------------------------------- models


@pytest.mark.parametrize(
    ("name", "calibration"), [*((name, name) for name in CALIBRATIONS), ("people-vectors", "people")]
)
def test_shipped_model_survives_json_and_takes_nothing_for_granted(name: str, calibration: str) -> None:
    model = shipped_judge(name)
    assert JudgeModel.from_json(json.loads(json.dumps(model.as_json())), file="x") == model
    assert model.calibration == calibration
    assert 0 < model.cuts[0] < model.cuts[1] < 1
    assert all(0 < strength <= 1 for strength in model.strengths.values())


def test_unknown_calibration_is_named_with_those_that_ship() -> None:
    with pytest.raises(UsageError, match=r"'gemini'.*people.*gpt-4o"):
        shipped_judge("gemini")


@pytest.mark.parametrize("field", ["features", "strengths"])
def test_model_of_another_version_is_refused(field: str) -> None:
    content = PEOPLE.as_json() | {field: {"recall": 1.0}}
    with pytest.raises(InputError, match=field):
        JudgeModel.from_json(content, file="judge_people.json")
    assert len(WORDS.features) == len(PEOPLE.coefficients[0])
