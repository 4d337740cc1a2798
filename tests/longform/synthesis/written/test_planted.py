"""
The checks of a synthesis, measured: a scripted writer plants faults that are known exactly, a scripted verifier errs.

Whether a check was right is decided by what the writer says it planted, and by a search for the planted sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pytest

from actors.synthesis.scripted import scripted_faults
from actors.synthesis.scripted_writer import WriterFaults, write
from longform.synthesis.asking import Log
from longform.synthesis.tables import check_rows, exhausted_rows
from longform.synthesis.written.account import Writing, haystack_account, haystack_rows
from longform.synthesis.written.documents import Brief, write_document
from longform.synthesis.written.insights import OutlineJob
from longform.synthesis.written.outline import write_outline
from longform.synthesis.written.replies import CHECKS
from longform.synthesis.written.settings import assignment
from tests.longform.synthesis.synthesizing import CAPS, NEWS, SIZES, TALK, Scripted

FAULTY = (
    "scripted-writer:seed=4,leaks=0.3,omissions=0.2,duplicates=0.2,strays=0.15,vague=0.1,"
    "invalid_json=0.05,refusals=0.05"
)
TOPICS = {"news": NEWS, "conversation": TALK}
N_DOCUMENTS, N_OUTLINES = 60, 16


class Made(NamedTuple):
    """A haystack, the log of its making, and who was asked what."""

    written: Writing
    log: Log
    scripted: Scripted

    @property
    def exact(self) -> list[set[int]]:
        """For each document the insights whose sentence is in it."""
        return [self.stated(draft.text or "") for draft in self.written.drafts]

    def stated(self, text: str) -> set[int]:
        return {place for place, fact in enumerate(self.written.outline.facts) if fact.text in text}


@cache
def made(
    domain: str, writer: str, verifier: str = "scripted-verifier:seed=5", *, n_documents: int = N_DOCUMENTS
) -> Made:
    topic, scripted, log = TOPICS[domain], Scripted(writer, verifier), Log()
    sizes = SIZES.model_copy(update={"documents": N_DOCUMENTS})
    outline = scripted.run(write_outline(OutlineJob(topic=topic, sizes=sizes, caps=CAPS), log))
    n_insights = [len(subtopic.insights) for subtopic in outline.subtopics]
    starts = [0, *accumulate(n_insights)]
    dealt = assignment(sizes, n_insights, np.random.default_rng(0))[:n_documents]
    assigned = [tuple(starts[subtopic] + place for subtopic, place in places) for places in dealt]
    drafts = [
        scripted.run(
            write_document(
                Brief(
                    topic=topic,
                    outline=outline,
                    assigned=places,
                    doc_index=index,
                    n_documents=N_DOCUMENTS,
                    words=SIZES.words,
                    caps=CAPS,
                    reread=True,
                ),
                log,
            )
        )
        for index, places in enumerate(assigned)
    ]
    return Made(Writing(haystack_id="h", topic=topic, outline=outline, assigned=assigned, drafts=drafts), log, scripted)


def planted(made: Made, prompt: str, kind: str) -> set[str]:
    """Return the writer's planted faults of a *kind*, found again from its seed and the prompts alone."""
    faults = scripted_faults(made.scripted.writer)
    assert isinstance(faults, WriterFaults)
    replies = [write(text, faults) for ask, text, _ in made.scripted.said if ask.prompt == f"synthesize_{prompt}"]
    return {what for reply in replies if reply for found, what in reply.faults if found == kind}


def is_faulty(made: Made, check: str) -> Callable[[Any], bool]:
    """Return a function that tells whether the subject of an attempt of *check* is truly wrong."""
    asks = {reply.call_id: ask for ask, _, reply in made.scripted.said}
    of_items = {
        "subtopic distinct": ("subtopics", "duplicates"),
        "insight specific": ("insights", "vague"),
        "insight distinct": ("insights", "duplicates"),
        "insight categorised": ("insights", "strays"),
    }
    if check in of_items:
        wrong = planted(made, *of_items[check])
        return lambda attempt: attempt.subject in wrong

    def of_text(attempt: Any) -> bool:
        fields = asks[attempt.call_id].fields
        if check == "chapter classified":
            own = int(attempt.subject.rpartition(" ")[2]) - 1
            return made.stated(fields["chapter"]) != {own}
        shown = {place for place, fact in enumerate(made.written.outline.facts) if fact.text in fields["insights"]}
        there = made.stated(fields["text"])
        return bool(shown & there) if check == "article leaks" else bool(shown - there)

    return of_text


class Measured(NamedTuple):
    recall: float  # of what was wrong, the share that was rejected
    precision: float  # of what was rejected, the share that was wrong
    n_wrong: int


def measured(check: str, *makings: Made) -> Measured:
    """A check over several haystacks; attempts that failed for their form say nothing of it."""
    wrong, rejected = [], []
    for made in makings:
        faulty = is_faulty(made, check)
        attempts = [a for a in made.log.attempts if a.check == check and not (a.reason or "").startswith(OF_FORM)]
        wrong += [faulty(attempt) for attempt in attempts]
        rejected += [attempt.verdict != "accepted" for attempt in attempts]
    both = sum(w and r for w, r in zip(wrong, rejected, strict=True))
    return Measured(both / sum(wrong), both / sum(rejected), sum(wrong))


OF_FORM = ("unverified", "invalid_json", "refusal", "wrong_form")
OF_OUTLINES = ("subtopic distinct", "insight specific", "insight distinct", "insight categorised")
OF_DOCUMENTS = {"news": ("article leaks", "article omissions"), "conversation": ("chapter classified",)}
ITEMS = [(domain, check) for domain in TOPICS for check in OF_OUTLINES]
TEXTS = [(domain, check) for domain, checks in OF_DOCUMENTS.items() for check in checks]
ERRING = "scripted-verifier:seed=5,errors=0.05"


