"""
Messages between a served model and its callers: the same over a deployment handle as inside one process.

Besides, a board of the requests that callers have yet to send: Serve scales by the requests it holds, and a job holds
most of its own back. It states their number with each that it sends, by URL and by handle, and they count too
(`serve.backlog`), so that replicas start while the first requests run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar

from longform.errors import LongformError
from longform.given import Json
from longform.keys import content_key
from longform.retrieval.ranking import ranked

ScoreKind = Literal["logit", "probability", "cosine", "own"]
"""Scales of a score. Only logits and probabilities of one model turn into each other; `own` are a reranker's own."""


class About(NamedTuple):
    """A served model's description of itself."""

    name: str  # in the configuration
    kind: Literal["embedding", "rerank", "judge", "chat"]
    version: str  # changes with all that can change its answers
    task: str | None = None  # of a judge, such as `support`; null: no judge
    score_kind: ScoreKind | None = None  # null: it gives no scores
    window: int | None = None  # tokens it reads of one input at most, if it cuts longer ones; null: it cuts nothing
    dimensions: int | None = None  # of its vectors; null: it gives none
    card: str | None = None  # the judge card in one line; null, and `card_reason` says why
    card_reason: str | None = None
    estimated: bool = True  # tokens are guessed from the size of texts, since it has no tokenizer


class Answered(NamedTuple):
    """The answer to one unit of work: a text, a pair, a cell."""

    content: Any  # a vector, a score, a list of verdicts, or a completion
    tokens: int  # that were read for it
    truncated: bool  # the window cut its text
    from_cache: bool  # it was answered before, by this replica or, `from_ledger`, by a writer of the ledger
    key: str  # a hash of the model's version and the unit: equal keys have equal answers
    from_ledger: bool = False
    output_tokens: int = 0  # that were written for it
    settled: bool = False  # no model had to be asked, so that it is in no cache and no ledger
    failure: str | None = None  # why there is no score, the content, if one was asked for


class Replies(NamedTuple):
    """The answers to the units of each item, shape (items, units), and the description of the model that gave them."""

    about: About
    answers: list[list[Answered]]


DEADLINE_HEADER = "X-Request-Timeout"
"""Name of the header with the seconds for which a caller waits."""

BACKLOG_HEADER = "X-Request-Backlog"
"""Name of the header with a caller and the requests that it holds back: `CALLER NUMBER`."""


class HeldBack(NamedTuple):
    """The requests that a caller has yet to send, as it states them with each that it sends."""

    caller: str  # 32 hexadecimal digits
    n_requests: int


def stated(timeout_s: float | None, held: HeldBack | None) -> dict[str, str]:
    """Return the headers that state a caller's deadline and backlog; None: it does not say."""
    found = {} if timeout_s is None else {DEADLINE_HEADER: f"{timeout_s:g}"}
    return found if held is None else {**found, BACKLOG_HEADER: f"{held.caller} {held.n_requests}"}


class Refusal(NamedTuple):
    """A refusal as it crosses a handle, where an error would become one of another type."""

    status: int  # as of HTTP
    message: str
    retry_after_s: float | None = None  # None: to ask again does not help


