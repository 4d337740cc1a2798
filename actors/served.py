"""What passes between a served model and those who call it: the same over a deployment handle as inside one process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from longform.errors import LongformError

ScoreKind = Literal["logit", "probability", "cosine"]
"""What a score is. Only logits and probabilities of one model turn into each other; a cosine is neither."""


class About(NamedTuple):
    """
    What a served model says of itself.

    Attributes:
        name: In the configuration.
        kind: `embedding`, `rerank` or `judge`.
        task: Of a judge, such as `support`; null: no judge.
        version: Changes with all that can change its answers.
        score_kind: What its scores are; null: it gives vectors.
        window: Tokens it reads of one input at most, where it cuts longer ones; null: it cuts nothing.
        dimensions: Of its vectors; null: it gives scores.
        card: The judge card in one line; null, and `card_reason` says why.
    """

    name: str
    kind: Literal["embedding", "rerank", "judge"]
    version: str
    task: str | None = None
    score_kind: ScoreKind | None = None
    window: int | None = None
    dimensions: int | None = None
    card: str | None = None
    card_reason: str | None = None


class Answered(NamedTuple):
    """
    The answer to one unit of work: a text, a pair, a cell.

    Attributes:
        content: A vector, a score or a list of verdicts.
        tokens: That were read for it.
        truncated: Whether the window cut its text.
        from_cache: Whether it was answered before, by this replica.
        key: A hash of the model's version and the unit: equal keys have equal answers.
    """

    content: Any
    tokens: int
    truncated: bool
    from_cache: bool
    key: str


class Found(NamedTuple):
    """The answers to the units of each item, shape (items, units), and what the model that gave them says of itself."""

    about: About
    answers: list[list[Answered]]


class Refusal(NamedTuple):
    """The queue is full: ask again after so many seconds; None: the request is too large for it, whenever it comes."""

    retry_after_s: float | None


class QueueFullError(LongformError):
    """More is waiting than the queue holds."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"the queue is full; ask again in {math.ceil(retry_after_s)} s")
        self.retry_after_s = retry_after_s


class TooLargeError(LongformError):
    """One request is more work than the queue may hold."""

    def __init__(self) -> None:
        super().__init__("the request is more work than this model's queue may hold; split it")


class UnavailableError(LongformError):
    """The model cannot be reached now: its replica died, or none is up yet. Asking again is safe."""


def verdicts(answers: Sequence[Answered]) -> list[dict[str, Any]]:
    """The verdicts of one item, each with its `call_id` and whether it came `from_cache`."""
    return [
        {**verdict, "call_id": verdict.get("call_id") or answer.key, "from_cache": answer.from_cache}
        for answer in answers
        for verdict in answer.content
    ]
