"""Outlines: what is asked, what is accepted, and where loops end. Replies are told, so that each case is one fault."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.synthesis.asking import Log
from longform.synthesis.written.insights import OutlineJob, is_specific, write_insights
from longform.synthesis.written.outline import plain_query, write_outline, write_queries, write_subtopics
from longform.synthesis.written.replies import NamedSubtopic
from longform.synthesis.written.settings import Sizes
from tests.longform.synthesis.synthesizing import CAPS, NEWS, SIZES, TALK, Scripted, Told

TRAMS, PARKS, SCHOOLS = (
    NamedSubtopic(name=name, description=f"All on {name}") for name in ("Trams", "Parks", "Schools")
)


def subtopics(*names: str) -> str:
    return json.dumps({"subtopics": [{"name": name, "description": f"All on {name}"} for name in names]})


def insights(*texts: str) -> str:
    return json.dumps({"insights": texts})


def pairs(*found: tuple[int, int]) -> str:
    return json.dumps({"pairs": [{"number": number, "repeats": repeats} for number, repeats in found]})


def category(number: int) -> str:
    return json.dumps({"subtopic": number})


def sizes(**changes: int) -> Sizes:
    return Sizes.model_validate(SIZES.model_dump() | changes)


def job(topic: Any = NEWS, **changes: int) -> OutlineJob:
    return OutlineJob(topic=topic, sizes=sizes(**changes), caps=CAPS)


def verdicts(log: Log, check: str) -> list[tuple[str, str]]:
    return [(attempt.subject, attempt.verdict) for attempt in log.attempts if attempt.check == check]


# ---------------------------------------------------------------- subtopics


def test_in_news_an_overlapping_subtopic_is_removed_and_another_asked_for() -> None:
    told = Told(
        subtopics=[subtopics("Trams", "Parks", "Trams again"), subtopics("Schools")], overlaps=[pairs((3, 1)), pairs()]
    )
    log = Log()
    found = told.run(write_subtopics(job(subtopics=3), log))

    assert found == [TRAMS, PARKS, SCHOOLS]
    again = told.asks[2]
    assert again.prompt == "synthesize_subtopics"
    assert (again.fields["n_subtopics"], again.temperature) == ("1", None)
    assert [item["name"] for item in json.loads(again.fields["kept"])] == ["Trams", "Parks"]
    assert verdicts(log, "subtopic distinct")[2] == ("Trams again", "rejected")


def test_in_conversations_the_list_is_asked_for_anew_at_temperature_1_until_it_is_distinct() -> None:
    told = Told(
        subtopics=[subtopics("Trams", "Trams again"), subtopics("Parks", "Schools")], overlaps=[pairs((2, 1)), pairs()]
    )
    assert told.run(write_subtopics(job(TALK, subtopics=2), Log())) == [PARKS, SCHOOLS]
    asks = [ask for ask in told.asks if ask.prompt == "synthesize_subtopics"]
    assert [(ask.fields["n_subtopics"], ask.temperature) for ask in asks] == [("2", None), ("2", 1.0)]


@pytest.mark.parametrize("topic", [NEWS, TALK])
def test_lists_of_subtopics_end_at_their_cap_with_what_was_distinct(topic: Any) -> None:
    told = Told(subtopics=[subtopics("Trams", "Parks")], overlaps=[pairs((2, 1))])
    log = Log()
    assert told.run(write_subtopics(job(topic, subtopics=2), log))[0] == TRAMS
    lists = verdicts(log, "subtopics complete")
    assert [verdict for _, verdict in lists] == ["rejected"] * (CAPS.subtopics - 1) + ["exhausted"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param("Certainly! Trams, parks.", "invalid_json", id="prose"),
        pytest.param('{"subtopics": ["Trams"]}', "wrong_form", id="other-form"),
        pytest.param("!refusal", "refusal", id="refusal"),
        pytest.param("!empty_reply", "empty_reply", id="empty"),
    ],
)
def test_a_reply_that_is_no_list_is_a_rejected_attempt_and_the_next_prompt_says_why(reply: str, reason: str) -> None:
    told = Told(subtopics=[reply, subtopics("Trams")], overlaps=[pairs()])
    log = Log()
    assert told.run(write_subtopics(job(subtopics=1), log)) == [TRAMS]
    assert [(attempt.verdict, attempt.reason) for attempt in log.attempts[:1]] == [("rejected", reason)]
    assert reason in told.asks[1].fields["notes"]


def test_a_verifier_that_cannot_be_read_accepts_nothing() -> None:
    """Silence is no verdict: what nobody checked is not taken for distinct."""
    told = Told(subtopics=[subtopics("Trams")], overlaps=["No idea"])
    log = Log()
    assert told.run(write_subtopics(job(subtopics=1), log)) == []
    asked = sum(ask.prompt == "synthesize_overlaps" for ask in told.asks)
    assert asked == CAPS.subtopics * CAPS.replies
    assert [verdict for _, verdict in verdicts(log, "subtopic distinct")].count("exhausted") == CAPS.subtopics


def test_a_pair_of_numbers_that_are_not_in_the_list_is_no_answer() -> None:
    told = Told(subtopics=[subtopics("Trams")], overlaps=[pairs((7, 1)), pairs()])
    log = Log()
    assert told.run(write_subtopics(job(subtopics=1), log)) == [TRAMS]
    assert [a.reason for a in log.attempts if a.check == "subtopic distinct"] == ["unverified: no_such_number", None]


# ---------------------------------------------------------------- insights


@pytest.mark.parametrize(
    ("insight", "specific"),
    [
        ("The tram carried 4,000 people.", True),
        ("The line opens in May.", True),
        ("The line was drawn by Ada Brook.", True),
        ("A student explains the “Pomodoro” technique.", True),
        ("People like the tram.", False),
        ("She said that I should wait.", False),
    ],
)
def test_an_insight_names_a_number_a_date_or_an_entity(insight: str, specific: bool) -> None:
    assert is_specific(insight) is specific


def insights_of(told: Told, topic: Any = NEWS, *, n: int = 1, withheld: int = 0) -> tuple[list[list[str]], Log]:
    log = Log()
    sizes = SIZES.model_copy(update={"insights": n})
    job = OutlineJob(topic=topic, sizes=sizes, caps=CAPS, withheld=withheld)
    return told.run(write_insights([TRAMS, PARKS], job, log)), log


def test_vague_repeated_and_misplaced_insights_are_rejected_and_the_planner_is_told() -> None:
    told = Told(
        insights=[
            insights("Trams ran 7 km.", "They ran."),
            insights("Trams ran 7 km again."),
            insights("Parks cost 9 euros.", "9 trams."),
        ],
        duplicates=[pairs((2, 1)), pairs()],
        categorize=[category(1), category(2), category(1)],
    )
    found, log = insights_of(told, n=2)
    assert verdicts(log, "insight specific")[1] == ("They ran.", "rejected")
    assert verdicts(log, "insight distinct")[1] == ("Trams ran 7 km again.", "rejected")
    assert ("9 trams.", "accepted") not in verdicts(log, "insight categorised")
    assert found[0][0] == "Trams ran 7 km."
    first, *_, last = (ask for ask in told.asks if ask.prompt == "synthesize_insights")
    assert first.fields["notes"] == ""
    assert "belongs to" in last.fields["notes"] or "says again" in last.fields["notes"]


def test_an_insight_of_no_subtopic_is_dropped() -> None:
    told = Told(insights=[insights("Trams ran 7 km.")], duplicates=[pairs()], categorize=[category(0)])
    found, log = insights_of(told)
    assert found == [[], []]
    assert {attempt.reason for attempt in log.attempts if attempt.check == "insight categorised"} == {
        "belongs to no subtopic"
    }


def test_lists_of_insights_end_at_their_cap() -> None:
    told = Told(insights=[insights("People talked.")])
    _, log = insights_of(told)
    assert len(told.asks) == 2 * CAPS.insights
    lists = verdicts(log, "insights complete")
    assert [verdict for subject, verdict in lists if subject == "Parks"][-1] == "exhausted"


@pytest.mark.parametrize(("topic", "withheld", "shown"), [(NEWS, 0, 0), (TALK, 0, 1), (TALK, 1, 0)])
def test_conversations_are_shown_the_facts_of_other_subtopics_but_those_withheld(
    topic: Any, withheld: int, shown: int
) -> None:
    """News asks all subtopics at once (appendix A.1.2); conversations one after the other, with exclusions."""
    told = Told(
        insights=[insights("Trams ran 7 km."), insights("Parks cost 9 euros.")],
        duplicates=[pairs()],
        categorize=[category(1), category(2)],
    )
    found, _ = insights_of(told, topic, withheld=withheld)
    assert found == [["Trams ran 7 km."], ["Parks cost 9 euros."]]
    second = [ask for ask in told.asks if ask.prompt == "synthesize_insights"][1]
    (other,) = json.loads(second.fields["others"])
    assert (other["name"], len(other["facts"])) == ("Trams", shown)


def test_a_subtopic_with_too_few_insights_is_dropped_and_said_to_be_exhausted() -> None:
    scripted = Scripted(writer="scripted-writer:seed=1,vague=1")
    log = Log()
    outline = scripted.run(write_outline(job(), log))
    assert outline.subtopics == ()
    assert [verdict for _, verdict in verdicts(log, "subtopic expandable")] == ["exhausted"] * SIZES.subtopics


# ---------------------------------------------------------------- queries


def test_a_query_that_asks_for_another_subtopic_is_written_again() -> None:
    told = Told(
        query=['{"query": "What of parks?"}', '{"query": "Tell me"}', '{"query": "What of trams?"}'],
        categorize=[category(0), category(1)],
    )
    log = Log()
    assert told.run(write_queries([TRAMS], job(), log)) == ["What of trams?"]
    assert [attempt.verdict for attempt in log.attempts] == ["rejected", "rejected", "accepted"]
    assert log.attempts[1].reason == "no_question"


def test_where_no_query_is_accepted_a_plain_one_stands_and_the_log_says_so() -> None:
    told = Told(query=["!refusal"])
    log = Log()
    assert told.run(write_queries([TRAMS], job(), log)) == [plain_query(TRAMS)]
    assert verdicts(log, "query on subtopic")[-1] == ("Trams", "exhausted")
    assert len(told.asks) == CAPS.queries
