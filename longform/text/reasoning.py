"""
Tell what a model thinks in its reply from what it answers.

Models of many makers think first, between marks such as `<think>` and `</think>`; a template may have written the first
mark, so that only the last stands in the reply. gpt-oss names channels, of which the final one is the answer.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MARK = re.compile(
    r"[<\[◁](?P<ends>/)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad|seed:think)[>\]▷]",
    re.IGNORECASE,
)
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
    for mark in _MARK.finditer(reply):
        if mark["ends"]:
            if start is not None:
                found.clear()
            start = mark.end()
        elif start is not None:
            found.append(ReasoningSpan(start, mark.start()))
            start = None
    if start is None and not _begins_a_line(reply, found[-1].end):
        start = found.pop().start
    return found if start is None else [*found, ReasoningSpan(start, len(reply))]


def _begins_a_line(text: str, place: int) -> bool:
    return not text[text.rfind("\n", 0, place) + 1 : place].strip()


class Parted(NamedTuple):
    """An answer, and the reasoning that stood in it with its marks."""

    answer: str
    thought: str


def set_aside(text: str) -> Parted:
    """Part an answer from what its model thought."""
    spans = answer_spans(text)
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
