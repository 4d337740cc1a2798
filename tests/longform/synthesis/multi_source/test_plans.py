"""Rewriting and merging: each fault of a writer is caught by its check, and counted."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from longform.synthesis.asking import Log
from longform.synthesis.multi_source.plans import QueryCluster, merge_cluster, query_by_rules, rewrite_query
from longform.synthesis.multi_source.settings import ClusterSettings, MultiSourceCaps, RewriteSettings
from longform.synthesis.multi_source.sources import SourceQuery
from tests.longform.synthesis.synthesizing import Scripted, Told

CAPS = MultiSourceCaps(tries=2, replies=2)
STORY = "Ann went to sea. The captain buried the stolen golden compass beneath the old lighthouse stairs. It rained."
ANSWERS = ("The captain buried the stolen golden compass beneath the old lighthouse stairs.", "It was buried.")
QUERY = SourceQuery("q1", "What does the captain do?", ANSWERS)
GOOD = "What does the captain do in a tale of the sea?"
FINE = '{"same": true, "told": []}'
BY_WRITER = ClusterSettings(encoder="e", threshold=0.5, merge="writer")
CLUSTER = QueryCluster(
    "n:001",
    [
        SourceQuery("q1", "What was said of buttons?", ("Buttons were made of rubber, 12 in all.",)),
        SourceQuery("q2", "What was decided about the display?", ("The display was dropped to save money.",)),
    ],
)


def query(text: str) -> str:
    return json.dumps({"query": text})


def rewritten(said: Any, log: Log) -> str | None:
    return said.run(rewrite_query(QUERY, STORY, RewriteSettings(), CAPS, log))


def verdicts(log: Log) -> list[tuple[str, str]]:
    return [(one.check, one.verdict) for one in log.attempts if one.verdict != "accepted"]


def test_a_good_rewriting_passes_every_check_and_the_prompts_show_what_is_needed() -> None:
    log, told = Log(), Told(decontextualize=[query(GOOD)], check_rewrite=[FINE])

    assert rewritten(told, log) == GOOD
    assert verdicts(log) == []
    assert [one.check for one in log.attempts][-1] == "rewrite verified"
    writer, verifier = told.asks
    assert (writer.role, writer.fields["document"], writer.fields["query"]) == ("writer", STORY, QUERY.text)
    assert verifier.role == "verifier"
    assert all(answer in verifier.fields["answers"] for answer in ANSWERS)


@pytest.mark.parametrize(
    ("reply", "check", "reason"),
    [
        pytest.param("!refusal", "rewrite read", "refusal", id="refusal"),
        pytest.param("{", "rewrite read", "invalid_json", id="broken"),
        pytest.param(query(" "), "rewrite read", "wrong_form", id="empty"),
        pytest.param(query(f"{GOOD} It is a story."), "rewrite is one request", "found 2", id="two-sentences"),
        pytest.param(query(f"{GOOD[:-1]}."), "rewrite is one request", "question mark", id="prose"),
        pytest.param(query("What happens in a tale of the sea?"), "rewrite keeps the query", "captain", id="lost"),
        pytest.param(query(QUERY.text), "rewrite is brief", "nothing was added", id="nothing-added"),
        pytest.param(query(f"{GOOD[:-1]} {'far ' * 40}away?"), "rewrite is brief", "at most 30", id="long"),
        pytest.param(
            query("What does the captain do with the stolen golden compass?"),
            "rewrite tells no answer",
            "stolen golden compass",
            id="leak",
        ),
    ],
)
def test_what_a_rule_can_see_is_rejected_and_asked_for_again(reply: str, check: str, reason: str) -> None:
    log, told = Log(), Told(decontextualize=[reply, query(GOOD)], check_rewrite=[FINE])

    assert rewritten(told, log) == GOOD
    assert verdicts(log) == [(check, "rejected")]
    first, second = [ask for ask in told.asks if ask.role == "writer"]
    assert first.fields["notes"] == ""
    assert reason in second.fields["notes"]


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        pytest.param('{"same": false, "told": []}', "asks for something else", id="other"),
        pytest.param('{"same": true, "told": ["sea"]}', "tells of the answer: sea", id="leak"),
        pytest.param("well", "unverified: invalid_json", id="unreadable"),
    ],
)
def test_what_the_verifier_does_not_accept_is_given_up_at_the_cap(verdict: str, reason: str) -> None:
    log, told = Log(), Told(decontextualize=[query(GOOD)], check_rewrite=[verdict])

    assert rewritten(told, log) is None
    assert ("rewrite verified", "exhausted") in verdicts(log)
    assert log.attempts[-1].reason == reason


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("leaks", "rewrite tells no answer"),
        ("omissions", "rewrite keeps the query"),
        ("vague", "rewrite is one request"),
        ("empty", "rewrite read"),
        ("invalid_json", "rewrite read"),
        ("refusals", "rewrite read"),
    ],
)
def test_every_fault_of_the_scripted_writer_is_caught_and_none_is_seen_without(fault: str, check: str) -> None:
    clean, log = Log(), Log()

    assert rewritten(Scripted(), clean) is not None
    assert verdicts(clean) == []
    assert rewritten(Scripted(writer=f"scripted-writer:{fault}=1"), log) is None
    assert verdicts(log) == [(check, "rejected"), (check, "exhausted")]


# ---------------------------------------------------------------- merging


def merged(said: Any, log: Log, settings: ClusterSettings = BY_WRITER) -> Any:
    return said.run(merge_cluster(CLUSTER, settings, CAPS, log))


def test_rules_ask_nobody_list_the_queries_and_join_the_summaries() -> None:
    log = Log()
    found = merged(Told(), log, BY_WRITER.model_copy(update={"merge": "rules"}))

    assert found.query == (
        "Answer these together: (1) What was said of buttons? (2) What was decided about the display?"
    )
    assert found.summaries == ("Buttons were made of rubber, 12 in all.\n\nThe display was dropped to save money.",)
    assert (found.by_rules, log.attempts) == (0, [])
    assert query_by_rules(["Why?"]) == "Why?"


def test_each_reference_is_merged_as_far_as_all_queries_have_one() -> None:
    one, two = (SourceQuery(name, "Why?", answers) for name, answers in (("a", ("x", "y")), ("b", ("x", "z", "v"))))
    cluster = QueryCluster("c", [one, two])

    assert (cluster.texts, cluster.references) == (["Why?"], [["x"], ["y", "z"]])


def test_the_scripted_writer_merges_and_all_is_accepted() -> None:
    log = Log()
    found = merged(Scripted(), log)

    assert verdicts(log) == []
    assert found.by_rules == 0
    assert found.query == "What was said of buttons, What was decided about the display?"
    assert {one.check for one in log.attempts} >= {"merged query verified", "merged summary is a merger"}


@pytest.mark.parametrize(
    ("fault", "checks"),
    [
        ("leaks", {"merged summary is a merger"}),
        ("omissions", {"merged query is one request", "merged summary is a merger"}),
        ("vague", {"merged query is one request"}),
        ("empty", {"merged query read", "merged summary read"}),
        ("invalid_json", {"merged query read", "merged summary read"}),
        ("refusals", {"merged query read", "merged summary read"}),
    ],
)
def test_what_no_try_got_right_a_rule_merges_and_it_is_counted(fault: str, checks: set[str]) -> None:
    log = Log()
    found = merged(Scripted(writer=f"scripted-writer:{fault}=1"), log)
    given_up = Counter(one.check for one in log.attempts if one.verdict == "exhausted")

    assert set(given_up) == checks
    assert found.by_rules == given_up.total() == len(checks)
    assert found.query
    assert all(found.summaries)


def test_a_query_that_the_verifier_misses_is_named_and_a_number_that_is_none_is_no_verdict() -> None:
    good = query("What was said of buttons and the display?")
    log, told = (
        Log(),
        Told(merge_queries=[good], check_merge=['{"missing": [2]}', '{"missing": [7]}'], merge_summaries=["{"]),
    )

    assert merged(told, log).by_rules == 2
    assert [one.reason for one in log.attempts if one.check == "merged query verified"] == [
        "leaves out question 2",
        "unverified: no_such_number",
        "unverified: no_such_number",
    ]
