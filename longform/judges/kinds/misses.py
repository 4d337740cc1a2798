"""
Misses: how does a response fail to say a key point?

LONG2RAG, section 6.1 and figure 8, names three ways: it says the point in part (incomplete expression), it stays vaguer
than the point (general expression), or it says nothing of it (point missing). A point that is said is no miss.
"""

from __future__ import annotations

from collections.abc import Sequence

from longform.chat.call import TokenLogprobs
from longform.chat.first_word import Fidelity, stated_word
from longform.judges.kind import Group, Kind, Verdict, settle_empty, unjudged
from longform.judges.kinds.key_point import NO_KEY_POINT
from longform.judges.kinds.support import claim
from longform.judges.replies import unread
from longform.metrics.verdict_means import SAID, WAYS

UNREADABLE = "no_way_of_missing"
"""The failure of a reply that is no answer."""

MISSING = "missing"
ANSWERS = (SAID, *WAYS)


def _read(reply: str, _logprobs: Sequence[TokenLogprobs] | None, _group: Group, _fidelity: Fidelity) -> Verdict:
    word = stated_word(reply, words=ANSWERS)
    return unjudged(unread(reply, UNREADABLE, words=ANSWERS)) if word is None else Verdict(word, None)


def _decided(number: float, _bounds: Sequence[float]) -> str:
    raise ValueError(f"a number cannot name a way of missing a key point: expected a word, found {number}")


MISSES = Kind(
    task="misses",
    targets="key_point",
    shared="summary",
    unit=claim,
    fields=("response", "key_point"),
    prompt="judge_misses",
    settle=settle_empty(NO_KEY_POINT, MISSING),
    read=_read,
    counts={answer: float(answer == SAID) for answer in ANSWERS},
    decide=_decided,
    measures=tuple(f"miss_{way}" for way in WAYS),
    work="misses",
    mean="mean_misses",
)
