"""
Compose documents around the statements they must make: a news article, or a conversation turn by turn.

A document's sentences on one field stand together, in blocks: paragraphs, or a few turns. A sentence on the block's
subject may open the first of them; a question has its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longform.errors import UsageError
from longform.synthesis.grammar.topic import Subtopic, Topic
from longform.synthesis.grammar.weaver import TURN, Weaver

_MOST_IN_A_BLOCK = 4  # pieces of one subtopic that stand together
_NEW_BLOCK = 0.12  # of the pieces between statements, those that begin a block without any
_ANNOUNCED = 0.6  # of the fields of a document, those that are named where it comes to them
_ASKED = 0.25  # of the pieces of a conversation, those that are a question and its answer
_OPENED = 0.4  # of the later turns of a block, those that begin with a word on the turn before
_LONGEST_TURN = 3  # pieces


class MustStand(NamedTuple):
    """A sentence that a document must have, and its field."""

    text: str
    subtopic: Subtopic


class FieldPassage(NamedTuple):
    """A document's consecutive sentences on one field."""

    place: int | None  # index of the statement among the document's; None if there is none
    parts: Sequence[str]  # the paragraph of an article, the turns of a conversation


class Composition(NamedTuple):
    """A document before it is one text."""

    beginning: Sequence[str]
    passages: Sequence[FieldPassage]
    end: Sequence[str]


class _FieldBlock(NamedTuple):
    """Pieces of one field that stand together: a paragraph, or a few turns."""

    subtopic: Subtopic
    opening: list[str]  # the piece that says what the block is about, or none
    pieces: list[str]  # each a sentence or some; in a conversation maybe turns, with TURN between them
    place: int | None  # as a passage's

    @property
    def text(self) -> list[str]:
        return [*self.opening, *self.pieces]


def compose_document(
    topic: Topic, weaver: Weaver, rng: np.random.Generator, stated: Sequence[MustStand], *, words: int
) -> Composition:
    """
    A document of about *words* words (names of speakers are not counted), each stated sentence once, at any place.

    Raises:
        UsageError: *words* has no room for the stated sentences, or the topic has no more prose.
    """
    spoken = topic.domain == "conversation"
    beginning = [weaver.sentence(symbol) for symbol in (("greeting", "reply") if spoken else ("headline", "lead"))]
    end = [weaver.sentence(symbol) for symbol in (("closing", "farewell") if spoken else ("closing",))]
    missing = words - sum(len(text.split()) for text in [*beginning, *end, *(one.text for one in stated)])
    if missing < 0:
        msg = f"words: expected at least {words - missing} for a document with {len(stated)} statements, its beginning "
        raise UsageError(msg + f"and its end, got {words}; ask for more words or fewer statements a document")
    blocks: list[_FieldBlock] = []
    for place in rng.permutation(len(stated)).tolist():
        _insert(blocks, _FieldBlock(stated[place].subtopic, [], [stated[place].text], place), rng)
    while missing > 0:
        missing -= len(_extend(topic, weaver, rng, blocks).replace(TURN, " ").split())
    return Composition(
        beginning,
        [
            FieldPassage(block.place, list(_turns(weaver, rng, block)) if spoken else [" ".join(block.text)])
            for block in blocks
        ],
        end,
    )


def document_text(composed: Composition, *, participants: Sequence[str] | None, rng: np.random.Generator) -> str:
    """
    Return the text of a document: an article, whose first line is its headline, or lines of `Name: ...`.

    An article has no participants; *rng* draws who of them speaks when.
    """
    middle = [part for passage in composed.passages for part in passage.parts]
    parts = [*composed.beginning, *middle, *composed.end]
    return "\n\n".join(parts) if participants is None else _transcript(parts, participants, rng)


# ---------------------------------------------------------------- blocks


def _insert(blocks: list[_FieldBlock], block: _FieldBlock, rng: np.random.Generator) -> None:
    """Put a block behind those of its field, or between any two fields if there are none."""
    names = [one.subtopic.name for one in blocks]
    own = [place for place, name in enumerate(names) if name == block.subtopic.name]
    between = [place for place in range(1, len(names)) if names[place - 1] != names[place]]
    free = [0, *between, len(names)]
    blocks.insert(own[-1] + 1 if own else free[int(rng.integers(len(free)))], block)


def _extend(topic: Topic, weaver: Weaver, rng: np.random.Generator, blocks: list[_FieldBlock]) -> str:
    """Add a piece to one of the blocks, or to a new one if all are full, and return the piece."""
    room = [block for block in blocks if len(block.text) < _MOST_IN_A_BLOCK]
    if not room or rng.random() < _NEW_BLOCK:
        block = _FieldBlock(topic.subtopics[int(rng.integers(len(topic.subtopics)))], [], [], None)
        _insert(blocks, block, rng)
    else:
        block = room[int(rng.integers(len(room)))]
    first = next(one for one in blocks if one.subtopic is block.subtopic)
    if first is block and not block.opening and rng.random() < _ANNOUNCED:
        block.opening.append(weaver.sentence("opening", block.subtopic))
        return block.opening[0]
    asks = topic.domain == "conversation" and rng.random() < _ASKED
    text = weaver.sentence("ask" if asks else "remark", block.subtopic)
    block.pieces.insert(0 if rng.random() < 0.5 else len(block.pieces), text)
    return text


# ---------------------------------------------------------------- turns


def _turns(weaver: Weaver, rng: np.random.Generator, block: _FieldBlock) -> Iterator[str]:
    """
    Yield a block's turns, each of some pieces; some begin with a reply to the turn before, and
    questions are answered.
    """
    before = ""
    for turn in _grouped(block.text, rng):
        if before.endswith("?"):
            reaction = [weaver.sentence("noted")]
        else:
            reaction = [weaver.sentence("opener")] if before and "?" not in turn and rng.random() < _OPENED else []
        first, *others = turn.split(TURN)
        yield " ".join([*reaction, first])
        yield from others
        before = turn


def _grouped(pieces: Iterable[str], rng: np.random.Generator) -> Iterator[str]:
    """Pieces that are said in one go: nothing before a question, and nothing behind one that is still open."""
    turn: list[str] = []
    size = 0
    for piece in pieces:
        if turn and (len(turn) >= size or "?" in piece or turn[-1].endswith("?")):
            yield " ".join(turn)
            turn = []
        if not turn:
            size = int(rng.integers(1, _LONGEST_TURN + 1))
        turn.append(piece)
    if turn:
        yield " ".join(turn)


def _transcript(turns: Sequence[str], names: Sequence[str], rng: np.random.Generator) -> str:
    """Lines of `Name: ...`; nobody speaks twice in a row."""
    lines = []
    speaker = int(rng.integers(len(names)))
    for turn in turns:
        lines.append(f"{names[speaker]}: {turn}")
        speaker = (speaker + int(rng.integers(1, len(names)))) % len(names)
    return "\n".join(lines)
