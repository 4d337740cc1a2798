"""The measures that ship: their names, what is refused, and that each gives a score or a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from longform.errors import UsageError
from longform.judges.kinds import KINDS
from longform.measures import RANKING, SHIPPED, default_names, named, scored_together
from longform.metrics.measure import Facts, Measure, Score, Verdict
from longform.records import Document, Target
from longform.text.citations import bullets

BY_NAME = {measure.name: measure for measure in SHIPPED}


class Haystack:
    """Two documents, and one insight each of two queries."""

    haystack_id = "h"

    def __init__(self, *, shipped: bool = True) -> None:
        self.shipped = shipped

    def documents(self) -> Sequence[Document]:
        texts = ("The bank raised rates by 3 points.", "Rain fell in the north.")
        return [Document(f"d{i}", "h", i, None, text) for i, text in enumerate(texts)] if self.shipped else []

    def targets(self) -> Sequence[Target]:
        texts = {"rates": "q", "rain": "p"}
        return [Target(name, "insight", query, "h", 0, None, f"About {name}.") for name, query in texts.items()]

    def gold_numbers(self) -> Mapping[str, frozenset[int]] | None:
        return {"rates": frozenset({1}), "rain": frozenset({2})} if self.shipped else None


def facts(text: str = "Facts:\n- The bank raised rates by 3 points. [1][2]", *verdicts: Verdict) -> Facts:
    return Facts(query_id="q", text=text, units=bullets(text), verdicts=verdicts, haystack=Haystack())


def test_names_are_distinct_and_every_measure_scores_any_summary() -> None:
    """A summary that failed, and one without a judgement, have reasons and no error."""
    assert set(Counter(measure.name for measure in (*SHIPPED, *RANKING)).values()) == {1}
    for measure in SHIPPED:
        for given in (Facts(failure="length"), Facts(units=bullets("- one [1]"), text="- one [1]")):
            found = measure.per_summary(given)
            assert found.measure == measure.name
            assert (found.n == 0) == (found.reason is not None)


def test_coverage_reads_verdicts_units_and_gold() -> None:
    covered = facts(*["Facts:\n- Rates rose. [1][2]"], Verdict("rates", "partial", linked_unit=1))
    values = {name: BY_NAME[name].per_summary(covered).value for name in ("coverage", "precision", "recall", "joint")}

    assert values == {"coverage": 0.5, "precision": 0.5, "recall": 1, "joint": pytest.approx(0.5 * 2 / 3)}


def test_faithfulness_merges_numbers_of_verdicts() -> None:
    """Two sentences, two documents; the second document's verdict on the second sentence is missing."""
    numbers = {(0, 0): 0.0, (1, 0): 1.0, (0, 1): 0.25, (1, 1): None}
    cells = [
        Verdict(None, None if n is None else "supported", n, unit_index=unit, doc_position=place)
        for (place, unit), n in numbers.items()
    ]
    found = BY_NAME["faithfulness max-mean"].per_summary(Facts(verdicts=cells))

    assert (found.total, found.n, found.n_unjudged) == (1.0, 1, 1)
    assert BY_NAME["faithfulness min-min"].per_summary(Facts(verdicts=cells)).value == 0


def test_bullets_are_classified_by_links_and_documents() -> None:
    linked = facts("Facts:\n- The bank raised rates by 3 points. [1]", Verdict("rates", "full", linked_unit=1))
    found = {measure.name: measure.per_summary(linked) for measure in SHIPPED if measure.version == "classify@1"}

    assert {name for name, score in found.items() if score.total} == {"bullets_linked", "bullets_header"}
    assert {score.n for score in found.values()} == {2}


def test_bullets_are_not_classified_without_documents() -> None:
    unknown = Facts(query_id="q", units=bullets("- one [1]"), haystack=Haystack(shipped=False))

    assert BY_NAME["bullets_linked"].per_summary(unknown).reason == "the documents are not known"


def test_a_length_counts_words_without_marks_and_a_failed_summary_has_none() -> None:
    two = Facts(units=bullets("- one two [1, 2]\n- three"))

    assert (BY_NAME["bullets"].per_summary(two).value, BY_NAME["words"].per_summary(two).value) == (2, 3)
    assert BY_NAME["words"].per_summary(Facts(failure="length")).reason == "summary_failed: length"
    assert BY_NAME["words"].per_summary(Facts()).value == 0


def test_an_unknown_name_is_refused_with_the_possible_ones() -> None:
    with pytest.raises(UsageError, match=r"expected some of .*coverage.*nDCG.*rouge_1.*found 'rogue_1'"):
        named(["coverage", "rogue_1"])


def test_bertscore_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match=r"bertscore is not available: .* bertscore_minilm is by the encoder"):
        named(["bertscore"])


def test_a_measure_from_outside_is_known_by_its_name_and_scored_alone() -> None:
    own = Measure("shout", lambda given: Score("shout", float((given.text or "").count("!")), 1))

    assert named(["shout", "joint"], [own]) == [own, BY_NAME["joint"]]
    assert scored_together([own, BY_NAME["joint"], BY_NAME["recall"]]) == [
        tuple(measure for measure in SHIPPED if measure.version == "summhay@1"),
        (own,),
    ]


def test_measures_that_kinds_of_judges_name_are_there_and_follow_from_them() -> None:
    """A kind names its measures by strings; those of a configuration that lists none are among them."""
    for task, kind in KINDS.items():
        assert {BY_NAME[name].judged_by for name in kind.measures} <= {task, None}
        own = {name for name in default_names([task]) if name in BY_NAME}
        assert own <= {*kind.measures}


def test_key_points_and_ratings_are_means_of_readable_verdicts() -> None:
    verdicts = [Verdict("a", "entailed", 0.9), Verdict("b", "not_entailed", 0.2), Verdict("c", None)]
    recall = BY_NAME["key_point_recall"].per_summary(Facts(verdicts=verdicts))
    rating = BY_NAME["reference_rating"].per_summary(Facts(verdicts=[Verdict("r", "4", 0.75), Verdict("s", None)]))

    assert (recall.total, recall.n, recall.n_unjudged) == (1, 2, 1)
    assert (rating.value, rating.n_unjudged) == (0.75, 1)


def test_g_eval_has_the_scales_in_print_and_several_references_count_by_their_mean_or_the_best() -> None:
    facts = Facts(verdicts=[Verdict("r", "4", 0.75), Verdict("s", "2", 0.25), Verdict("t", None)])
    found = {one.name: one.per_summary(facts) for one in SHIPPED if one.name.startswith("geval_")}
    values = {name: (score.value, score.n, score.n_unjudged) for name, score in found.items()}
    assert values == {
        "geval_1_5": (3.0, 2, 1),
        "geval_01": (0.5, 2, 1),
        "geval_x20": (pytest.approx(0.6), 2, 1),  # 60 points
        "geval_1_5_max": (4.0, 1, 1),
        "geval_01_max": (0.75, 1, 1),
        "geval_x20_max": (pytest.approx(0.8), 1, 1),
    }
    unjudged = BY_NAME["geval_x20"].per_summary(Facts(verdicts=[Verdict("r", None)]))
    assert (unjudged.value, unjudged.reason) == (None, "no reference text has a readable judgement")


def test_a_released_score_is_that_of_the_text_or_null_with_the_reason() -> None:
    released = BY_NAME["bertscore_released"].per_summary
    assert released(Facts(text="A.", released={"bertscore": 0.85})).value == 0.85
    assert released(Facts(text="B.")).reason == "no score of this text is released"
    assert released(Facts(failure="not_shipped")).reason == "summary_failed: not_shipped"
