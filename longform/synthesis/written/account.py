"""Turn outlines and drafts into the tables of a benchmark, and count what was made of what was asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longform.errors import LongformError
from longform.formats.rows import HaystackRows
from longform.keys import content_key
from longform.metrics.statistics import Estimate
from longform.records import Document, Qrel, Query, Target
from longform.synthesis.audit.audit import event_share
from longform.synthesis.recipe import SynthesisWords
from longform.synthesis.written.documents import Draft
from longform.synthesis.written.outline import Outline
from longform.synthesis.written.settings import Topic
from longform.tables.table import Column, Table, Value

_NAME_CHARACTERS = 40
_KEY_DIGITS = 8


@dataclass(frozen=True, kw_only=True)
class Writing:
    """A haystack as it was written."""

    haystack_id: str
    topic: Topic
    outline: Outline
    assigned: Sequence[Sequence[int]]  # insights that each document was to state, places in `outline.facts`
    drafts: Sequence[Draft]  # documents; those without a text are left out of the benchmark


def haystack_rows(written: Writing) -> HaystackRows:
    """
    Return the haystack's tables. The gold map is the verifier's last word on each document, not the assignment.

    Raises:
        LongformError: Two documents are the same.
    """
    haystack_id = written.haystack_id
    queries = _queries(written)
    # one for each of `outline.facts`, in their order
    targets = [
        Target(content_key(query.query_id, text), "insight", query.query_id, haystack_id, index, None, text)
        for query, subtopic in zip(queries, written.outline.subtopics, strict=True)
        for index, text in enumerate(subtopic.insights)
    ]
    texts = [draft for draft in written.drafts if draft.text is not None]
    documents = [
        Document(content_key(haystack_id, draft.title, draft.text), haystack_id, index, draft.title, draft.text or "")
        for index, draft in enumerate(texts)
    ]
    if len({document.doc_id for document in documents}) < len(documents):
        msg = f"{haystack_id}: two documents are the same; ask a writer that varies more, or at a higher temperature"
        raise LongformError(msg)
    qrels = [
        Qrel(targets[place].query_id, targets[place].target_id, document.doc_id, 1)
        for document, draft in zip(documents, texts, strict=True)
        for place in draft.stated
    ]
    return HaystackRows(haystack_id, documents, queries, targets, qrels)


def _queries(written: Writing) -> list[Query]:
    topic = written.topic
    participants = list(topic.participants) if topic.domain == "conversation" else None
    return [
        Query(
            query_id=content_key(written.haystack_id, place, subtopic.query),
            haystack_id=written.haystack_id,
            domain=topic.domain,
            topic=topic.name,
            subtopic_name=subtopic.name,
            subtopic=subtopic.description,
            participants=participants,
            text=subtopic.query,
        )
        for place, subtopic in enumerate(written.outline.subtopics)
    ]


def readable_id(topic: Topic, key: str) -> str:
    """
    A haystack's id that people can read: how the topic's name begins, and eight digits of *key*.

    Names that begin alike, or differ in marks alone, are told apart by their keys.
    """
    return "-".join(part for part in (haystack_name(topic), key[:_KEY_DIGITS]) if part)


def haystack_name(topic: Topic) -> str:
    """The first words of a topic's name, in letters and digits, whole; only a first word of over 40 letters is cut."""
    name = "-".join(re.findall(r"[^\W_]+", topic.name.lower()))
    if len(name) <= _NAME_CHARACTERS:
        return name
    return name[: _NAME_CHARACTERS + 1].rpartition("-")[0] or name[:_NAME_CHARACTERS]


# ---------------------------------------------------------------- the account


def haystack_account(written: Writing, *, least_documents: int) -> dict[str, Any]:
    """Count what was made of what was asked."""
    texts = [draft.text for draft in written.drafts if draft.text is not None]
    facts, known = written.outline.facts, written.outline.known
    counts = Counter(place for draft in written.drafts for place in draft.stated)
    below = [place for place in range(len(facts)) if counts[place] < least_documents]
    pairs = list(zip(written.assigned, written.drafts, strict=True))
    return {
        "haystack_id": written.haystack_id,
        "topic": written.topic.name,
        "subtopics": len(written.outline.subtopics),
        "insights": len(facts),
        "documents": len(texts),
        "documents_not_written": len(written.drafts) - len(texts),
        "mean_words": sum(len(text.split()) for text in texts) / len(texts) if texts else None,
        "assigned_but_not_stated": sum(len(set(assigned) - set(draft.stated)) for assigned, draft in pairs),
        "stated_but_not_assigned": sum(len(set(draft.stated) - set(assigned)) for assigned, draft in pairs),
        "unchecked_cells": sum(len(draft.unchecked) for draft in written.drafts),
        "insights_below_least_documents": [
            {"insight": facts[place].text, "documents": counts[place]} for place in below
        ],
        "known_without_documents": None if known is None else [facts[place].text for place in known],
        "read_again": read_again(written),
    }


