import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.judges.kind import Verdict
from longform.judges.kinds.coverage import numbered_bullets, parse_coverage


def unread(failure: str) -> Verdict:
    return Verdict(None, None, failure=failure, link_failure=None)


@pytest.mark.parametrize(
    ("label", "answer"), [("FULL_COVERAGE", "full"), ("PARTIAL_COVERAGE", "partial"), ("NO_COVERAGE", "none")]
)
def test_labels_are_read_and_bullets_counted_from_0(label: str, answer: str) -> None:
    verdict = parse_coverage(f'{{"coverage": "{label}", "bullet_id": 2}}', n_bullets=2)
    assert verdict == Verdict(answer, None, linked_unit=None if answer == "none" else 1)


@pytest.mark.parametrize(
    "reply",
    [
        '[{"coverage": "FULL_COVERAGE", "bullet_id": 1}]',
        'Sure: {"coverage": "FULL_COVERAGE", "bullet_id": 1} as asked, {"why": "said"}',
        'So:\n```json\n{"coverage": "FULL_COVERAGE", "bullet_id": 1}\n```\nThe first bullet says {so}.',
        '{"coverage": "full_coverage", "bullet_id": "1"}',
        '{"Coverage": "Full Coverage", "Bullet_ID": "Bullet 1"}',
        '{"coverage": "FULL_COVERAGE", "bullet_id": "1."} again: {"coverage": "FULL_COVERAGE", "bullet_id": 1}',
        '<think>{"coverage": "NO_COVERAGE", "bullet_id": "NA"}</think>{"coverage": "FULL_COVERAGE", "bullet_id": [1]}',
        'like {"coverage": "NO_COVERAGE", "bullet_id": "NA"}?</think>\n{"coverage": "FULL_COVERAGE", "bullet_id": 1.0}',
        'By {"properties": {"coverage": {"type": "string"}}}: {"coverage": "FULL_COVERAGE", "bullet_id": 1}',
        '<|channel|>final<|message|>{"coverage": "FULL_COVERAGE", "bullet_id": "#1"}',
        '```json\n{"coverage": "FULL_COVERAGE", "bullet_id": 1}\n```',
        '```\n{"coverage": "FULL_COVERAGE", "bullet_id": 1}```',
        '\n  {"bullet_id": 1, "coverage": "FULL_COVERAGE", "why": "said so"}\n',
    ],
)
def test_what_stands_around_the_one_object_and_how_it_is_written_changes_nothing(reply: str) -> None:
    assert parse_coverage(reply, n_bullets=1) == Verdict("full", None, linked_unit=0)


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        pytest.param("", "no_json_object", id="empty"),
        pytest.param("FULL_COVERAGE", "no_json_object", id="label-alone"),
        pytest.param('{"coverage": "FULL_COVERAGE", "bullet_id": 1', "no_json_object", id="cut-off"),
        pytest.param('{"a":' * 100_000, "no_json_object", id="nested-without-end"),
        pytest.param('"FULL_COVERAGE"', "no_json_object", id="string"),
        pytest.param('<think>{"coverage": "FULL_COVERAGE", "bullet_id": 1}', "no_json_object", id="still-thinking"),
        pytest.param('{"coverage": {"enum": ["FULL_COVERAGE"]}, "bullet_id": {}}', "missing_field", id="schema"),
        pytest.param(
            '{"coverage": "FULL_COVERAGE or NO", "bullet_id": 1} {"coverage": "FULL_COVERAGE", "bullet_id": 1}',
            "several_objects",
            id="form-and-answer",
        ),
        pytest.param(
            '{"coverage": "FULL_COVERAGE", "bullet_id": 1} {"coverage": "FULL_COVERAGE", "bullet_id": 2}',
            "several_objects",
            id="two-bullets",
        ),
        pytest.param('{"coverage": "FULL", "bullet_id": 1}', "unknown_coverage", id="short"),
        pytest.param(
            '{"coverage": "FULL_COVERAGE", "bullet_id": 1} {"coverage": "NO_COVERAGE", "bullet_id": "NA"}',
            "several_objects",
            id="two-objects",
        ),
        pytest.param(
            '{"coverage": "FULL_COVERAGE", "coverage": "NO_COVERAGE", "bullet_id": 1}', "repeated_field", id="both-ways"
        ),
        pytest.param('{"coverage": "FULL_COVERAGE"}', "missing_field", id="no-bullet"),
        pytest.param('{"bullet_id": 1}', "missing_field", id="no-coverage"),
        pytest.param('{"coverage": null, "bullet_id": 1}', "unknown_coverage", id="null"),
        pytest.param('{"coverage": ["NO_COVERAGE"], "bullet_id": 1}', "unknown_coverage", id="list"),
    ],
)
def test_an_unreadable_reply_is_a_failure_and_never_a_label(reply: str, failure: str) -> None:
    """A reply read as an answer that it does not give becomes a score."""
    assert parse_coverage(reply, n_bullets=3) == unread(failure)


@pytest.mark.parametrize(
    ("bullet_id", "link_failure"),
    [
        ('"NA"', "bullet_id_na"),
        ("[1, 2]", "bullet_id_list"),
        ('"1 and 2"', "bullet_id_not_integer"),
        ("0", "bullet_id_out_of_range"),
        ("-1", "bullet_id_out_of_range"),
        ("4", "bullet_id_out_of_range"),
        ('"4"', "bullet_id_out_of_range"),
        ('"-1"', "bullet_id_not_integer"),
        ("1.5", "bullet_id_not_integer"),
        ("1e400", "bullet_id_not_integer"),
        ('"n/a"', "bullet_id_na"),
        ("true", "bullet_id_not_integer"),
        ("null", "bullet_id_na"),
        ("NaN", "bullet_id_not_integer"),
    ],
)
def test_coverage_without_a_bullet_stays_coverage_without_a_link(bullet_id: str, link_failure: str) -> None:
    """SummHay's released code scores the citations of the last but one bullet here."""
    reply = f'{{"coverage": "PARTIAL_COVERAGE", "bullet_id": {bullet_id}}}'
    assert parse_coverage(reply, n_bullets=3) == Verdict("partial", None, link_failure=link_failure)


@settings(deadline=None)
@given(
    label=st.sampled_from(["FULL_COVERAGE", "PARTIAL_COVERAGE", "NO_COVERAGE"]),
    bullet_id=st.one_of(st.integers(), st.text(), st.none(), st.booleans(), st.floats(), st.lists(st.integers())),
    n_bullets=st.integers(0, 20),
)
def test_a_linked_unit_is_always_a_bullet_that_exists(label: str, bullet_id: object, n_bullets: int) -> None:
    verdict = parse_coverage(json.dumps({"coverage": label, "bullet_id": bullet_id}), n_bullets)
    assert verdict.failure is None
    assert verdict.linked_unit is None or 0 <= verdict.linked_unit < n_bullets
    assert verdict.link_failure is None or verdict.linked_unit is None
    assert (verdict.linked_unit is None and verdict.link_failure is None) == (verdict.answer == "none")


@settings(deadline=None)
@given(st.text())
def test_any_text_gives_a_verdict_or_a_reason(reply: str) -> None:
    verdict = parse_coverage(reply, n_bullets=5)
    assert (verdict.answer is None) == (verdict.failure is not None)


def test_bullets_are_shown_as_json_numbered_from_1() -> None:
    shown = json.loads(numbered_bullets(['say "a"', "b [1][2]"]))
    assert shown == {"bullets": [{"bullet_id": 1, "text": 'say "a"'}, {"bullet_id": 2, "text": "b [1][2]"}]}
