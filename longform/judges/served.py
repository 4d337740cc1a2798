"""Pairs and verdicts as a served judge is asked and as it answers: JSON whose fields are named as those of prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.judges.kind import Group, Kind, Verdict
from longform.keys import content_key

BACKGROUND = "haystack_insights"
"""The field with the texts by which a judge that counts words weighs them."""
QUERY = "query"
"""The field with the query, of kinds that are shown it."""


def request_item(kind: Kind, group: Group, *, with_background: bool) -> dict[str, Any]:
    """Return one item of a request: a group."""
    shared, of_item = kind.fields
    item: dict[str, Any] = {
        shared: list(group.shared) if kind.links else kind.show(group.shared),
        f"{of_item}s": list(group.items),
    }
    if kind.shows_query:
        item[QUERY] = group.query
    return item | ({BACKGROUND: list(group.background)} if with_background and group.background else {})


def group_of(kind: Kind, item: Mapping[str, Any]) -> Group:
    """Return the pairs of one item of a request."""
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
    """Read a verdict that a judge answered."""
    named = {name: served.get(name) for name in Verdict._fields if name != "linked_unit"}
    return Verdict(**named, linked_unit=served.get("linked_bullet"))
