"""Tables as people keep them: what a row says is read or named by its line, whoever wrote the file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.files.answer_paths import AnswerFile
from longform.errors import InputError
from longform.formats.asked import wanted_of
from longform.formats.fields import Record
from longform.formats.json_files import Faults, json_lines, recoding
from longform.formats.own_files import document_columns, texts_of
from longform.formats.table_rows import csv_records
from longform.records import Query
from tests.longform.formats.memory_files import MemoryFile, memory

CELLS = st.text("ab ,;\"'\n|\t", max_size=8)
WORDS = st.text("abcdefghij", min_size=1, max_size=8)


def rows(text: str, name: str = "t.csv") -> list[Record]:
    return list(csv_records(text.encode(), name))


def written(table: Sequence[Sequence[str]], delimiter: str = ",", *, quoting: int = csv.QUOTE_MINIMAL) -> str:
    made = io.StringIO()
    csv.writer(made, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(table)  # type: ignore[arg-type]
    return made.getvalue()


# ---------------------------------------------------------------- quotes


@given(cells=st.lists(CELLS, min_size=1, max_size=6), at=st.integers(0, 5), quoting=st.sampled_from((0, 1)))
def test_what_is_written_is_read_and_an_unclosed_quote_is_named(cells: list[str], at: int, quoting: int) -> None:
    table = [["id", "text"], *([str(place), f"x{cell}"] for place, cell in enumerate(cells))]

    assert [[one.content["id"], one.content["text"]] for one in rows(written(table, quoting=quoting))] == table[1:]
    plain = [["id", "text"], *([str(place), WORD] for place in range(len(cells)))]
    broken = written(plain).split("\n")
    line = min(at, len(cells) - 1) + 2
    broken[line - 1] = f'{line - 2},"{WORD}'
    with pytest.raises(InputError, match=f"^t.csv: line {line}: field '.line.': expected a delimiter or the end"):
        rows("\n".join(broken))


WORD = "word"


@given(rest=st.lists(st.sampled_from(("1,a", '2,"b"', '3,"c, d"', '4,"e ""f"""', '5,"g\nh"')), min_size=1, max_size=5))
def test_a_quote_that_is_not_closed_never_swallows_rows_in_silence(rest: list[str]) -> None:
    text = "\n".join(["id,text", '0,"Hello', *rest]) + "\n"

    with pytest.raises(
        InputError, match=r"^t.csv: line 2: field '.line.': expected a delimiter or the end of the line"
    ):
        rows(text)


def test_rows_with_faulty_quotes_are_left_out_if_asked_but_for_one_without_an_end() -> None:
    faults = Faults(skip=True)
    text = b'id,text\n1,"a" b\n2,c\n'
    assert [one.content["id"] for one in csv_records(text, "t.csv", faults)] == ["2"]
    assert faults.n == 1
    with pytest.raises(InputError, match=r"line 2.*found no closing quote"):
        list(csv_records(b'id,text\n1,"a\n2,c\n', "t.csv", faults))


def test_quotes_within_a_cell_and_breaks_of_lines_are_text() -> None:
    assert rows('id,text\n1,5" tall\n2,"He said ""no"".\nTwice."\n')[1].content["text"] == 'He said "no".\nTwice.'
    assert rows('id,text\n1,5" tall\n')[0].content["text"] == '5" tall'


# ---------------------------------------------------------------- heads


@given(delimiter=st.sampled_from(";,|"), cell=WORDS, quoted=st.booleans(), end=st.sampled_from(("\n", "\r\n")))
def test_a_line_of_excel_names_the_delimiter(delimiter: str, cell: str, quoted: bool, end: str) -> None:
    stated = f'"sep={delimiter}"' if quoted else f"sep={delimiter}"
    text = end.join([stated, delimiter.join(("id", "text")), delimiter.join(("1", f"{cell}  other, words"[:9])), ""])
    (row,) = rows(text) if delimiter != "," else rows(text.replace(", words", ""))

    assert (row.content["id"], row.label) == ("1", "line 3")


@given(texts=st.lists(WORDS, min_size=1, max_size=5), again=st.booleans())
def test_tables_of_pandas_are_read_with_their_index(texts: list[str], again: bool) -> None:
    frame = pd.DataFrame({"id": [f"d{place}" for place in range(len(texts))], "text": texts})
    made = frame.to_csv()
    made = pd.read_csv(io.StringIO(made), keep_default_na=False, dtype=str).to_csv(index=False) if again else made

    assert [[*one.content.values()] for one in rows(made)] == frame.to_numpy().tolist()


