"""
MSRS (Phanse et al., MSRS: Evaluating Multi-Source Retrieval-Augmented Generation): one corpus, its queries, answers.

A folder as the publishers lay it out, or the same as JSON Lines:

    documents/ID.txt, queries_SPLIT.json        {query_id: {"query", "gold_documents": [...], "answer"}}
    documents.jsonl, queries.jsonl              {"id", "text"}; {"query_id", "query", "gold_documents", "answer"}
    output_references.jsonl                     {"query_id", "query", "answer"}: queries of outputs, gold unknown
    outputs.jsonl                               {"setting", "model", "query_id", "summary"}: what systems wrote, and
                                                if they are there its scores, "geval" and "bert_f1"

`answer` is a text or a list of texts: reference summaries. `queries_all.json` repeats the splits and is read only if
it stands alone. Documents stand in the order of their file names, because BM25 breaks ties by it. Gold documents that
the corpus lacks are left out and counted: the paper's tables are computed so. Its released code keeps them, so that
every ranking misses them; that can be asked for.

Of the scores that the release has of each output, G-Eval is a label, since a judge gave it: GPT-4o, beside the first
reference text (stories have four). BERTScore (F1) is a score, as nobody judged.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, RootModel

from longform.errors import InputError, UsageError
from longform.formats.fields import Entry, Expected, Filled, Id, Record, Text
from longform.formats.files import Found, Named, SourceFile, last_part, only_folder
from longform.formats.json_files import json_lines, json_object, whole_text
from longform.formats.rows import HaystackRows, ShippedRow
from longform.keys import in_groups
from longform.metrics.similarity import BERTSCORE
from longform.records import Document, Qrel, Query, Target

_LOG = logging.getLogger(__name__)
_LAYOUT = "documents/*.txt and queries_*.json, or documents.jsonl and queries.jsonl"
_ALL = "queries_all.json"
_REFERENCES = "output_references.jsonl"
_OUTPUTS = "outputs.jsonl"
RATER = "released:geval"
"""The annotator whose labels the release's ratings are: GPT-4o, the mean of five ratings by their probabilities."""

MissingGold = Literal["drop", "keep", "refuse"]


class _MsrsDocument(Entry):
    id: Id
    text: Text


def _one_is_a_list_of_one(value: object) -> object:
    return [value] if isinstance(value, str) else value


class _Query(Entry):
    query: Filled
    answers: Annotated[list[Text], Field(alias="answer", min_length=1), BeforeValidator(_one_is_a_list_of_one)]
    gold_documents: list[Id] | None = None


class _MsrsQuery(_Query):
    query_id: Id


_Split = RootModel[dict[str, _Query]]
_Rating = Annotated[float, Field(strict=True, ge=1, le=5), Expected("a number from 1 to 5")]
_Share = Annotated[float, Field(strict=True, ge=-1, le=1), Expected("a number from -1 to 1")]


class _Output(Entry):
    setting: Filled
    model: Filled
    query_id: Filled
    summary: Text
    geval: _Rating | None = None
    bert_f1: _Share | None = None


def msrs_files(named: Named, *, missing_gold: MissingGold = "drop") -> Found:
    """
    Return the corpus of the one folder that is named, as a haystack `msrs:FOLDER`.

    Of gold documents that the corpus lacks, *missing_gold* `drop` leaves them out, `keep` leaves their judgements in
    the qrels, so that they count as missed, and `refuse` is an error.

    Raises:
        UsageError: Several folders are named, or a file is missing.
        InputError: A file is not as above, or the corpus lacks gold documents and that is refused.
    """
    url, files = only_folder(named, "msrs")
    by_name = {path.removesuffix(".gz"): file for path, file in files.items()}
    used = [file for path, file in by_name.items() if _is_document(path) or _is_queries(path, by_name)]
    if not any(map(_is_document, by_name)) or not any(_is_queries(path, by_name) for path in by_name):
        raise UsageError(f"{url}: expected {_LAYOUT}, found {list(files)[:5]}")
    more = [by_name[name] for name in (_REFERENCES, _OUTPUTS) if name in by_name]
    name = last_part(url)
    return Found([*used, *more], _haystack(name, by_name, missing_gold), dataset=name)


def _is_document(path: str) -> bool:
    return path == "documents.jsonl" or (path.startswith("documents/") and path.endswith(".txt"))


def _is_queries(path: str, files: Mapping[str, SourceFile]) -> bool:
    if path == _ALL:
        return not any(_is_queries(other, {}) for other in files if other != _ALL)
    return path == "queries.jsonl" or (path.startswith("queries_") and path.endswith(".json"))


