"""Output of the synthesis commands: given-up items are named, and no share stands without its interval."""

from __future__ import annotations

from typing import Any

from jobs.synthesis.words import made_words, written_words
from longform.synthesis.written.account import told

HAYSTACK: dict[str, Any] = {
    "haystack_id": "docks-1",
    "documents": 14,
    "documents_not_written": 0,
    "subtopics": 4,
    "insights": 16,
    "insights_below_least_documents": [],
    "mean_words": 201.5,
    "known_without_documents": None,
    "assigned_but_not_stated": 0,
    "stated_but_not_assigned": 0,
    "unchecked_cells": 0,
    "read_again": {"differing_share": 0.0125, "differing_low": 0.004, "differing_high": 0.03},
}
SHORT = HAYSTACK | {"insights_below_least_documents": [{"insight": "i", "documents": 2}]}
CHECK = {
    "check": "article leaks",
    "accepted_if": "none is found",
    "attempts": 18,
    "accepted": 13,
    "rejected": 4,
    "exhausted": 1,
}
IDLE = CHECK | {"check": "chapter classified", "attempts": 0}
GIVEN_UP = {
    "haystack_id": "docks-1",
    "check": "article leaks",
    "subject": "document 3",
    "attempt": 6,
    "reason": "states insight 2",
}
ACCOUNT: dict[str, Any] = {"haystacks": [HAYSTACK], "checks": [CHECK, IDLE], "exhausted": []}
AUDIT: dict[str, Any] = {
    "judge": "support-words",
    "false_positives": {"value": 0.01, "low": 0.0, "high": 0.0431},
    "missed": {"value": 0.0, "low": 0.0, "high": 0.0131},
    "joint_ceiling": {"value": 99.0, "low": 96.57, "high": 100.0},
}


def made(account: Any, audit: Any = AUDIT) -> str:
    return made_words("made", account, told(account["haystacks"]), audit)


def test_every_share_has_its_interval_and_idle_checks_are_left_out() -> None:
    text = made(ACCOUNT)

    assert "nothing was given up\n" in text
    assert "1.25 % [0.40, 3.00]" in text
    assert "wrongly listed 1.0 % [0.0, 4.3], missed 0.0 % [0.0, 1.3]" in text
    assert "joint score: 99.0 [96.6, 100.0] of 100" in text
    assert "article leaks" in text
    assert "chapter classified" not in text


def test_what_was_given_up_is_named_and_counted_where_it_is_much() -> None:
    many = [GIVEN_UP | {"subject": f"document {number}"} for number in range(1, 24)]
    lines = made(ACCOUNT | {"exhausted": many}).splitlines()

    assert "given up: 23" in lines[0]
    assert any(line.split() == "document 3 article leaks docks-1 6 states insight 2".split() for line in lines)
    assert "3 more: synthesis.json, `exhausted`" in lines


def test_a_benchmark_that_is_short_says_why_the_command_ends_with_3() -> None:
    assert (told([SHORT]).is_short, told([HAYSTACK]).is_short) == (True, False)
    assert "short of what was asked for (exit code 3)" in made(ACCOUNT | {"haystacks": [SHORT]})


def test_what_is_not_known_is_said() -> None:
    nothing = {"differing_share": None, "differing_low": None, "differing_high": None}
    unknown = AUDIT | {"joint_ceiling": {"value": None, "low": None, "high": None, "reason": "no pair is listed"}}
    text = made(ACCOUNT | {"haystacks": [HAYSTACK | {"read_again": nothing}]}, unknown)

    assert "unknown: no pair is listed" in text
    assert any(line.split() == "docks-1 14 0 4 16 0 unknown".split() for line in text.splitlines())


# ---------------------------------------------------------------- by the grammar

MANIFEST: dict[str, Any] = {"n_haystacks": 2, "rows": {"documents": 1200, "queries": 4, "labels": 0}}
PROSE: dict[str, Any] = {
    "model": "small",
    "documents": 600,
    "by_model": 1,
    "in_part": 400,
    "by_template": 199,
    "passages": 1800,
    "kept": 500,
    "rejected": {"too_short": 3, "statement_lost": 40},
}


def test_what_a_model_wrote_is_counted_over_haystacks_with_reasons() -> None:
    haystacks = [{"prose": PROSE}, {"prose": PROSE | {"rejected": {"too_short": 1}}}]
    first, prose, rejected, *_, ceiling, _ = written_words(
        "made", MANIFEST, AUDIT | {"haystacks": haystacks}
    ).splitlines()

    assert first == "made: haystacks: 2; rows: 1,200 documents, 4 queries"
    assert prose.startswith(
        "prose by small: 1,000 of 3,600 passages; of 1,200 documents 2 are the model's, 800 in part"
    )
    assert rejected == "rejected replies: 44 (statement_lost 40, too_short 4)"
    assert ceiling == "ceiling on the joint score: 99.0 [96.6, 100.0] of 100"


def test_where_no_model_wrote_none_is_spoken_of() -> None:
    words = written_words("made", MANIFEST, AUDIT | {"haystacks": [{"prose": None}]})

    assert "prose" not in words
    assert len(words.splitlines()) == 4
