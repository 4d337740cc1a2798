"""
A haystack and its gold map: documents that state the insights of a topic, or of a part of it.

At SummHay's size these are 100 documents of 750 words, and some fifty-five insights of ten subtopics.

Beside the insights a haystack may hold *distractors*, statements of the same kind that belong to no insight, and
*contradictions*, which give another number for an insight's fact in documents that do not state it. Neither is in the
gold map. No insight is stated twice in the same words, and outside these statements no sentence of more than eight
words has the skeleton of another (`longform.synthesis.grammar.weaver`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import JsonValue

from longform.errors import UsageError
from longform.keys import content_key, stable_seed
from longform.records import Document, Qrel, Query, Target
from longform.synthesis.audit.planted import HaystackFacts, Kind, Planted
from longform.synthesis.grammar.assignment import Bounds, assign_within
from longform.synthesis.grammar.composition import Composition, FieldPassage, MustStand, compose_document, document_text
from longform.synthesis.grammar.topic import Cast, Fact, Subtopic, Topic, Value, filled, load_topic, slots, untaken
from longform.synthesis.grammar.weaver import Synonyms, Weaver, attributed, moved, rewritten, sentence_case

_WRITER_VERSION = 2  # raised by a change of the code that changes documents
_CONTRADICTING = 2  # documents that state each contradicted number
_TRIES = 200


class HaystackSize(NamedTuple):
    """Sizes that make one haystack easier or harder than another."""

    documents: int
    words: int  # of each document, about; names of speakers are not counted
    per_document: Bounds  # insights
    per_insight: Bounds  # documents
    distractors: int  # statements of no insight in each document
    contradictions: int  # insights whose number two further documents give otherwise


class TopicPart(NamedTuple):
    """The part of a topic that a haystack covers: its first subtopics, and of each its first insights; None: all."""

    subtopics: int | None = None
    insights: int | None = None


WHOLE = TopicPart()


class Woven(NamedTuple):
    haystack_id: str
    documents: list[Document]
    queries: list[Query]
    targets: list[Target]
    qrels: list[Qrel]
    facts: HaystackFacts


class _Insight(NamedTuple):
    fact: Fact
    subtopic: Subtopic
    target: Target


class _Said(NamedTuple):
    """A planted sentence that has no document id yet."""

    target: Target | None
    kind: Kind
    stated: MustStand


class ComposedDocument(NamedTuple):
    """A document as the grammar wrote it, in its parts and as one text, with the sentences that it must state."""

    composed: Composition
    said: Sequence[_Said]
    text: str


class ComposedHaystack(NamedTuple):
    """A haystack as the grammar wrote it, before it is rows."""

    haystack_id: str
    settings: Mapping[str, JsonValue]
    topic: Topic
    queries: list[Query]
    targets: list[Target]
    documents: list[ComposedDocument]


Parts = Sequence[str]
"""The parts of a passage, in place of the grammar's own."""


def write_haystack(topic: str, *, variant: int, size: HaystackSize, seed: int, part: TopicPart = WHOLE) -> Woven:
    """
    A haystack; the same arguments give the same bytes on any machine.

    Variants of one topic differ in names, numbers and places, and in all that is drawn. Haystacks of one variant and
    other sizes have the same insights. Another seed gives another haystack of the same kind.

    Raises:
        UsageError: No such topic, or sizes that cannot be met; the message has the arithmetic.
    """
    return finished_haystack(compose_haystack(topic, variant=variant, size=size, seed=seed, part=part))


