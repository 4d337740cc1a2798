"""
Scores of single documents by a chat model as a plan that asks: about each pair once, and once more if unreadable.

MSRS (Phanse et al.), section 4.1: each of the first documents of a ranking is scored by itself, by a whole number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from longform.chat.asking import Asks, Name
from longform.chat.call import ChatRequest

NO_SCORE = "no_score"
"""The failure of a reply without a whole number in the place of the score."""

OUT_OF_SCALE = "score_out_of_scale"
"""The failure of a reply whose number is not one of the scale."""

_BARE = re.compile(r"""[\s*_`"'(\[]*([0-9]+)(?:\s*/\s*([0-9]+))?[\s*_`"')\].]*""")
_LAST_LINE = re.compile(rf"""[\s*_`"'#>]*score[\s*_`]*[:=]{_BARE.pattern}""", re.IGNORECASE)


class TextPair(NamedTuple):
    """A question: the texts of a document and of a query."""

    document: str
    query: str


class PairScore(NamedTuple):
    """A score, or the reason why there is none."""

    score: int | None
    failure: str | None = None


class AskedPair(NamedTuple):
    """The name of a request; *again* if it is the second one about its pair."""

    pair: TextPair
    again: bool = False


def scores(
    requests: Mapping[TextPair, ChatRequest],
    again: Callable[[ChatRequest, str], ChatRequest],
    read: Callable[[str], PairScore],
) -> Asks[dict[TextPair, PairScore]]:
    """
    Score all pairs by their *requests*; *again* asks once more with what came, *read* reads a reply.

    A score is that of the second reply if the first could not be read; without a second reply the pair has none, for
    the reason that the first had. A call that failed is the reason by itself.
    """
    found: dict[TextPair, PairScore] = {}
    waiting: dict[Name, ChatRequest] = {AskedPair(pair): request for pair, request in requests.items()}
    new = dict(waiting)
    while waiting:
        came = yield new
        new = {}
        for name, reply in came.items():
            assert isinstance(name, AskedPair), "its own names come back"
            request = waiting.pop(name)
            if not name.again or reply.text is not None:
                found[name.pair] = PairScore(None, reply.failure) if reply.text is None else read(reply.text)
            if found[name.pair].failure is not None and reply.text is not None and not name.again:
                second = name._replace(again=True)
                new[second] = waiting[second] = again(request, reply.text)
    return found


def read_score(reply: str, n_points: int) -> PairScore:
    """
    Read the score that a reply states, a whole number from 1 to *n_points*.

    It is the whole reply, or stands in its last line behind `SCORE:`; emphasis around it and a denominator that is the
    scale's highest are passed over. Failures: `no_score`, `score_out_of_scale`.
    """
    lines = reply.strip().splitlines()
    stated = _BARE.fullmatch(reply) or (_LAST_LINE.fullmatch(lines[-1]) if lines else None)
    if stated is None or (stated[2] is not None and int(stated[2]) != n_points):
        return PairScore(None, NO_SCORE)
    score = int(stated[1])
    return PairScore(score) if 1 <= score <= n_points else PairScore(None, OUT_OF_SCALE)
