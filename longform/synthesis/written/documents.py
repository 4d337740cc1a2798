"""The documents of a haystack, written from insights and checked (SummHay, section 3.2 and A.1.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from longform.settings.strict import Strict
from longform.synthesis.asking import (
    Ask,
    Log,
    Plan,
    Read,
    Verified,
    WantedText,
    ask_for,
    ask_once,
    numbered,
    write_checked,
)
from longform.synthesis.written.outline import Outline
from longform.synthesis.written.replies import RULES, Article, Chapter, Classified, Present, described, numbers_fit
from longform.synthesis.written.settings import Caps, Topic

ANGLES = (
    "begin with one person's day",
    "begin with the latest figure and work backwards",
    "a sober report in short paragraphs",
    "a feature that moves from place to place",
    "an analysis that weighs two readings",
    "written as if from a press conference",
    "begin with a scene on the street",
    "a look back over the last months",
    "built around one quotation",
    "a reader's guide to what is known",
)
"""Ways of telling an article: articles on the same facts must not be alike."""


@dataclass(frozen=True, kw_only=True)
class Brief:
    """The content and the rules of one document to be written."""

    topic: Topic
    outline: Outline
    assigned: tuple[int, ...]  # insights it is to state: places in `outline.facts`, in the order of telling
    doc_index: int  # in the haystack, from 0
    n_documents: int  # of the haystack
    words: int  # about
    caps: Caps
    reread: bool  # the finished document is read once more

    @property
    def subject(self) -> str:
        return f"document {self.doc_index + 1}"

    @property
    def others(self) -> list[int]:
        """The insights it is not to state."""
        return [place for place in range(len(self.outline.facts)) if place not in self.assigned]


class Draft(Strict):
    """A document, or the reason why there is none."""

    title: str | None = None  # None for a conversation
    text: str | None = None  # None if it was not written; see the log
    # insights that it states by the verifier's last word, ascending; the gold map is made from them
    stated: tuple[int, ...] = ()
    # insights on which the verifier's last word could not be read; they are in `stated` as assigned
    unchecked: tuple[int, ...] = ()
    # insights found when the finished document was read once more; None: it was not, or could not be
    reread: tuple[int, ...] | None = None


def write_document(brief: Brief, log: Log) -> Plan[Draft]:
    """The document that *brief* asks for, checked as its domain wants it."""
    draft = yield from (_conversation if RULES[brief.topic.domain].chapters else _article)(brief, log)
    if draft.text is None or not brief.reread:
        return draft
    backwards = list(range(len(brief.outline.facts)))[::-1]  # another order, so that it is another call
    found = yield from _present(brief, draft.text, backwards, "document read again", log)
    if found.reason is not None:
        return draft
    again = tuple(sorted(found.answer))
    wrong = sorted(set(again) ^ set(draft.stated))
    log.decide("document read again", brief.subject, _named("differs on", wrong), found.call_id)
    return draft.model_copy(update={"reread": again})


# ---------------------------------------------------------------- news


def _article(brief: Brief, log: Log) -> Plan[Draft]:
    """Write an article, with leaks taken out and missing insights put in, up to the caps."""
    article = yield from _first_article(brief, log)
    if article is None:
        return Draft()
    cleaned, leaked = yield from _edited(brief, article, _LEAKS, brief.others, log)
    completed, missing = yield from _edited(brief, cleaned, _OMISSIONS, list(brief.assigned), log)
    if completed != cleaned:  # what was added may have brought other facts along
        leaked = yield from _leaks_after_additions(brief, completed, log)
    unchecked = (brief.others if leaked is None else []) + (list(brief.assigned) if missing is None else [])
    stated = sorted((set(brief.assigned) - set(missing or [])) | set(leaked or []))
    title, text = completed.title, completed.text
    return Draft(title=title, text=text, stated=tuple(stated), unchecked=tuple(sorted(unchecked)))


def _first_article(brief: Brief, log: Log) -> Plan[Article | None]:
    fields = {
        "setting": brief.topic.setting,
        "n_document": str(brief.doc_index + 1),
        "n_documents": str(brief.n_documents),
        "angle": ANGLES[brief.doc_index % len(ANGLES)],
        "n_words": str(brief.words),
        "insights": _shown(brief.outline, brief.assigned),
    }
    wanted = WantedText(brief.subject, "synthesize_article", fields, Article, read="article written")
    return (yield from write_checked(wanted, tries=brief.caps.replies, replies=0, log=log))


class _Loop(NamedTuple):
    """A loop of edits: its check, the prompt that edits, and whether found or missing insights are wrong."""

    check: str
    prompt: str
    found_is_wrong: bool


_LEAKS = _Loop("article leaks", "synthesize_remove", found_is_wrong=True)
_OMISSIONS = _Loop("article omissions", "synthesize_add", found_is_wrong=False)


def _edited(
    brief: Brief, article: Article, loop: _Loop, insights: Sequence[int], log: Log
) -> Plan[tuple[Article, list[int] | None]]:
    """
    Return *article* after at most `caps.edits` edits, each after a check of *insights*, and those that are wrong still.

    A last check follows the last edit; the insights are None if the verifier could not be read.
    """
    rejections: list[str] = []
    for n_edits in range(brief.caps.edits + 1):
        found = yield from _present(brief, article.text, insights, loop.check, log, n_edits=n_edits)
        if found.reason is not None:
            return article, None
        wrong = [place for place in insights if (place in found.answer) == loop.found_is_wrong]
        last = n_edits == brief.caps.edits
        reason = _named("states" if loop.found_is_wrong else "lacks", wrong)
        if log.decide(loop.check, brief.subject, reason, found.call_id, last=last) or last:
            break
        fields = {"title": article.title, "text": article.text, "insights": _shown(brief.outline, wrong)}
        read = yield from ask_once(Ask("writer", loop.prompt, fields), rejections, Article)
        if log.decide("article written", brief.subject, read.reason, read.call_id):
            article = read.answer
        rejections += filter(None, [read.reason or reason])
    return article, wrong


def _leaks_after_additions(brief: Brief, article: Article, log: Log) -> Plan[list[int] | None]:
    """Return the insights that leaked in the end. Nothing more is edited, so that the gold map has to list them."""
    check = "article leaks after additions"
    found = yield from _present(brief, article.text, brief.others, check, log)
    if found.reason is not None:
        return None
    leaked = sorted(found.answer)
    log.decide(check, brief.subject, _named("states", leaked), found.call_id, last=True)
    return leaked


def _present(brief: Brief, text: str, insights: Sequence[int], check: str, log: Log, *, n_edits: int = 0) -> Plan[Read]:
    """Return the set of those *insights* that the verifier finds in *text*; after each edit it is asked anew."""
    if not insights:
        return Read(frozenset(), None, None)
    fields = {"text": text, "insights": _shown(brief.outline, insights)}
    afresh = {"notes": f"The document was edited ({n_edits}); read it afresh."} if n_edits else {}
    read = yield from ask_for(
        brief.subject,
        Ask("verifier", "synthesize_find", fields | afresh),
        Present,
        check=check,
        most=brief.caps.replies,
        log=log,
        fits=lambda present: numbers_fit(present.present, len(insights)),
    )
    if read.reason is not None:
        return read
    return read._replace(answer=frozenset(insights[number - 1] for number in read.answer.present))


def _shown(outline: Outline, insights: Sequence[int]) -> str:
    """Insights as prompts show them, with their subtopics."""
    facts = outline.facts
    return numbered(
        {"subtopic": outline.subtopics[facts[place].subtopic].name, "fact": facts[place].text} for place in insights
    )


def _named(what: str, insights: Sequence[int]) -> str | None:
    return f"{what} {', '.join(f'insight {place + 1}' for place in insights)}" if insights else None


# ---------------------------------------------------------------- conversations


def _conversation(brief: Brief, log: Log) -> Plan[Draft]:
    """Chapters, one insight each; an insight whose chapter was never accepted is left out."""
    chapters: list[str] = []
    stated: list[int] = []
    for place in brief.assigned:
        chapter = yield from _chapter(brief, place, chapters, log)
        if chapter is not None:
            chapters.append(chapter)
            stated.append(place)
    if not chapters:
        return Draft()
    return Draft(text="\n\n".join(chapters), stated=tuple(sorted(stated)))


def _chapter(brief: Brief, place: int, chapters: Sequence[str], log: Log) -> Plan[str | None]:
    fact = brief.outline.facts[place]
    subtopic = brief.outline.subtopics[fact.subtopic]
    subject = f"{brief.subject}, insight {place + 1}"
    fields = {
        "setting": brief.topic.setting,
        "n_document": str(brief.doc_index + 1),
        "n_documents": str(brief.n_documents),
        "n_chapter": str(len(chapters) + 1),
        "before": chapters[-1] if chapters else "",
        "subtopic": described(subtopic),
        "insight": fact.text,
        "n_words": str(max(1, brief.words // len(brief.assigned))),
    }
    shown, n_facts = shown_outline(brief.outline), len(brief.outline.facts)
    verified = Verified(
        "chapter classified",
        lambda chapter: Ask("verifier", "synthesize_classify", {"outline": shown, "chapter": chapter.text}),
        Classified,
        fault=lambda classified: _misfit(classified, place, fact.subtopic),
        fits=lambda classified: numbers_fit(classified.insights, n_facts),
    )
    wanted = WantedText(subject, "synthesize_chapter", fields, Chapter, read=verified.check, verified=verified)
    chapter = yield from write_checked(wanted, tries=brief.caps.chapters, replies=brief.caps.replies, log=log)
    return None if chapter is None else chapter.text


def _misfit(classified: Classified, place: int, subtopic: int) -> str | None:
    """Return why a chapter is not one of the insight at *place*; None if it is."""
    found = {number - 1 for number in classified.insights}
    if others := sorted(found - {place}):
        return _named("states", others)
    if place not in found:
        return _named("lacks", [place])
    return None if classified.subtopic == subtopic + 1 else f"is about subtopic {classified.subtopic}"


def shown_outline(outline: Outline) -> str:
    """Subtopics with their insights, both numbered, as the prompt that classifies shows them."""
    number = 0
    lines = []
    for place, subtopic in enumerate(outline.subtopics, start=1):
        lines.append(f"Subtopic {place}: {described(subtopic)}")
        for text in subtopic.insights:
            number += 1
            lines.append(f"  Fact {number}: {text}")
    return "\n".join(lines)
