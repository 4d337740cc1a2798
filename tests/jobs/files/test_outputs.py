"""Answers of other systems stand beside a benchmark, whose documents, queries and targets stay as they are."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.ingest import main
from tests.jobs.answers.town import EMPTY, N_ANSWERS, OUT_OF_RANGE, answers, town, write_answers
from tests.made.store import copied


@pytest.fixture
def bench(tmp_path: Path) -> str:
    return copied(town(), tmp_path / "bench")


def write(path: Path, rows: Iterable[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def content(url: str) -> dict[str, bytes]:
    return {str(path.relative_to(url)): path.read_bytes() for path in Path(url).rglob("*") if path.is_file()}


def test_answers_are_added_once_and_tell_their_problems_by_line(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(bench)
    file = str(write_answers(tmp_path / "answers.jsonl"))
    capsys.readouterr()
    assert main(["outputs", file, "--bench", bench]) == 0

    told = capsys.readouterr()
    assert f"answers.jsonl: line {OUT_OF_RANGE}: warning: [99] is out of range" in told.err
    assert f"answers.jsonl: line {EMPTY}: warning: the answer is empty" in told.err
    assert len(told.err.splitlines()) == 2
    assert f"{N_ANSWERS} answers added, 1 of them empty" in told.out
    added = content(bench)
    assert before.items() <= added.items()
    rows = Folder(bench).read("summaries").to_pylist()
    assert len(rows) == N_ANSWERS
    agent = next(row for row in rows if row["summarizer"] == "agent" and row["query_id"] == "q1")
    assert agent["text"].endswith("[3, 4]")
    assert (agent["cost_usd"], agent["seconds"], agent["retriever"]) == (0.002, 3.5, None)

    assert main(["outputs", file, "--bench", bench]) == 0
    assert f"0 answers added, {N_ANSWERS} were there already" in capsys.readouterr().out
    assert content(bench) == added


def test_files_add_up_and_may_be_gzipped(bench: str, tmp_path: Path) -> None:
    rows = list(answers())
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows[:20])
    more = [write(tmp_path / name, own) for name, own in (("b.jsonl", rows[20:40]), ("c.jsonl", rows[40:]))]
    assert main(["outputs", str(tmp_path / "a.jsonl.gz"), more[0], "--bench", bench]) == 0
    assert main(["outputs", more[1], "--bench", bench]) == 0

    ids = Folder(bench).read("summaries", columns=["summary_id"])["summary_id"].to_pylist()
    assert len(ids) == len(set(ids)) == N_ANSWERS


def test_a_copy_takes_them_and_the_benchmark_stays(bench: str, tmp_path: Path) -> None:
    before, copy = content(bench), str(tmp_path / "copy")
    rows = list(answers())
    files = [write(tmp_path / name, own) for name, own in (("b.jsonl", rows[:30]), ("c.jsonl", rows[30:]))]
    for file in files:
        assert main(["outputs", file, "--bench", bench, "--out", copy]) == 0

    assert content(bench) == before
    assert Folder(copy).read("summaries").num_rows == N_ANSWERS
    assert Folder(copy).read_json("benchmark.json") == Folder(bench).read_json("benchmark.json")


def test_a_file_with_errors_is_told_whole_and_nothing_is_written(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(bench)
    rows = [
        *answers(),
        {"query_id": "q77", "system": "x", "text": "A."},
        {"query_id": "q1", "sytem": "x", "text": "A."},
    ]
    file, other = (
        write(tmp_path / "a.jsonl", rows),
        write(tmp_path / "b.jsonl", [{"query_id": "q1", "system": "notes"}]),
    )
    assert main(["outputs", file, other, "--bench", bench, "--out", str(tmp_path / "copy")]) == 2
    assert main(["outputs", file, other, "--bench", bench]) == 2

    told = capsys.readouterr().err
    assert "4 errors in the answers; nothing was written" in told
    for expected in ("a.jsonl: line 61: error: query_id", "a.jsonl: line 62: error: system", "line 62: error: sytem"):
        assert expected in told
    assert "b.jsonl: line 1: error: expected one of text, bullets and failure" in told
    assert f"a.jsonl: line {EMPTY}: warning" in told
    assert content(bench) == before
    assert not (tmp_path / "copy").exists()


def test_files_of_one_name_are_told_apart_and_no_answer_counts_twice(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(bench)
    row = {"query_id": "q1", "system": "x", "text": "A."}
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    first, second = write(tmp_path / "a" / "x.jsonl", [row]), write(tmp_path / "b" / "x.jsonl", [row | {"text": "B."}])
    capsys.readouterr()
    assert main(["outputs", first, second, "--bench", bench]) == 2
    assert f"{second}: line 1: error: an answer of 'x' to query 'q1' stands in {first}, line 1 already" in (
        capsys.readouterr().err
    )
    assert main(["outputs", first, first, "--bench", bench]) == 2
    assert f"expected each file of answers once, found {first} twice" in capsys.readouterr().err
    assert content(bench) == before


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["outputs", "a.jsonl"], "expected --bench BENCH"),
        (["jsonl", "town", "--bench", "b", "--out", "c"], "neither --bench nor --numbering"),
        (["jsonl", "town"], "expected --out BENCH"),
        (["outputs", "@nowhere.jsonl", "--bench", "BENCH"], "expected a file or a folder, found nothing"),
        (["outputs", "/dev/null", "--bench", "BENCH"], "expected a file or a folder, found a pipe or a device"),
        (["outputs", "@empty.jsonl", "--bench", "BENCH"], "expected at least one answer, found none"),
    ],
)
def test_wrong_words_are_refused(
    words: list[str], expected: str, bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    assert main([bench if word == "BENCH" else word.replace("@", f"{tmp_path}/") for word in words]) == 2
    assert expected in capsys.readouterr().err
