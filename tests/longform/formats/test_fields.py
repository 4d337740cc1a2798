"""A record gives what the file says, or an error that names the place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import InputError
from longform.formats.fields import Record, describe, json_lines, json_object, json_objects

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
    "string": {"string"},
    "integer": {"integer"},
    "number": {"integer", "float"},
    "list": {"list"},
    "mapping": {"object"},
    "optional_string": {"string", "null"},
}


def record_of(value: object) -> Record:
    return Record({"field": value}, file="a.jsonl", label="line 3")


@pytest.mark.parametrize("getter", ACCEPTED)
@given(data=st.data())
def test_a_getter_gives_its_own_type_back_and_refuses_every_other(getter, data) -> None:
    kind = data.draw(st.sampled_from(sorted(VALUES)))
    value = data.draw(VALUES[kind])
    record = record_of(value)
    if kind in ACCEPTED[getter]:
        assert getattr(record, getter)("field") == value
    else:
        with pytest.raises(InputError, match=r"a.jsonl: line 3: field 'field': expected") as caught:
            getattr(record, getter)("field")
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
        pytest.param(b'{"a": 1', "expected JSON, found", id="cut-off"),
        pytest.param(b"{'a': 1}", "line 1 column 2", id="python-quotes"),
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


def test_blank_lines_count_but_are_no_records_and_a_byte_order_mark_is_no_text() -> None:
    records = list(json_lines([b'\xef\xbb\xbf{"a": 1}\r\n', b" \r\n", '{"a": 2}'], "a.jsonl"))
    assert [(record.label, record.integer("a")) for record in records] == [("line 1", 1), ("line 3", 2)]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "1" + 400 * "0"])
def test_what_is_not_finite_is_not_a_number(text: str) -> None:
    (record,) = json_lines([f'{{"a": {text}}}'], "a.jsonl")
    with pytest.raises(InputError, match="expected a finite number"):
        record.number("a")


def test_half_a_surrogate_pair_is_no_string() -> None:
    """JSON can escape it, Parquet cannot store it: found late, it would end a job half-way."""
    (record,) = json_lines([r'{"a": "\ud83d", "b": ["x", "\ude00"], "c": "\ud83d\ude00"}'], "a.jsonl")
    with pytest.raises(InputError, match=r"found string '\\ud83d'"):
        record.string("a")
    with pytest.raises(InputError, match=r"field 'b\[1\]'"):
        record.strings("b")
    assert record.string("c") == "😀"


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda r: r.integer("big"), "expected an integer of 32 bits, found integer 2147483648"),
        (lambda r: r.integer("one", minimum=2), "expected an integer of 32 bits of at least 2, found integer 1"),
        (lambda r: r.number("one", minimum=1.5), "expected a finite number of at least 1.5, found integer 1"),
        (lambda r: r.filled("blank"), "expected a string that is not empty, found string ' '"),
        (lambda r: r.choice("blank", ("x", "y")), "expected one of 'x', 'y', found string ' '"),
        (lambda r: r.choice("list", ("x", "y")), "expected one of 'x', 'y', found list [{'k': 1}, 'x']"),
        (lambda r: r.strings("list"), "field 'list[0]': expected a string, found object {'k': 1}"),
        (lambda r: r.objects("list"), "field 'list[1]': expected an object, found string 'x'"),
        (lambda r: r.string("none"), "expected a string, found null"),
        (lambda r: r.string("text"), "found nothing (the record has big, one, blank, list, none)"),
        (lambda r: r.only(["big", "one"]), "field 'blank': expected only the fields big, one"),
    ],
)
def test_an_error_says_what_was_expected_and_what_came(read, message: str) -> None:
    content = {"big": 2**31, "one": 1, "blank": " ", "list": [{"k": 1}, "x"], "none": None}
    with pytest.raises(InputError) as caught:
        read(Record(content, file="a.jsonl", label="line 1"))
    assert message in str(caught.value)


def test_a_missing_field_of_a_wide_record_does_not_list_them_all() -> None:
    content = {f"label_{number}": 0 for number in range(500)}
    with pytest.raises(InputError, match=r"label_11, \.\.\.\)$"):
        Record(content, file="a.json", label="documents[0]").string("text")


def test_inner_records_are_labelled_by_the_way_to_them() -> None:
    root = json_object(b'{"subtopics": [{}, {"insights": [{"insight": 7}], "retriever": {}}]}', "topic.json")
    subtopic = root.objects("subtopics")[1]
    assert subtopic.object("retriever").label == "subtopics[1].retriever"
    with pytest.raises(InputError, match=r"topic.json: subtopics\[1\].insights\[0\]: field 'insight'"):
        subtopic.objects("insights")[0].string("insight")
    with pytest.raises(InputError, match=r"topic.json: \(root\): field 'topic'"):
        root.string("topic")


def test_a_file_that_is_a_list_gives_its_objects() -> None:
    assert [record.integer("a") for record in json_objects(b'[{"a": 1}, {"a": 2}]', "a.json")] == [1, 2]
    with pytest.raises(InputError, match=r"field '\(file\)\[1\]': expected an object, found integer 3"):
        json_objects(b'[{"a": 1}, 3]', "a.json")
    with pytest.raises(InputError, match="expected a list, found object"):
        json_objects(b"{}", "a.json")
