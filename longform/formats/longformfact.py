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

from collections.abc import Iterator, Sequence

from pydantic import AliasChoices, Field, JsonValue

from longform.errors import UsageError
from longform.formats.fields import Entry, Filled, Int32, Record, Text, describe
from longform.formats.files import Found, Named, SourceFile
from longform.formats.json_files import Lines, json_lines
from longform.formats.rows import HaystackRows, ShippedRow, ranking_rows
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
        line, here = _checked(record), f"longformfact:{name}:{number:04}"
        kept = [place for place, text in enumerate(line.texts) if keep_empty or text.strip()]
        # place in the release -> document; places in the haystack are those among the kept ones
        documents = {
            place: Document(f"{here}:{place}", here, index, None, line.texts[place]) for index, place in enumerate(kept)
        }
        rows = HaystackRows(
            here,
            list(documents.values()),
            [Query(here, here, _QUESTION, dataset=name)],
            rankings=_ranking(here, [documents[place].doc_id for place in line.ranking or () if place in documents]),
        )
        if "faithfulness" in record.content:
            yield rows._replace(summaries=[_summary(here, record, line)], labels=_labels(here, record, line, top))
        elif line.summary is not None:
            yield rows._replace(targets=[Target(f"{here}:reference", "reference", here, here, 0, None, line.summary)])
        else:
            yield rows


def _checked(record: Record) -> _FactLine:
    line = record.read(_FactLine)
    if not any(text.strip() for text in line.texts):
        field = "documents" if "documents" in record.content else "document"
        raise record.error(field, expected="at least one document with text")
    if line.ranking is not None and sorted(line.ranking) != list(range(len(line.texts))):
        raise record.error("ranking", expected=f"the numbers from 0 to {len(line.texts) - 1}, each once")
    return line


def _ranking(here: str, doc_ids: Sequence[str]) -> list[ShippedRow]:
    scored = ((doc_id, float(-rank)) for rank, doc_id in enumerate(doc_ids))
    rows = ranking_rows(here, here, IMPORTANCE, scored)
    return [{**row, "work_id": content_key(here, IMPORTANCE)} for row in rows]


def _summary(here: str, record: Record, line: _FactLine) -> ShippedRow:
    if line.summary is None:
        raise record.error("summary", expected="the summary that the labels are of")
    return {
        "work_id": f"{here}:summary",
        "summary_id": f"{here}:summary",
        "query_id": here,
        "haystack_id": here,
        "summarizer": line.model if isinstance(line.model, str) else "unknown",
        "setting": "released",
        "method": "plain",
        "text": line.summary,
    }


def _labels(here: str, record: Record, line: _FactLine, top: int | None) -> list[ShippedRow]:
    given = line.faithfulness
    of_units: list[tuple[int | None, JsonValue]] = [(None, given)]
    if isinstance(given, list):
        of_units = [*enumerate(given)]
        if len(given) != (n_sentences := len(release_sentences(line.summary or ""))):
            expected = f"a label for each of the {n_sentences} sentences of the summary"
            raise record.error("faithfulness", expected=expected, found=f"{len(given)} labels")
    answers = ((unit_index, _answer(record, label, top)) for unit_index, label in of_units)
    return [
        {
            "annotator": PEOPLE,
            "summary_id": f"{here}:summary",
            "unit_index": unit_index,
            "target_kind": "document",
            "target_id": here,
            "mode": "full",
            "repeat": 0,
            "answer": answer,
            "failure": "not labelled" if answer is None else None,
        }
        for unit_index, answer in answers
    ]


def _answer(record: Record, given: JsonValue, top: int | None) -> str | None:
    """Read a label; None: not labelled. One that is none of the scale is an InputError."""
    if given is None:
        return None
    known = range(2) if top is None else range(top + 1)
    if not isinstance(given, int) or isinstance(given, bool) or given not in known:
        scale = f"a whole number from 0 to {top}, or null"
        expected = "0, 1 or null (Likert scores: --likert-top)" if top is None else scale
        raise record.error("faithfulness", expected=expected, found=describe(given))
    return _ANSWERS[int(given == known[-1])]
