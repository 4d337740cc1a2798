"""Bounds on the calls for outlines and documents."""

from __future__ import annotations

from functools import partial

from longform.synthesis.recipe import PlannedCalls, bounded
from longform.synthesis.written.replies import RULES
from longform.synthesis.written.settings import ModelSynthesis, Topic

OUTLINE, WRITE = "outline", "write"


def outline_calls(config: ModelSynthesis, topic: Topic) -> list[PlannedCalls]:
    """Bound the calls of one outline."""
    sizes, caps, rules = config.sizes, config.caps, RULES[topic.domain]
    n, facts = sizes.subtopics, sizes.subtopics * sizes.insights
    groups = n if rules.sequential else 1  # lists of insights that are checked together
    subtopics, insights, replies = (caps.subtopics, "lists"), (caps.insights, "lists"), (caps.replies, "replies")
    tries = (caps.queries, "tries")
    calls = partial(bounded, OUTLINE, group=topic.domain)
    found = [
        calls("synthesize_subtopics", "list subtopics", "planner", 1, subtopics),
        calls("synthesize_overlaps", "compare subtopics", "verifier", 1, subtopics, replies),
        calls("synthesize_insights", "list insights", "planner", n, insights, each="a subtopic"),
        calls("synthesize_duplicates", "compare insights", "verifier", groups, insights, replies),
        calls("synthesize_categorize", "sort insights", "verifier", facts, insights, replies, each="an insight"),
        calls("synthesize_query", "write queries", "planner", n, tries, each="a subtopic"),
        calls("synthesize_categorize", "sort queries", "verifier", n, tries, replies, each="a subtopic"),
    ]
    if config.outsider is not None:
        found += [
            calls("synthesize_answer", "answer without documents", "outsider", n, each="once a query"),
            calls("synthesize_find", "look into answers", "verifier", n, replies, each="an answer"),
        ]
    return found


def document_calls(config: ModelSynthesis, topic: Topic, n: int) -> list[PlannedCalls]:
    """Bound the calls of *n* documents."""
    found = (_chapter_calls if RULES[topic.domain].chapters else _article_calls)(config, topic, n)
    if config.reread:
        replies, does = (config.caps.replies, "replies"), "read documents again"
        found.append(bounded(WRITE, "synthesize_find", does, "verifier", n, replies, group=topic.domain))
    return found


def _article_calls(config: ModelSynthesis, topic: Topic, n: int) -> list[PlannedCalls]:
    caps = config.caps
    replies, edits, readings = (caps.replies, "replies"), (caps.edits, "edits"), (caps.edits + 1, "readings")
    calls, again = partial(bounded, WRITE, group=topic.domain), n if caps.edits else 0
    find, each = partial(calls, "synthesize_find"), "an article"
    return [
        calls("synthesize_article", "write articles", "writer", n, replies, each=each),
        find("look for leaks", "verifier", n, readings, replies),
        calls("synthesize_remove", "take leaks out", "writer", n, edits, each=each, least=0),
        find("look for omissions", "verifier", n, readings, replies),
        calls("synthesize_add", "put what is missing in", "writer", n, edits, each=each, least=0),
        find("look for leaks after additions", "verifier", again, replies, each=each, least=0),
    ]


def _chapter_calls(config: ModelSynthesis, topic: Topic, n: int) -> list[PlannedCalls]:
    tries, replies = (config.caps.chapters, "tries"), (config.caps.replies, "replies")
    chapters, calls = n * config.sizes.insights_per_document, partial(bounded, WRITE, group=topic.domain)
    return [
        calls("synthesize_chapter", "write chapters", "writer", chapters, tries, each="a chapter"),
        calls("synthesize_classify", "classify chapters", "verifier", chapters, tries, replies, each="a chapter"),
    ]