def compose_haystack(
    topic: str, *, variant: int, size: HaystackSize, seed: int, part: TopicPart = WHOLE, prose: str | None = None
) -> ComposedHaystack:
    """
    Compose a haystack in its parts; arguments and errors are those of `write_haystack`.

    *prose* names the other maker of its documents, and is a part of its id; None: there is no other.
    """
    plan = load_topic(topic).part(*part)
    settings: dict[str, JsonValue] = {"topic": topic, "variant": variant, "seed": seed, **_size_as_json(size)}
    version = topic_version(topic, part)
    told = settings if prose is None else settings | {"prose": prose}
    haystack_id = f"{topic}-{variant}-{content_key(version, told)[:8]}"
    cast = Cast(plan, np.random.default_rng(stable_seed("cast", topic, variant, seed)))
    queries = [_query(plan, subtopic, cast, haystack_id) for subtopic in plan.subtopics]
    insights = [insight for pair in zip(plan.subtopics, queries, strict=True) for insight in _insights(*pair, cast)]
    rng = np.random.default_rng(stable_seed("documents", version, settings))
    writer = _Writer(plan, cast, rng)
    said = _contents(writer, insights, size, rng)
    documents = []
    for content in said:
        stated = [one.stated for one in content]
        composed = compose_document(plan, writer.weaver, rng, stated, words=size.words)
        text = document_text(composed, participants=cast.participants, rng=rng)
        documents.append(ComposedDocument(composed, content, text))
    targets = [insight.target for insight in insights]
    covered: dict[str, JsonValue] = {} if part == WHOLE else part._asdict()
    return ComposedHaystack(haystack_id, told | covered, plan, queries, targets, documents)


def finished_haystack(
    composed: ComposedHaystack,
    others: Sequence[Sequence[Parts | None]] | None = None,
    *,
    prose: Mapping[str, JsonValue] | None = None,
) -> Woven:
    """
    Return the rows of a haystack; *others* has for each passage of each document the text in its place, or None.

    *prose* is what the maker of the others says of them.
    """
    documents, planted = [], []
    for index, document in enumerate(composed.documents):
        text = document.text if others is None else _rewritten(composed, index, others[index])
        doc_id = content_key(composed.haystack_id, text)
        documents.append(Document(doc_id, composed.haystack_id, index, None, text))
        planted += [_planted(doc_id, one) for one in document.said]
    query_of = {target.target_id: target.query_id for target in composed.targets}
    qrels = [
        Qrel(query_of[p.target_id], p.target_id, p.doc_id, 1) for p in planted if p.kind == "insight" and p.target_id
    ]
    facts = HaystackFacts(
        haystack_id=composed.haystack_id, settings=composed.settings, planted=tuple(planted), prose=prose
    )
    return Woven(composed.haystack_id, documents, composed.queries, composed.targets, qrels, facts)


def _rewritten(composed: ComposedHaystack, index: int, others: Sequence[Parts | None]) -> str:
    """The text of a document with *others* in place of some of its passages."""
    document = composed.documents[index]
    if not any(others):
        return document.text
    passages = [
        FieldPassage(passage.place, other or passage.parts)
        for passage, other in zip(document.composed.passages, others, strict=True)
    ]
    rng = np.random.default_rng(stable_seed("speakers", composed.haystack_id, index))
    participants = composed.queries[0].participants
    return document_text(document.composed._replace(passages=passages), participants=participants, rng=rng)


def topic_version(topic: str, part: TopicPart = WHOLE) -> str:
    """A digest of all that is written from, which is part of each haystack's id: the topic's file and the grammar."""
    plan = load_topic(topic).part(*part)
    return content_key(topic, plan.model_dump(mode="json"), _WRITER_VERSION)


# ---------------------------------------------------------------- what is said where


def _contents(
    writer: _Writer, insights: Sequence[_Insight], size: HaystackSize, rng: np.random.Generator
) -> list[list[_Said]]:
    """Return the statements that each document must make."""
    assigned = assign_within(
        len(insights),
        documents=size.documents,
        per_document=size.per_document,
        per_insight=size.per_insight,
        rng=rng,
    )
    contents = [[writer.statement(insights[place]) for place in places] for places in assigned]
    for place in _contradicted(writer, insights, size.contradictions, rng):
        others = [index for index, places in enumerate(assigned) if place not in places]
        if len(others) < _CONTRADICTING:
            msg = f"contradictions: insight {insights[place].fact.name!r} stands in {size.documents - len(others)} of "
            raise UsageError(msg + f"{size.documents} documents; expected {_CONTRADICTING} that can contradict it")
        for index in sorted(rng.choice(others, size=_CONTRADICTING, replace=False).tolist()):
            contents[index].append(writer.contradiction(insights[place]))
    for content in contents:
        content += [writer.distractor() for _ in range(size.distractors)]
    return contents


