import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.lexical_judge import QueryInsights, StemWeights, answer_for

SALES = "Sales fell 3% to $2.33 billion in the winter quarter."
STORES = "The company closes 400 mall stores by 2026."
LOYALTY = "Members of the loyalty program earn points in the app."
INSIGHTS = [SALES, STORES, LOYALTY]
WEIGHTS = StemWeights.of(INSIGHTS)


def scores(bullets: list[str], insights: list[str] = INSIGHTS) -> list[float | None]:
    return [reading.score for reading in QueryInsights(insights, WEIGHTS).readings(bullets)]


def test_copied_insights_are_full_and_linked_to_their_copies() -> None:
    readings = QueryInsights(INSIGHTS, WEIGHTS).readings([f"- {text} [3][14]" for text in reversed(INSIGHTS)])
    assert [reading.answer for reading in readings] == ["full"] * 3
    assert [reading.linked for reading in readings] == [2, 1, 0]
    assert all(reading.recall == reading.precision == 1 for reading in readings)


def test_foreign_bullets_say_nothing() -> None:
    readings = QueryInsights(INSIGHTS, WEIGHTS).readings(["Penguins breed on Antarctic ice."])
    assert [(r.answer, r.score, r.linked) for r in readings] == [("none", 0.0, None)] * 3


def test_no_bullet_is_the_answer_none_and_not_a_missing_answer() -> None:
    """A summary that says nothing covers nothing: that is known, not unjudged."""
    readings = QueryInsights(INSIGHTS, WEIGHTS).readings([])
    assert [(r.answer, r.score, r.linked, r.closest) for r in readings] == [("none", 0.0, None, None)] * 3


def test_insight_without_words_is_unjudged() -> None:
    reading = QueryInsights(["It is what it is."], WEIGHTS).readings([SALES])[0]
    assert (reading.answer, reading.score) == (None, None)


def test_recall_and_precision_are_shares_of_weight() -> None:
    """Hand-worked: three insights of one text, so each stem known has df 1 and weighs ln(4 / 1.5), unseen ln 8."""
    known, unseen = np.log(4 / 1.5), np.log(8)
    reading = QueryInsights([STORES], WEIGHTS).readings(["Mall stores reopened."])[
        0
    ]  # compani close 400 mall store 2026
    assert reading.recall == pytest.approx(2 / 6, abs=1e-6)
    assert reading.precision == pytest.approx(2 * known / (2 * known + unseen), abs=1e-6)


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
    """Without siblings nobody competes but the bullet that fits nothing."""
    assert QueryInsights([SALES], WEIGHTS).readings(["Sales matter."])[0].answer == "none"


@pytest.mark.parametrize(
    ("score", "answer"), [(0.0, "none"), (0.299999, "none"), (0.3, "partial"), (0.699999, "partial"), (0.7, "full")]
)
def test_cuts_belong_to_the_higher_answer(score: float, answer: str) -> None:
    assert answer_for(score) == answer


@given(st.permutations([*INSIGHTS, "The mall closes.", "Points for winter members."]))
def test_order_of_bullets_changes_no_score(bullets: list[str]) -> None:
    assert scores(bullets) == pytest.approx(scores(sorted(bullets)), abs=2e-6)


@given(st.lists(st.sampled_from([*INSIGHTS, "Mall.", "", "- **Winter** [2]", "2026 points"]), max_size=6))
def test_scores_lie_between_0_and_1_and_links_name_bullets(bullets: list[str]) -> None:
    for reading in QueryInsights(INSIGHTS, WEIGHTS).readings(bullets):
        assert reading.score is not None
        assert 0 <= reading.score <= 1
        assert (reading.linked is None) == (reading.answer == "none")
        assert reading.linked is None or reading.linked < len(bullets)


def test_agreement_with_people_on_released_labels() -> None:
    """61 summaries that SummHay's annotators judged: the floor is what recall alone reaches there, 0.76."""
    folder = os.environ.get("LONGFORM_RELEASED_DATA")
    if not folder:
        pytest.skip("LONGFORM_RELEASED_DATA is not set: SummHay's human labels are not at hand")
    samples = _read(Path(folder) / "summhay/eval_benchmark_data.json.gz")
    topic = _read(Path(folder) / "summhay/topic_news3.json.gz")
    weights = StemWeights.of([i["insight"] for s in topic["subtopics"] for i in s["insights"]])
    judged, human, link_hits = [], [], []
    for sample in samples:
        labels = {label["insight_id"]: label for label in sample["annotation"]}
        insights = QueryInsights([i["insight"] for i in sample["reference_insights"]], weights)
        for insight, reading in zip(sample["reference_insights"], insights.readings(sample["summary"]), strict=True):
            label = labels[insight["insight_id"]]
            judged.append(reading.score)
            human.append({"fully_covered": 1.0, "partially_covered": 0.5, "not_covered": 0.0}[label["coverage"]])
            if label["candidate_id"] != "no_selection":
                link_hits.append(reading.closest == int(label["candidate_id"]))
    assert len(judged) == 562
    assert np.corrcoef(judged, human)[0, 1] > 0.80
    assert np.mean(link_hits) > 0.88
    assert abs(np.mean(judged) - np.mean(human)) < 0.08


def _read(path: Path) -> list | dict:
    return json.loads(gzip.decompress(path.read_bytes()))


def test_best_score_of_a_bullet_alone_is_the_best_of_its_readings() -> None:
    insights = ["The bridge costs 5 million euros.", "The council voted 7 to 2.", ""]
    of_query = QueryInsights(insights, StemWeights.of(insights))
    lines = ["- The bridge costs 5 million. [1]", "- It was voted: 7 to 2", "- Nothing shared", ""]
    alone = [max(r.score for r in of_query.readings([line]) if r.score is not None) for line in lines]

    assert of_query.best_scores(lines) == pytest.approx(alone, abs=2e-6)
    assert of_query.best_scores([]).tolist() == []
    assert QueryInsights([], StemWeights.of([])).best_scores(["x"]).tolist() == [0.0]