def outlines(domain: str, verifier: str) -> list[Made]:
    return [
        made(domain, FAULTY.replace("seed=4", f"seed={seed}"), verifier, n_documents=0) for seed in range(N_OUTLINES)
    ]


@pytest.mark.parametrize(("domain", "check"), ITEMS)
def test_a_right_verifier_finds_all_that_was_planted_in_outlines_and_nothing_else(domain: str, check: str) -> None:
    recall, precision, n = measured(check, *outlines(domain, "scripted-verifier"))
    assert n >= 5
    assert (recall, precision) == (1, 1)


@pytest.mark.parametrize(("domain", "check"), TEXTS)
def test_a_right_verifier_finds_all_that_was_planted_in_documents_and_nothing_else(domain: str, check: str) -> None:
    recall, precision, n = measured(check, made(domain, FAULTY))
    assert n > 20
    assert (recall, precision) == (1, 1)


@pytest.mark.parametrize(("domain", "check"), TEXTS)
def test_a_verifier_that_errs_in_5_of_100_replies_misses_about_as_much(domain: str, check: str) -> None:
    recall, precision, n = measured(check, made(domain, FAULTY, ERRING))
    assert n > 20
    assert 0.85 < recall <= 1
    assert 0.7 < precision < 1


def test_an_erring_verifier_costs_the_checks_of_insights_what_it_errs() -> None:
    """One reply sorts one insight: 5 % of replies are 5 % of verdicts, most of them on insights that were right."""
    recall, precision, n = measured("insight categorised", *outlines("news", ERRING))
    assert n > 20
    assert 0.85 < recall <= 1
    assert 0.6 < precision < 1


@pytest.mark.parametrize("domain", TOPICS)
def test_the_gold_map_is_what_a_search_for_the_sentences_finds(domain: str) -> None:
    found = made(domain, FAULTY)
    assert [set(draft.stated) for draft in found.written.drafts] == found.exact
    assert haystack_account(found.written, least_documents=5)["read_again"]["differing_share"] == 0
    rows = haystack_rows(found.written)
    texts, targets = ({row[0]: row.text for row in table} for table in (rows.documents, rows.targets))
    stated = {(qrel.doc_id, qrel.target_id) for qrel in rows.qrels}
    assert stated == {(doc, target) for doc, text in texts.items() for target, fact in targets.items() if fact in text}


@pytest.mark.parametrize("domain", TOPICS)
def test_the_noise_of_a_verifier_that_errs_is_reported(domain: str) -> None:
    """Five per cent of 60 second readings are wrong in one cell; a reading of a wrong first verdict differs as well."""
    found = made(domain, FAULTY, ERRING)
    account = haystack_account(found.written, least_documents=5)
    differing = account["read_again"]["missing"] + account["read_again"]["extra"]
    noise = sum(len(set(draft.stated) ^ exact) for draft, exact in zip(found.written.drafts, found.exact, strict=True))
    assert account["read_again"]["cells"] == N_DOCUMENTS * len(found.written.outline.facts)
    assert 0 < differing <= 12
    assert noise <= differing


def test_a_writer_that_never_takes_out_what_leaked_ends_at_the_cap_and_the_leaks_are_gold() -> None:
    found = made("news", "scripted-writer:seed=3,leaks=1")
    leaking = [attempt for attempt in found.log.attempts if attempt.check == "article leaks"]
    exhausted = [attempt for attempt in leaking if attempt.verdict == "exhausted"]
    assert len(exhausted) > N_DOCUMENTS / 2
    assert {attempt.number for attempt in exhausted} == {CAPS.edits + 1}
    assert len(exhausted_rows("h", found.log.attempts)) >= len(exhausted)
    assert [set(draft.stated) for draft in found.written.drafts] == found.exact
    account = haystack_account(found.written, least_documents=5)
    assert account["stated_but_not_assigned"] == sum(
        len(exact - set(assigned)) for exact, assigned in zip(found.exact, found.written.assigned, strict=True)
    )


@pytest.mark.parametrize(("domain", "cap"), [("news", CAPS.edits + 1), ("conversation", CAPS.chapters)])
def test_a_writer_that_leaves_everything_out_ends_at_the_cap_and_nothing_is_gold(domain: str, cap: int) -> None:
    found = made(domain, "scripted-writer:seed=3,omissions=1")
    check = "article omissions" if domain == "news" else "chapter classified"
    assert max(attempt.number for attempt in found.log.attempts if attempt.check == check) == cap
    assert all(draft.stated == () for draft in found.written.drafts)
    account = haystack_account(found.written, least_documents=5)
    assert len(account["insights_below_least_documents"]) == len(found.written.outline.facts)
    assert account["documents_not_written"] == (0 if domain == "news" else N_DOCUMENTS)


def test_attempts_add_up() -> None:
    found = made("news", FAULTY)
    rows = check_rows(found.log.attempts, CHECKS)
    assert all(row["attempts"] == row["accepted"] + row["rejected"] + row["exhausted"] for row in rows)
    assert sum(row["attempts"] for row in rows) == len(found.log.attempts)


def test_the_same_seed_gives_the_same_haystack_and_another_another() -> None:
    made.cache_clear()
    first, again, other = (made("news", f"scripted-writer:seed={seed}").written for seed in (3, 3, 4))
    assert first == again
    assert first.drafts != other.drafts
