"""The audit: planted errors are found, and what it estimates covers what was planted."""

from __future__ import annotations

import json
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.metrics.statistics import Estimate
from longform.records import Document, Qrel, Target
from longform.synthesis.audit.audit import (
    N_HASHES,
    Cells,
    HaystackAudit,
    LabelNoise,
    audit_haystack,
    audit_report,
    ceiling,
    event_share,
    expected_joint,
    label_noise,
    near_duplicates,
    shingles,
    signature,
    similarity,
)
from longform.synthesis.audit.planted import HaystackFacts, Kind, Planted, exact_search, tenths
from longform.synthesis.grammar.assignment import Bounds
from longform.synthesis.grammar.haystack import HaystackSize, Woven, write_haystack

SIZE = HaystackSize(100, 300, Bounds(5, 7), Bounds(5, 25), distractors=1, contradictions=0)


@pytest.fixture(scope="module")
def haystack() -> Woven:
    return write_haystack("railway", variant=0, size=SIZE, seed=3)


def stated(doc_id: str, target_id: str | None, kind: Kind, text: str) -> Planted:
    return Planted(doc_id=doc_id, target_id=target_id, kind=kind, text=text)


def report(documents: list[Document], haystack: Woven, qrels: list[Qrel]) -> dict:
    return audit_report([audit_haystack(documents, haystack.targets, qrels, haystack.facts)], seed=0)


# ---------------------------------------------------------------- near-duplicates


def text_of(numbers: list[int]) -> str:
    return " ".join(f"w {number}" for number in numbers)  # two words each


def test_the_estimate_is_the_share_of_equal_minima() -> None:
    one, other = shingles(text_of(list(range(300)))), shingles(text_of(list(range(100, 400))))
    estimate = (signature(one) == signature(other)).mean()

    assert similarity(one, other) == pytest.approx(396 / 796)
    assert estimate == pytest.approx(similarity(one, other), abs=4 * np.sqrt(0.25 / N_HASHES))


@given(start=st.integers(0, 200))
def test_a_signature_depends_on_the_set_alone(start: int) -> None:
    held = shingles(text_of(list(range(start, start + 30))))

    assert (signature(held) == signature(frozenset(sorted(held, reverse=True)))).all()


def test_near_duplicates_are_found_with_their_exact_similarity() -> None:
    texts = [text_of(list(range(at, at + 100))) for at in (0, 1000, 10, 2000)] + [text_of(list(range(1000, 1100)))]

    found = near_duplicates(texts)

    assert [(pair.one, pair.other) for pair in found] == [(1, 4), (0, 2)]
    assert found[0].similarity == 1
    assert found[1].similarity == pytest.approx(176 / 216)


def test_a_copied_document_shows_in_the_audit(haystack: Woven) -> None:
    copy = haystack.documents[0]._replace(doc_id="copy", text=haystack.documents[0].text + " The end.")
    clean, spoilt = (
        audit_haystack(documents, haystack.targets, haystack.qrels).facts["near_duplicates"]
        for documents in (haystack.documents, [*haystack.documents, copy])
    )

    assert clean == []
    assert [set(pair["doc_ids"]) for pair in spoilt] == [{"copy", haystack.documents[0].doc_id}]


# ---------------------------------------------------------------- exact search and places

DOCUMENTS = [
    Document("a", "h", 0, None, "It rains. The dam broke. So what."),
    Document("b", "h", 1, None, "The dam broke."),
]


@pytest.mark.parametrize(
    ("planted", "gold", "counts"),
    [
        pytest.param([("a", "The dam broke.")], {"i": {"a", "b"}}, {"found": 1, "unplanted": 1}, id="extra-in-map"),
        pytest.param([("a", "The dam broke.")], {"i": {"a"}}, {"found": 1, "elsewhere": 1}, id="stated-elsewhere"),
        pytest.param([("a", "The dam held.")], {"i": {"a"}}, {"missing": 1}, id="missing"),
        pytest.param(
            [("b", "The dam broke.")], {"i": {"a"}}, {"found": 1, "unplanted": 1, "unlisted": 1}, id="swapped"
        ),
    ],
)
def test_the_search_finds_what_is_planted_and_what_the_map_makes_of_it(planted, gold, counts) -> None:
    statements = [stated(doc_id, "i", "insight", text) for doc_id, text in planted]
    nothing = dict.fromkeys(("found", "missing", "repeated", "elsewhere", "unplanted", "unlisted"), 0)

    found = exact_search(DOCUMENTS, {k: frozenset(v) for k, v in gold.items()}, statements)

    assert found == nothing | counts | {"planted": 1}