def read_again(written: Writing) -> dict[str, Any]:
    """
    Compare a second reading of the finished documents by the verifier with the gold map.

    Returns:
        `cells` (document x insight) that were read again, those of them that are gold and were not found (`missing`)
        and the reverse (`extra`), and the share of cells that differ with its 95 % interval, by documents: null if
        none was read. It shows the errors that the verifier makes now and then, and none of those that it makes every
        time.
    """
    again = [draft for draft in written.drafts if draft.reread is not None]
    n_facts = len(written.outline.facts)
    cells = len(again) * n_facts
    missing = sum(len(set(draft.stated) - set(draft.reread or ())) for draft in again)
    extra = sum(len(set(draft.reread or ()) - set(draft.stated)) for draft in again)
    differs = [place in set(draft.stated) ^ set(draft.reread or ()) for draft in again for place in range(n_facts)]
    documents = np.repeat(np.arange(len(again)), n_facts)
    share = event_share(np.array(differs), documents) if cells else Estimate(None, None, None, 0)
    return {
        "documents": len(again),
        "cells": cells,
        "missing": missing,
        "extra": extra,
        "differing_share": share.value,
        "differing_low": share.low,
        "differing_high": share.high,
    }


# ---------------------------------------------------------------- in words

TOO_FEW = "too few: insights that fewer documents state than `least_documents` asks for; synthesis.json has them"
READ_DIFFERENTLY = "read again: pairs of document and insight where the verifier, asked again, said the contrary"
_SHORT = ("haystack", "documents", "documents_not_written", "subtopics", "insights", "too_few", "read_again")


def told(haystacks: Sequence[Mapping[str, Any]]) -> SynthesisWords:
    """Tell accounts in words."""
    documents, insights = (sum(one[name] for one in haystacks) for name in ("documents", "insights"))
    return SynthesisWords(
        first=f"haystacks: {len(haystacks)}, documents: {documents:,}, insights: {insights:,}",
        table=made(haystacks),
        columns=_SHORT,
        notes=[TOO_FEW, READ_DIFFERENTLY],
        is_short=any(one["documents_not_written"] or one["insights_below_least_documents"] for one in haystacks),
    )


def made(haystacks: Sequence[Mapping[str, Any]]) -> Table:
    """Return what came of what chat models were asked for, a row a haystack."""
    counted = ("documents", "documents_not_written", "mean_words", "insights", *_PAIRS)
    rows = [
        {
            "haystack": row["haystack_id"],
            **{name: row[name] for name in counted},
            "subtopics": row.get("subtopics"),
            "too_few": len(row["insights_below_least_documents"]),
            "known": None if (known := row["known_without_documents"]) is None else len(known),
            "read_again": _differing(row["read_again"]),
        }
        for row in haystacks
    ]
    told = "The gold map is the verifier's last word on each document."
    return Table("made", _MADE, rows, told=told, key=["haystack"])


_PAIRS = {"assigned_but_not_stated": "lacking", "stated_but_not_assigned": "leaked", "unchecked_cells": "unchecked"}
_PAIRS_TOLD = {
    "assigned_but_not_stated": "pairs of document and insight that were assigned and are not in the gold map",
    "stated_but_not_assigned": "pairs that were not assigned and are in the gold map",
}
_AGAIN = "share of pairs on which the verifier contradicted itself, which is the least that it errs"
_MADE = [
    Column("haystack"),
    Column("documents", "count", "written", group="documents"),
    Column("documents_not_written", "count", "not written", "documents that no try got right", group="documents"),
    Column("mean_words", "words", "mean words", unknown="no document was written", group="documents"),
    Column("subtopics", "count", shown=False),
    Column("insights", "count", "all", group="insights"),
    Column("too_few", "count", "too few", "insights that fewer documents state than asked for", group="insights"),
    Column(
        "known",
        "count",
        told="insights that a model told without any document",
        unknown="nobody was asked the queries without documents",
        group="insights",
    ),
    *(Column(name, "count", title, _PAIRS_TOLD.get(name, ""), group="pairs") for name, title in _PAIRS.items()),
    Column("read_again", "share", "read again", _AGAIN, digits=2, unknown="no document was read again", group="pairs"),
]


def _differing(read: Mapping[str, Any]) -> Value:
    """Return the share of pairs read differently; accounts of earlier versions have no interval."""
    value = read["differing_share"]
    interval = read.get("differing_low"), read.get("differing_high")
    return None if value is None else Estimate(value, *interval, read.get("cells", 0))
