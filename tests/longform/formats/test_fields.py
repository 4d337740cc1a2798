"""A record gives what the file says, or an error that names the place."""

import json
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from longform.errors import InputError
from longform.formats.fields import Entry, Expected, Filled, Finite, Int32, Record, Text, describe
from longform.formats.json_files import json_lines, json_object, json_objects

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
INT32 = st.integers(-(2**31), 2**31 - 1)
SCALARS = {
    "string": TEXT,
    "integer": INT32,
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "null": st.none(),
}
VALUES = SCALARS | {"list": st.lists(st.one_of(*SCALARS.values())), "object": st.dictionaries(TEXT, TEXT)}
ACCEPTED = {
    "string": (Text, {"string"}),
    "integer": (Int32, {"integer"}),
    "number": (Finite, {"integer", "float"}),
    "list": (list[JsonValue], {"list"}),
    "mapping": (dict[str, JsonValue], {"object"}),
    "optional_string": (Text | None, {"string", "null"}),
}


def entry(kind: object) -> type[BaseModel]:
    return create_model("One", field=(kind, ...))


ENTRIES = {name: entry(kind) for name, (kind, _) in ACCEPTED.items()}


def record_of(value: object) -> Record:
    return Record({"field": value}, file="a.jsonl", label="line 3")


@pytest.mark.parametrize("name", ACCEPTED)
@given(data=st.data())
def test_a_type_gives_its_own_values_back_and_refuses_every_other(name, data) -> None:
    kind = data.draw(st.sampled_from(sorted(VALUES)))
    value = data.draw(VALUES[kind])
    record = record_of(value)
    if kind in ACCEPTED[name][1]:
        assert record.read(ENTRIES[name]).field == value
    else:
        with pytest.raises(InputError, match=r"a.jsonl: line 3: field 'field': expected") as caught:
            record.read(ENTRIES[name])
        assert (caught.value.file, caught.value.record, caught.value.field) == ("a.jsonl", "line 3", "field")


@given(st.dictionaries(TEXT, st.one_of(*VALUES.values())))
def test_a_line_reads_back_as_what_was_written(content) -> None:
    (record,) = json_lines([json.dumps(content).encode()], "a.jsonl")
    assert record.content == content


@given(st.one_of(*VALUES.values()))
def test_a_description_is_short(value) -> None:
    assert len(describe(value)) <= 75


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param(b'{"a": 1\n', "(Expecting ',' delimiter, column 8)", id="cut-off"),
        pytest.param(b'{"a": "The\r\n', "(Unterminated string starting at, column 7)", id="cut-off-in-a-text"),
        pytest.param(b"{'a': 1}", "double quotes, column 2)", id="python-quotes"),
        pytest.param(b"[1, 2]", "expected an object, found list", id="a-list"),
        pytest.param(b'{"a": "\xff"}', "expected text in UTF-8, found byte 0xff at 7", id="latin-1"),
        pytest.param(b'{"a": 1, "a": 2}', "the field 'a' stands twice", id="a-field-twice"),
        pytest.param(b"[" * 100_000, "expected JSON, found", id="nested-beyond-reason"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", "expected JSON, found", id="a-number-of-5000-digits"),
    ],
)
def test_a_line_that_is_no_object_names_its_number(line: bytes, words: str) -> None:
    lines = [b'{"a": 1}\n', b"\n", line]
    with pytest.raises(InputError) as caught:
        list(json_lines(lines, "a.jsonl"))
    assert str(caught.value).startswith("a.jsonl: line 3: field '(line)': ")
    assert words in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_file_of_several_lines_that_is_cut_names_the_line_in_it() -> None:
    with pytest.raises(InputError, match=r"\(root\).*\(Expecting property name.*, line 3 column 8\)"):
        json_object(b'{\n "a": 1,\n "b": {\n', "a.json")


def test_blank_lines_count_but_are_no_records_and_a_byte_order_mark_is_no_text() -> None:
    records = list(json_lines([b'\xef\xbb\xbf{"a": 1}\r\n', b" \r\n", '{"a": 2}'], "a.jsonl"))
    assert [(record.label, record.content["a"]) for record in records] == [("line 1", 1), ("line 3", 2)]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "1" + 400 * "0"])
def test_what_is_not_finite_is_not_a_number(text: str) -> None:
    (record,) = json_lines([f'{{"field": {text}}}'], "a.jsonl")
    with pytest.raises(InputError, match="expected a finite number"):
        record.read(entry(Finite))


@pytest.mark.parametrize("kind", [Text, Filled])
def test_half_a_surrogate_pair_is_no_string(kind: object) -> None:
    """JSON can escape it, Parquet cannot store it: found late, it would end a job half-way."""
    half, inside, whole = json_lines(
        [r'{"field": "\ud83d"}', r'{"field": ["x", "\ude00"]}', r'{"field": "\ud83d\ude00"}'], "a.jsonl"
    )
    with pytest.raises(InputError, match=r"a string without halves of surrogate pairs, found string '\\ud83d'"):
        half.read(entry(kind))
    with pytest.raises(InputError, match=r"field 'field\[1\]'"):
        inside.read(entry(list[kind]))
    assert whole.read(entry(kind)).field == "😀"


