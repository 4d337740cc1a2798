"""
The tables between the stages: their columns, keys, and the meaning of null.

A benchmark and a run are folders; each table is a folder of Parquet parts in one of them. `unit_index`, `linked_unit`,
`doc_index` and `doc_position` count from 0; citations in text count from 1. In a run every row carries `work_id`, a
content hash of the inputs and the configuration that made it: rows of one `work_id` are written together, and a later
command skips the work ids it finds.

Tables of a benchmark

    documents   key doc_id
    queries     key query_id
    targets     key target_id: what a summary is compared with (insight, key_point, reference)
    qrels       key (query_id or target_id, doc_id); target_id is null for judgements of whole queries
    summaries   as in a run, where a release ships them
    labels      human or released judgements of those summaries: verdicts with an annotator
    rankings    as in a run, where a release ships retriever scores

Tables of a run

    rankings    key (work_id, doc_id): one retriever's list for one query
    contexts    key context_id: the documents of one prompt, in prompt order
    summaries   key summary_id; text is null if the summary failed, with the reason in failure
    units       key (summary_id, unit_index): the lines of a summary with their citations
    verdicts    key (judge, summary_id, unit_index, target_id, mode, text_index, repeat);
                a context (all documents of a prompt as one text) is a target of its own kind;
                answer is null if there is no readable judgement, with the reason in failure
    scores      key (judge, summary_id, measure); value is null if the measure is undefined,
                with the reason; total / n is the value, kept apart so that means can be pooled

Tables of a synthesis (in the benchmark's folder `synthesis`, but for `attempts`)

    haystacks   key haystack_id: the rows of a haystack and what was planted in it, as JSON; there until the benchmark
                is written
    audits      key haystack_id: one haystack looked at from outside, as JSON; there until audit.json is written
    outlines    key haystack_id: subtopics with insights and queries, as JSON
    drafts      key (haystack_id, doc_index): a document with the insights it states; text is null if it was not
                written
    attempts    key (haystack_id, doc_index, check, subject, number): each verdict of each check; a table of the
                benchmark

The ledger

    calls       key attempt_id: one attempt of one model call; an unsettled one has no receipt
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

_STRINGS = pa.list_(pa.string())
_INTS = pa.list_(pa.int32())

DOCUMENTS = pa.schema(
    [
        ("doc_id", pa.string()),
        ("haystack_id", pa.string()),
        ("doc_index", pa.int32()),  # place in the haystack; citations name doc_index + 1
        ("title", pa.string()),  # null: the source has no titles
        ("text", pa.string()),
    ]
)

QUERIES = pa.schema(
    [
        ("query_id", pa.string()),
        ("haystack_id", pa.string()),
        ("domain", pa.string()),  # conversation, news; null: a corpus of another kind
        ("topic", pa.string()),  # what the haystack is about; null: not stated
        ("subtopic_name", pa.string()),  # null: the query stands for itself
        ("subtopic", pa.string()),  # null: as above
        ("participants", _STRINGS),  # speakers of a conversation; null: not stated
        ("text", pa.string()),
        ("dataset", pa.string()),  # the published set it is from; null: not stated
    ]
)

TARGETS = pa.schema(
    [
        ("target_id", pa.string()),
        ("kind", pa.string()),  # insight, key_point, reference
        ("query_id", pa.string()),
        ("haystack_id", pa.string()),
        ("target_index", pa.int32()),  # order within its query
        ("name", pa.string()),  # null: unnamed
        ("text", pa.string()),
    ]
)

QRELS = pa.schema(
    [
        ("query_id", pa.string()),
        ("target_id", pa.string()),  # null: the judgement is of the query as a whole
        ("doc_id", pa.string()),
        ("relevance", pa.int32()),
    ]
)

RANKINGS = pa.schema(
    [
        ("work_id", pa.string()),
        ("query_id", pa.string()),
        ("haystack_id", pa.string()),
        ("system", pa.string()),  # the ranking's name in words
        ("doc_id", pa.string()),
        ("rank", pa.int32()),  # from 0
        ("score", pa.float64()),  # rounded to 6 decimals before ranking
        ("retriever", pa.string()),  # null: ranked elsewhere, by `system`
        ("reranker", pa.string()),  # null: none
    ]
)

_RANKED = [
    ("retriever", pa.string()),  # null: written elsewhere
    ("reranker", pa.string()),  # null: none
    ("n_documents", pa.int64()),  # the first so many of the ranking; null: all
    ("length_tokens", pa.int64()),  # the first that fit whole into so many tokens; null: all
    ("permutation", pa.int32()),  # of order permuted, from 0; null: another order
    ("dataset", pa.string()),  # of the query; null: not stated
]

CONTEXTS = pa.schema(
    [
        ("work_id", pa.string()),
        ("context_id", pa.string()),
        ("query_id", pa.string()),
        ("haystack_id", pa.string()),
        ("system", pa.string()),  # its ranking's name in words
        ("order", pa.string()),  # given, top, middle, bottom, random
        ("budget_tokens", pa.int64()),  # null: no limit
        ("doc_ids", _STRINGS),  # in prompt order
        ("doc_numbers", _INTS),  # the numbers a summary cites them by: doc_index + 1
        ("doc_tokens", _INTS),  # tokens kept of each
        ("doc_chars", _INTS),  # characters kept of each
        ("n_tokens", pa.int64()),
        ("cut_doc_id", pa.string()),  # null: no document was cut
        ("cut_tokens", pa.int64()),  # tokens that the cut took away
        ("cut_share", pa.float64()),  # cut_tokens / (n_tokens + cut_tokens)
        ("n_left_out", pa.int64()),  # ranked documents that found no room
        *_RANKED,
    ]
)

SUMMARIES = pa.schema(
    [
        ("work_id", pa.string()),
        ("summary_id", pa.string()),
        ("context_id", pa.string()),  # null: written elsewhere, its context is unknown
        ("query_id", pa.string()),
        ("haystack_id", pa.string()),
        ("summarizer", pa.string()),
        ("setting", pa.string()),  # what it was given, in words: a retriever's name, full, ...
        ("order", pa.string()),  # null: unknown
        ("method", pa.string()),  # plain, or a composite method's name
        ("parents", _STRINGS),  # summaries this one was made from
        ("step", pa.string()),  # null: the summary itself; else the step of its method that made it
        ("elapsed_minutes", pa.float64()),  # a snapshot's age; null: not written over time
        ("n_requested", pa.int32()),  # bullets asked for; null: unknown
        ("text", pa.string()),  # null: failed
        ("failure", pa.string()),  # why text is null
        ("cut_share", pa.float64()),  # of its context; null: unknown
        ("model", pa.string()),  # as answered by the provider; null: no language model, or unknown
        ("prompt_version", pa.string()),
        ("finish_reason", pa.string()),
        ("input_tokens", pa.int64()),
        ("cached_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("reasoning_tokens", pa.int64()),
        ("cost_usd", pa.float64()),  # of the call that wrote it, whichever command made it; null: unknown, never 0
        ("seconds", pa.float64()),
        ("budget_tokens", pa.int64()),  # null: no limit, or written elsewhere
        *_RANKED,
        ("repeat", pa.int32()),  # of the same context by the same system, from 0; null: written elsewhere
        ("cause", pa.string()),  # of a failure: why the step failed that failed first; null: its own failure
        ("cited_by", pa.string()),  # of a twin, what chose its citations: matrix, or a support judge; null: no twin
    ]
)

UNITS = pa.schema(
    [
        ("work_id", pa.string()),
        ("summary_id", pa.string()),
        ("query_id", pa.string()),
        ("haystack_id", pa.string()),
        ("unit_index", pa.int32()),
        ("text", pa.string()),
        ("citations", _INTS),  # document numbers as written, distinct, ascending
    ]
)

_VERDICT_FIELDS = [
    ("summary_id", pa.string()),
    ("unit_index", pa.int32()),  # null: the judge saw the whole summary
    ("target_kind", pa.string()),  # document, context, chunk, insight, key_point, reference
    ("target_id", pa.string()),
    ("mode", pa.string()),  # what was shown: document (each apart), full (all as one text, full-ORDER), chunk-TOKENS
    ("doc_position", pa.int32()),  # of a document in its prompt, from 0; null: another target, or there is no prompt
    (
        "chunk_index",
        pa.int32(),
    ),  # the judge's own window that decided, from 0; null: it read the text whole
    ("repeat", pa.int32()),  # of the judge's answer to the same question, from 0; a summary's repeat is another summary
    ("answer", pa.string()),  # null: unjudged
    ("probability", pa.float64()),  # the judge's own number in [0, 1]; null: it gives none
    ("linked_unit", pa.int32()),  # null: no unit, or none that exists
    ("failure", pa.string()),  # why answer is null
    ("reply", pa.string()),  # what the judge wrote; null: it writes nothing
    ("prompt_version", pa.string()),
    ("call_id", pa.string()),
    ("text_index", pa.int32()),  # of the text among those its summary is checked against, from 0; null: older, or none
]

VERDICTS = pa.schema([("work_id", pa.string()), ("judge", pa.string()), *_VERDICT_FIELDS])

LABELS = pa.schema([("annotator", pa.string()), *_VERDICT_FIELDS])

SCORES = pa.schema(
    [
        ("work_id", pa.string()),
        ("judge", pa.string()),
        ("summary_id", pa.string()),
        ("query_id", pa.string()),
        ("haystack_id", pa.string()),
        ("measure", pa.string()),
        ("value", pa.float64()),  # total / n; null: undefined
        ("total", pa.float64()),
        ("n", pa.int64()),
        ("n_unjudged", pa.int64()),
        ("reason", pa.string()),  # why value is null
    ]
)

_ATTEMPT_FIELDS = [
    ("check", pa.string()),
    ("subject", pa.string()),
    ("number", pa.int32()),  # of the check's attempts at the subject, from 1
    ("verdict", pa.string()),  # accepted, rejected, exhausted: rejected, and nothing more was tried
    ("reason", pa.string()),  # null: accepted
    ("call_id", pa.string()),  # null: a rule decided
]

ATTEMPTS = pa.schema(
    [
        ("haystack_id", pa.string()),
        ("doc_index", pa.int32()),  # place among all drafts; null: of the outline
        *_ATTEMPT_FIELDS,
    ]
)

OUTLINES = pa.schema(
    [
        ("work_id", pa.string()),
        ("haystack_id", pa.string()),
        ("outline", pa.string()),  # JSON
        ("attempts", pa.list_(pa.struct(_ATTEMPT_FIELDS))),
    ]
)

HAYSTACKS = pa.schema(
    [
        ("work_id", pa.string()),
        ("haystack_id", pa.string()),  # null: the sizes cannot be met
        ("rows", pa.string()),  # JSON
        ("facts", pa.string()),  # JSON
        ("refused", pa.string()),  # why the sizes cannot be met; null: the haystack was written
    ]
)

AUDITS = pa.schema(
    [
        ("work_id", pa.string()),
        ("haystack_id", pa.string()),
        ("audit", pa.string()),  # JSON
    ]
)

DRAFTS = pa.schema(
    [
        ("work_id", pa.string()),
        ("haystack_id", pa.string()),
        ("doc_index", pa.int32()),
        ("title", pa.string()),  # null: none, or not written
        ("text", pa.string()),  # null: not written
        ("stated", _INTS),  # insights, by their place in the outline, from 0
        ("unchecked", _INTS),  # of those whose last check could not be read
        ("reread", _INTS),  # found by a second reading; null: there was none
        ("attempts", pa.list_(pa.struct(_ATTEMPT_FIELDS))),
    ]
)

CALLS = pa.schema(
    [
        ("attempt_id", pa.string()),
        ("call_id", pa.string()),  # content hash of what was asked, and of whom
        ("job", pa.string()),  # the command that made it
        ("stage", pa.string()),
        ("provider", pa.string()),
        ("model", pa.string()),  # as configured
        ("answered_model", pa.string()),  # as the provider answered; null: it did not say, or nothing came
        ("repeat", pa.int32()),
        ("asked_at", pa.timestamp("ms", tz="UTC")),
        ("answered_at", pa.timestamp("ms", tz="UTC")),  # null: unsettled
        ("state", pa.string()),  # open: no receipt yet, or its process died; answered; failed
        ("failure", pa.string()),  # of failed ones
        ("finish_reason", pa.string()),
        ("input_tokens", pa.int64()),  # the four classes do not overlap; null: the provider did not say
        ("cached_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("reasoning_tokens", pa.int64()),
        ("cost_usd", pa.float64()),  # null: the price or the usage is not known
        ("reserved_usd", pa.float64()),  # the most it could cost; null: the price is not known
        ("seconds", pa.float64()),
        ("counted_tokens", pa.float64()),  # of input, before it was sent; null: not counted
    ]
)

SCHEMAS: Mapping[str, pa.Schema] = {
    "documents": DOCUMENTS,
    "queries": QUERIES,
    "targets": TARGETS,
    "qrels": QRELS,
    "labels": LABELS,
    "rankings": RANKINGS,
    "contexts": CONTEXTS,
    "summaries": SUMMARIES,
    "units": UNITS,
    "verdicts": VERDICTS,
    "scores": SCORES,
    "attempts": ATTEMPTS,
    "outlines": OUTLINES,
    "drafts": DRAFTS,
    "haystacks": HAYSTACKS,
    "audits": AUDITS,
    "calls": CALLS,
}


def conform(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """
    *rows* as a table of exactly *schema*: a column that all rows leave out is null, one it does not know is an error.

    Raises:
        ValueError: A row has a column that the schema lacks.
    """
    rows = list(rows)
    known = set(schema.names)
    for row in rows:
        if unknown := row.keys() - known:
            msg = f"columns {sorted(unknown)} are not in the schema {schema.names}"
            raise ValueError(msg)
    return pa.Table.from_pylist(rows, schema=schema)
