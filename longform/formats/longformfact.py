"""
Releases of Wan et al., On Positional Bias of Faithfulness for Long-form Summarization (2025): labels and inputs.

    metric_benchmark/SET.jsonl   {"documents": [...], "document", "summary", "faithfulness", "ranking" (or not)}
    generation/SET.jsonl         {"document": [...], "summary" (the reference, or not), "ranking" (or not)}

`faithfulness` is 0 or 1 for the whole summary, or a list with 0, 1 or null for each of its sentences. `ranking` has the
indices of the documents, the most important first. Each example becomes a haystack of its own.

A label of a sentence is a verdict of annotator `people` on the unit, one of a summary on no unit; its target is the
example as a whole (mode `full`). Documents without text are dropped, and counted, unless `keep_empty`.

Likert scores are read if the top of their scale is stated: only the top is faithful (section 3.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import AliasChoices, Field, JsonValue

from longform.errors import UsageError
from longform.formats.fields import Entry, Filled, Int32, Record, Text, describe
from longform.formats.files import Found, Named, SourceFile
from longform.formats.json_files import Lines, json_lines
from longform.formats.rows import HaystackRows, ShippedRow
from longform.keys import content_key
from longform.records import Document, Query, Target
from longform.text.sentences import release_sentences

IMPORTANCE = "importance"
"""The ranking that a release ships: by similarity to the summary or the reference."""

PEOPLE = "people"
SENTENCES = {"arxiv": 6, "pubmed": 7, "multinews": 10, "multixscience": 5}
"""Sentences asked for, by data set (appendix D); DiverseSumm's prompts state no number."""

_ANSWERS = {1: "supported", 0: "unsupported"}
_QUESTION = "Summarise these documents."


class _FactLine(Entry):
    texts: list[Text] = Field(validation_alias=AliasChoices("documents", "document"))  # empty ones included
    summary: Filled | None = None  # of inputs: the reference, which DiverseSumm has none of
    ranking: list[Int32] | None = None
    model: JsonValue = None
    faithfulness: JsonValue = None


class Example(NamedTuple):
    """A line, checked."""

    record: Record
    haystack_id: str
    line: _FactLine
    top: int | None = None  # of a Likert scale; None: labels are 0 and 1

    def answer(self, given: JsonValue) -> str | None:
        """
        Read a label; None: not labelled.

        Raises:
            InputError: It is no label of the scale.
        """
        if given is None:
            return None
        known = range(2) if self.top is None else range(self.top + 1)
        if not isinstance(given, int) or isinstance(given, bool) or given not in known:
            expected = (
                "0, 1 or null (Likert scores: --likert-top)"
                if self.top is None
                else f"a whole number from 0 to {self.top}, or null"
            )
            raise self.record.error("faithfulness", expected=expected, found=describe(given))
        return _ANSWERS[int(given == known[-1])]


def longformfact_files(named: Named, *, keep_empty: bool = False, likert_top: str = "") -> Found:
    """
    Return the examples of the files that are named, and of all files of folders.

    Documents without text are kept, as the release does, if *keep_empty*. *likert_top* is the highest score of the
    Likert scale of all labels; empty: labels are 0 and 1.

    Raises:
        UsageError: A file is no `.jsonl` or `.jsonl.gz`, or the top is none.
    """
    top = _top(likert_top)
    files = [file for found in named.values() for file in found.values()]
    if wrong := [file.name for file in files if not file.name.removesuffix(".gz").endswith(".jsonl")]:
        raise UsageError(f"expected .jsonl or .jsonl.gz files, found {wrong[:5]}")
    return Found(files, _read_all(files, keep_empty=keep_empty, top=top))


def _top(text: str) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 2:
        raise UsageError(f"--likert-top: expected the highest score of the scale, 2 or more, found {text!r}")
    return int(text)


def _read_all(files: Sequence[SourceFile], *, keep_empty: bool, top: int | None) -> Iterator[HaystackRows]:
    for file in files:
        name = file.name.removesuffix(".gz").removesuffix(".jsonl")
        yield from read_longformfact(name, file.lines(), keep_empty=keep_empty, top=top)


