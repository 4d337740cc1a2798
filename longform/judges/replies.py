"""
Reads verdicts in replies of chat models: one JSON object, passages quoted from the text, or yes or no with P(yes).

Yes and no are read as in Wan et al., On Positional Bias of Faithfulness for Long-form Summarization, section 2.3 and
appendix D: the reply is to start with yes or no and give a short reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from longform.chat.call import TokenLogprobs
from longform.chat.first_word import Fidelity, stated_word, stated_words, yes_probability
from longform.judges.kind import Group, Kind, Read, Verdict, unjudged
from longform.keys import content_key
from longform.text.reasoning import without_reasoning
from longform.text.spans import locate

_MOST_TRIES = 100  # braces that open no object; a reply of more is none


class UnreadableError(Exception):
    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_object(reply: str, field: str, read: Callable[[Mapping[str, Any]], Verdict]) -> Verdict:
    """
    Read the verdict of the one JSON object in *reply*, wherever it stands behind its reasoning: in a fence, or with
    words around it.

    Objects without *field*, or with a schema in it, say no verdict; several that say the same are one.

    *field* and the names in the object that *read* is handed are in small letters. *read* may raise UnreadableError.

    Returns:
        An unjudged verdict with the reason of *read*, or `no_json_object`, `missing_field`, `repeated_field` or
        `several_objects` if the reply says no verdict, or different ones.
    """
    try:
        objects = list(_objects(without_reasoning(reply)))
        stated = [found for found in objects if not isinstance(found.get(field, {}), dict)]
    except UnreadableError as unreadable:
        return unjudged(unreadable.reason)
    verdicts = {_verdict(found, read) for found in stated}
    if not verdicts:
        return unjudged("missing_field" if objects else "no_json_object")
    return verdicts.pop() if len(verdicts) == 1 else unjudged("several_objects")


def _verdict(found: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Verdict]) -> Verdict:
    try:
        return read(found)
    except UnreadableError as unreadable:
        return unjudged(unreadable.reason)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a text that stand in no other one."""
    decoder = json.JSONDecoder(object_pairs_hook=_distinct)
    at, n_tries = text.find("{"), 0
    while at >= 0 and n_tries < _MOST_TRIES:
        try:
            found, end = decoder.raw_decode(text, at)
        except RecursionError:
            return
        except ValueError:
            end, n_tries = at + 1, n_tries + 1
        else:
            yield found
        at = text.find("{", end)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = {name.strip().lower(): value for name, value in pairs}
    if len(fields) < len(pairs):
        raise UnreadableError(reason="repeated_field")
    return fields


_NUMBER = re.compile(r"\W*(?:bullet(?:[ _](?:id|no|number))?)?\W*(\d{1,9})\W*", re.IGNORECASE)


def whole_number(stated: Any) -> int | None:
    """Return the number of a field as 1, "1", "bullet 1", "1.", 1.0 or [1]; None if it states no one number."""
    if isinstance(stated, list) and len(stated) == 1:
        (stated,) = stated
    if isinstance(stated, float):
        return int(stated) if stated.is_integer() else None
    if isinstance(stated, str):
        found = _NUMBER.fullmatch(stated)
        return int(found[1]) if found and "-" not in stated else None
    return stated if isinstance(stated, int) and not isinstance(stated, bool) else None


# ---------------------------------------------------------------- passages between <quote> and </quote>

NO_QUOTE = "no_quote"
"""The failure of an answer that must quote the text, and quotes nothing."""

NOT_IN_TEXT = "quote_not_in_response"
"""The failure of an answer that quotes what the text does not say."""

_QUOTE = re.compile(r"<quote>(.*?)</quote>", re.DOTALL)


def quotes(reply: str) -> list[str]:
    """Return the passages that *reply* quotes, in their order; those without words are left out."""
    return [passage.strip() for passage in _QUOTE.findall(reply) if passage.strip()]


def quote_failure(reply: str, text: str) -> str | None:
    """
    Check that *reply* quotes *text*, exactly but for white space.

    Returns:
        None if it quotes something, and all that it quotes is there; else the failure.
    """
    found = quotes(reply)
    if not found:
        return NO_QUOTE
    return None if all(locate(passage, text) for passage in found) else NOT_IN_TEXT


# ---------------------------------------------------------------- yes or no

UNREADABLE = "no_yes_or_no"
"""The failure of a reply that is no answer."""

CONTRADICTS = "contradictory_answers"
"""The failure of a reply that states different answers."""


def read_yes_or_no(yes: str, no: str) -> Read:
    """Return what reads replies whose yes and no mean the answers *yes* and *no*."""

    def read(reply: str, logprobs: Sequence[TokenLogprobs] | None, _group: Group, fidelity: Fidelity) -> Verdict:
        word = stated_word(reply, fidelity=fidelity)
        if word is None:
            return unjudged(unread(reply, UNREADABLE))
        return Verdict(yes if word == "yes" else no, yes_probability(logprobs, fidelity=fidelity))

    return read


def unread(reply: str, none: str, *, words: tuple[str, ...] = ("yes", "no")) -> str:
    """Return the failure of a reply without an answer: it states different ones, or *none*."""
    return CONTRADICTS if len(stated_words(reply, words=words)) > 1 else none


def above(yes: str, no: str, *, between: str | None = None) -> Callable[[float, Sequence[float]], str]:
    """
    Return what says *yes* of a number above a bound, as MiniCheck reads its probabilities.

    Of two bounds, *yes* is above the upper and *no* up to the lower one, and *between* is said in the middle; if there
    is no word for that, their mean is the one bound.
    """

    def decided(number: float, bounds: Sequence[float]) -> str:
        low, high = bounds[0], bounds[-1]
        if between is None:
            low = high = (low + high) / 2
        if number > high:
            return yes
        return no if between is None or number <= low else between

    return decided


# ---------------------------------------------------------------- served judges: fields are named as in prompts

BACKGROUND = "haystack_insights"
"""The field with the texts by which a judge that counts words weighs them."""
QUERY = "query"
"""The field with the query, of kinds that are shown it."""


def request_item(kind: Kind, group: Group, *, with_background: bool) -> dict[str, Any]:
    shared, of_item = kind.fields
    item: dict[str, Any] = {
        shared: list(group.shared) if kind.links else kind.show(group.shared),
        f"{of_item}s": list(group.items),
    }
    if kind.shows_query:
        item[QUERY] = group.query
    return item | ({BACKGROUND: list(group.background)} if with_background and group.background else {})


def group_of(kind: Kind, item: Mapping[str, Any]) -> Group:
    shared, of_item = kind.fields
    parts = parts_of(item[shared])
    background, query = tuple(item.get(BACKGROUND) or ()), item.get(QUERY, "")
    return Group(content_key(parts), parts, tuple(item[f"{of_item}s"]), background, query)


def parts_of(text: Any) -> tuple[str, ...]:
    """Return the parts of a shared text, as JSON has it: bullets, or one text."""
    return (text,) if isinstance(text, str) else tuple(text)


def served_verdict(kind: Kind, verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as a judge answers it: one that links has a link, one that does not has a window."""
    found = verdict._asdict()
    links = {"linked_bullet": found.pop("linked_unit"), "link_failure": found.pop("link_failure")}
    if not kind.links:
        return found
    del found["chunk_index"]
    return found | links


def read_verdict(served: Mapping[str, Any]) -> Verdict:
    named = {name: served.get(name) for name in Verdict._fields if name != "linked_unit"}
    return Verdict(**named, linked_unit=served.get("linked_bullet"))
