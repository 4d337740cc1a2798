"""
The rows of the tables: each column with its type. `tables.py` makes the schemas from them.

A row is a plain dict. A column that may be null says what null means.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

import pyarrow as pa

Int32 = Annotated[int, pa.int32()]
"""An integer in a column of 32 bits; `int` alone stands in one of 64."""

TableRow = Mapping[str, object]
"""A row of any table, for what looks into none of its columns."""


class DocumentRow(TypedDict):
    doc_id: str
    haystack_id: str
    doc_index: Int32  # place in the haystack; citations name doc_index + 1
    title: str | None  # null: the source has no titles
    text: str


class FacetRow(TypedDict):
    """A property of a query by which a report splits means, such as its category."""

    name: str
    value: str


class QueryRow(TypedDict):
    query_id: str
    haystack_id: str
    domain: str | None  # conversation, news; null: a corpus of another kind
    topic: str | None  # what the haystack is about; null: not stated
    subtopic_name: str | None  # null: the query stands for itself
    subtopic: str | None  # null: as above
    participants: list[str] | None  # speakers of a conversation; null: not stated
    text: str
    dataset: str | None  # the published set it is from; null: not stated
    facets: list[FacetRow] | None  # each name once; null: none stated


class TargetRow(TypedDict):
    target_id: str
    kind: str  # insight, key_point, reference
    query_id: str
    haystack_id: str
    target_index: Int32  # order within its query
    name: str | None  # null: unnamed
    text: str


class QrelRow(TypedDict):
    query_id: str
    target_id: str | None  # null: the judgement is of the query as a whole
    doc_id: str
    relevance: Int32


class RankedRow(TypedDict):
    """A row of rankings before what made it is added."""

    query_id: str
    haystack_id: str
    system: str  # the ranking's name in words
    doc_id: str
    rank: Int32  # from 0
    score: float | None  # rounded before ranking; null: left as ranked, behind what a reranker read


class Passage(TypedDict):
    """A part of a document: characters of its text, from 0; the end is the first that is not in it."""

    start: int
    end: int


class _OfWork(TypedDict):
    work_id: str


class RankingRow(_OfWork, RankedRow):
    retriever: str | None  # null: ranked elsewhere, by `system`
    reranker: str | None  # null: none
    failure: str | None  # why a reranker that was asked for a score gave none; null: it gave one, or was not asked
    passage: NotRequired[Passage | None]  # the part of the document that is ranked; null: all of it


class ShownRow(TypedDict):
    """The columns of contexts and summaries that tell what was shown of a ranking."""

    retriever: str | None  # null: written elsewhere
    reranker: str | None  # null: none
    n_documents: int | None  # the first so many of the ranking; null: all
    length_tokens: int | None  # the first that fit whole into so many tokens; null: all
    document_tokens: int | None  # each document cut to its first so many, before a budget; null: none is
    permutation: Int32 | None  # of order permuted, from 0; null: another order
    dataset: str | None  # of the query; null: not stated


class _PackedRow(TypedDict):
    work_id: str
    context_id: str
    query_id: str
    haystack_id: str
    system: str  # its ranking's name in words
    order: str | None  # given, top, middle, bottom, random; null: the order of doc_ids is not that of the prompt
    budget_tokens: int | None  # null: no limit
    doc_ids: list[str]  # in prompt order
    doc_numbers: list[Int32]  # the numbers a summary cites them by: doc_index + 1
    doc_tokens: list[Int32]  # tokens kept of each
    doc_chars: list[Int32]  # characters kept of each
    n_tokens: int
    cut_doc_id: str | None  # of the document that the budget cut; null: it cut none
    cut_tokens: int  # tokens that all cuts took away
    cut_share: float  # cut_tokens / (n_tokens + cut_tokens)
    n_left_out: int  # ranked documents that found no room


class ContextRow(_PackedRow, ShownRow):
    n_cut: Int32 | None  # documents that are not whole; null: an older version did not count them
    passages: NotRequired[list[Passage] | None]  # what is shown of each of doc_ids; null: from the beginning of each


class _WrittenRow(TypedDict):
    work_id: str
    summary_id: str
    context_id: str | None  # null: written elsewhere, its context is unknown
    query_id: str
    haystack_id: str
    summarizer: str
    setting: str  # what it was given, in words: a retriever's name, full, ...
    order: str | None  # null: unknown
    method: str  # plain, or a composite method's name
    parents: list[str] | None  # summaries this one was made from
    step: str | None  # null: the summary itself; else the step of its method that made it
    elapsed_minutes: float | None  # a snapshot's age; null: not written over time
    n_requested: Int32 | None  # bullets asked for; null: unknown, or withheld
    text: str | None  # null: failed
    failure: str | None  # why text is null
    cut_share: float | None  # of its context; null: unknown
    model: str | None  # as answered by the provider; null: no language model, or unknown
    prompt_version: str | None
    finish_reason: str | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: float | None  # of the call that wrote it, whichever command made it; null: unknown, never 0
    seconds: float | None
    budget_tokens: int | None  # null: no limit, or written elsewhere


class SummaryRow(_WrittenRow, ShownRow):
    repeat: Int32 | None  # of the same context by the same system, from 0; null: written elsewhere
    cause: str | None  # of a failure: why the step failed that failed first; null: its own failure
    cited_by: str | None  # of a twin, what chose its citations: matrix, or a support judge; null: no twin


class UnitRow(TypedDict):
    work_id: str
    summary_id: str
    query_id: str
    haystack_id: str
    unit_index: Int32
    text: str
    citations: list[Int32]  # document numbers as written, distinct, ascending


class JudgementRow(TypedDict):
    """A verdict or a label, but for its author."""

    summary_id: str  # the id of the query if its example is rated
    unit_index: Int32 | None  # null: the judge saw the whole summary
    target_kind: str  # document, context, chunk, insight, key_point, reference; of ratings of queries, the rubric
    target_id: str
    mode: str  # what was shown: document or cited (each apart), full (all as one text, full-ORDER), chunk-TOKENS
    doc_position: Int32 | None  # of a document in its prompt, from 0; null: another target, or there is no prompt
    chunk_index: Int32 | None  # the judge's own window that decided, from 0; null: it read the text whole
    repeat: Int32  # of the judge's answer to the same question, from 0; a summary's repeat is another summary
    answer: str | None  # null: unjudged
    probability: float | None  # the judge's own number in [0, 1]; null: it gives none
    linked_unit: Int32 | None  # null: no unit, or none that exists
    failure: str | None  # why answer is null
    reply: str | None  # what the judge wrote; null: it writes nothing
    prompt_version: str | None
    call_id: str | None
    text_index: Int32 | None  # of the text among those its summary is checked against, from 0; null: older, or none


class _ByJudge(TypedDict):
    work_id: str
    judge: str


class VerdictRow(_ByJudge, JudgementRow):
    pass


class _ByAnnotator(TypedDict):
    annotator: str


class LabelRow(_ByAnnotator, JudgementRow):
    pass


class ReleasedScoreRow(TypedDict):
    """A score that a release has of a summary; the summary names query and text."""

    summary_id: str
    measure: str  # by the release's name of it
    value: float


class ScoreRow(TypedDict):
    work_id: str
    judge: str | None  # null: the measure needs none
    summary_id: str
    query_id: str
    haystack_id: str
    measure: str
    value: float | None  # total / n; null: undefined
    total: float | None
    n: int | None
    n_unjudged: int
    reason: str | None  # why value is null
    repeat: Int32 | None  # of the judge's answers, from 0; null: no judge, or a version without repeats


class CheckAttemptRow(TypedDict):
    """An attempt, but for its place in the synthesis."""

    check: str
    subject: str
    number: Int32  # of the check's attempts at the subject, from 1
    verdict: str  # accepted, rejected, exhausted: rejected, and nothing more was tried
    reason: str | None  # null: accepted
    call_id: str | None  # null: a rule decided


class _OfDraft(TypedDict):
    haystack_id: str
    doc_index: Int32 | None  # place among all drafts; null: of another thing


class AttemptRow(_OfDraft, CheckAttemptRow):
    pass


class PieceRow(TypedDict):
    work_id: str
    step: str
    haystack_id: str
    doc_index: Int32 | None  # of a document that it is; null: another thing
    piece: str  # JSON
    attempts: list[CheckAttemptRow]


class HaystackRow(TypedDict):
    work_id: str
    haystack_id: str | None  # null: the sizes cannot be met
    rows: str | None  # JSON
    facts: str | None  # JSON
    refused: str | None  # why the sizes cannot be met; null: the haystack was written


class AuditRow(TypedDict):
    work_id: str
    haystack_id: str
    audit: str  # JSON


class CallRow(TypedDict):
    attempt_id: str
    call_id: str  # content hash of what was asked, and of whom
    job: str  # the command that made it
    stage: str
    provider: str
    model: str  # as configured
    answered_model: str | None  # as the provider answered; null: it did not say, or nothing came
    repeat: Int32
    asked_at: datetime
    answered_at: datetime | None  # null: unsettled
    state: str  # open: no receipt yet, or its process died; answered; failed
    failure: str | None  # of failed ones
    finish_reason: str | None
    input_tokens: int | None  # the four classes do not overlap; null: the provider did not say
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: float | None  # null: the price or the usage is not known
    reserved_usd: float | None  # the most it could cost; null: the price is not known
    seconds: float | None
    counted_tokens: float | None  # of input, before it was sent; null: not counted
