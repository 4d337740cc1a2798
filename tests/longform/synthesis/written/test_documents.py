"""Documents: the two loops of edits, chapters, and a gold map that says what the verifier last said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from longform.synthesis.asking import Log
from longform.synthesis.written.documents import Brief, Draft, write_document
from longform.synthesis.written.outline import Outline, OutlinedSubtopic
from tests.longform.synthesis.synthesizing import CAPS, NEWS, TALK, Told

OUTLINE = Outline(
    subtopics=(
        OutlinedSubtopic(
            name="Trams", description="All on trams", query="Trams?", insights=("Trams ran 7 km.", "Trams cost 5.")
        ),
        OutlinedSubtopic(name="Parks", description="All on parks", query="Parks?", insights=("Parks have 9 gates.",)),
    )
)
BRIEF = Brief(
    topic=NEWS, outline=OUTLINE, assigned=(2, 0), doc_index=3, n_documents=9, words=100, caps=CAPS, reread=False
)


def article(text: str) -> str:
    return json.dumps({"title": "T", "text": text})


def present(*numbers: int) -> str:
    return json.dumps({"present": numbers})


def classified(subtopic: int, *insights: int) -> str:
    return json.dumps({"subtopic": subtopic, "insights": insights})


def written(told: Told, **changes: Any) -> tuple[Draft, Log]:
    log = Log()
    return told.run(write_document(replace(BRIEF, **changes), log)), log


def verdicts(log: Log, check: str) -> list[str]:
    return [attempt.verdict for attempt in log.attempts if attempt.check == check]


def test_a_clean_article_is_checked_twice_and_edited_never() -> None:
    told = Told(article=[article("A")], find=[present(), present(1, 2)])
    draft, _ = written(told)
    assert (draft.title, draft.text, draft.stated) == ("T", "A", (0, 2))
    assert [ask.prompt for ask in told.asks] == ["synthesize_article", "synthesize_find", "synthesize_find"]
    leaks, omissions = ([item["fact"] for item in json.loads(ask.fields["insights"])] for ask in told.asks[1:])
    assert leaks == ["Trams cost 5."]
    assert omissions == ["Parks have 9 gates.", "Trams ran 7 km."]


def test_what_leaked_is_taken_out_and_what_is_missing_put_in() -> None:
    told = Told(
        article=[article("A")],
        remove=[article("B")],
        add=[article("C")],
        find=[present(1), present(), present(2), present(1, 2), present()],
    )
    draft, log = written(told)
    assert (draft.text, draft.stated) == ("C", (0, 2))
    removing, adding = (next(a for a in told.asks if a.prompt == f"synthesize_{edit}") for edit in ("remove", "add"))
    assert (removing.fields["text"], "Trams cost 5." in removing.fields["insights"]) == ("A", True)
    assert (adding.fields["text"], "Parks have 9 gates." in adding.fields["insights"]) == ("B", True)
    assert verdicts(log, "article leaks") == ["rejected", "accepted"]
    assert verdicts(log, "article omissions") == ["rejected", "accepted"]


def test_loops_end_after_five_edits_and_the_gold_map_says_what_is_there() -> None:
    """A leak that stays is gold, and an insight that never came is not: the map follows the text, not the plan."""
    n_checks = CAPS.edits + 1
    told = Told(
        article=[article("A")],
        remove=[article("B")],
        add=[article("B")],
        find=[present(1)] * n_checks + [present(1)] * n_checks,
    )
    draft, log = written(told)
    assert verdicts(log, "article leaks") == ["rejected"] * CAPS.edits + ["exhausted"]
    assert verdicts(log, "article omissions") == ["rejected"] * CAPS.edits + ["exhausted"]
    assert [sum(ask.prompt == f"synthesize_{edit}" for ask in told.asks) for edit in ("remove", "add")] == [5, 5]
    assert draft.stated == (1, 2)  # 1 leaked and stayed; of the assigned 2 and 0, only the first was ever found


def test_what_leaks_in_with_an_addition_is_gold_too() -> None:
    told = Told(
        article=[article("A")],
        add=[article("B")],
        find=[present(), present(1), present(1, 2), present(1)],
    )
    draft, log = written(told)
    assert draft.stated == (0, 1, 2)
    assert verdicts(log, "article leaks after additions") == ["exhausted"]


def test_after_an_edit_that_changed_nothing_the_verifier_is_asked_anew() -> None:
    """The same question would be answered from the ledger: one wrong verdict would stand till the cap."""
    told = Told(article=[article("A")], remove=[article("A")], find=[present(1), present(), present(1, 2)])
    written(told)
    first, second, _ = (ask.fields for ask in told.asks if ask.prompt == "synthesize_find")
    assert (first["text"], first["insights"]) == (second["text"], second["insights"])
    assert first != second


@pytest.mark.parametrize("reply", ["!refusal", '{"title": "T", "text": ""}'])
def test_an_article_that_never_comes_is_a_document_that_is_missing(reply: str) -> None:
    draft, log = written(Told(article=[reply]))
    assert draft == Draft()
    assert verdicts(log, "article written") == ["rejected"] * (CAPS.replies - 1) + ["exhausted"]


def test_an_edit_that_cannot_be_read_costs_an_edit_and_keeps_the_text() -> None:
    told = Told(
        article=[article("A")], remove=["Sorry", article("B")], find=[present(1), present(1), present(), present(1, 2)]
    )
    draft, log = written(told)
    assert draft.text == "B"
    assert verdicts(log, "article written") == ["accepted", "rejected", "accepted"]


def test_insights_on_which_the_verifier_cannot_be_read_stand_as_assigned_and_are_marked() -> None:
    draft, log = written(Told(article=[article("A")], find=["Sorry"]))
    assert (draft.stated, draft.unchecked) == ((0, 2), (0, 1, 2))
    assert verdicts(log, "article leaks") == ["rejected"] * (CAPS.replies - 1) + ["exhausted"]


def test_a_second_reading_is_kept_and_changes_nothing() -> None:
    told = Told(article=[article("A")], find=[present(), present(1, 2), present(1, 2)])
    draft, log = written(told, reread=True)
    assert [item["fact"] for item in json.loads(told.asks[-1].fields["insights"])] == [
        "Parks have 9 gates.",
        "Trams cost 5.",
        "Trams ran 7 km.",
    ]
    assert (draft.stated, draft.reread) == ((0, 2), (1, 2))
    assert verdicts(log, "document read again") == ["rejected"]


# ---------------------------------------------------------------- conversations


def test_a_chapter_is_written_again_until_it_states_its_insight_and_nothing_else() -> None:
    told = Told(
        chapter=[
            '{"text": "one"}',
            "Sorry",
            '{"text": "two"}',
            '{"text": "three"}',
            '{"text": "four"}',
            '{"text": "five"}',
        ],
        classify=[classified(2), classified(2, 3, 1), classified(1, 3), classified(2, 3), classified(1, 1)],
    )
    draft, log = written(told, topic=TALK)
    assert (draft.title, draft.text, draft.stated) == (None, "four\n\nfive", (0, 2))
    reasons = [attempt.reason for attempt in log.attempts]
    assert reasons == ["lacks insight 3", "invalid_json", "states insight 1", "is about subtopic 1", None, None]
    last = [ask for ask in told.asks if ask.prompt == "synthesize_chapter"][-1]
    assert (last.fields["before"], last.fields["n_words"]) == ("four", "50")


def test_an_insight_whose_chapter_is_never_accepted_is_left_out_and_reported() -> None:
    told = Told(chapter=['{"text": "one"}'], classify=[classified(1, 1)])
    draft, log = written(told, topic=TALK)
    assert (draft.text, draft.stated) == ("one", (0,))
    assert verdicts(log, "chapter classified") == ["rejected"] * (CAPS.chapters - 1) + ["exhausted", "accepted"]


def test_a_chapter_that_nobody_could_classify_is_not_accepted() -> None:
    draft, log = written(Told(chapter=['{"text": "one"}'], classify=["Sorry"]), topic=TALK, assigned=(0,))
    assert draft == Draft()
    assert len(verdicts(log, "chapter classified")) == CAPS.chapters * CAPS.replies
    assert verdicts(log, "chapter classified").count("exhausted") == 1


def test_no_two_documents_are_asked_for_in_the_same_words() -> None:
    """Equal questions are one call: two documents of the same insights would be the same text."""
    found = []
    for index in (0, len(OUTLINE.facts)):
        told = Told(article=[article("A")], find=[present(), present(1, 2)])
        written(told, doc_index=index)
        found.append(told.asks[0])
    assert found[0] != found[1]
