"""
Bounds on the calls of each step of a synthesis.

Lowest: every first attempt is accepted. Highest: every loop goes round to its cap, and every reply of the verifier has
to be asked for again up to its cap. What is given up saves calls of later steps; neither number knows of that.
"""

from __future__ import annotations

from typing import NamedTuple

from longform.synthesis.written.checks import RULES
from longform.synthesis.written.settings import ModelSynthesis, Role, Topic


class StepCalls(NamedTuple):
    """
    The calls of one step.

    Attributes:
        prompt: What is asked; two steps may share one.
        step: In words.
        role: Who is asked.
        lowest, highest: How often.
        cap: Of the loops, as arithmetic for one thing.
    """

    prompt: str
    step: str
    role: Role
    lowest: int
    highest: int
    cap: str


def outline_calls(config: ModelSynthesis, topic: Topic) -> list[StepCalls]:
    """The calls of one outline."""
    sizes, caps, rules = config.sizes, config.caps, RULES[topic.domain]
    n, facts = sizes.subtopics, sizes.subtopics * sizes.insights
    groups = n if rules.sequential else 1  # lists of insights that are checked together
    replies = f"{caps.replies} replies"
    found = [
        StepCalls("synthesize_subtopics", "list subtopics", "planner", 1, caps.subtopics, f"{caps.subtopics} lists"),
        StepCalls(
            "synthesize_overlaps",
            "compare subtopics",
            "verifier",
            1,
            caps.subtopics * caps.replies,
            f"{caps.subtopics} lists x {replies}",
        ),
        StepCalls(
            "synthesize_insights", "list insights", "planner", n, n * caps.insights, f"{caps.insights} lists a subtopic"
        ),
        StepCalls(
            "synthesize_duplicates",
            "compare insights",
            "verifier",
            groups,
            groups * caps.insights * caps.replies,
            f"{caps.insights} lists x {replies}",
        ),
        StepCalls(
            "synthesize_categorize",
            "sort insights",
            "verifier",
            facts,
            facts * caps.insights * caps.replies,
            f"{caps.insights} lists x {replies} an insight",
        ),
        StepCalls(
            "synthesize_query", "write queries", "planner", n, n * caps.queries, f"{caps.queries} tries a subtopic"
        ),
        StepCalls(
            "synthesize_categorize",
            "sort queries",
            "verifier",
            n,
            n * caps.queries * caps.replies,
            f"{caps.queries} tries x {replies} a subtopic",
        ),
    ]
    if config.outsider is not None:
        found.append(StepCalls("synthesize_answer", "answer without documents", "outsider", n, n, "once a query"))
        found.append(
            StepCalls("synthesize_find", "look into answers", "verifier", n, n * caps.replies, f"{replies} an answer")
        )
    return found


def document_calls(config: ModelSynthesis, topic: Topic, n: int) -> list[StepCalls]:
    """The calls of *n* documents."""
    of_domain = _chapter_calls if RULES[topic.domain].chapters else _article_calls
    found = of_domain(config, n)
    if config.reread:
        replies = config.caps.replies
        found.append(
            StepCalls("synthesize_find", "read documents again", "verifier", n, n * replies, f"{replies} replies")
        )
    return found


def _article_calls(config: ModelSynthesis, n: int) -> list[StepCalls]:
    caps = config.caps
    readings = (caps.edits + 1) * caps.replies
    looked = f"{caps.edits + 1} readings x {caps.replies} replies"
    return [
        StepCalls(
            "synthesize_article", "write articles", "writer", n, n * caps.replies, f"{caps.replies} replies an article"
        ),
        StepCalls("synthesize_find", "look for leaks", "verifier", n, n * readings, looked),
        StepCalls("synthesize_remove", "take leaks out", "writer", 0, n * caps.edits, f"{caps.edits} edits an article"),
        StepCalls("synthesize_find", "look for omissions", "verifier", n, n * readings, looked),
        StepCalls(
            "synthesize_add", "put what is missing in", "writer", 0, n * caps.edits, f"{caps.edits} edits an article"
        ),
        StepCalls(
            "synthesize_find",
            "look for leaks after additions",
            "verifier",
            0,
            n * caps.replies if caps.edits else 0,
            f"{caps.replies} replies an article",
        ),
    ]


def _chapter_calls(config: ModelSynthesis, n: int) -> list[StepCalls]:
    caps = config.caps
    chapters = n * config.sizes.insights_per_document
    return [
        StepCalls(
            "synthesize_chapter",
            "write chapters",
            "writer",
            chapters,
            chapters * caps.chapters,
            f"{caps.chapters} tries a chapter",
        ),
        StepCalls(
            "synthesize_classify",
            "classify chapters",
            "verifier",
            chapters,
            chapters * caps.chapters * caps.replies,
            f"{caps.chapters} tries x {caps.replies} replies a chapter",
        ),
    ]