def _contradicted(writer: _Writer, insights: Sequence[_Insight], n: int, rng: np.random.Generator) -> list[int]:
    countable = [place for place, insight in enumerate(insights) if writer.contradicting(insight.fact)]
    if n > len(countable):
        raise UsageError(f"contradictions: expected at most {len(countable)}, the insights with a number, got {n}")
    return sorted(rng.choice(countable, size=n, replace=False).tolist()) if n else []


class _Writer:
    """The statements of one haystack: each in words that no other statement of the same insight has."""

    def __init__(self, topic: Topic, cast: Cast, rng: np.random.Generator) -> None:
        self.weaver = Weaver(topic, cast, rng)
        self._topic = topic
        self._cast = cast
        self._rng = rng
        self._synonyms = Synonyms(topic.synonyms)
        self._said: dict[str, list[str]] = {}  # target id -> its clauses, without who says them

    def statement(self, insight: _Insight) -> _Said:
        return _Said(insight.target, "insight", MustStand(self._in_new_words(insight, {}), insight.subtopic))

    def contradicting(self, fact: Fact) -> list[tuple[str, int]]:
        """Slots of a fact with numbers that no fact of the haystack has."""
        taken = {value for value in self._cast.values.values() if isinstance(value, int)}
        numbers = [slot for slot in sorted(slots(fact.reference)) if slot in self._topic.numbers]
        return [(slot, number) for slot in numbers for number in untaken(self._topic.numbers[slot], taken)]

    def contradiction(self, insight: _Insight) -> _Said:
        options = self.contradicting(insight.fact)
        other = dict([options[int(self._rng.integers(len(options)))]])
        return _Said(insight.target, "contradiction", MustStand(self._in_new_words(insight, other), insight.subtopic))

    def distractor(self) -> _Said:
        subtopic = self._topic.subtopics[int(self._rng.integers(len(self._topic.subtopics)))]
        return _Said(None, "distractor", MustStand(self.weaver.sentence("claim", subtopic), subtopic))

    def _in_new_words(self, insight: _Insight, other: Mapping[str, Value]) -> str:
        for _ in range(_TRIES):
            wording = self.weaver.one_of(insight.fact.wordings, insight.target.target_id)
            clause = self._clause(wording, other)
            words = clause.lower()
            said = self._said.setdefault(insight.target.target_id, [])
            if not any(words in other_words or other_words in words for other_words in said):
                said.append(words)
                return sentence_case(attributed(clause, self._rng, self.weaver.phrase))
        raise UsageError(
            f"insight {insight.fact.name!r} has no more words: {len(insight.fact.wordings)} wordings and their "
            f"paraphrases gave none that is new in {_TRIES} draws; let an insight stand in fewer documents"
        )

    def _clause(self, wording: str, other: Mapping[str, Value]) -> str:
        spoken = self._topic.domain == "conversation"
        template = self._synonyms.exchanged(moved(wording, self._rng), self._rng)
        for slot, value in other.items():
            template = template.replace(f"{{{slot}}}", str(value) if isinstance(value, str) else f"{value:,}")
        return rewritten(self.weaver.phrase(template), self._rng, spoken=spoken)


# ---------------------------------------------------------------- rows


def _query(plan: Topic, subtopic: Subtopic, cast: Cast, haystack_id: str) -> Query:
    text = filled(subtopic.query, cast.values)
    return Query(
        query_id=content_key(haystack_id, text),
        haystack_id=haystack_id,
        domain=plan.domain,
        topic=filled(plan.title, cast.values),
        subtopic_name=subtopic.name,
        subtopic=subtopic.statement,
        participants=cast.participants,
        text=text,
    )


def _insights(subtopic: Subtopic, query: Query, cast: Cast) -> Iterable[_Insight]:
    for index, fact in enumerate(subtopic.insights):
        text = filled(fact.reference, cast.values)
        target_id = content_key(query.query_id, text)
        target = Target(target_id, "insight", query.query_id, query.haystack_id, index, fact.name, text)
        yield _Insight(fact, subtopic, target)


def _planted(doc_id: str, said: _Said) -> Planted:
    target_id = said.target.target_id if said.target else None
    return Planted(doc_id=doc_id, target_id=target_id, kind=said.kind, text=said.stated.text)


def _size_as_json(size: HaystackSize) -> dict[str, JsonValue]:
    return {**size._asdict(), "per_document": list(size.per_document), "per_insight": list(size.per_insight)}
