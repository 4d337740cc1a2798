"""
Haystacks whose contents are known exactly: many documents that state the same few insights in different words.

The shape is SummHay's (section 3): a topic has subtopics, a subtopic has a query and insights, each insight is stated
by at least five documents, and which documents state it is the gold standard. There a language model writes the
documents and others check them; here a grammar does, so that the gold standard is exact. No document copies the
reference text of an insight: a statement has about as many of its words as in SummHay's haystacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from longform.errors import UsageError
from longform.haystack_writer.assignment import MIN_DOCUMENTS, assign_insights
from longform.haystack_writer.composition import Statement, write_article, write_conversation
from longform.haystack_writer.grammar import every_sentence, write
from longform.haystack_writer.topic import (
    Cast,
    ConversationTopic,
    InsightPlan,
    NewsTopic,
    SubtopicPlan,
    load_topic,
    topic_names,
)
from longform.keys import content_key, stable_seed
from longform.records import Document, Qrel, Query, Target

__all__ = [
    "MIN_DOCUMENTS",
    "Haystack",
    "Plant",
    "possible_statements",
    "topic_names",
    "topic_version",
    "write_haystack",
]

_WRITER_VERSION = 2  # raised by a change of the code that changes documents


class Plant(NamedTuple):
    """The sentence by which a document states an insight."""

    doc_id: str
    target_id: str
    text: str


class Haystack(NamedTuple):
    haystack_id: str
    documents: list[Document]
    queries: list[Query]
    targets: list[Target]
    qrels: list[Qrel]  # one for each plant, relevance 1
    plants: list[Plant]


class _Insight(NamedTuple):
    plan: InsightPlan
    subtopic: SubtopicPlan
    target: Target


def write_haystack(
    topic: str,
    *,
    variant: int,
    documents: int,
    words: int,
    subtopics_per_document: int,
    insights_per_document: int,
    seed: int,
) -> Haystack:
    """
    A haystack; the same arguments give the same bytes on any machine.

    Args:
        topic: One of `topic_names()`.
        variant: Haystacks of one topic differ in names, numbers and places, and in all that is drawn.
        documents: How many.
        words: Of each document, about; titles and speakers' names are not counted.
        subtopics_per_document: How many subtopics each document states insights of.
        insights_per_document: How many insights it states, as many of each of its subtopics.
        seed: Another seed gives another haystack of the same kind.

    Raises:
        UsageError: No such topic; too few documents for each insight to stand in five; a length that cannot be met.
    """
    plan = load_topic(topic)
    sizes = (documents, words, subtopics_per_document, insights_per_document)
    settings = (topic_version(topic), variant, sizes, seed)
    haystack_id = f"{topic}-{variant}-{content_key('haystack', settings)[:8]}"
    cast = _cast(topic, variant, seed)
    queries = [_query(plan, subtopic, cast, haystack_id) for subtopic in plan.subtopics]
    insights = [_insights(*pair, cast) for pair in zip(plan.subtopics, queries, strict=True)]
    rng = np.random.default_rng(stable_seed("documents", settings))
    assigned = assign_insights(
        [len(found) for found in insights],
        documents=documents,
        subtopics_per_document=subtopics_per_document,
        insights_per_document=insights_per_document,
        rng=rng,
    )
    stated = [[insights[subtopic][index] for subtopic, index in places] for places in assigned]
    written, plants = _documents(plan, cast, rng, stated, haystack_id=haystack_id, words=words)
    targets = [insight.target for found in insights for insight in found]
    query_of = {target.target_id: target.query_id for target in targets}
    qrels = [Qrel(query_of[plant.target_id], plant.target_id, plant.doc_id, 1) for plant in plants]
    return Haystack(haystack_id, written, queries, targets, qrels, plants)


def topic_version(topic: str) -> str:
    """A digest of all that is written from, which is part of each haystack's id: the topic's file and the grammar."""
    return content_key(topic, load_topic(topic).model_dump(mode="json"), _WRITER_VERSION)


def possible_statements(topic: str, *, variant: int, seed: int) -> list[list[str]]:
    """All sentences that may state each insight of a haystack: (insights, in the order of targets) x (sentences)."""
    values = _cast(topic, variant, seed).values
    return [
        [sentence for wording in insight.wordings for sentence in every_sentence(wording, values)]
        for subtopic in load_topic(topic).subtopics
        for insight in subtopic.insights
    ]


def _cast(topic: str, variant: int, seed: int) -> Cast:
    plan = load_topic(topic)
    participants = plan.participants if plan.domain == "conversation" else 0
    return Cast(plan, np.random.default_rng(stable_seed("cast", topic, variant, seed)), participants=participants)


def _query(plan: ConversationTopic | NewsTopic, subtopic: SubtopicPlan, cast: Cast, haystack_id: str) -> Query:
    text = subtopic.query.format(**cast.values)
    return Query(
        query_id=content_key(haystack_id, text),
        haystack_id=haystack_id,
        domain=plan.domain,
        topic=plan.title.format(**cast.values),
        subtopic_name=subtopic.name,
        subtopic=subtopic.statement,
        participants=cast.participants,
        text=text,
    )


def _insights(subtopic: SubtopicPlan, query: Query, cast: Cast) -> list[_Insight]:
    found = []
    for index, plan in enumerate(subtopic.insights):
        (text,) = every_sentence(plan.reference, cast.values)
        target = Target(
            target_id=content_key(query.query_id, text),
            kind="insight",
            query_id=query.query_id,
            haystack_id=query.haystack_id,
            target_index=index,
            name=plan.name,
            text=text,
        )
        found.append(_Insight(plan, subtopic, target))
    return found


def _documents(
    plan: ConversationTopic | NewsTopic,
    cast: Cast,
    rng: np.random.Generator,
    stated: Sequence[Sequence[_Insight]],
    *,
    haystack_id: str,
    words: int,
) -> tuple[list[Document], list[Plant]]:
    """A document for each list of insights, and where it states them."""
    documents: list[Document] = []
    plants: list[Plant] = []
    for doc_index, insights in enumerate(stated):
        planted = [Statement(_wording(insight.plan, cast, rng), insight.subtopic) for insight in insights]
        title, text = _compose(plan, cast, rng, planted, words=words)
        doc_id = content_key(haystack_id, title, text)
        documents.append(Document(doc_id, haystack_id, doc_index, title, text))
        plants += [Plant(doc_id, i.target.target_id, s.text) for i, s in zip(insights, planted, strict=True)]
    _check_distinct(documents)
    return documents, plants


def _wording(plan: InsightPlan, cast: Cast, rng: np.random.Generator) -> str:
    return write(plan.wordings[int(rng.integers(len(plan.wordings)))], cast.values, rng)


def _compose(
    plan: ConversationTopic | NewsTopic,
    cast: Cast,
    rng: np.random.Generator,
    planted: Sequence[Statement],
    *,
    words: int,
) -> tuple[str | None, str]:
    if plan.domain == "conversation":
        return None, write_conversation(plan, cast, rng, planted, words=words)
    return write_article(plan, cast, rng, planted, words=words)


def _check_distinct(documents: Sequence[Document]) -> None:
    repeated = len(documents) - len({document.text for document in documents})
    if repeated:
        msg = f"{repeated} of {len(documents)} documents repeat another; ask for more words or another seed"
        raise UsageError(msg)
