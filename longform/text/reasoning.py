"""
Tell what a model thinks in its reply from what it answers.

Models of many makers think first, between marks such as `<think>` and `</think>`; a template may have written the first
mark, so that only the last stands in the reply. gpt-oss names channels, of which the final one is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_NAME = r"""(?:
    [\w:-]{0,40}(?:think|thought|reasoning|scratch_?pad|monologue|reflection)[\w:-]{0,40}
    |(?:[a-z]{1,20}[_:-]){0,4}(?:reason|analysis|plan(?:ning)?|cot|internal|rationale|deliberation|working
        |tool_?(?:call|response|result)s?|function_?calls?)
    |unused9(?:4|(?P<unused>5)))"""
_MARK = re.compile(
    rf"""\\?(?:<|&lt;)\\?\|?(?P<ends>\\?/|end_(?:of_)?)?{_NAME}(?:\s[^<>\n]{{0,200}})?\|?\\?(?:>|&gt;)
    |[\[◁](?P<ended>/)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad)[\]▷]
    |<details\b[^<>\n]{{0,100}}>\s*<summary>[^<\n]{{0,40}}(?:think|thought|reason)[^<\n]{{0,100}}</summary>
    |(?P<details></details>)""",
    re.IGNORECASE | re.VERBOSE,
)
_BEGINS = re.compile(r"<|◁|\\<|\\&|&lt;|\[/?[a-zA-Z]")  # far faster to search for
_OPENS = re.compile(
    r"""[\s#*_]*(?:analysis(?=(?s:.*)assistantfinal)|(?-i:Thinking)(?:\.\.\.|…)
    |(?:here\ is\ |here's\ )?(?:my\ |step[ -]by[ -]step\ )?
    (?:thinking|thoughts?|reasoning|chain[ ]of[ ]thought|scratchpad)(?:\ process)?[ *_]*(?::|\n))""",
    re.IGNORECASE | re.VERBOSE,
)
_CLOSES = re.compile(
    r"""assistantfinal|(?:\.\.\.|…)[ ]?done\ thinking\.?|here\ is\ my\ response:
    |(?:^[ ]*[#*_]*[ ]*(?:here\ is\ |here's\ )?(?:my\ )?|(?:\*\*|__))
    (?:final\ )?(?:answer|response)[ *_]*(?::[*_]*|\n)""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
"""Headings of two parts, the first of which is what a model thinks."""
_MENTIONED = re.compile(r"[\w,(\"'“‘`] ?\Z")
_MENTIONS = re.compile(r"[\"'”’`.,;:!?)]| (?![A-Z])\w")
_CHANNEL = re.compile(r"<\|channel\|>\s*(?P<name>\w+)[^<]*<\|message\|>", re.IGNORECASE)
_ENDS = re.compile(r"<\|(?:end|return|start)\|>.*", re.DOTALL)
_FRAME = re.compile(r"</?(?:answer|response|final_answer)>|<\|[a-z_]{1,20}\|>", re.IGNORECASE)


class ReasoningSpan(NamedTuple):
    """A part of a text: from `start` on, before `end`."""

    start: int
    end: int


def answer_spans(reply: str) -> list[ReasoningSpan]:
    """
    Return the parts of *reply* that are no reasoning, in their order; none if it ends while the model still thinks.

    What stands before a lone closing mark is reasoning. A mark that nothing closes opens reasoning if it begins a line.
    """
    if channels := list(_CHANNEL.finditer(reply)):
        last = channels[-1]
        end = _ENDS.search(reply, last.end())
        final = ReasoningSpan(last.end(), end.start() if end else len(reply))
        return [final] if last["name"].lower() == "final" else []
    found: list[ReasoningSpan] = []
    start: int | None = 0  # of the answer's next part; None: the model thinks
    folded = False
    for mark in _marks(reply):
        if _is_mention(reply, mark) or (mark["details"] and not folded):
            continue
        folded = mark[0][:8].lower() == "<details"
        if mark["ends"] or mark["ended"] or mark["unused"] or mark["details"]:
            if start is not None:
                found.clear()
            start = mark.end()
        elif start is not None:
            found.append(ReasoningSpan(start, mark.start()))
            start = None
    if start is None and not _begins_a_line(reply, found[-1].end):
        start = found.pop().start
    return found if start is None else [*found, ReasoningSpan(start, len(reply))]


def _marks(text: str) -> Iterator[re.Match[str]]:
    end = 0
    for begins in _BEGINS.finditer(text):
        mark = _MARK.match(text, begins.start()) if begins.start() >= end else None
        if mark is not None:
            end = mark.end()
            yield mark


def _is_mention(text: str, mark: re.Match[str]) -> bool:
    """Return whether a sentence speaks of a mark: it stands in quotes, in code, or between the sentence's words."""
    before, after = text[max(mark.start() - 2, 0) : mark.start()], text[mark.end() : mark.end() + 2]
    if before[-1:] == "`" or after[:1] == "`":
        line = text[text.rfind("\n", 0, mark.start()) + 1 : mark.start()][-1000:]
        return line.count("`") % 2 == 1
    return _MENTIONED.search(before) is not None and _MENTIONS.match(after) is not None


def _begins_a_line(text: str, place: int) -> bool:
    return not text[text.rfind("\n", 0, place) + 1 : place].strip()


class Parted(NamedTuple):
    """An answer, and the reasoning that stood in it with its marks."""

    answer: str
    thought: str


def set_aside(text: str) -> Parted:
    """Part an answer from what its model thought."""
    opening = _OPENS.match(text)
    closing = _CLOSES.search(text, opening.end()) if opening else None
    spans = [ReasoningSpan(closing.end(), len(text))] if closing else answer_spans(text)
    if spans == [ReasoningSpan(0, len(text))]:
        return Parted(text, "")
    bounds = zip([0, *(span.end for span in spans)], [*(span.start for span in spans), len(text)], strict=True)
    thought = "\n".join(text[start:end] for start, end in bounds if start < end)
    answer = "".join(text[start:end] for start, end in spans)
    return Parted(_FRAME.sub("", answer).strip("\n"), thought)


def without_reasoning(reply: str) -> str:
    """Return *reply* with spaces in place of its reasoning, so that places in it stay what they are."""
    shown, at = "", 0
    for start, end in answer_spans(reply):
        shown += " " * (start - at) + reply[start:end]
        at = end
    return shown + " " * (len(reply) - at)
