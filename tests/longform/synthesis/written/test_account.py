"""The account of a haystack, worked by hand; and rows that cannot be told apart."""

from __future__ import annotations

import pytest

from longform.errors import LongformError
from longform.keys import content_key
from longform.synthesis.asking import Log
from longform.synthesis.tables import check_rows, exhausted_rows
from longform.synthesis.written.account import (
    Writing,
    haystack_account,
    haystack_name,
    haystack_rows,
    readable_id,
)
from longform.synthesis.written.documents import Draft
from longform.synthesis.written.outline import Outline, OutlinedSubtopic
from longform.synthesis.written.replies import CHECKS
from tests.longform.synthesis.synthesizing import NEWS, TALK

OUTLINE = Outline(
    subtopics=(
        OutlinedSubtopic(name="Trams", description="d", query="Trams?", insights=("Trams ran 7 km.", "Trams cost 5.")),
        OutlinedSubtopic(name="Parks", description="d", query="Parks?", insights=("Parks have 9 gates.",)),
    )
)
DRAFTS = (
    Draft(title="A", text="one two", stated=(0, 2), reread=(0, 1)),  # 2 missing and 1 extra, read again
    Draft(title="B", text="one two three four", stated=(1,), unchecked=(1, 2), reread=(1,)),
    Draft(title="C", text="five six seven", stated=(0,)),  # not read again
    Draft(),
)
WRITTEN = Writing(haystack_id="h", topic=NEWS, outline=OUTLINE, assigned=[(0, 2), (0, 2), (0,), (1,)], drafts=DRAFTS)


def test_an_account_worked_by_hand() -> None:
    found = haystack_account(WRITTEN, least_documents=2)
    assert (found["subtopics"], found["insights"]) == (2, 3)
    assert (found["documents"], found["documents_not_written"], found["mean_words"]) == (3, 1, (2 + 4 + 3) / 3)
    assert found["assigned_but_not_stated"] == 0 + 2 + 0 + 1
    assert found["stated_but_not_assigned"] == 1
    assert found["unchecked_cells"] == 2
    assert found["insights_below_least_documents"] == [
        {"insight": "Trams cost 5.", "documents": 1},
        {"insight": "Parks have 9 gates.", "documents": 1},
    ]
    again = found["read_again"]
    assert (again["documents"], again["cells"], again["missing"], again["extra"]) == (2, 6, 1, 1)
    assert again["differing_share"] == 2 / 6
    assert again["differing_low"] == 0  # of two documents one may be drawn twice: wider than 2 of 6 would have it
    assert again["differing_high"] == pytest.approx(0.7772, abs=1e-4)  # Clopper and Pearson, 2 of 6


def test_nothing_read_again_is_no_noise_that_is_known() -> None:
    silent = Writing(haystack_id="h", topic=NEWS, outline=OUTLINE, assigned=[()], drafts=[Draft()])
    assert haystack_account(silent, least_documents=1)["read_again"]["differing_share"] is None
    assert haystack_account(silent, least_documents=1)["mean_words"] is None


def test_rows_hold_what_was_written_and_close_the_gap_that_is_missing() -> None:
    rows = haystack_rows(WRITTEN)
    assert [document.doc_index for document in rows.documents] == [0, 1, 2]
    texts = {document.doc_id: document.text for document in rows.documents}
    facts = {target.target_id: target.text for target in rows.targets}
    assert [(texts[qrel.doc_id], facts[qrel.target_id or ""]) for qrel in rows.qrels] == [
        ("one two", "Trams ran 7 km."),
        ("one two", "Parks have 9 gates."),
        ("one two three four", "Trams cost 5."),
        ("five six seven", "Trams ran 7 km."),
    ]
    assert {qrel.query_id for qrel in rows.qrels} == {query.query_id for query in rows.queries}


def test_two_equal_documents_are_refused() -> None:
    """One id for two rows would make the second one's citations the first one's."""
    twice = Writing(haystack_id="h", topic=NEWS, outline=OUTLINE, assigned=[(0,)] * 2, drafts=[DRAFTS[0]] * 2)
    with pytest.raises(LongformError, match="two documents are the same"):
        haystack_rows(twice)


def test_counts_and_what_was_given_up() -> None:
    log = Log()
    log.decide("article leaks", "document 1", "states insight 2", "call 1")
    log.decide("article leaks", "document 1", "states insight 2", "call 2", last=True)
    log.accept("article leaks", "document 2", "call 3")
    (row,) = (row for row in check_rows(log.attempts, CHECKS) if row["check"] == "article leaks")
    assert (row["attempts"], row["accepted"], row["rejected"], row["exhausted"]) == (3, 1, 1, 1)
    (given_up,) = exhausted_rows("h", log.attempts)
    assert (given_up["subject"], given_up["attempt"], given_up["reason"]) == ("document 1", 2, "states insight 2")


def test_a_name_is_short_and_safe_in_a_path() -> None:
    assert haystack_name(TALK) == "three-clerks-prepare-a-report"
    assert haystack_name(TALK.model_copy(update={"scenario": "Ä/b — c " * 20})).startswith("ä-b-c-ä-b")
    assert len(haystack_name(TALK.model_copy(update={"scenario": "long " * 20}))) <= 40


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        pytest.param("a" * 19 + " " + "b" * 18 + " more", "a" * 19 + "-" + "b" * 18, id="in-a-word"),
        pytest.param("a" * 19 + " " + "b" * 20 + " more", "a" * 19 + "-" + "b" * 20, id="at-its-end"),
        pytest.param("a" * 19 + " " + "b" * 21, "a" * 19, id="one-letter-over"),
        pytest.param("a" * 45 + " b", "a" * 40, id="no-word-fits"),
        pytest.param("...", "", id="no-letters"),
    ],
)
def test_a_long_name_is_cut_between_words(scenario: str, name: str) -> None:
    assert haystack_name(TALK.model_copy(update={"scenario": scenario})) == name


def test_names_that_are_cut_to_the_same_words_have_two_ids() -> None:
    """Two haystacks of one id would be one, and the second is refused when all is paid."""
    long = "Three clerks prepare a report on the harbour"
    topics = [TALK.model_copy(update={"scenario": f"{long} {end}"}) for end in ("in May", "in June")]
    ids = [readable_id(topic, content_key(topic.name)) for topic in topics]
    assert haystack_name(topics[0]) == haystack_name(topics[1]) == "three-clerks-prepare-a-report-on-the"
    assert len(set(ids)) == 2
    assert all(one.startswith("three-clerks-prepare-a-report-on-the-") for one in ids)
    assert readable_id(TALK.model_copy(update={"scenario": "..."}), "0123456789") == "01234567"
