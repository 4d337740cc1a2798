"""
Haystacks, and runs on them, in the layout of SummHay's published files, as `longform.formats.summhay` reads them.

Laban et al., Summary of a Haystack. A document's title, for which the layout has no field, is its text's first line.
Of a run there are complete rankings, summaries and labels of a judge of coverage: a summary's key is
`summary_subtopic_[<retriever>_]<model>`, without a retriever for the full context. Metadata that the release does not
have say whose labels they are (`judge`), and which retrievers or other settings stand in keys (`summary_settings`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from longform.axes import SystemAxes, axes_of
from longform.errors import LongformError, UsageError
from longform.formats.exported import Export, ExportedFile, HaystackOfRun, RunToExport
from longform.formats.names import FULL_CONTEXT
from longform.formats.summhay_labels import COVERAGE, ORDERS, SUMMARY_KEY, split_key
from longform.records import Document, Qrel, Query, Target
from longform.rows import RankingRow, SummaryRow, VerdictRow


def topic_file(
    documents: Sequence[Document],
    queries: Sequence[Query],
    targets: Sequence[Target],
    qrels: Sequence[Qrel],
    *,
    metadata: Mapping[str, Any],
    of_run: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """
    Return the content of `topic_<haystack_id>.json`, the file of one haystack; *documents* are in its order.

    *qrels* of queries as a whole have no place in the layout. *of_run* maps a query to the contents of `retriever`,
    `summaries` and `eval_summaries` of its subtopic; left out, they are empty.

    Raises:
        LongformError: A query lacks a topic or a subtopic, which the layout demands.
    """
    included: dict[str, list[str]] = {document.doc_id: [] for document in documents}
    for qrel in qrels:
        if qrel.target_id is not None and qrel.relevance > 0:
            included[qrel.doc_id].append(qrel.target_id)
    first = queries[0]
    return {
        "topic_id": first.haystack_id,
        "topic": _needed(first, "topic"),
        "topic_metadata": {**metadata, **({"participants": first.participants} if first.participants else {})},
        "subtopics": [
            {
                **_subtopic(query, [target for target in targets if target.query_id == query.query_id]),
                **(of_run or {}).get(query.query_id, {}),
            }
            for query in queries
        ],
        "documents": [
            {
                "document_id": document.doc_id,
                "document_text": f"{document.title}\n\n{document.text}" if document.title else document.text,
                "document_metadata": {},
                "insights_included": included[document.doc_id],
                "idx": document.doc_index,
            }
            for document in documents
        ],
    }


def _subtopic(query: Query, targets: Sequence[Target]) -> dict[str, Any]:
    insights = [{"insight_id": t.target_id, "insight_name": t.name, "insight": t.text} for t in targets]
    return {
        "subtopic_id": query.query_id,
        "subtopic_name": _needed(query, "subtopic_name"),
        "subtopic": _needed(query, "subtopic"),
        "query": query.text,
        "insights": insights,
        "retriever": {},
        "summaries": {},
        "eval_summaries": {},
    }


def _needed(query: Query, field: str) -> str:
    value = getattr(query, field)
    if value is None:
        msg = f"query {query.query_id!r}: field {field!r}: expected text, which SummHay's layout demands, found none"
        raise LongformError(msg)
    return str(value)


_LABEL_OF = {answer: label for label, answer in COVERAGE.items()}
_KEY_OF_ORDER = {order: key for key, order in ORDERS.items()}


class _NamedSummary(NamedTuple):
    """A summary and the two parts of its key; the setting of the full context is FULL_CONTEXT."""

    row: SummaryRow
    setting: str
    summarizer: str

    @property
    def key(self) -> str:
        return self.summarizer if self.setting == FULL_CONTEXT else f"{self.setting}_{self.summarizer}"


def summhay_export(run: RunToExport) -> Iterable[ExportedFile]:
    """
    Yield the file of each haystack that has summaries.

    Raises:
        UsageError: Two systems would have one key, or a key would be read as another system's.
        LongformError: A query lacks a topic or a subtopic, which the layout demands.
    """
    return (_file(haystack, run) for haystack in run.haystacks if haystack.summaries)


def _file(haystack: HaystackOfRun, run: RunToExport) -> ExportedFile:
    told: Counter[str] = Counter()
    named = [_named(row, run) for row in haystack.summaries if _is_expressible(row, told)]
    settings = list(dict.fromkeys(one.setting for one in named if one.setting not in (FULL_CONTEXT, *ORDERS)))
    rankings = _rankings(haystack.rankings, len(haystack.documents), told)
    insights = [target for target in haystack.targets if target.kind == "insight"]
    having = {target.query_id for target in insights}
    queries = [query for query in haystack.queries if query.query_id in having]
    told["queries without insights"] += len(haystack.queries) - len(queries)
    parts = {
        query.query_id: {
            "retriever": rankings.get(query.query_id, {}),
            **_summaries(
                [one for one in named if one.row["query_id"] == query.query_id],
                {*settings, *rankings.get(query.query_id, {})},
                haystack,
                run,
                told,
            ),
        }
        for query in queries
    }
    metadata = {"judge": run.judge, "summary_settings": settings}
    content = topic_file(haystack.documents, queries, insights, haystack.qrels, metadata=metadata, of_run=parts)
    n = sum(len(part["summaries"]) for part in parts.values())
    return ExportedFile(f"topic_{haystack.haystack_id}.json", content, n, +told)


def _is_expressible(row: SummaryRow, told: Counter[str]) -> bool:
    if row["step"] is not None:
        told["texts of earlier steps of a method"] += 1
    elif row["cited_by"] is not None:
        told["summaries with repaired citations"] += 1
    elif row["text"] is None:
        told["failed summaries"] += 1
    else:
        return True
    return False


def _named(row: SummaryRow, run: RunToExport) -> _NamedSummary:
    axes, repeat = axes_of(row), row["repeat"] or 0
    summarizer = f"{row['summarizer']}#{repeat + 1}" if repeat else row["summarizer"]
    if axes.retriever in run.full_context and axes.unordered == SystemAxes(axes.retriever):
        found = FULL_CONTEXT if axes.order in (None, "given") else _KEY_OF_ORDER.get(axes.order)
        if found is not None:
            return _NamedSummary(row, found, summarizer)
    return _NamedSummary(row, row["setting"], summarizer)


def _summaries(
    named: Sequence[_NamedSummary], known: set[str], haystack: HaystackOfRun, run: RunToExport, told: Counter[str]
) -> dict[str, Any]:
    """Return the summaries of a query and their labels, by their keys."""
    summaries: dict[str, list[str]] = {}
    labels: dict[str, list[dict[str, Any]]] = {}
    for one in named:
        read_as = split_key(one.key, known)
        if read_as != (one.setting, one.summarizer):
            raise UsageError(
                f"summary of query {one.row['query_id']!r} by {one.summarizer!r} in {one.setting!r}: its key "
                f"{SUMMARY_KEY}{one.key} would be read as {read_as[1]!r} in {read_as[0]!r}; rename the summarizer or "
                "the retriever"
            )
        key = f"{SUMMARY_KEY}{one.key}"
        if key in summaries:
            raise UsageError(f"query {one.row['query_id']!r}: expected one summary for {key}, found two")
        summary_id = one.row["summary_id"]
        summaries[key] = list(haystack.units.get(summary_id, ()))
        labels[key] = _labels(haystack.verdicts.get(summary_id, ()), run.judge, told)
        told["repeats, written as summarizers of their own"] += bool(one.row["repeat"])
    return {"summaries": summaries, "eval_summaries": labels}


def _labels(verdicts: Sequence[VerdictRow], judge: str, told: Counter[str]) -> list[dict[str, Any]]:
    found = []
    for verdict in verdicts:
        if verdict["judge"] != judge:
            told[f"verdicts of {verdict['judge']}"] += 1
        elif verdict["answer"] is None:
            told["insights without a readable judgement"] += 1
        elif verdict["repeat"]:
            told["second and further verdicts on an insight"] += 1
        else:
            linked = verdict["linked_unit"]
            found.append(
                {
                    "insight_id": verdict["target_id"],
                    "coverage": _LABEL_OF[verdict["answer"]],
                    "bullet_id": "NA" if linked is None else linked + 1,
                }
            )
    return found


def _rankings(
    rows: Sequence[RankingRow], n_documents: int, told: Counter[str]
) -> Mapping[str, dict[str, dict[str, float]]]:
    """Return query -> ranking -> document -> score; the layout holds no ranking that leaves documents out."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        if row["score"] is not None:
            found.setdefault(row["query_id"], {}).setdefault(row["system"], {})[row["doc_id"]] = row["score"]
    for systems in found.values():
        for name in [name for name, scores in systems.items() if len(scores) < n_documents]:
            del systems[name]
            told["rankings without a score for every document"] += 1
    return found


EXPORT = Export(summhay_export, "summaries and one judge's labels as SummHay's own JSON", labelled=True)
