"""Answers written elsewhere: every problem by its line, and citations as numbers however they are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from longform.formats.output_citations import Numbering
from longform.formats.outputs import Answer, OutputsReader, identity

IDS = {"a": 1, "b": 2, "town, north": 3, "7": 4}


class Queries:
    def haystack(self, query_id: str) -> str | None:
        return "h" if query_id in {"q1", "q2"} else None

    def numbers(self, _haystack_id: str) -> Mapping[str, int]:
        return IDS


def reader(numbering: Numbering | None = None, there: Mapping[Any, str] | None = None) -> OutputsReader:
    return OutputsReader(Queries(), numbering, there or {})


def line(**fields: object) -> dict[str, object]:
    return {"query_id": "q1", "system": "s", "text": "It is so."} | fields


def read(*lines: object, numbering: Numbering | None = None) -> tuple[list[Answer], list[str]]:
    made = reader(numbering)
    rows = [one if isinstance(one, str | bytes) else json.dumps(one) for one in lines]
    return list(made.read(rows, "f")), [f"{one.line} {one.kind} {one.told}" for one in made.problems]


def text(numbering: Numbering | None = None, **fields: object) -> str:
    answers, problems = read(line(**fields), numbering=numbering)
    assert not problems
    return str(answers[0].summary["text"])


def test_every_problem_of_a_file_is_told_by_its_line() -> None:
    answers, problems = read(
        "{not json",
        line(),
        line(query_id="q9"),
        line(txt="x", text=3),
        "",
        "[1]",
        line(system="t", documents=["a", "nowhere", "a"]),
        line(),
        line(system="u", bullets=["x"]),
        b"\xff",
        {"query_id": "q1"},
        line(system="v", numbering="seen"),
        line(system="w", elapsed_minutes=-1),
        line(system="x", bullets=[{"text": 1}], text=None),
    )

    assert [answer.summary["summarizer"] for answer in answers] == ["s"]
    told = "\n".join(problems)
    for expected in (
        "1 error expected JSON",
        "3 error query_id: expected a query of the benchmark, found string 'q9'",
        "4 error text: expected a string, found integer 3",
        "4 error txt: expected only the fields query_id, system, text",
        "6 error expected an object, found list [1]",
        "7 error documents[1]: expected a document of the query's haystack, found string 'nowhere'",
        "7 error documents[2]: expected each document once, found string 'a' again",
        "8 error an answer of 's' to query 'q1' stands in f, line 2 already",
        "9 error expected one of text, bullets and failure (why there is no text), found text and bullets",
        "10 error expected text in UTF-8",
        "11 error system: expected a string",
        "12 error numbering: seen counts among `documents`",
        "13 error elapsed_minutes: expected a finite number of at least 0, found integer -1",
        "14 error bullets[0].text: expected a string, found integer 1",
    ):
        assert expected in told
    assert len(problems) == 14


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ('{"query_id": "q1"}'.encode("utf-16"), "found UTF-16; save the file as UTF-8"),
        (b"\xef\xbb\xbf[\n", "found a list; write each of its objects on a line of its own"),
        ('"{""query_id"": ""q1""}"', "found a spreadsheet's export, with quotes around each line and doubled inside"),
    ],
)
def test_a_file_of_another_form_is_told_once(first: bytes | str, expected: str) -> None:
    answers, problems = read(first, "{", "}", line())

    assert not answers
    assert len(problems) == 1
    assert problems[0].startswith(f"1 error expected JSON Lines in UTF-8, an object a line, {expected}")


def test_a_number_that_is_no_id_is_a_wrong_citation_if_numbers_are_ids() -> None:
    answers, problems = read(line(text="It is so [7]. It is [9]."), numbering="ids")

    assert answers[0].summary["text"] == "It is so [4]. It is [5]."
    assert problems == [
        "1 warning [9] is the id of no document of the haystack; it counts as a citation of a wrong document"
    ]


def test_citations_become_numbers_however_they_are_written() -> None:
    assert text(text="It is [a] so [b, a]; see [1, 2].") == "It is [1] so [2, 1]; see [1, 2]."
    assert text(text="A place [town, north] [sic] [a](http://x).") == "A place [3] [sic] [a](http://x)."
    assert text(text="One.\nTwo.", citations=["b", 1]) == "One. [2, 1]\nTwo. [2, 1]"
    assert text(text=None, bullets=["One [a]", {"text": "Two\nlines", "citations": ["b"]}]) == "One [1]\nTwo lines [2]"
    assert text(text="It is so [1].", documents=["b", "a"], numbering="seen") == "It is so [2]."
    assert text(text="It is so [7].", numbering="ids") == "It is so [4]."


def test_a_number_that_may_be_an_id_is_refused_until_it_is_said() -> None:
    _, problems = read(line(text="It is so [7]."))

    assert problems[0].startswith(
        "1 error [7] may be document number 7 of the haystack or the document with the id '7'"
    )


def test_what_a_system_did_is_a_warning_and_is_judged() -> None:
    answers, problems = read(
        line(text="It is so [9]."),
        line(query_id="q2", text=" \n"),
        line(system="t", text="It is so [2].", documents=["b"], numbering="seen"),
        line(system="u", text="It is so.", citations=["nowhere", "a"]),
        line(system="v", text="It is so [doc-4]."),
        line(system="w", text="It is so [1].", documents=["b"]),
    )

    assert [answer.summary["text"] for answer in answers] == [
        "It is so [9].", " \n", "It is so [5].", "It is so. [5, 1]", "It is so [doc-4].", "It is so [1].",
    ]  # fmt: skip
    assert problems == [
        "1 warning [9] is out of range: the haystack has 4 documents; it counts as a citation of a wrong document",
        "2 warning the answer is empty; it is judged as an answer that says nothing",
        "3 warning [2] is out of range: the answer saw 1 documents; it counts as a citation of a wrong document",
        "4 warning [nowhere] is the id of no document of the haystack; it counts as a citation of a wrong document",
        "5 warning [doc-4] is read as text: no document of the haystack has this id",
        "6 warning [1] cites a document that is not among those the answer saw",
    ]


def test_documents_that_were_seen_keep_their_order_and_budget() -> None:
    (answer,), _ = read(line(documents=["b", "a"], budget_tokens=900, setting="rag"))

    assert answer.context is not None
    assert answer.context["doc_ids"] == ["b", "a"]
    assert (answer.context["budget_tokens"], answer.summary["order"]) == (900, "given")
    assert answer.summary["context_id"] == answer.context["context_id"]
    assert read(line(documents=["a", "b"]))[0][0].summary["summary_id"] != answer.summary["summary_id"]


def test_an_answer_that_stands_there_is_known_and_another_text_of_it_refused() -> None:
    (answer,), _ = read(line())
    again = reader(there={identity(answer.summary): answer.summary["summary_id"]})

    assert not list(again.read([json.dumps(line())], "f"))
    assert (again.n_known, again.problems) == (1, [])
    other = reader(there={identity(answer.summary): answer.summary["summary_id"]})
    assert not list(other.read([json.dumps(line(text="It is not."))], "g"))
    assert "stands in the benchmark already" in other.problems[0].told


@pytest.mark.parametrize("more", [{"setting": "x"}, {"repeat": 1}, {"elapsed_minutes": 10}, {"order": "top"}])
def test_what_tells_two_answers_apart(more: dict[str, object]) -> None:
    answers, problems = read(line(), line(**more))

    assert (len(answers), problems) == (2, [])


def test_a_system_may_have_failed() -> None:
    (answer,), problems = read({"query_id": "q1", "system": "s", "failure": "timeout"})

    assert (answer.summary["text"], answer.summary["failure"], problems) == (None, "timeout", [])
