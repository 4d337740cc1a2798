"""
Documents of search endpoints, which answer over HTTP.

    POST URL  {"query": "...", "n": 5}  ->  [{"id", "title", "text", "url"}, ...]

A document needs `text`, and `id` or `url`, which is its id then; `text` is the whole document and no snippet.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import ValidationError

from longform.formats.fields import Entry, Filled
from longform.settings.strict import Strict
from longform.synthesis.asking import Ask, Log, Plan, Reply
from longform.synthesis.key_points.checks import SEARCHED
from longform.synthesis.key_points.sources import SourceDocument


class EndpointSettings(Strict):
    """A search endpoint; requests that fail for a passing reason are sent again."""

    how_it_is_asked = frozenset({"api_key_env"})

    url: str
    api_key_env: str | None = None  # the name of the variable with the bearer token; null: none is sent


class _Hit(Entry):
    text: Filled
    id: Filled | None = None
    url: Filled | None = None
    title: str | None = None


def asked_endpoints(
    searches: Sequence[str], endpoints: Sequence[EndpointSettings], n: int, log: Log
) -> Plan[dict[str, list[SourceDocument]]]:
    """Return the documents that endpoints find for each search, *n* of each endpoint; all are asked at once."""
    asked = [(text, endpoint) for text in searches for endpoint in endpoints]
    found: dict[str, list[SourceDocument]] = {text: [] for text in searches}
    replies = yield [_ask(text, endpoint, n) for text, endpoint in asked]
    for (text, endpoint), reply in zip(asked, replies, strict=True):
        found[text] += _read(text, endpoint, reply, log)[:n]
    return found


def _ask(text: str, endpoint: EndpointSettings, n: int) -> Ask:
    return Ask("search", endpoint.url, {"query": text, "n": str(n), "api_key_env": endpoint.api_key_env or ""})


def _read(text: str, endpoint: EndpointSettings, reply: Reply, log: Log) -> list[SourceDocument]:
    """Return the documents of a reply; one without an id or a text is left out."""
    answer = json.loads(reply.text) if reply.text is not None else None
    if not isinstance(answer, list):
        log.reject(SEARCHED, text, f"{endpoint.url}: no list of documents", last=True)
        return []
    found = []
    for one in answer:
        try:
            hit = _Hit.model_validate(one)
        except ValidationError:
            hit = None
        doc_id = hit and (hit.id or hit.url)
        if hit is None or not doc_id:
            log.reject(SEARCHED, text, f"{endpoint.url}: a document without text, or without id and url")
            continue
        found.append(SourceDocument(doc_id, hit.title or None, hit.text))
    log.accept(SEARCHED, text)
    return found