class Inner(Entry):
    k: Int32


class Narrow(Entry):
    model_config = ConfigDict(extra="forbid")
    big: JsonValue
    missing: Text
    one: JsonValue


AtLeast = Annotated[float, Field(strict=True, ge=1.5), Expected("a finite number of at least 1.5")]
CHOICE = Literal["x", "y"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"big": Int32}, "field 'big': expected an integer of 32 bits, found integer 2147483648"),
        ({"one": AtLeast}, "expected a finite number of at least 1.5, found integer 1"),
        ({"blank": Filled}, "expected a string that is not empty, found string ' '"),
        ({"one": Filled}, "expected a string, found integer 1"),
        ({"blank": CHOICE}, "expected one of 'x', 'y', found string ' '"),
        ({"list": CHOICE}, "expected one of 'x', 'y', found list [{'k': 1}, 'x']"),
        ({"list": list[Text]}, "field 'list[0]': expected a string, found object {'k': 1}"),
        ({"list": list[Inner]}, "field 'list[1]': expected an object, found string 'x'"),
        ({"empty": Annotated[list[Inner], Field(min_length=1)]}, "expected a list with at least one entry, found list"),
        ({"one": list[Inner]}, "expected a list, found integer 1"),
        ({"one": dict[str, Inner]}, "expected an object, found integer 1"),
        ({"none": Text}, "expected a string, found null"),
        ({"text": Text}, "expected a string, found nothing (the record has big, one, blank, list, none, empty)"),
        ({"text": Filled}, "expected a string, found nothing"),
        ({"text": CHOICE}, "expected one of 'x', 'y', found nothing"),
        ({"text": list[Inner]}, "expected a list, found nothing"),
        ({"text": AtLeast}, "expected a finite number of at least 1.5, found nothing"),
    ],
)
def test_an_error_says_what_was_expected_and_what_came(fields: dict[str, object], message: str) -> None:
    content = {"big": 2**31, "one": 1, "blank": " ", "list": [{"k": 1}, "x"], "none": None, "empty": []}
    kind = create_model("Some", **{name: (of, ...) for name, of in fields.items()})
    with pytest.raises(InputError) as caught:
        Record(content, file="a.jsonl", label="line 1").read(kind)
    assert message in str(caught.value)


def test_a_misspelt_field_is_told_before_the_one_that_it_leaves_out() -> None:
    with pytest.raises(InputError, match="field 'mising': expected only the fields big, missing, one"):
        Record({"big": 1, "mising": "x", "one": 1}, file="a.jsonl", label="line 1").read(Narrow)


def test_a_missing_field_of_a_wide_record_does_not_list_them_all() -> None:
    content = {f"label_{number}": 0 for number in range(500)}
    with pytest.raises(InputError, match=r"label_11, \.\.\.\)$"):
        Record(content, file="a.json", label="documents[0]").read(entry(Text))


class Insight(Entry):
    insight: Text


class Subtopic(Entry):
    insights: list[Insight]


class Topic(Entry):
    subtopics: list[Subtopic]
    scores: dict[str, dict[str, Finite]] | None = None


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (
            {"subtopics": [{"insights": []}, {"insights": [{"insight": 7}]}]},
            "subtopics[1].insights[0]: field 'insight'",
        ),
        ({"subtopics": [{"insights": []}, {}]}, "subtopics[1]: field 'insights': expected a list, found nothing"),
        ({"subtopics": [], "scores": {"a": {"b": "high"}}}, "scores.a: field 'b': expected a finite number"),
        ({}, "(root): field 'subtopics'"),
    ],
)
def test_inner_objects_are_labelled_by_the_way_to_them(content: dict[str, JsonValue], place: str) -> None:
    with pytest.raises(InputError) as caught:
        json_object(json.dumps(content), "topic.json").read(Topic)
    assert str(caught.value).startswith(f"topic.json: {place}")


def test_a_file_that_is_a_list_gives_its_objects() -> None:
    records = json_objects(b'[{"k": 1}, {"k": 2}]', "a.json")
    assert [record.read(Inner).k for record in records] == [1, 2]
    assert str(records[1].error("k", expected="1")) == "a.json: (file)[1]: field 'k': expected 1, found integer 2"
    with pytest.raises(InputError, match=r"field '\(file\)\[1\]': expected an object, found integer 3"):
        json_objects(b'[{"a": 1}, 3]', "a.json")
    with pytest.raises(InputError, match="expected a list, found object"):
        json_objects(b"{}", "a.json")