def test_distractors_and_contradictions_are_no_statements_of_an_insight() -> None:
    others = [stated("a", None, "distractor", "It rains."), stated("b", "i", "contradiction", "The dam broke.")]

    assert exact_search(DOCUMENTS, {"i": frozenset({"a"})}, others)["planted"] == 0


def test_tenths_count_places_from_first_to_last() -> None:
    assert tenths([(0, 100), (9, 100), (10, 100), (99, 100), (100, 100)]) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]


def test_statements_stand_everywhere(haystack: Woven) -> None:
    parts = [
        audit_haystack(haystack.documents, haystack.targets, haystack.qrels, facts) for facts in (haystack.facts, None)
    ]
    planted, supported = (part.facts["tenths"] for part in parts)

    assert sum(planted) == sum(supported) == len(haystack.qrels)
    assert min(planted[1:9]) > 0.06 * sum(planted)
    assert [part.facts["located_by"] for part in parts] == ["planted statement", "best support"]
    assert fmean(abs(one - other) for one, other in zip(planted, supported, strict=True)) < 0.04 * sum(planted)


def test_what_a_maker_did_not_say_is_null_with_a_reason(haystack: Woven) -> None:
    facts = audit_haystack(haystack.documents, haystack.targets, haystack.qrels).facts

    assert facts["exact_search"] is facts["planted"] is facts["settings"] is None
    assert set(facts["reasons"]) == {"exact_search", "planted", "settings"}


# ---------------------------------------------------------------- label noise


def test_an_honest_haystack_has_no_noise_and_a_ceiling_near_100(haystack: Woven) -> None:
    found = report(haystack.documents, haystack, haystack.qrels)

    assert found["false_positives"]["low"] == found["missed"]["low"] == 0
    assert found["false_positives"]["value"] < 0.01
    assert found["missed"]["value"] < 0.001
    assert found["joint_ceiling"]["high"] == 100
    assert found["joint_ceiling"]["low"] > 97


@pytest.mark.parametrize("share", [0.05, 0.15])
def test_statements_taken_out_of_documents_are_estimated(haystack: Woven, share: float) -> None:
    rng = np.random.default_rng(1)
    texts = {document.doc_id: document.text for document in haystack.documents}
    statements = [one for one in haystack.facts.planted if one.kind == "insight"]
    for place in rng.choice(len(statements), size=round(share * len(statements)), replace=False):
        one = statements[place]
        texts[one.doc_id] = texts[one.doc_id].replace(one.text, "")
    documents = [document._replace(text=texts[document.doc_id]) for document in haystack.documents]

    found = report(documents, haystack, haystack.qrels)

    assert found["false_positives"]["low"] <= share <= found["false_positives"]["high"]
    assert found["false_positives"]["value"] == pytest.approx(share, abs=0.04)
    assert found["joint_ceiling"]["low"] < 100 * (1 - share / 2) < found["joint_ceiling"]["high"] + 1
    assert found["haystacks"][0]["exact_search"]["missing"] == round(share * len(statements))


@pytest.mark.parametrize("share", [0.05, 0.15])
def test_pairs_that_the_map_lacks_are_estimated(haystack: Woven, share: float) -> None:
    rng = np.random.default_rng(2)
    kept = rng.random(len(haystack.qrels)) >= share
    qrels = [qrel for qrel, keep in zip(haystack.qrels, kept, strict=True) if keep]
    lost = len(haystack.qrels) - len(qrels)

    found = report(haystack.documents, haystack, qrels)

    assert found["missed"]["low"] <= lost / found["cells"]["left_out"] <= found["missed"]["high"]
    assert found["false_negatives"] == pytest.approx(lost / len(haystack.qrels), abs=0.04)
    assert found["haystacks"][0]["exact_search"]["unlisted"] == lost


@given(
    n=st.integers(40, 200),
    wrong=st.floats(0, 0.5),
    seed=st.integers(0, 1000),
)
def test_a_judge_that_separates_gives_the_planted_share(n: int, wrong: float, seed: int) -> None:
    """Strengths of the two kinds do not overlap, so that twice the share in the lower half is the share itself."""
    n_wrong = round(wrong * n)
    strength = np.concatenate([np.linspace(0, 1, n_wrong), np.linspace(2, 3, n - n_wrong), np.linspace(0, 1, 400)])
    listed = np.arange(n + 400) < n
    noise = label_noise(Cells(strength, listed, np.arange(n + 400) % 20), seed=seed, resamples=50)

    assert noise.false_positives.value == pytest.approx(n_wrong / n, abs=2 / n)
    assert noise.false_positives.low <= noise.false_positives.value <= noise.false_positives.high