def read_longformfact(
    name: str, lines: Lines, *, keep_empty: bool = False, top: int | None = None
) -> Iterator[HaystackRows]:
    """
    The examples of one file, each a haystack `longformfact:NAME:LINE`.

    Raises:
        InputError: A line is of neither kind, or its labels do not fit its summary's sentences.
    """
    for number, record in enumerate(json_lines(lines, f"{name}.jsonl")):
        example = _example(name, number, record)._replace(top=top)
        rows = _unlabelled(example, name, keep_empty)
        labelled = "faithfulness" in record.content
        yield _labelled(example, rows) if labelled else rows._replace(targets=_references(example))


def _example(name: str, number: int, record: Record) -> Example:
    line = record.read(_FactLine)
    if not any(text.strip() for text in line.texts):
        field = "documents" if "documents" in record.content else "document"
        raise record.error(field, expected="at least one document with text")
    if line.ranking is not None and sorted(line.ranking) != list(range(len(line.texts))):
        raise record.error("ranking", expected=f"the numbers from 0 to {len(line.texts) - 1}, each once")
    return Example(record, f"longformfact:{name}:{number:04}", line)


# ---------------------------------------------------------------- rows


def _documents(example: Example, keep_empty: bool) -> dict[int, Document]:
    """Place in the release -> document; places in the haystack are those among the kept ones."""
    kept = [place for place, text in enumerate(example.line.texts) if keep_empty or text.strip()]
    return {
        place: Document(f"{example.haystack_id}:{place}", example.haystack_id, index, None, example.line.texts[place])
        for index, place in enumerate(kept)
    }


def _ranking(example: Example, documents: Mapping[int, Document]) -> list[ShippedRow]:
    in_order = [documents[place].doc_id for place in example.line.ranking or () if place in documents]
    return [
        {
            "work_id": content_key(example.haystack_id, IMPORTANCE),
            "query_id": example.haystack_id,
            "haystack_id": example.haystack_id,
            "system": IMPORTANCE,
            "doc_id": doc_id,
            "rank": rank,
            "score": float(-rank),
        }
        for rank, doc_id in enumerate(in_order)
    ]


def _unlabelled(example: Example, name: str, keep_empty: bool) -> HaystackRows:
    documents = _documents(example, keep_empty)
    query = Query(example.haystack_id, example.haystack_id, _QUESTION, dataset=name)
    rankings = _ranking(example, documents)
    return HaystackRows(example.haystack_id, list(documents.values()), [query], rankings=rankings)


def _references(example: Example) -> list[Target]:
    here, text = example.haystack_id, example.line.summary
    return [] if text is None else [Target(f"{here}:reference", "reference", here, here, 0, None, text)]


def _labelled(example: Example, rows: HaystackRows) -> HaystackRows:
    summary_id = f"{example.haystack_id}:summary"
    model, text = example.line.model, example.line.summary
    if text is None:
        raise example.record.error("summary", expected="the summary that the labels are of")
    summary: ShippedRow = {
        "work_id": summary_id,
        "summary_id": summary_id,
        "query_id": example.haystack_id,
        "haystack_id": example.haystack_id,
        "summarizer": model if isinstance(model, str) else "unknown",
        "setting": "released",
        "method": "plain",
        "text": text,
    }
    return rows._replace(summaries=[summary], labels=_labels(example, summary_id, text))


def _labels(example: Example, summary_id: str, text: str) -> list[ShippedRow]:
    given = example.line.faithfulness
    if not isinstance(given, list):
        return [_label(example, summary_id, None, given)]
    n_sentences = len(release_sentences(text))
    if len(given) != n_sentences:
        raise example.record.error(
            "faithfulness",
            expected=f"a label for each of the {n_sentences} sentences of the summary",
            found=f"{len(given)} labels",
        )
    return [_label(example, summary_id, index, label) for index, label in enumerate(given)]


def _label(example: Example, summary_id: str, unit_index: int | None, given: JsonValue) -> ShippedRow:
    answer = example.answer(given)
    return {
        "annotator": PEOPLE,
        "summary_id": summary_id,
        "unit_index": unit_index,
        "target_kind": "document",
        "target_id": example.haystack_id,
        "mode": "full",
        "repeat": 0,
        "answer": answer,
        "failure": "not labelled" if answer is None else None,
    }