class ApiError(LongformError):
    """A request that cannot be met, by its own fault or for want of time or room."""

    def __init__(self, status: int, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.refusal = Refusal(status, message, retry_after_s)


class QueueFullError(ApiError):
    """More is waiting than the queue holds, or than can be computed before the request's turn should come."""

    def __init__(self, retry_after_s: float) -> None:
        again = f"ask again in {math.ceil(retry_after_s)} s"
        super().__init__(429, f"too much is waiting for this model; {again}", retry_after_s)


class DeadlineError(ApiError):
    """The time that a request gave itself passed before its answer."""

    def __init__(self) -> None:
        said = f"the seconds that {DEADLINE_HEADER} states"
        super().__init__(504, f"{said} passed before the answer; state more, or ask for less")


class TooLargeError(ApiError):
    """One request is more work than the queue may hold."""

    def __init__(self) -> None:
        super().__init__(413, "the request is more work than this model's queue may hold; split it")


class UnavailableError(LongformError):
    """The model cannot be reached now: its replica died, or none is up yet. Asking again is safe."""


ServedVerdict = Mapping[str, Json]
"""A verdict as `longform.judges.replies` writes and reads it, with its `call_id` and its origin."""


JudgeAnswer = dict[str, Any]
"""The fields of `serve.http.schemas.JudgeAnswer` but for its `id`."""


_SHARED_CHARS = 4096

Item = TypeVar("Item")


def shared_text(items: Sequence[Item]) -> str:
    """
    Return a key of the text that requests share and that one replica should read once, or "".

    The document, the bullets or the query of its first item. Of a conversation the key that it states, else what it
    begins with: a long text comes first there, and the question after it.
    """
    item = items[0] if items else None
    if not isinstance(item, Mapping) or ("texts" in item and "query" not in item):
        return ""
    if "messages" in item:
        return content_key("chat", item.get("shared") or _said(item["messages"])[:_SHARED_CHARS])
    return content_key("item", next(iter(item.values()), ""))


def _said(messages: Json) -> str:
    assert isinstance(messages, Sequence), "the request was checked"
    return "".join(str(message["content"]) for message in messages if isinstance(message, Mapping))


def answers_to_each(answer: Answered) -> list[Answered]:
    """Return an answer for each text of an item that was scored at once; the first one has the tokens."""
    each = [answer._replace(content=score, failure=failure, tokens=0) for _, score, failure in answer.content]
    return [each[0]._replace(tokens=answer.tokens), *each[1:]]


def best_first(answers: Sequence[Answered]) -> list[int]:
    """Return the places of texts by descending score, ties by place; then those without a score."""
    places = ranked([answer.content for answer in answers], of_others=True)
    return [*places, *(place for place, answer in enumerate(answers) if answer.content is None)]


def usage(answers: Sequence[Answered]) -> dict[str, Any]:
    """Count the tokens read for a request; `cached_tokens` of them were read before."""
    tokens = sum(answer.tokens for answer in answers)
    cached = sum(answer.tokens for answer in answers if answer.from_cache)
    return {"prompt_tokens": tokens, "total_tokens": tokens, "cached_tokens": cached}


def judge_answer(found: Replies) -> JudgeAnswer:
    """Return a judge's answer to a request, by URL and by handle alike."""
    about = found.about
    units = [answer for of in found.answers for answer in of]
    asked = [answer for answer in units if not answer.settled]
    written = sum(answer.output_tokens for answer in units)
    tokens = usage(units)
    return {
        "judge": about.name,
        "task": about.task,
        "version": about.version,
        "score_kind": about.score_kind,
        "card": about.card,
        "card_reason": about.card_reason,
        "from_cache": bool(asked) and all(answer.from_cache for answer in asked),
        "from_ledger": bool(asked) and all(answer.from_ledger for answer in asked),
        "results": [{"verdicts": verdicts(of)} for of in found.answers],
        "usage": {
            **tokens,
            "completion_tokens": written,
            "total_tokens": tokens["prompt_tokens"] + written,
            "estimated": about.estimated,
        },
    }


def verdicts(answers: Sequence[Answered]) -> list[ServedVerdict]:
    """Return the verdicts of one item, each with its `call_id` and its origin, `from_cache` and `from_ledger`."""
    return [
        {
            **verdict,
            "call_id": verdict.get("call_id") or answer.key,
            "from_cache": answer.from_cache,
            "from_ledger": answer.from_ledger,
        }
        for answer in answers
        for verdict in answer.content
    ]


# ---------------------------------------------------------------- requests still to come

NAMESPACE = "longform"
_NAME = "backlog"
_BELIEVED_S = 60.0  # a caller that said nothing for so long is taken for dead


class Backlog:
    """The board; *clock* is in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[tuple[str, str], tuple[int, float]] = {}

    def publish(self, deployment: str, held: HeldBack) -> None:
        """Note how many requests a caller has yet to send to *deployment*; 0: none."""
        self._said.pop((deployment, held.caller), None)
        if held.n_requests > 0:
            self._said[deployment, held.caller] = (held.n_requests, self._clock())

    def waiting(self, deployment: str) -> int:
        """Count the requests that all callers have yet to send to *deployment*."""
        now = self._clock()
        self._said = {key: said for key, said in self._said.items() if now - said[1] < _BELIEVED_S}
        return sum(n for (name, _), (n, _) in self._said.items() if name == deployment)


@cache
def ray_board() -> Any:
    """Return the cluster's board, an actor that every replica finds by its name, and that outlives them."""
    import ray

    options = {"name": _NAME, "namespace": NAMESPACE, "lifetime": "detached", "get_if_exists": True}
    # another one knows nothing, and hears all again within seconds
    return ray.remote(Backlog).options(num_cpus=0, max_restarts=-1, **options).remote()
