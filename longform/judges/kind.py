"""
The type of every kind of judgement, and the values that pass between judges and those who ask them.

A kind is a value: its file in `longform/judges/kinds/` says which pairs it judges, how a prompt shows them, how a reply
is read, which answers there are and what each counts. Backends (`actors/judges/`) know no kind by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from longform.chat.call import TokenLogprobs
from longform.chat.first_word import Fidelity
from longform.given import Count, Share, Text


class Group(NamedTuple):
    """One text with the items that are judged with it: a row of the matrix."""

    key: str  # names the text; calls of one key go to one replica
    shared: tuple[str, ...]  # parts of the text: a summary's bullets; a document is one part
    items: tuple[str, ...]  # sentences, insights, key points or references
    background: tuple[str, ...] = ()  # texts by which a judge that counts words weighs them; none: the items
    query: str = ""  # asks for the summary; empty unless the kind shows it
    # number of the question, from 0: a judge with repeats is asked the same again, in calls of their own
    repeat: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.shared)


class Verdict(NamedTuple):
    """The judgement of one pair."""

    answer: Text | None  # one of the kind's answers; None: unjudged, and `failure` says why
    probability: Share | None  # the judge's number in [0, 1]; None: unjudged, or the judge gives only answers
    failure: Text | None = None
    # window of the text that supports the item best, from 0, if the judge reads in windows
    chunk_index: Count | None = None
    reply: Text | None = None  # a chat model's reply, or the evidence of a judge that counts words, as JSON
    call_id: Text | None = None
    # part of the text that says the item, from 0; None: none does, or the kind links nothing
    linked_unit: Count | None = None
    link_failure: Text | None = None  # why an item that is said has no link


Verdicts = list[list[Verdict]]
"""Shape (groups, items)."""


NO_PROBABILITY = "no_probability"
"""The failure of an answer without the number that was asked for, where a number alone is a judgement."""


def unjudged(failure: str) -> Verdict:
    return Verdict(None, None, failure)


Read = Callable[[str, Sequence[TokenLogprobs] | None, Group, Fidelity], Verdict]
"""Reads a reply (its text, its log probabilities) about an item of a group."""


Settle = Callable[[Group, str], Verdict | None]
"""Returns the verdict that needs no judge; None if one must be asked."""


def ask(group: Group, item: str) -> None:
    """Let a judge be asked about every pair."""


def settle_empty(failure: str, lowest: str) -> Settle:
    """
    Return what settles pairs that one text is missing from, so that nobody is asked about them.

    An item without text is unjudged, by *failure*; if the shared text is empty, the answer is *lowest*.
    """

    def settled(group: Group, item: str) -> Verdict | None:
        if not item.strip():
            return unjudged(failure)
        return None if group.text.strip() else Verdict(lowest, 0.0)

    return settled


def unreadable(*_: object) -> Verdict:
    """Read no reply; for kinds that no chat model judges."""
    return unjudged("reply_not_read")


@dataclass(frozen=True, kw_only=True)
class SheetKind:
    """A kind of label that people give in the rows of a sheet."""

    task: str = ""  # name; for a user's kind, its import path
    targets: str  # kind of target that a label is about
    counts: Mapping[str, float]  # answer -> the number that it counts
    # answers that a judge's number may give, and that people are not offered
    judges_alone: frozenset[str] = frozenset()
    labels: tuple[str, ...] = ()  # an answer has one or several, joined by `+`; none: an answer is one word
    columns: tuple[str, ...] = ("answer",)  # filled by people when they label a pair
    is_justified: bool = False  # people must say why, in a note beside each answer
    explained: str = ""  # added to what their guide says of answers, in Markdown

    @property
    def links(self) -> bool:
        """True if an answer names the part of the text that says an item."""
        return "linked_unit" in self.columns

    @property
    def of_documents(self) -> bool:
        """True if sentences are checked against documents, False if a text is judged by targets of its query."""
        return self.targets == "document"

    @property
    def step(self) -> str:
        """The step of a run that asks its judges."""
        return "check" if self.of_documents else "judge"


@dataclass(frozen=True, kw_only=True)
class Kind(SheetKind):
    """A kind of judgement; its `counts` are from 0 to 1."""

    targets: Literal["insight", "document", "key_point", "reference"]
    shared: Literal["summary", "target"]  # side of a pair that many pairs share, and that prompts show first
    unit: Callable[[str], str] = str  # makes a summary's line into a unit that is judged
    fields: tuple[str, str]  # names of the shared text and of an item in prompts
    prompt: str = ""  # shows a pair to a chat model, if a configuration names no other prompt
    shows_query: bool = False  # prompts show the query, too, as the field `query`
    show: Callable[[Sequence[str]], str] = "\n".join  # makes the text in a prompt of the shared parts
    settle: Settle = ask  # returns the verdict that needs no judge, or None if one must be asked
    read: Read = unreadable
    # JSON schema of a reply, for models that accept one; None: replies are no JSON
    schema: Mapping[str, Any] | None = None
    # answer -> the answer that it counts as beside people: not every judge can tell them apart
    as_one: Mapping[str, str] = field(default_factory=dict)
    # makes an answer of a number in [0, 1], by the bounds that a judge's settings state
    decide: Callable[[float, Sequence[float]], str]
    measures: tuple[str, ...] = ()  # shipped measures of its verdicts that a configuration has if it lists none
    # answers are grades, whose mean is not the likeliest one: if probabilities were asked for, an answer without them
    # is no judgement
    graded: bool = False
    # a summary has to be judged by all targets of its query; one that nobody labelled is unjudged
    complete: bool = True
    work: str = "verdicts"  # first part of the keys of its verdicts
    mean: str = "mean"  # name under which means of such judges sign
    # figures by which its judges are held against people, in `longform.judges.worth`
    worth: Literal["correlation", "balanced_accuracy"] = "correlation"
    # for a user's kind: changes with its verdicts; None: the hash of its module's source
    version: str | None = None

    def number(self, answer: str | None, probability: float | None) -> float | None:
        """Return the probability if there is one, else what the answer counts; None if the pair is unjudged."""
        if answer is None:
            return None
        return self.counts[answer] if probability is None else float(probability)

    def by_number(self, number: float, bounds: Sequence[float], *, chunk_index: int | None = None) -> Verdict:
        """Return the verdict of a judge that gives a number."""
        return Verdict(self.decide(number, bounds), number, chunk_index=chunk_index)

    def filled(self, group: Group, item: str) -> dict[str, str]:
        shared, of_item = self.fields
        query = {"query": group.query} if self.shows_query else {}
        return {shared: self.show(group.shared), of_item: item, **query}

    @property
    def prompt_fields(self) -> frozenset[str]:
        return frozenset({*self.fields, "query"} if self.shows_query else self.fields)


# ---------------------------------------------------------------- pairs, each once, and their verdicts in place

Shared = tuple[tuple[str, ...], str, int]
"""The parts of a shared text, the query that is shown with it, and the repeat of the question."""


def shared_of(group: Group) -> Shared:
    return group.shared, group.query, group.repeat


def open_groups(kind: Kind, groups: Sequence[Group]) -> list[Group]:
    """Keep the pairs that a judge must be asked about, every pair once, those of equal texts in one group."""
    keys: dict[Shared, str] = {}
    found: dict[Shared, dict[str, None]] = {}
    for group in groups:
        for item in group.items:
            if kind.settle(group, item) is None:
                keys.setdefault(shared_of(group), group.key)
                found.setdefault(shared_of(group), {})[item] = None
    return [Group(keys[of], of[0], tuple(items), query=of[1], repeat=of[2]) for of, items in found.items()]


def in_place(kind: Kind, groups: Sequence[Group], opened: Sequence[Group], verdicts: Verdicts) -> Verdicts:
    """Return the verdicts on all pairs: the settled ones, and *verdicts* on *opened*, which `open_groups` made."""
    judged = {
        (shared_of(group), item): verdict
        for group, of_group in zip(opened, verdicts, strict=True)
        for item, verdict in zip(group.items, of_group, strict=True)
    }
    return [[kind.settle(group, item) or judged[shared_of(group), item] for item in group.items] for group in groups]
