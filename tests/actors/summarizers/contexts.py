"""Contexts as a stage gives them to a summarizer."""

from typing import Any

from actors.summarizers.summarizer import AskedContext


def asked_context(doc_ids: list[str], **columns: Any) -> AskedContext:
    """Return a context of documents whose ids end in their place in the haystack `h`."""
    row: AskedContext = {
        "work_id": "w",
        "context_id": "c",
        "query_id": "q",
        "haystack_id": "h",
        "system": "full",
        "order": "given",
        "budget_tokens": None,
        "doc_ids": doc_ids,
        "doc_numbers": [int(doc_id[1:]) + 1 if doc_id[1:].isdigit() else 0 for doc_id in doc_ids],
        "doc_tokens": [1] * len(doc_ids),
        "doc_chars": [100_000] * len(doc_ids),
        "n_tokens": len(doc_ids),
        "cut_doc_id": None,
        "cut_tokens": 0,
        "cut_share": 0.0,
        "n_left_out": 0,
        "retriever": "full",
        "reranker": None,
        "n_documents": None,
        "length_tokens": None,
        "document_tokens": None,
        "permutation": None,
        "dataset": None,
        "summarizer": "mine",
        "setting": "full",
        "method": "plain",
        "n_requested": 2,
        "repeat": 0,
    }
    return row | columns  # type: ignore[operator, return-value]