def test_a_cell_of_a_column_without_a_name_is_told_and_blank_ones_are_not() -> None:
    assert [one.content for one in rows("id,text,,\n1,a,,\n")] == [{"id": "1", "text": "a"}]
    with pytest.raises(InputError, match=r"line 2: field '\(header\)': expected 2 cells"):
        rows("id,text,,\n1,a,,b\n")
    with pytest.raises(InputError, match="names of columns in UTF-8, each once"):
        rows("id,,text\n1,b,a\n")


@pytest.mark.parametrize("title", [str.upper, str.title, str.capitalize, lambda name: name.replace("_", " ").title()])
def test_names_of_answers_fields_are_read_in_any_letters(title: object) -> None:
    names = ["query_id", "system", "text", "cost_usd"]
    head = ",".join(title(name) for name in names)  # type: ignore[operator]
    (line,) = (one for one in AnswerFile(memory("a.csv", f"{head}\nq,s,A.,0.5\n"), "a.csv").lines() if one.strip())

    assert json.loads(line) == {"query_id": "q", "system": "s", "text": "A.", "cost_usd": 0.5}


def test_an_answer_without_words_is_one_and_a_table_without_answers_is_none() -> None:
    def read(text: str) -> dict[str, object]:
        lines = [*AnswerFile(memory("a.csv", text), "a.csv").lines()]
        return dict(json.loads(lines[-1]))

    assert read("query_id,system,text\nq,s,\n")["text"] == ""
    assert "text" not in read("query_id,system,text,failure\nq,s,,timeout\n")
    assert "text" not in read("query_id,system,words\nq,s,A.\n")


# ---------------------------------------------------------------- ids


