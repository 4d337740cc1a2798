"""The forms of replies: one JSON object each; the significance of a point is one word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from longform.synthesis.asking import Form, Words


class Criteria(Form):
    """The five criteria of a question that is worth asking (LONG2RAG, appendix B)."""

    not_common_sense: bool
    clear: bool
    unambiguous: bool
    complex: bool
    asks_for_opinion: bool

    @property
    def n_met(self) -> int:
        return sum((self.not_common_sense, self.clear, self.unambiguous, self.complex, self.asks_for_opinion))


class Sorted(Form):
    category: int  # from 1
    domain: int


class QuestionList(Form):
    questions: tuple[Words, ...]


class Decomposed(Form):
    kind: Literal["simple", "complex", "vague"]
    sub_questions: tuple[Words, ...]


class Point(Form):
    point: Words
    spans: tuple[str, ...]


class PointList(Form):
    points: tuple[Point, ...]


class Group(Form):
    point: Words
    numbers: tuple[int, ...]


class GroupList(Form):
    groups: tuple[Group, ...]


SIGNIFICANCE = "synthesize_key_point"

FORMS: Mapping[str, type[Form] | None] = {
    "synthesize_criteria": Criteria,
    "synthesize_sort_question": Sorted,
    "synthesize_deeper_questions": QuestionList,
    "synthesize_wider_questions": QuestionList,
    "synthesize_searches": Decomposed,
    "synthesize_points": PointList,
    "synthesize_merge_points": GroupList,
    SIGNIFICANCE: None,
}
"""Prompt -> the form of its reply; None: plain text."""
