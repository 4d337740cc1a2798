"""The significance of a point: P(YES) against P(NO) of the verifier's first word (LONG2RAG, appendix A.2)."""

from __future__ import annotations

from collections.abc import Sequence

from longform.chat.first_word import stated_word, yes_probability
from longform.synthesis.asking import Ask, Log, Plan, Reply, notes
from longform.synthesis.key_points.checks import SCORED, SIGNIFICANT
from longform.synthesis.key_points.replies import SIGNIFICANCE
from longform.synthesis.key_points.settings import ModelsSettings

ALTERNATIVES = 20
"""Tokens whose log probabilities are asked for, as many as providers give."""

NO_PROBABILITY = "no_probability"
NO_WORD = "no_yes_or_no"


def scores(
    question: str, points: Sequence[str], settings: ModelsSettings, *, replies: int, log: Log
) -> Plan[list[float | None]]:
    """Return P(YES) of each point, asked at once; None if no reply of *replies* could be read."""
    found: dict[int, float] = {}
    failures: dict[int, list[str]] = {place: [] for place in range(len(points))}
    while waiting := [n for n, said in failures.items() if n not in found and len(said) < replies]:
        asks = [_ask(question, points[place], failures[place], settings) for place in waiting]
        for place, reply in zip(waiting, (yield asks), strict=True):
            score, reason = _read(reply, settings)
            if score is not None:
                found[place] = score
                _note(points[place], score, settings, log, reply.call_id)
                continue
            failures[place].append(reason)
            log.reject(SCORED, points[place], reason, reply.call_id, last=len(failures[place]) >= replies)
    return [found.get(place) for place in range(len(points))]


def _note(point: str, score: float, settings: ModelsSettings, log: Log, call_id: str | None) -> None:
    log.accept(SCORED, point, call_id)
    if score >= settings.threshold:
        log.accept(SIGNIFICANT, point, call_id)
    else:
        log.reject(SIGNIFICANT, point, f"P(YES) {score:.3f} below {settings.threshold:g}", call_id)


def _ask(question: str, point: str, failures: Sequence[str], settings: ModelsSettings) -> Ask:
    fields = {"question": question, "point": point, "notes": notes(failures)}
    wants = settings.without_logprobs == "refuse"
    return Ask("verifier", SIGNIFICANCE, fields, top_logprobs=ALTERNATIVES if wants else None)


def _read(reply: Reply, settings: ModelsSettings) -> tuple[float | None, str]:
    """Return P(YES), or None and why."""
    if reply.text is None:
        return None, reply.failure or "no_reply"
    word = stated_word(reply.text)
    if word is None:
        return None, NO_WORD
    if settings.without_logprobs == "answers":
        return float(word == "yes"), ""
    return yes_probability(reply.logprobs), NO_PROBABILITY