def test_equal_strengths_count_by_the_share_that_lies_there() -> None:
    """All cells left out are 0, so all of them lie at the median: the share is not doubled."""
    strength = np.array([0.0] * 10 + [1.0] * 90 + [0.0] * 300)
    noise = label_noise(Cells(strength, np.arange(400) < 100, np.arange(400) % 10), seed=0)

    assert noise.false_positives.value == pytest.approx(0.1)


def test_noise_of_a_map_without_gaps_is_unknown() -> None:
    noise = label_noise(Cells(np.ones(5), np.ones(5, dtype=bool), np.arange(5)), seed=0)

    assert noise.missed.value is None
    assert ceiling([(3, 9)], noise)["value"] is None
    assert "not known" in ceiling([(3, 9)], noise)["reason"]


@pytest.mark.parametrize(("count", "low", "high"), [(0, 0, 0.3085), (10, 0.6915, 1), (1, 0, 0.445)])
def test_interval_of_a_share_is_at_least_as_wide_as_the_exact_one(count: int, low: float, high: float) -> None:
    """Tabled values of Clopper and Pearson's interval for 10 cells; of 1 in 10 the bootstrap's lower end is 0."""
    found = event_share(np.arange(10) < count, np.arange(10))

    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


# ---------------------------------------------------------------- the ceiling


def test_a_right_map_has_a_ceiling_of_100() -> None:
    assert expected_joint([(5, 100), (25, 100)], false_positives=0, missed=0) == pytest.approx(1)


def test_the_ceiling_of_one_document_is_known() -> None:
    """One listed document of one: wrong with probability 0.2, and then nothing can be covered."""
    assert expected_joint([(1, 1)], false_positives=0.2, missed=0.5) == pytest.approx(0.8)


@given(
    listed=st.integers(1, 12),
    others=st.integers(0, 30),
    false_positives=st.floats(0, 0.5),
    missed=st.floats(0, 0.2),
)
def test_the_ceiling_is_the_mean_over_drawn_errors(
    listed: int, others: int, false_positives: float, missed: float
) -> None:
    rng = np.random.default_rng(0)
    right, more = rng.binomial(listed, 1 - false_positives, 4000), rng.binomial(others, missed, 4000)
    drawn = 2 * right / (right + more + listed)

    found = expected_joint([(listed, listed + others)], false_positives=false_positives, missed=missed)
    never_drawn = 2e-3  # of errors too rare to be among the 4,000
    assert found == pytest.approx(drawn.mean(), abs=5 * drawn.std() / np.sqrt(4000) + never_drawn)


def test_more_noise_is_a_lower_ceiling_and_the_ends_are_in_order() -> None:
    noise = LabelNoise(Estimate(0.05, 0.02, 0.09, 600), Estimate(0.01, 0.005, 0.02, 5000))
    found = ceiling([(10, 100)] * 3, noise)

    assert found["low"] < found["value"] < found["high"] < 100


# ---------------------------------------------------------------- the report


def test_a_haystack_comes_back_from_json_as_it_was(haystack: Woven) -> None:
    part = audit_haystack(haystack.documents, haystack.targets, haystack.qrels, haystack.facts)
    again = HaystackAudit.from_json(json.loads(json.dumps(part.as_json())))

    assert (again.facts, again.sizes) == (part.facts, part.sizes)
    for column, expected in zip(again.cells, part.cells, strict=True):
        np.testing.assert_array_equal(column, expected, strict=True)
    assert audit_report([again], seed=1) == audit_report([part], seed=1)


def test_two_haystacks_are_one_report_and_it_is_json(haystack: Woven) -> None:
    part = audit_haystack(haystack.documents, haystack.targets, haystack.qrels, haystack.facts)
    found = audit_report([part, part], seed=0)

    assert found["cells"]["listed"] == 2 * len(haystack.qrels)
    assert len(found["haystacks"]) == 2
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_facts_survive_json(haystack: Woven) -> None:
    assert HaystackFacts.model_validate_json(haystack.facts.model_dump_json()) == haystack.facts


def test_an_insight_that_no_document_is_given_has_no_place_in_the_ceiling() -> None:
    targets = [Target(f"t{at}", "insight", "q", "h", at, None, "The dam broke.") for at in (0, 1)]
    part = audit_haystack(DOCUMENTS, targets, [Qrel("q", "t0", "a", 1)])

    assert part.sizes == [(1, 2)]
    assert part.facts["documents_per_insight"] == {"least": 0, "mean": 0.5, "most": 1}