def _haystack(name: str, files: Mapping[str, SourceFile], missing_gold: MissingGold) -> Iterator[HaystackRows]:
    haystack_id = f"msrs:{name}"
    documents = _documents(haystack_id, files)
    queries: dict[str, _Query] = {}
    for record, query_id, asked in _queries(files):
        known = queries.get(query_id)
        if known is not None and (known.query, known.answers) != (asked.query, asked.answers):
            raise record.error("query_id", expected="an id that no other query has")
        queries.setdefault(query_id, asked)
    outputs = _outputs(haystack_id, files, queries)
    yield HaystackRows(
        haystack_id,
        documents=documents,
        queries=[Query(query_id, haystack_id, asked.query) for query_id, asked in queries.items()],
        targets=[
            Target(f"{query_id}:{place}", "reference", query_id, haystack_id, place, None, answer)
            for query_id, asked in queries.items()
            for place, answer in enumerate(asked.answers)
        ],
        qrels=_qrels(name, queries, {document.doc_id for document in documents}, missing_gold),
        summaries=[
            {
                "summary_id": summary_id,
                "query_id": output.query_id,
                "haystack_id": haystack_id,
                "summarizer": output.model,
                "setting": output.setting,
                "method": "plain",
                "text": output.summary,
            }
            for summary_id, output in outputs.items()
        ],
        labels=[_rated(summary_id, one, one.geval) for summary_id, one in outputs.items() if one.geval is not None],
        released_scores=[
            {"summary_id": summary_id, "measure": BERTSCORE, "value": output.bert_f1}
            for summary_id, output in outputs.items()
            if output.bert_f1 is not None
        ],
    )


def _documents(haystack_id: str, files: Mapping[str, SourceFile]) -> list[Document]:
    texts: dict[str, str] = {}
    for path, file in files.items():
        if path == "documents.jsonl":
            for record in json_lines(file.lines(), path):
                line = record.read(_MsrsDocument)
                if line.id in texts:
                    raise record.error("id", expected="an id that no other document has")
                texts[line.id] = line.text
        elif _is_document(path):
            texts[last_part(path).removesuffix(".txt")] = whole_text(file.read(), path)
    in_order = sorted(texts, key=lambda doc_id: f"{doc_id}.txt")
    return [Document(doc_id, haystack_id, place, None, texts[doc_id]) for place, doc_id in enumerate(in_order)]


def _queries(files: Mapping[str, SourceFile]) -> Iterator[tuple[Record, str, _Query]]:
    """Yield each query with its place and id; those of released outputs come last."""
    for path, file in files.items():
        if path in ("queries.jsonl", _REFERENCES):
            continue
        if _is_queries(path, files):
            whole = json_object(file.read(), path)
            yield from ((whole, query_id, asked) for query_id, asked in whole.read(_Split).root.items())
    for path in ("queries.jsonl", _REFERENCES):
        for record in json_lines(files[path].lines(), path) if path in files else ():
            line = record.read(_MsrsQuery)
            yield record, line.query_id, line


def _qrels(name: str, queries: Mapping[str, _Query], known: Collection[str], missing_gold: MissingGold) -> list[Qrel]:
    judged = [
        Qrel(query_id, None, doc_id, 1)
        for query_id, asked in queries.items()
        for doc_id in dict.fromkeys(asked.gold_documents or ())
    ]
    missing = in_groups((qrel.doc_id, qrel.query_id) for qrel in judged if qrel.doc_id not in known)
    if missing and missing_gold == "refuse":
        found = "; ".join(f"{doc_id} of queries {', '.join(query_ids[:5])}" for doc_id, query_ids in missing.items())
        raise InputError(
            file=name,
            record="queries",
            field="gold_documents",
            expected="documents of the corpus",
            found=f"none of: {found}",
        )
    kept = missing_gold == "keep"
    for doc_id, query_ids in missing.items():
        _LOG.warning(
            "%s: gold document %s of %d queries (%s) is not in the corpus, and %s",
            name, doc_id, len(query_ids), ", ".join(query_ids[:5]),
            "counts as missed" if kept else "left out of the gold",
        )  # fmt: skip
    return [qrel for qrel in judged if kept or qrel.doc_id not in missing]


def _outputs(haystack_id: str, files: Mapping[str, SourceFile], queries: Mapping[str, _Query]) -> dict[str, _Output]:
    """Return what systems wrote, by ids; a system that wrote nothing for a query has no summary of it."""
    found: dict[str, _Output] = {}
    for record in json_lines(files[_OUTPUTS].lines(), _OUTPUTS) if _OUTPUTS in files else ():
        line = record.read(_Output)
        summary_id = f"{line.setting}:{line.model}:{line.query_id}"
        if line.query_id not in queries:
            names = [path for path in files if path == _REFERENCES or _is_queries(path, files)]
            raise record.error("query_id", expected=f"the id of a query of {', '.join(names)}")
        if summary_id in found:
            raise record.error("query_id", expected="one line for each setting, model and query")
        found[summary_id] = line
    written = {summary_id: line for summary_id, line in found.items() if line.summary.strip()}
    if empty := len(found) - len(written):
        _LOG.warning("%s: %d summaries without text are left out", haystack_id, empty)
    return written


def _rated(summary_id: str, output: _Output, geval: float) -> ShippedRow:
    """Return the label of an output that was rated: the nearest rating, and the rating itself from 0 to 1."""
    return {
        "annotator": RATER,
        "summary_id": summary_id,
        "target_kind": "reference",
        "target_id": f"{output.query_id}:0",
        "mode": "full",
        "repeat": 0,
        "answer": str(round(geval)),
        "probability": (geval - 1) / 4,
    }
