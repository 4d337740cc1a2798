"""Answers in the formats of other tools: TREC's are read as they are, of others it is said what to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.text.citations import bounded

TREC = "TREC RAG's format: `citations` are places in `references`, from 0, or names"
"""The words on a file in that format."""


_OTHER_NAMES = {
    "text": "answer response output summary completion prediction generated_text content result".split(),
    "query_id": "id qid question_id topic_id".split(),
    "system": "model_name run run_id system_id system_name summarizer".split(),
    "bullets": "statements sentences claims lines responses".split(),
    "documents": "contexts context doc_ids references retrieved_contexts sources".split(),
}
"""Field of an answer -> names that others give it."""


def named_elsewhere(name: str, content: Mapping[str, Any]) -> str:
    """Return what to write in place of a field that answers do not have; empty: nothing is known of it."""
    plain = name.strip().casefold()
    meant = next((field for field, names in _OTHER_NAMES.items() if plain in (field, *names)), None)
    return f"; write it as {meant}" if meant is not None and meant not in content else ""


def foreign(content: Mapping[str, Any]) -> str | None:
    """Return what to write in place of a row that another tool wrote; None: nothing is known of such a row."""
    if {"user_input", "response"} <= content.keys() or {"question", "answer", "contexts"} <= content.keys():
        return (
            "a row of ragas, which names no query, system or document: write query_id, system, text (the response) "
            "and, as `documents`, the ids of the documents that retrieved_contexts are from, in their order"
        )
    return None


def from_trec(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """
    Return a row of TREC's RAG, RAGTIME or NeuCLIR as a line of answers; None: it is no such row.

    Its documents are the references; a citation of one, by its place from 0 or by its name, becomes its place from 1.
    """
    answer = next((content[name] for name in _SENTENCES if isinstance(content.get(name), list)), None)
    told, references = content.get("metadata"), content.get("references")
    about = {**content, **(told if isinstance(told, Mapping) else {})}
    if answer is None or not (isinstance(references, list) or "run_id" in about):
        return None
    places = {name: place for place, name in enumerate(references or (), 1) if isinstance(name, str)}
    return {
        "query_id": next((str(about[name]) for name in _TOPICS if about.get(name) is not None), None),
        "system": about.get("run_id"),
        "documents": references,
        "numbering": "ids" if references is None else "seen",
        "bullets": [_sentence(one, None if references is None else places) for one in answer],
    }


_SENTENCES = ("answer", "responses", "sentences")
_TOPICS = ("topic_id", "narrative_id", "request_id", "qid", "query_id")


def _sentence(sentence: Any, places: Mapping[str, int] | None) -> Any:
    """Return a sentence as a bullet; its citations are a list, or the keys of an object, with a score each."""
    if not isinstance(sentence, Mapping):
        return sentence
    citations = sentence.get("citations")
    if isinstance(citations, list | Mapping) and places is not None:
        citations = [_place(one, places) for one in citations]
    return {"text": sentence.get("text"), "citations": [*citations] if isinstance(citations, Mapping) else citations}


def _place(citation: Any, places: Mapping[str, int]) -> Any:
    if isinstance(citation, str):
        return places.get(citation, bounded(citation) + 1 if citation.isdecimal() else citation)
    return citation + 1 if isinstance(citation, int) and not isinstance(citation, bool) else citation
