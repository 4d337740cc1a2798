"""Annotation sheets of every kind: out, through a spreadsheet, and back in."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace

import pytest

from longform.errors import UsageError
from longform.judges.kind import Kind
from longform.judges.kinds import KINDS
from longform.judges.sheets import NOTE, PAIR, Filled, SheetPair, check_columns, guide, read_sheet, sheet

EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.task)
COVERAGE = KINDS["coverage"]
TEXT = 'He said "no";\nthen, on 3 May – “yes”.\ttab'


def pairs_of(kind: Kind, n: int = 3) -> list[SheetPair]:
    shown = {kind.fields[0]: TEXT, kind.fields[1]: "=1+1"}
    return [SheetPair("s", kind.targets, f"t{place}", None, 2, shown) for place in range(n)]


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def saved(rows: list[dict[str, str]], separator: str = ",", end: str = "\r\n") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=separator, lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def filled(kind: Kind, *answers: str, links: str = "") -> list[dict[str, str]]:
    """Fill the first rows of a sheet."""
    rows = rows_of(sheet(kind, pairs_of(kind), "ann"))
    for row, answer in zip(rows, answers, strict=False):
        row["answer"] = answer
        if kind.links:
            row["linked_unit"] = links
    return rows


def read(kind: Kind, content: bytes) -> list[Filled]:
    return read_sheet(kind, content, "ann.csv", {pair.key: pair for pair in pairs_of(kind)})


@EVERY
def test_a_sheet_has_the_texts_and_empty_columns_of_its_kind(kind: Kind) -> None:
    rows = rows_of(sheet(kind, pairs_of(kind), "ann"))

    assert list(rows[0]) == [PAIR, "annotator", *kind.fields, *kind.columns, NOTE]
    assert [row[kind.fields[0]] for row in rows] == [TEXT] * 3
    assert {row[column] for row in rows for column in kind.columns} == {""}
    assert rows[0][kind.fields[1]] == "'=1+1"  # shown, not computed
    for answer in kind.labels or kind.counts.keys() - kind.judges_alone:
        assert answer in guide(kind)
    assert all(column in guide(kind) for column in (*kind.columns, PAIR, NOTE))


@EVERY
def test_every_answer_comes_back(kind: Kind) -> None:
    for answer in kind.counts.keys() - kind.judges_alone:
        first, *others = read(kind, saved(filled(kind, f" {answer.upper()} ")).encode())
        assert (first.pair, first.annotator, first.answer) == (pairs_of(kind)[0], "ann", answer)
        assert [one.answer for one in others] == [None, None]


SPREADSHEETS: dict[str, Callable[[list[dict[str, str]]], bytes]] = {
    "as it went out": lambda rows: saved(rows).encode("utf-8-sig"),
    "without the mark": lambda rows: saved(rows).encode(),
    "semicolons": lambda rows: saved(rows, ";").encode("utf-8-sig"),
    "tabs in UTF-16": lambda rows: saved(rows, "\t").encode("utf-16"),
    "Windows-1252": lambda rows: saved(rows, ";").encode("cp1252"),
    "line feeds": lambda rows: saved(rows, end="\n").encode(),
    "carriage returns": lambda rows: saved(rows, end="\r").encode(),
    "reordered rows": lambda rows: saved(rows[::-1]).encode(),
    "reordered columns": lambda rows: saved([dict(reversed(row.items())) for row in rows]).encode(),
    "another column": lambda rows: saved([{"mine": "x", **row} for row in rows]).encode(),
    "rows behind the last": lambda rows: saved(rows).encode() + b",,,,,,\r\n\r\n",
    "heads in capitals": lambda rows: saved(
        [{f" {name.upper()}": v for name, v in row.items()} for row in rows]
    ).encode(),
}


@pytest.mark.parametrize("how", SPREADSHEETS)
def test_a_spreadsheet_s_own_saving_is_survived(how: str) -> None:
    rows = filled(COVERAGE, "full", "partial", links="2")
    rows[0][NOTE] = "see line 2"
    found = {one.pair.target_id: one for one in read(COVERAGE, SPREADSHEETS[how](rows))}

    assert [found[f"t{place}"].answer for place in range(3)] == ["full", "partial", None]
    assert [found[f"t{place}"].linked_unit for place in range(3)] == [1, 1, None]
    assert [found["t0"].note, found["t1"].note] == ["see line 2", None]


@pytest.mark.parametrize("written", ["4", "4.0", "4,0", " 4.00"])
def test_a_number_is_read_as_spreadsheets_write_it(written: str) -> None:
    assert read(KINDS["reference"], saved(filled(KINDS["reference"], written), ";").encode())[0].answer == "4"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"answer": "mostly"}, "row 3, column answer: expected full, partial or none, found 'mostly'"),
        (
            {"answer": "full", "linked_unit": "3"},
            "row 3, column linked_unit: expected the number of a line, from 1 to 2",
        ),
        ({"answer": "full", "linked_unit": "0"}, "from 1 to 2, or nothing; found '0'"),
        ({"answer": "full", "linked_unit": "1.5"}, "found '1.5'"),
        ({"answer": "none", "linked_unit": "1"}, "row 3, column linked_unit: expected nothing beside the answer none"),
        ({"answer": "", "linked_unit": "1"}, "row 3, column answer: expected full, partial or none beside linked_unit"),
        ({"annotator": " "}, "row 3, column annotator: expected a name, found nothing"),
        ({"pair": "p0"}, "row 3, column pair: expected the key of a pair of these summaries, found 'p0'"),
    ],
)
def test_a_misfilled_cell_is_named_by_sheet_row_and_column(change: dict[str, str], told: str) -> None:
    """Row 3 as the spreadsheet counts: cells of the rows before it hold line ends."""
    rows = filled(COVERAGE, "full")
    rows[1].update(change)

    with pytest.raises(UsageError) as error:
        read(COVERAGE, saved(rows).encode())
    assert "ann.csv, row 3" in str(error.value)
    assert told in str(error.value)


def test_a_pair_that_stands_twice_is_refused() -> None:
    rows = filled(COVERAGE, "full")

    with pytest.raises(UsageError, match=r"ann\.csv, row 5, column pair: expected each pair once, found that of row 2"):
        read(COVERAGE, saved([*rows, rows[0]]).encode())


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\x00\x01"])
def test_another_file_is_refused(content: bytes) -> None:
    with pytest.raises(UsageError, match=r"ann\.csv, row 1: expected the columns pair, annotator, answer, linked_unit"):
        read(COVERAGE, content)


def test_a_summary_of_any_length_fits_a_cell() -> None:
    rows = filled(COVERAGE, "full")
    rows[0]["bullets"] = "long " * 100_000

    assert read(COVERAGE, saved(rows).encode())[0].answer == "full"


def test_a_kind_with_columns_that_no_sheet_has_is_refused() -> None:
    kind = replace(COVERAGE, task="m:k", columns=("answer", "mood"))
    with pytest.raises(UsageError, match=r"m:k: expected columns answer and linked_unit, found \['mood'\]"):
        check_columns(kind)


def test_people_are_not_offered_what_a_judge_alone_says() -> None:
    support = KINDS["support"]
    assert "unsure" not in guide(support)
    with pytest.raises(UsageError, match="expected supported or unsupported, found 'unsure'"):
        read(support, saved(filled(support, "unsure")).encode())
