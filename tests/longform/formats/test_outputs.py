"""Answers written elsewhere: every problem by its line, and citations as numbers however they are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.formats.document_names import DocumentNames
from longform.formats.output_citations import Numbering, accounts_told
from longform.formats.outputs import OutputsReader, ReadAnswer, identity

IDS = {"a": 1, "b": 2, "town, north": 3, "7": 4}


def haystack_of(query_id: str) -> tuple[str, DocumentNames] | None:
    return ("h", DocumentNames(IDS, {"a": "The bridge of Alder Street"})) if query_id in {"q1", "q2"} else None


def reader(numbering: Numbering | None = None, there: Mapping[Any, str] | None = None) -> OutputsReader:
    return OutputsReader(haystack_of, numbering, there or {})


def line(**fields: object) -> dict[str, object]:
    return {"query_id": "q1", "system": "s", "text": "It is so."} | fields


def read(*lines: object, numbering: Numbering | None = None) -> tuple[list[ReadAnswer], list[str]]:
    made = reader(numbering)
    rows = [one if isinstance(one, str | bytes) else json.dumps(one) for one in lines]
    made.read(rows, "f")
    return list(made.answers()), [f"{one.line} {one.kind} {one.told}" for one in made.problems]


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
        line(system="v", text="So [1].", numbering="seen"),
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
        "7 error documents[1]: expected a document of the query's haystack, or a part of one such as its id and #2",
        "7 error documents[2]: expected each document once, found string 'a' again",
        "8 error an answer of 's' to query 'q1' stands in f, line 2 already",
        "9 error expected one of text, bullets and failure (why there is no text), found text and bullets",
        "10 error expected text in UTF-8",
        "11 error system: expected a string",
        "12 error [1] counts among `documents`, and the line has none",
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


REFERENCES = ("a", "town, north", "7", "b")


@given(
    cites=st.lists(st.integers(0, 3), max_size=3, unique=True),
    form=st.sampled_from(("places", "names", "digits", "scores of names", "scores of places")),
    key=st.sampled_from(("answer", "responses", "sentences")),
    told=st.sampled_from(("topic_id", "narrative_id", "request_id")),
    above=st.booleans(),
)
def test_rows_of_trec_cite_by_places_or_names_in_lists_or_objects(
    cites: list[int], form: str, key: str, told: str, above: bool
) -> None:
    places = [str(one) for one in cites]
    names = [REFERENCES[one] for one in cites]
    citations = {
        "places": cites,
        "names": names,
        "digits": places,
        "scores of names": dict.fromkeys(names, 0.9),
        "scores of places": dict.fromkeys(places, 0.9),
    }[form]
    about = {"run_id": "r", told: "q1"}
    row = (about if above else {"metadata": about}) | {"references": REFERENCES}
    answers, problems = read(row | {key: [{"text": "It is so.", "citations": citations}, {"text": "And so."}]})

    numbers = [IDS[name] for name in names]
    assert answers[0].summary["text"] == f"- It is so.{f' {numbers}' if cites else ''}\n- And so."
    assert [one.split(":")[0] for one in problems] == ["1 warning read as TREC RAG's format"]


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(("a", "1", "9" * 5000, "")),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.sampled_from(("a", "0", "text")), one, max_size=2),
    max_leaves=4,
)


@given(citations=ANYTHING, references=ANYTHING, sentence=ANYTHING)
def test_whatever_stands_in_a_row_of_trec_is_read_or_told(citations: Any, references: Any, sentence: Any) -> None:
    row = {"run_id": "r", "topic_id": "q1", "references": references}
    answers, problems = read(row | {"answer": [{"text": "It is so.", "citations": citations}, sentence]})

    assert answers or any("error" in one for one in problems)


def test_rows_of_trec_without_references_cite_ids_and_null_is_no_citation() -> None:
    row = {"metadata": {"run_id": "r", "topic_id": "q1"}}
    cited = [{"text": "It is so.", "citations": {"b": 0.5, "7": 0.4}}, {"text": "And so.", "citations": None}]
    assert read(row | {"responses": cited})[0][0].summary["text"] == "- It is so. [2, 4]\n- And so."
    _, problems = read(row | {"references": ["a"], "answer": [{"text": "It is so.", "citations": "a"}]})
    assert problems[1].startswith("1 error bullets[0].citations: expected a list, found string 'a'")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("answer", "text"), ("Response", "text"), ("output", "text"), ("qid", "query_id"), ("run_id", "system")],
)
def test_a_field_under_another_name_is_told_what_to_write(name: str, meant: str) -> None:
    given = {field: value for field, value in line().items() if field != meant}

    _, problems = read(given | {name: "q1"})
    assert any(one.endswith(f"found a field of this name; write it as {meant}") for one in problems)
    assert not any("write it as" in one for one in read(line(**{name: "q1"}))[1])


def test_names_with_commas_between_are_names() -> None:
    assert text(text="It is so.", citations=["a, b"]) == "- It is so. [1, 2]"
    assert text(text="It is so.", citations=["town, north"]) == "- It is so. [3]"
    assert text(text="It is so [2].", documents=["b, a"], numbering="seen") == "It is so [1]."
    _, problems = read(line(documents=["b, nowhere"]))
    assert "(in a cell with ; between), found string 'b, nowhere'" in problems[0]


def test_a_number_that_is_no_id_is_a_wrong_citation_if_numbers_are_ids() -> None:
    answers, problems = read(line(text="It is so [7]. It is [9]."), numbering="ids")

    assert answers[0].summary["text"] == "It is so [4]. It is [5]."
    assert problems == [
        "1 warning [9] is the id of no document of the haystack; it counts as a citation of a wrong document"
    ]


def test_citations_become_numbers_however_they_are_written() -> None:
    assert text(text="It is [a] so [b, a]; see [1, 2].") == "It is [1] so [2, 1]; see [1, 2]."
    assert text(text="A place [town, north] [sic] [the a](http://x/y).") == "A place [3] [sic] [the a](http://x/y)."
    assert text(text="One.\nTwo.", citations=["b", 1]) == "- One. [2, 1]\n- Two. [2, 1]"
    assert (
        text(text=None, bullets=["One [a]", {"text": "Two\nlines", "citations": ["b"]}]) == "- One [1]\n- Two lines [2]"
    )
    assert text(text="It is so [1].", documents=["b", "a"], numbering="seen") == "It is so [2]."
    assert text(text="It is so [7].", numbering="ids") == "It is so [4]."


def test_a_number_that_may_be_an_id_is_refused_until_it_is_said() -> None:
    _, problems = read(line(text="It is so [7]."))

    assert problems[0].startswith("1 error [7] may be document number 7 or the document with the id '7'")


def test_what_a_system_did_is_a_warning_and_is_judged() -> None:
    answers, problems = read(
        line(text="It is so [9]."),
        line(query_id="q2", text=" \n"),
        line(system="t", text="It is so [2].", documents=["b"], numbering="seen"),
        line(system="u", text="It is so.", citations=["nowhere", "a"]),
        line(system="v", text="It is so [no-doc]."),
        line(system="w", text="It is so [1].", documents=["b"], numbering="haystack"),
    )

    assert [answer.summary["text"] for answer in answers] == [
        "It is so [9].", " \n", "It is so [5].", "- It is so. [5, 1]", "It is so [no-doc].", "It is so [1].",
    ]  # fmt: skip
    assert problems == [
        "1 warning [9] is out of range: the haystack has 4 documents; it counts as a citation of a wrong document",
        "2 warning the answer is empty; it is judged as an answer that says nothing",
        "3 warning [2] is out of range: the answer saw 1 documents; it counts as a citation of a wrong document",
        "4 warning [nowhere] is the id of no document of the haystack; it counts as a citation of a wrong document",
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

    again.read([json.dumps(line())], "f")
    assert not list(again.answers())
    assert (again.n_known, again.problems) == (1, [])
    other = reader(there={identity(answer.summary): answer.summary["summary_id"]})
    other.read([json.dumps(line(text="It is not."))], "g")
    assert not list(other.answers())
    assert "stands in the benchmark already" in other.problems[0].told


@pytest.mark.parametrize("more", [{"setting": "x"}, {"repeat": 1}, {"elapsed_minutes": 10}, {"order": "top"}])
def test_what_tells_two_answers_apart(more: dict[str, object]) -> None:
    answers, problems = read(line(), line(**more))

    assert (len(answers), problems) == (2, [])


def test_a_system_may_have_failed() -> None:
    (answer,), problems = read({"query_id": "q1", "system": "s", "failure": "timeout"})

    assert (answer.summary["text"], answer.summary["failure"], problems) == (None, "timeout", [])


def account(*lines: object) -> list[str]:
    made = reader()
    made.read([json.dumps(one) for one in lines], "f")
    list(made.answers())
    return accounts_told([*made.marks.values()])


def test_the_account_of_a_system_names_what_was_not_understood() -> None:
    told = account(
        line(text="- It is [1] so [a.txt].\n- It was [siehe oben]. [b#2][siehe oben]"), line(system="t", text="So (1).")
    )

    assert told == [
        "s: 3 marks read (1 as numbers, 2 as ids), 2 not understood and taken out: [siehe oben] (f, line 1).",
        "t: 0 marks read (0 as numbers, 0 as ids).",
        "s: numbers are places in the haystack, since a line names no `documents`.",
        "s: b#2 is read as a part of b, as is each name that begins with a document's id.",
    ]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("It is so [b.txt] [https://x.org/docs/a.html#top].", "It is so [2] [1]."),
        ("It is so [The Bridge of Alder Street; a#3] [b::2] [b_chunk_7].", "It is so [1] [2] [2]."),
        ("It is so [so](b) and [a](http://x.org/a).", "It is so so [2] and [1]."),
        ("So [1].\n\nSources:\n[1] b.txt\n[2] The bridge of Alder Street", "So [2].\n"),
        ("So [^x] [^2].\n\n[^x]: a, p. 3\n[^2]: b", "So [1] [2].\n"),
        ("So (1, 2). And so (2).", "So [1, 2]. And so [2]."),
        ("So [0]. And so [1, 3].", "So [1]. And so [2, 4]."),
        ("So¹². And so [2019].", "So[1, 2]. And so [2019]."),
        ("So [9783161484100]. In (2019) it was (a).", "So [9783161484100]. In (2019) it was [1]."),
        ("<think>\nIt is [1].\n</think>\nSo [2].", "So [2]."),
        ("So【4:0†a.pdf】【4:9†b】.", "So[1][2]."),
    ],
)
def test_names_and_numbers_are_documents_however_they_are_written(written: str, read: str) -> None:
    assert text(text=written, numbering="haystack" if "[7]" in written else None) == read


def test_numbers_count_where_the_line_says() -> None:
    """A number is a place among the documents that its line names; in the haystack, if it names none."""
    answers, problems = read(
        line(text="So [1].", documents=["b", "a"]),
        line(query_id="q2", text="So [1]."),
        line(system="t", text="So [2], [0]."),
    )

    assert [one.summary["text"] for one in answers] == ["So [2].", "So [1].", "So [3], [1]."]
    assert not problems


def test_a_list_from_zero_is_noticed_over_all_answers_of_a_system() -> None:
    given = [line(text="So [0]."), line(query_id="q2", text="So [2].", documents=["b", "a", "7"])]
    answers, _ = read(*given)
    ambiguous, problems = read(*given, line(repeat=1, text="So [4].", numbering="haystack"))

    assert [one.summary["text"] for one in answers] == ["So [1].", "So [4]."]
    assert [one.summary["text"] for one in ambiguous] == ["So [5].", "So [1].", "So [4]."]
    assert "1 warning [0] is out of range" in problems[0]
    assert "s: [0] is cited, and never the last document: numbers are counted from 0." in account(*given)


def test_rows_of_other_tools_are_read_or_named_once() -> None:
    row = {
        "references": ["b", "a#1"],
        "answer": [{"text": "So.", "citations": [0, 1]}, {"text": "And.", "citations": []}],
    }
    first = {**row, "metadata": {"run_id": "r", "narrative_id": "q1"}}
    second = {**row, "run_id": "r", "topic_id": "q2"}
    ragas = {"user_input": "So?", "response": "So.", "retrieved_contexts": ["It is so."]}
    answers, problems = read(first, second, ragas, ragas)

    assert [one.summary["text"] for one in answers] == ["- So. [2, 1]\n- And."] * 2
    assert [one.context and one.context["doc_ids"] for one in answers] == [["b", "a"]] * 2
    assert len(problems) == 2
    assert "read as TREC RAG's format" in problems[0]
    assert "a row of ragas" in problems[1]


def test_what_is_not_judged_is_kept_aside() -> None:
    (answer,), _ = read(line(text="<think>It is [1].</think>So [2].\n\nSources:\n[2] b"))

    assert answer.summary["text"] == "So [2].\n"
    assert answer.aside == "<think>It is [1].</think>\n\nSources:\n[2] b"
