"""Answers in the formats of other tools: TREC RAG's are read as they are, of others it is said what to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TREC_RAG = "TREC RAG's format: `citations` are places in `references`, from 0"
"""The words on a file in that format."""


def foreign(content: Mapping[str, Any]) -> str | None:
    """Return what to write in place of a row that another tool wrote; None: nothing is known of such a row."""
    if {"user_input", "response"} <= content.keys() or {"question", "answer", "contexts"} <= content.keys():
        return (
            "a row of ragas, which names no query, system or document: write query_id, system, text (the response) "
            "and, as `documents`, the ids of the documents that retrieved_contexts are from, in their order"
        )
    return None


def from_trec_rag(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """
    Return a row of TREC RAG (2024 and 2025) as a line of answers; None: it is no such row.

    Its documents are the references; a citation that is a place becomes a place from 1, one that is a name stays.
    """
    answer, references = content.get("answer"), content.get("references")
    if not isinstance(answer, list) or not isinstance(references, list):
        return None
    told = content.get("metadata")
    about = {**content, **(told if isinstance(told, Mapping) else {})}
    names = ("topic_id", "narrative_id", "qid", "query_id")
    return {
        "query_id": next((str(about[name]) for name in names if about.get(name) is not None), None),
        "system": about.get("run_id"),
        "documents": references,
        "numbering": "seen",
        "bullets": [_sentence(one) for one in answer],
    }


def _sentence(sentence: Any) -> Any:
    if not isinstance(sentence, Mapping) or not isinstance(sentence.get("citations"), list):
        return {"text": sentence.get("text")} if isinstance(sentence, Mapping) else sentence
    counted = [one + 1 if isinstance(one, int) and not isinstance(one, bool) else one for one in sentence["citations"]]
    return {"text": sentence.get("text"), "citations": counted}