@pytest.mark.parametrize("doc_id", ["", " ", "\t", "a\nb", "a\x07"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_an_id_that_is_blank_or_cannot_be_printed_is_refused(doc_id: str, ending: str) -> None:
    faults = Faults()
    text = written([["id", "text"], [doc_id, "A."]], quoting=csv.QUOTE_ALL)
    line = json.dumps({"id": doc_id, "text": "A."})
    found = csv_records(text.encode(), "t") if ending == "csv" else json_lines([line], "t")
    assert not texts_of(found, document_columns({}), faults)
    with pytest.raises(InputError, match=r"field 'id': expected a whole number, or a printable string"):
        faults.settle()


def test_rows_of_a_table_without_ids_are_numbered_and_other_columns_of_ids_are_looked_at() -> None:
    assert list(texts_of(rows("text\nA.\nB.\n"), document_columns({}), Faults())) == ["1", "2"]
    assert list(texts_of(rows("id,url,text\n,u,A.\n"), document_columns({}), Faults())) == ["u"]


@pytest.mark.parametrize("name", ["page_content", "segment", "Page_Content"])
def test_usual_names_of_texts_are_read_and_others_are_named_by_an_option(name: str) -> None:
    assert [one.text for one in texts_of(rows(f"{name}\nA.\n"), document_columns({}), Faults()).values()] == ["A."]
    faults = Faults()
    texts_of(rows("words\nA.\n"), document_columns({"text": ""}), faults)
    with pytest.raises(InputError, match=r"name it by --text-column, found nothing \(the record has words\)"):
        faults.settle()


IDS = st.lists(st.sampled_from(("1", "2", "a.md", "b b.md", "Smith, 2020.pdf", "c-3")), min_size=1, unique=True)
FORMS = {
    "semicolons": "; ".join,
    "bars": "|".join,
    "json": json.dumps,
    "python": repr,
    "commas": lambda ids: ", ".join(ids) if not any("," in one for one in ids) else "; ".join(ids),
}


@given(ids=IDS, form=st.sampled_from([*FORMS]))
def test_documents_in_a_cell_are_read_however_they_are_listed(ids: list[str], form: str) -> None:
    known = ["1", "2", "a.md", "b b.md", "Smith, 2020.pdf", "c-3"]
    text = written([["query_id", "text", "doc_ids"], ["q", "A.", FORMS[form](ids)]])

    _, qrels = wanted_of([memory("i.csv", text)], {"q": Query("q", "corpus", "What?")}, known, Faults())
    assert [one.doc_id for one in qrels] == ids


@given(
    cell=st.text("[]{},;|'\" 19a", max_size=20)
    | st.sampled_from(("[" * 9000 + "]" * 9000, "9" * 5000, "[" + "9" * 5000 + "]"))
)
def test_whatever_stands_in_a_cell_of_a_list_is_read_or_told(cell: str) -> None:
    text = written([["query_id", "text", "doc_ids"], ["q", "A.", cell]])
    faults = Faults()
    targets, _ = wanted_of([memory("i.csv", text)], {"q": Query("q", "corpus", "What?")}, ["1", "9", "a"], faults)
    assert len(targets) + faults.n == 1

    answers = written([["query_id", "system", "text", "citations", "documents"], ["q", "s", "A.", cell, cell]])
    assert json.loads([*AnswerFile(memory("a.csv", answers), "a.csv").lines()][-1])["text"] == "A."


# ---------------------------------------------------------------- encodings

SCRIPTS = {
    "gb18030": "这座桥的重建费用为三百四十万欧元市议会以七票对二通过了决定",
    "big5": "這座橋的重建費用為三百四十萬歐元市議會以七票對二通過了決定",
    "shift_jis": "橋の再建費用は三百四十万ユーロであるカタカナもあり",
    "euc_jp": "橋の再建費用は三百四十万ユーロであるカタカナもあり",
    "euc_kr": "다리를다시짓는비용은삼백사십만유로이다시의회가결정했다",
    "cp1251": "советпроголосовалзавосстановлениемостаработыстоят",
    "koi8_r": "советпроголосовалзавосстановлениемостаработыстоят",
    "cp1253": "τοσυμβούλιοψήφισετηνανακατασκευήτηςγέφυρας",
}
WESTERN = (
    "déjà",
    "créée",
    "Où",
    "größer",
    "Brücke",
    "señor",
    "¿Qué",
    "pão",
    "não",
    "ça",
    "på",
    "tør",
    "“so”",
    "it’s",
    "–",
)


@given(words=st.lists(st.sampled_from(WESTERN), min_size=1, max_size=9), plain=st.lists(WORDS, max_size=9))
def test_western_texts_are_maybe_of_cp1252(words: list[str], plain: list[str]) -> None:
    if words != ["¿Qué"] * len(words):
        assert "iconv -f cp1252" in recoding(" ".join([*plain, *words]).encode("cp1252"))


@given(encoding=st.sampled_from([*SCRIPTS]), data=st.data(), plain=WORDS)
def test_texts_of_other_scripts_are_not_said_to_be_of_cp1252(encoding: str, data: st.DataObject, plain: str) -> None:
    letters = st.text(SCRIPTS[encoding], min_size=4, max_size=9)
    words = data.draw(st.lists(letters, min_size=3, max_size=9))

    assert "iconv -f cp1252" not in recoding(f"{plain} {' '.join(words)}".encode(encoding))


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (b"PK\x03\x04\x14\x00", "workbooks"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"<!DOCTYPE html>\n", "HTML or XML"),
        (b"\xef\xbb\xbf<html>", "HTML or XML"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Office"),
    ],
)
def test_files_of_other_forms_are_named(start: bytes, told: str) -> None:
    with pytest.raises(InputError, match=f"expected JSON Lines in UTF-8, an object a line, found .*{told}"):
        list(json_lines(MemoryFile("a.jsonl", start).lines(), "a.jsonl"))


@pytest.mark.parametrize("text", ['"Title" of a book', '"open', 'He said "hi"', '"a" and "b"'])
def test_quotes_between_tabs_are_characters_of_a_text_if_they_close_no_cell(text: str) -> None:
    read = rows(f'id\ttext\n1\tfirst\n2\t{text}\n3\t"last\n', "t.tsv")

    assert [row.content["text"] for row in read] == ["first", text, '"last']


def test_a_table_of_tabs_may_quote_a_text_with_line_breaks() -> None:
    assert [row.content["text"] for row in rows('id\ttext\n1\t"two\nlines, ""q"""\n2\tb\n', "t.tsv")] == [
        'two\nlines, "q"',
        "b",
    ]
