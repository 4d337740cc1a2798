"""Insights that an outsider tells without having seen a document."""

from __future__ import annotations

import pytest

from actors.synthesis.scripted_writer import WriterFaults, write
from longform.synthesis.asking import Log
from longform.synthesis.written.account import Writing, haystack_account
from longform.synthesis.written.insights import OutlineJob
from longform.synthesis.written.outline import Outline, OutlinedSubtopic, known_insights, write_outline
from tests.longform.synthesis.synthesizing import CAPS, NEWS, SIZES, Scripted, Told

WRITER = "scripted-writer:seed=6,knows=0.5"
OUTLINE = Outline(
    subtopics=(
        OutlinedSubtopic(name="Trams", description="d", query="Trams?", insights=("Trams ran 7 km.", "Trams cost 5.")),
        OutlinedSubtopic(name="Parks", description="d", query="Parks?", insights=("Parks have 9 gates.",)),
    )
)


def test_what_the_outsider_tells_is_found_exactly() -> None:
    scripted, log = Scripted(writer=WRITER), Log()
    outline = scripted.run(write_outline(OutlineJob(topic=NEWS, sizes=SIZES, caps=CAPS), Log()))
    known = scripted.run(known_insights(outline, NEWS, CAPS, log))
    faults = WriterFaults(seed=6, knows=0.5)
    replies = [write(prompt, faults) for ask, prompt, _ in scripted.said if ask.prompt == "synthesize_answer"]
    told = {what for reply in replies if reply for kind, what in reply.faults if kind == "knows"}
    assert [outline.facts[place].text for place in known] == [fact.text for fact in outline.facts if fact.text in told]
    assert 0 < len(known) < len(outline.facts) == len(log.attempts)
    assert sum(attempt.verdict == "rejected" for attempt in log.attempts) == len(known)


def test_it_is_told_the_query_and_no_fact() -> None:
    told = Told(answer=['{"facts": ["x"]}'], find=['{"present": []}'])
    assert told.run(known_insights(OUTLINE, NEWS, CAPS, Log())) == ()
    asks = [ask for ask in told.asks if ask.role == "outsider"]
    assert [ask.fields["query"] for ask in asks] == ["Trams?", "Parks?"]
    assert not any(fact.text in value for ask in asks for value in ask.fields.values() for fact in OUTLINE.facts)


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ({"answer": ["!refusal"], "find": ["{}"]}, "unanswered: refusal"),
        ({"answer": ['{"facts": ["x"]}'], "find": ['{"present": [3]}']}, "unverified: no_such_number"),
    ],
)
def test_no_answer_is_not_taken_for_ignorance(replies: dict[str, list[str]], reason: str) -> None:
    log = Log()
    assert Told(**replies).run(known_insights(OUTLINE, NEWS, CAPS, log)) == ()
    assert {attempt.subject for attempt in log.attempts} == {"Trams", "Parks"}
    last = [attempt for attempt in log.attempts if attempt.verdict == "exhausted"]
    assert [attempt.reason for attempt in last] == [reason] * 2


def test_the_account_names_them_and_says_nothing_where_nobody_was_asked() -> None:
    def told(known: tuple[int, ...] | None) -> object:
        outline = OUTLINE.model_copy(update={"known": known})
        written = Writing(haystack_id="h", topic=NEWS, outline=outline, assigned=[], drafts=[])
        return haystack_account(written, least_documents=0)["known_without_documents"]

    assert told((2,)) == ["Parks have 9 gates."]
    assert told(()) == []
    assert told(None) is None
