"""
Turn the sentences of a document into statements that can stand alone.

Transcripts and web pages hold text that states nothing: speakers, interjections, assent, calls to subscribe. Rules take
it off the ends of a sentence, prepend the previous sentence if one opens with a pronoun, name the kind of speaker if a
sentence is in the first person, and mark the remaining ones to be quoted last. They are rules for English, and read
words only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from longform.text.words import without_marks, words

_LABEL = re.compile(
    r"^(?:\[(?P<bracketed>[^\[\]\n]{1,40})\]:?|(?P<plain>[A-Z][\w.'’-]*(?: (?:\d+|[A-Z][\w.'’-]*)){0,2}):)\s+"
)
_NAME = r"[A-Z][\w'’-]+"
_NAMES = rf"{_NAME}(?:,? and {_NAME})?"
_INTERJECTION = (
    r"(?i:absolutely|actually|additionally|agreed|also|alright|and|anyway|as a result|but|by the way|definitely|"
    r"exactly|finally|first of all|for example|for instance|furthermore|good (?:call|idea|point)|great|guys|hello|hey|"
    r"hi|hmm|honestly|however|in addition|in parallel|indeed|meanwhile|moreover|nice|notably|now|of course|oh|okay|ok|"
    r"on the other side|on top of that|plus|right|similarly|so|speaking of which|specifically|sure|team|thanks|then|"
    r"totally|true|well|wow|yeah|yep|yes|you know)"
)
# Only these stand before a name without a comma: `Great Britain, France and Spain` greets nobody.
_GREETING = r"(?i:agreed|exactly|good (?:call|idea|point)|hello|hey|hi|oh|okay|ok|sure|thanks|yeah|yep|yes)"
_OPENING = re.compile(
    rf"^(?:(?:{_INTERJECTION}(?:, {_NAMES})?|{_GREETING} {_NAMES})[,!.]\s+|"
    rf"Speaking of [^,.]{{1,40}}, |{_NAME}, (?=I\b))+"
)
_CONNECTIVE = re.compile(
    r"^(?:and|but|so(?! (?:far|long|called)\b)|however,|moreover,|furthermore,|additionally,|also,)\s+", re.IGNORECASE
)
_HEARSAY = re.compile(
    r"^(?:I|we)(?:['’]ve)?(?: (?:actually|also|really|just|recently|personally|definitely|honestly|totally))* "
    r"(?:(?:think|believe|feel|guess|heard|suppose)(?: that)?|"
    r"(?:read|know|noticed|found|learned|remember|realized) that) "
    r"(?=(?:the|a|an|our|there|some|many|most|having|using|[a-z]+ing)\b)",
    re.IGNORECASE,
)
_DANGLING = frozenset(
    """
    absolutely also and but exactly great he her here him his however it its no or she so such sure thanks that their
    them then there these they this those though yeah yes
    """.split()
)
_POINTING = frozenset("he her him his it its she their them they these this those".split())
_POINTING_WITHIN = 5  # words from the opening; further on, what a pronoun points at is mostly said before it
_ASSENT = re.compile(
    r"^(?:let['’]?s|maybe|what (?:if|do|about)|how about|have you|do you|does anyone|has anyone|can we|could we|"
    r"shall we|before we|we should|sounds|thank|can['’]t wait|"
    r"(?:I|we)(?:['’](?:m|d|ll|re)| would| will| could| can| should)?"
    r"(?: (?:also|really|completely|totally|definitely|absolutely|think|believe))* "
    r"(?:agree|love|like|appreciate|glad|happy|excited|sure|open|see|couldn['’]t agree|looking forward|we should|"
    r"propose|suggest we|relate|make sure|hear)\b)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(rf",(?: {_NAME})(?: and {_NAME})?(?=[.!?](?: |$))")
"""`..., Sunita.` at the end of what somebody says to her."""

_TO_THE_READER = re.compile(
    r"\b(?:subscribe|newsletter|sign up|click here|read more|advertisement|all rights reserved|follow us|"
    r"don['’]t miss|visit our|limited-time|shop now|check out (?:our|the latest)|"
    r"terms of (?:use|service)|privacy policy|cookies?\b.{0,20}\b(?:policy|settings))\b",
    re.IGNORECASE,
)
_SELF = re.compile(r"\b(?:I|I['’](?:m|ve|d|ll)|[Mm]y|[Mm]e|myself)\b")
_LISTENER = re.compile(r"\b(?:you|your|you['’](?:re|ve|ll))\b", re.IGNORECASE)
_JOINED_WORDS = 45


class Quoted(NamedTuple):
    """The text of a bullet that quotes a sentence."""

    text: str
    first: int  # the place of the sentence it begins with: the quoted one, or the one before it
    alone: bool  # a reader who sees nothing else knows what is said


def statements(sentences: Sequence[str], opens_line: Sequence[bool]) -> list[Quoted]:
    """
    Return one statement for each sentence of a document, in order.

    Args:
        sentences: Sentences of one document, in order.
        opens_line: True for each that is the first of its line; a transcript has one turn a line.
    """
    found: list[Quoted] = []
    speaker = None
    for place, (sentence, opens) in enumerate(zip(sentences, opens_line, strict=True)):
        label = _LABEL.match(sentence)
        speaker = _named(label) if label else (None if opens else speaker)
        text = trimmed(sentence)
        first = place
        if not opens and place and _dangles(text):
            before = trimmed(sentences[place - 1])
            if stands_alone(before) and len(before.split()) + len(text.split()) <= _JOINED_WORDS:
                text, first = f"{before} {text}", place - 1
        alone = stands_alone(text)
        found.append(Quoted(_attributed(text, speaker), first, alone))
    return found


def trimmed(sentence: str) -> str:
    """
    Return a sentence without its speaker, interjections before it, and bracketed numbers; one space
    between words.
    """
    said = " ".join(without_marks(_LABEL.sub("", sentence)).split())
    bare = _HEARSAY.sub("", _CONNECTIVE.sub("", _OPENING.sub("", said)))
    return bare[:1].upper() + bare[1:] if len(bare.split()) > 2 else said


def stands_alone(text: str) -> bool:
    """
    Return whether a line says something by itself: no dangling opening, question, cry, assent, or
    call on the reader.
    """
    return not (
        _dangles(text)
        or text.endswith(("?", "!"))
        or _ASSENT.match(text)
        or _TO_THE_READER.search(text)
        or len(_LISTENER.findall(text)) > 1
    )


def _dangles(text: str) -> bool:
    opening = words(text)[:_POINTING_WITHIN]
    return not opening or opening[0] in _DANGLING or not _POINTING.isdisjoint(opening)


def _named(label: re.Match[str]) -> str:
    # `[student 2]` and `Speaker 2:` tell a kind, `Priyanka:` a name
    told = (label["bracketed"] or label["plain"]).strip()
    kind = re.sub(r"[\s_-]*\d+$", "", told)
    if kind == told and kind[:1].isupper():
        return told
    article = "An" if kind[:1].lower() in "aeiou" else "A"
    return f"{article} {kind.lower()}"


def _attributed(text: str, speaker: str | None) -> str:
    if speaker is None:
        return text
    said = _ADDRESS.sub("", text)
    return f"{speaker} says: “{said}”" if _SELF.search(said) else said
