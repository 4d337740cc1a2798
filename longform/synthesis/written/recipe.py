"""SummHay's haystacks as a recipe: an outline for each topic, then the documents of each outline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from pydantic import JsonValue

from longform.errors import LongformError, UsageError
from longform.formats.rows import HaystackRows
from longform.keys import content_key, stable_seed
from longform.settings.chat import ChatSettings
from longform.synthesis.asking import Log, Plan
from longform.synthesis.recipe import (
    Job,
    Piece,
    Pieces,
    PlannedCalls,
    Read,
    Recipe,
    Step,
    SynthesisKind,
    Work,
    bounded,
)
from longform.synthesis.written.account import Writing, haystack_account, haystack_rows, readable_id, told
from longform.synthesis.written.documents import Brief, Draft, write_document
from longform.synthesis.written.insights import OutlineJob
from longform.synthesis.written.outline import REGENERATED_AT, Outline, known_insights, write_outline
from longform.synthesis.written.replies import CHECKS, FORMS, RULES
from longform.synthesis.written.settings import ModelSynthesis, NewsTopic, Sizes, Topic, assignment

OUTLINE, WRITE = "outline", "write"
TOKENS_A_WORD = 2  # of a document as JSON: 1.3 is usual in English, and lengths are kept roughly
_PLANS_VERSION = 1  # raised by a change of the plans that changes documents
_REHEARSED_SUBTOPICS = 30  # the scripted writer knows no more


class WrittenRecipe(Recipe[ModelSynthesis]):
    """One configuration, with the texts of seed files."""

    steps = (Step(OUTLINE, "outlines"), Step(WRITE, "drafts"))

    def __init__(self, settings: ModelSynthesis, prompts: Sequence[str]) -> None:
        super().__init__(settings)
        said = settings.model_dump(mode="json", include={"seed", "sizes", "caps", "withheld", "reread"})
        said |= {role: chat.identity for role, chat in settings.chats.items()}
        self.keys = [
            content_key("synthesis", _PLANS_VERSION, topic.model_dump(mode="json"), said, list(prompts))
            for topic in settings.topics
        ]
        self._prompts = tuple(prompts)

    @property
    def checked_chats(self) -> list[ChatSettings]:
        """Return the models as they are asked: a planner at two temperatures if lists are asked for anew."""
        asked = [*self.settings.chats.values()]
        if any(RULES[topic.domain].regenerate for topic in self.settings.topics):
            asked.append(self.settings.chats["planner"].model_copy(update={"temperature": REGENERATED_AT}))
        return asked

    @property
    def sources(self) -> list[dict[str, str]]:
        return [
            {"name": f"topic {topic.name}", "sha256": key}
            for topic, key in zip(self.settings.topics, self.keys, strict=True)
        ]

    def check(self) -> None:
        """
        Raises:
            UsageError: The output limit is too small for a document, or the sizes do not fit together even if all that
                is asked for is accepted.
        """
        settings, sizes = self.settings, self.settings.sizes
        words = max(_words_a_reply(topic.domain, sizes) for topic in settings.topics)
        needed = TOKENS_A_WORD * words
        if settings.writer.max_tokens < needed:
            raise UsageError(
                f"writer {settings.writer.model!r}: max_tokens {settings.writer.max_tokens} cuts replies of {words} "
                f"words off; set it to {needed} or more"
            )
        assignment(sizes, [sizes.insights] * sizes.subtopics, np.random.default_rng(settings.seed))

    def haystack_id(self, number: int) -> str:
        """Return the id of a haystack that is begun now; one under way keeps the id that its outline has."""
        return readable_id(self.settings.topics[number], self.keys[number])

    # ------------------------------------------------------------ works

    def works(self, step: str, pieces: Pieces) -> list[Work]:
        if step == OUTLINE:
            return [
                Work(self._outline_key(number), self.haystack_id(number), {"topic": number}, group=topic.domain)
                for number, topic in enumerate(self.settings.topics)
            ]
        there = [number for number in range(len(self.keys)) if self._outline_key(number) in pieces]
        return [work for number in there for work in self._documents(number, pieces[self._outline_key(number)])]

    def _outline_key(self, number: int) -> str:
        return content_key("outlines", self.keys[number])

    def _documents(self, number: int, piece: Piece) -> Iterator[Work]:
        outline = Outline.model_validate(piece.content)
        if not outline.subtopics:
            raise LongformError(_nothing_accepted(piece))
        for index, places in enumerate(self.assigned(number, outline)):
            yield Work(
                content_key("drafts", self.keys[number], outline.model_dump(mode="json"), index, places),
                piece.haystack_id,
                {"topic": number, "assigned": list(places), "doc_index": index},
                needs=(self._outline_key(number),),
                doc_index=index,
                group=self.settings.topics[number].domain,
            )

    def assigned(self, number: int, outline: Outline) -> list[list[int]]:
        """
        For each document of a haystack its insights, places in `outline.facts`, in the order in which they are told.

        Raises:
            LongformError: So little of the outline was accepted that the sizes do not fit any more.
        """
        sizes = self.settings.sizes
        n_insights = [len(subtopic.insights) for subtopic in outline.subtopics]
        rng = np.random.default_rng(stable_seed("assignment", self.settings.seed, self.keys[number]))
        starts = [0, *accumulate(n_insights)]
        try:
            dealt = assignment(sizes, n_insights, rng)
        except UsageError as error:
            raise LongformError(
                f"{self.haystack_id(number)}: of {sizes.subtopics} x {sizes.insights} insights "
                f"{n_insights} were accepted, which do not suffice: {error}"
            ) from error
        return [[starts[s] + i for s, i in (places[j] for j in rng.permutation(len(places)))] for places in dealt]

    # ------------------------------------------------------------ plans

    def plan(self, job: Job, log: Log) -> Plan[JsonValue]:
        topic = self.settings.topics[job.payload["topic"]]
        return self._outline(topic, log) if job.step == OUTLINE else self._draft(topic, job, log)

    def _outline(self, topic: Topic, log: Log) -> Plan[JsonValue]:
        settings = self.settings
        job = OutlineJob(topic=topic, sizes=settings.sizes, caps=settings.caps, withheld=settings.withheld)
        found = yield from write_outline(job, log)
        if settings.outsider is not None:
            known = yield from known_insights(found, topic, settings.caps, log)
            found = found.model_copy(update={"known": known})
        return found.model_dump(mode="json")

    def _draft(self, topic: Topic, job: Job, log: Log) -> Plan[JsonValue]:
        (outline,) = job.needed
        brief = Brief(
            topic=topic,
            outline=Outline.model_validate(outline),
            assigned=tuple(job.payload["assigned"]),
            doc_index=job.payload["doc_index"],
            n_documents=self.settings.sizes.documents,
            words=self.settings.sizes.words,
            caps=self.settings.caps,
            reread=self.settings.reread,
        )
        draft = yield from write_document(brief, log)
        return draft.model_dump(mode="json")

    # ------------------------------------------------------------ what comes of it

    def rows(self, pieces: Pieces) -> Iterator[HaystackRows]:
        return map(haystack_rows, self._written(pieces))

    def accounts(self, pieces: Pieces) -> list[dict[str, Any]]:
        least = self.settings.sizes.least_documents
        return [haystack_account(one, least_documents=least) for one in self._written(pieces)]

    def _written(self, pieces: Pieces) -> Iterator[Writing]:
        for number, topic in enumerate(self.settings.topics):
            piece = pieces[self._outline_key(number)]
            outline = Outline.model_validate(piece.content)
            yield Writing(
                haystack_id=piece.haystack_id,
                topic=topic,
                outline=outline,
                assigned=self.assigned(number, outline),
                drafts=[Draft.model_validate(pieces[work.key].content) for work in self._documents(number, piece)],
            )

    # ------------------------------------------------------------ before it is made

    def planned(self, left: Mapping[str, Sequence[Work]]) -> list[PlannedCalls]:
        """Bound the calls of each haystack that is not done; one without an outline lacks all its documents."""
        settings = self.settings
        found: list[PlannedCalls] = []
        for number, topic in enumerate(settings.topics):
            n_documents = sum(_topic_of(work) == number for work in left[WRITE])
            if any(_topic_of(work) == number for work in left[OUTLINE]):
                found += outline_calls(settings, topic)
                n_documents = settings.sizes.documents
            if n_documents:
                found += document_calls(settings, topic, n_documents)
        return found

    def rehearsed(self) -> WrittenRecipe:
        """Return one topic of each domain, with so many subtopics as the scripted writer knows."""
        topics = {topic.domain: topic for topic in self.settings.topics}
        n_subtopics = min(self.settings.sizes.subtopics, _REHEARSED_SUBTOPICS)
        sizes = self.settings.sizes.model_copy(update={"subtopics": n_subtopics})
        fewer = {"topics": tuple(topics.values()), "sizes": sizes, "outsider": self.settings.writer, "reread": True}
        return WrittenRecipe(self.settings.model_copy(update=fewer), self._prompts)


def written_recipe(settings: ModelSynthesis, read: Read, prompts: Sequence[str]) -> WrittenRecipe:
    """
    Return the recipe of a configuration, its seed files read.

    Raises:
        UsageError: A seed file cannot be read.
    """
    topics = [_seeded(topic, read) if isinstance(topic, NewsTopic) else topic for topic in settings.topics]
    return WrittenRecipe(settings.model_copy(update={"topics": tuple(topics)}), prompts)


def _seeded(topic: NewsTopic, read: Read) -> NewsTopic:
    try:
        texts = [read(name).decode() for name in topic.seed_files]
    except (UsageError, UnicodeDecodeError) as error:
        raise UsageError(f"topic {topic.title!r}: a seed file cannot be read: {error}") from error
    return topic.model_copy(update={"seed_articles": (*topic.seed_articles, *texts), "seed_files": ()})


def _words_a_reply(domain: str, sizes: Sizes) -> int:
    """Return the words of a whole article, or of one chapter."""
    return sizes.words // sizes.insights_per_document if RULES[domain].chapters else sizes.words


def _topic_of(work: Work) -> JsonValue:
    assert isinstance(work.payload, dict)
    return work.payload["topic"]


def _nothing_accepted(outline: Piece) -> str:
    given_up = [attempt for attempt in outline.attempts if attempt.verdict == "exhausted"]
    lines = [f"  {attempt.check}: {attempt.subject}: {attempt.reason}" for attempt in given_up[:5]]
    return "\n".join([f"{outline.haystack_id}: no subtopic was accepted. What was given up, first:", *lines])


# ---------------------------------------------------------------- bounds on calls


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


WRITTEN = SynthesisKind(
    settings=ModelSynthesis,
    forms=FORMS,
    checks=CHECKS,
    make=written_recipe,
    told=told,
    is_audited=True,
    scripted=("scripted-writer", "scripted-writer:leaks=1,omissions=1"),
)
