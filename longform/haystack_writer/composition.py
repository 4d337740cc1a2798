"""Documents around what they must state: a news article, or a conversation turn by turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longform.errors import UsageError
from longform.haystack_writer.topic import Subtopic, Topic
from longform.haystack_writer.weaver import Weaver

_MOST_IN_A_BLOCK = 5  # sentences of one subtopic that stand together
_NEW_BLOCK = 0.12  # of the sentences between statements, those that begin a block without any
_ASKED = 0.5  # of the blocks of a conversation, those that a question may begin
_OPENED = 0.3  # of the turns, those that begin with a word on the turn before
_LONGEST_TURN = 3  # sentences


class Stated(NamedTuple):
    """A sentence that a document must have, and its field."""

    text: str
    subtopic: Subtopic


class Passage(NamedTuple):
    """
    What a document says of one field in one go.

    Attributes:
        place: Of its statement in what the document must state; None: it has none.
        parts: The paragraph of an article, the turns of a conversation.
    """

    place: int | None
    parts: Sequence[str]


class Composition(NamedTuple):
    """A document before it is one text."""

    beginning: Sequence[str]
    passages: Sequence[Passage]
    end: Sequence[str]


class _Block(NamedTuple):
    """Sentences of one field that stand together: a paragraph, or a few turns."""

    subtopic: Subtopic
    sentences: list[str]
    place: int | None  # as a passage's


def compose_document(
    topic: Topic, weaver: Weaver, rng: np.random.Generator, stated: Sequence[Stated], *, words: int
) -> Composition:
    """
    A document of about *words* words (names of speakers are not counted), each stated sentence once, at any place.

    Raises:
        UsageError: *words* has no room for the stated sentences, or the topic has no more prose.
    """
    spoken = topic.domain == "conversation"
    beginning = [weaver.sentence(symbol) for symbol in (("greeting", "reply") if spoken else ("headline", "lead"))]
    end = [weaver.sentence(symbol) for symbol in (("closing", "farewell") if spoken else ("closing",))]
    blocks = [
        _Block(stated[place].subtopic, [stated[place].text], place) for place in rng.permutation(len(stated)).tolist()
    ]
    missing = words - sum(len(text.split()) for text in [*beginning, *end, *(one.text for one in stated)])
    if missing < 0:
        msg = f"words: expected at least {words - missing} for a document with {len(stated)} statements, its beginning "
        raise UsageError(msg + f"and its end, got {words}; ask for more words or fewer statements a document")
    while missing > 0:
        missing -= len(_extend(topic, weaver, rng, blocks, spoken=spoken).split())
    return Composition(
        beginning,
        [
            Passage(block.place, list(_turns(weaver, rng, block)) if spoken else [" ".join(block.sentences)])
            for block in blocks
        ],
        end,
    )


def document_text(composed: Composition, *, participants: Sequence[str] | None, rng: np.random.Generator) -> str:
    """
    The text of a document: an article, whose first line is its headline, or lines of `Name: ...`.

    Args:
        composed: What it says.
        participants: Who speaks; None: nobody, it is an article.
        rng: Who speaks when.
    """
    middle = [part for passage in composed.passages for part in passage.parts]
    parts = [*composed.beginning, *middle, *composed.end]
    return "\n\n".join(parts) if participants is None else _transcript(parts, participants, rng)


def _extend(topic: Topic, weaver: Weaver, rng: np.random.Generator, blocks: list[_Block], *, spoken: bool) -> str:
    """Add a sentence to one of the blocks, or a block where all are full; the sentence."""
    open_places = [place for place, block in enumerate(blocks) if len(block.sentences) < _MOST_IN_A_BLOCK]
    if not open_places or rng.random() < _NEW_BLOCK:
        subtopic = topic.subtopics[int(rng.integers(len(topic.subtopics)))]
        block = _Block(subtopic, [], None)
        blocks.insert(int(rng.integers(len(blocks) + 1)), block)
    else:
        block = blocks[open_places[int(rng.integers(len(open_places)))]]
    first = rng.random() < 0.5
    asks = spoken and first and rng.random() < _ASKED
    text = weaver.sentence("ask" if asks else "remark", block.subtopic)
    block.sentences.insert(0 if first else len(block.sentences), text)
    return text


def _turns(weaver: Weaver, rng: np.random.Generator, block: _Block) -> Iterator[str]:
    """A block's sentences, some to a turn; a question at its beginning is a turn of its own."""
    rest = list(block.sentences)
    while rest:
        size = 1 if rest[0].endswith("?") else int(rng.integers(1, _LONGEST_TURN + 1))
        turn, rest = rest[:size], rest[size:]
        opener = [weaver.sentence("opener")] if rng.random() < _OPENED else []
        yield " ".join([*opener, *turn])


def _transcript(turns: Sequence[str], names: Sequence[str], rng: np.random.Generator) -> str:
    """Lines of `Name: ...`; nobody speaks twice in a row."""
    lines = []
    speaker = int(rng.integers(len(names)))
    for turn in turns:
        lines.append(f"{names[speaker]}: {turn}")
        speaker = (speaker + int(rng.integers(1, len(names)))) % len(names)
    return "\n".join(lines)
