"""Scores of a run are corrected by summaries that people labelled."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.annotate import main as annotate
from jobs.correct import main as correct
from jobs.judge import main as judge
from jobs.results.write import read_results
from longform.results.cells import table_rows
from tests.jobs.answers.town import answers
from tests.jobs.answers.town import town as town_bench
from tests.results import cells_of

Row = dict[str, str]
SYSTEMS = ("notes", "rumours")


class Town:
    """A run of two systems on ten queries, and sheets of its summaries."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bench, self.run = folder, town_bench(), str(folder / "run")
        self.judge("answers", [line for line in answers() if line["system"] in SYSTEMS], self.run)

    def judge(self, name: str, lines: list[dict[str, Any]], out: str) -> None:
        path = self.folder / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        assert judge([str(path), "--bench", self.bench, "--workers", "0", "--out", out]) == 0

    def sheet(self, name: str, *options: str, run: str | None = None) -> Path:
        out = self.folder / name
        assert annotate([run or self.run, "--sheets", str(out), "--annotator", "ann", *options]) == 0
        return out / "ann.csv"

    def __call__(self, capsys: pytest.CaptureFixture[str], *words: str, ends: int = 0) -> dict[str, Any]:
        capsys.readouterr()
        assert correct([self.run, "--json", *words]) == ends
        out, self.error = capsys.readouterr()
        return dict(json.loads(out)) if out else {}


@pytest.fixture(scope="module")
def _town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return Town(tmp_path_factory.mktemp("correct"))


@pytest.fixture
def town(_town: Town) -> Town:
    """The town without labels."""
    folder = Folder(_town.run)
    folder.delete_table("labels")
    folder.delete("label_samples.json")
    return _town


def rows_of(sheet: Path) -> list[Row]:
    return list(csv.DictReader(io.StringIO(sheet.read_text("utf-8-sig"), newline="")))


def fill(sheet: Path, answer: Callable[[Row], Row]) -> list[Row]:
    rows = [row | answer(row) for row in rows_of(sheet)]
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return rows


def strict(row: Row) -> Row:
    """Cover an insight that stands in a line, but not if its key ends with a small digit: the judge flatters."""
    lines = [number for number, line in enumerate(row["bullets"].splitlines(), start=1) if row["insight"] in line]
    covered = lines and row["pair"][-1] not in "0123"
    return {"answer": "full", "linked_unit": str(lines[0])} if covered else {"answer": "none"}


def by_system(found: dict[str, Any], measure: str = "coverage") -> dict[str, dict[str, Any]]:
    return {row["system"].partition(",")[0]: row for row in table_rows(found, "systems") if row["measure"] == measure}


def test_means_and_a_difference_are_corrected_by_a_drawn_sample(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = town.sheet("drawn", "--summaries", "12")
    labelled = fill(sheet, strict)
    by_sheet = town(capsys, "--labels", str(sheet))
    assert Folder(town.run).read("labels").num_rows == 0
    assert annotate([town.run, "--filled", str(sheet), "--resamples", "100"]) == 0
    found = town(capsys)

    assert found == by_sheet
    assert found["annotators"] == {"coverage": ["ann"]}
    assert found["samples"] == ["Sheets of coverage were of 12 of 20 summaries, drawn at random (seed 1)."]
    assert found["cautions"] == []
    stored = cells_of(read_results(Folder(town.run)))
    rows = by_system(found)
    assert rows.keys() == set(SYSTEMS)
    assert sum(row["n_labelled"] for row in rows.values()) == 12
    for cell in stored:
        row = rows[cell["summarizer"]]
        assert row["by_judge"]["value"] == pytest.approx(cell["coverage"])
        assert [row["by_judge"]["low"], row["by_judge"]["high"]] == pytest.approx(cell["intervals"]["coverage"])
    _check_by_hand(town, labelled, rows)
    (difference,) = [row for row in table_rows(found, "differences") if row["measure"] == "coverage"]
    assert difference["corrected"]["value"] == pytest.approx(
        rows["notes"]["corrected"]["value"] - rows["rumours"]["corrected"]["value"]
    )
    assert difference["corrected"]["low"] < difference["corrected"]["value"] < difference["corrected"]["high"]
    assert {row["measure"] for row in table_rows(found, "systems")} >= {"coverage", "citation", "joint"}


def _check_by_hand(town: Town, labelled: list[Row], rows: dict[str, dict[str, Any]]) -> None:
    """Each query has two insights, so that means are plain ones of summaries."""
    run = Folder(town.run)
    keys = {row["pair"]: row for row in labelled}
    everything = rows_of(town.sheet(f"all-{len(labelled)}"))
    places = [key["pair"] for key in everything]
    texts = {row["pair"]: (row["query"], row["bullets"]) for row in everything}
    summaries: dict[tuple[str, str], list[str]] = {}
    for key in places:
        summaries.setdefault(texts[key], []).append(key)
    scores = [row for row in run.read("scores").to_pylist() if row["measure"] == "coverage"]
    by_summary = {row["summary_id"]: 100 * row["value"] for row in scores}
    written = run.read("summaries").to_pylist()
    for name, row in rows.items():
        own = [one for one in written if one["summarizer"] == name]
        judged = [by_summary[one["summary_id"]] for one in own]
        people = []
        for one in own:
            pairs = next(keys_ for (_, shown), keys_ in summaries.items() if one["text"].split("\n")[0] in shown)
            answers_ = [keys[key]["answer"] for key in pairs if key in keys]
            people.append(100 * answers_.count("full") / len(answers_) if answers_ else None)
        given = [value for value in people if value is not None]
        ours = [value for value, label in zip(judged, people, strict=True) if label is not None]
        others = [value for value, label in zip(judged, people, strict=True) if label is None]
        assert row["n_labelled"] == len(given)
        assert row["by_labels"]["value"] == pytest.approx(sum(given) / len(given))
        moved = sum(others) / len(others) - sum(ours) / len(ours)
        assert row["corrected"]["value"] == pytest.approx(sum(given) / len(given) + row["weight"] * moved)


def test_labels_of_all_summaries_are_the_mean(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = town.sheet("whole")
    fill(sheet, strict)
    found = town(capsys, "--labels", str(sheet), "--measure", "coverage")

    assert found["samples"] == ["Sheets of coverage were of all 20 summaries."]
    assert found["cautions"] == []
    (sheet.parent / "sample.json").unlink()
    assert town(capsys, "--labels", str(sheet), "--task", "coverage")["cautions"] == []
    for row in table_rows(found, "systems"):
        assert row["corrected"] == row["by_labels"]
        assert row["weight"] == 0


def test_tables_are_written_and_printed(town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = town.sheet("printed", "--summaries", "14")
    fill(sheet, strict)
    capsys.readouterr()
    assert correct([town.run, "--labels", str(sheet), "--out", str(tmp_path / "out")]) == 0

    said = capsys.readouterr().out
    assert "Judge offline-people-vectors." in said
    assert "corrected.html, corrected.md, corrected.json" in said
    page = (tmp_path / "out" / "corrected.html").read_text()
    assert "prediction-powered inference" in page
    assert "| notes | coverage |" in (tmp_path / "out" / "corrected.md").read_text()
    assert json.loads((tmp_path / "out" / "corrected.json").read_text())["annotators"] == {"coverage": ["ann"]}


def test_labels_that_were_not_drawn_are_told(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the file beside the sheets nothing says how they were drawn; and rows left empty are told, too."""
    sheet = town.sheet("apart", "--summaries", "12")
    rows = rows_of(sheet)
    fill(
        sheet, lambda row: strict(row) if row["pair"] not in {rows[0]["pair"], rows[2]["pair"], rows[3]["pair"]} else {}
    )
    found = town(capsys, "--labels", str(sheet), "--measure", "coverage")
    assert found["cautions"][0] == "1 summaries are labelled for coverage in part, not whole, and do not count."
    assert found["cautions"][1].startswith("2 of 12 summaries on sheets of coverage are not labelled, or not whole")

    (sheet.parent / "sample.json").unlink()
    found = town(capsys, "--labels", str(sheet), "--measure", "coverage", "--task", "coverage")
    assert found["samples"] == []
    assert any(one.startswith("Nothing says how 10 of 10 summaries") for one in found["cautions"])


def test_systems_are_drawn_apart_and_by_the_same_queries(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = town.sheet("each", "--system", "notes", "--system", "rumours", "--summaries", "4", "--seed", "5")
    fill(sheet, strict)
    found = town(capsys, "--labels", str(sheet), "--measure", "coverage")

    assert [row["n_labelled"] for row in table_rows(found, "systems")] == [4, 4]
    assert len({row["query"] for row in rows_of(sheet)}) == 4
    bounds = [
        row[of][side]
        for row in table_rows(found, "systems")
        for of in ("corrected", "by_labels")
        for side in ("low", "high")
    ]
    assert all(bound is None or 0 <= bound <= 100 for bound in bounds)
    for words, told in (
        (["--system", "nots", "--sheets", "s", "--annotator", "ann"], "--system: expected one system"),
        (["--system", "notes"], "expected --sheets DIR beside --annotator, --system,"),
    ):
        assert annotate([town.run, *words]) == 2
        assert told in capsys.readouterr().err


def test_one_labelled_query_gives_a_value_without_an_interval(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = town.sheet("one", "--summaries", "1")
    fill(sheet, strict)
    found = town(capsys, "--labels", str(sheet), "--measure", "coverage")
    (row,) = table_rows(found, "systems")

    assert row["corrected"]["value"] is not None
    assert row["corrected"]["low"] is None
    assert "fewer than 2 clusters are labelled" in row["reason"]
    assert table_rows(found, "differences") == []
    assert any(one.startswith("Without a labelled summary, and so without a row:") for one in found["cautions"])


def test_support_is_corrected_by_labels_of_sentences(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = town.sheet("support", "--task", "support", "--summaries", "12")
    fill(sheet, lambda row: {"answer": "unsupported" if row["pair"][-1] in "0123" else "supported"})
    found = town(capsys, "--labels", str(sheet), "--task", "support")

    assert {row["measure"] for row in table_rows(found, "systems")} == {"faithfulness max-mean", "sentences_supported"}
    assert {row["judge"] for row in table_rows(found, "systems")} == {"offline"}
    assert all(0 < row["by_labels"]["value"] < 100 for row in table_rows(found, "systems"))


def test_labels_of_another_run_count_for_equal_texts(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    """The other run calls the systems by other names."""
    other = str(town.folder / "other")
    renamed = [{**line, "system": f"{line['system']}-2"} for line in answers() if line["system"] in SYSTEMS]
    town.judge("renamed", renamed, other)
    sheet = town.sheet("of-other", "--summaries", "12", run=other)
    fill(sheet, strict)
    assert annotate([other, "--filled", str(sheet), "--resamples", "100"]) == 0

    found = town(capsys, "--labels", other, "--measure", "coverage")
    assert sum(row["n_labelled"] for row in table_rows(found, "systems")) == 12


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "expected people's labels of coverage or support on summaries of"),
        (["--judge", "gpt"], "--judge: expected one of offline-people-vectors, offline, found 'gpt'"),
        (["--task", "key_point"], "--task: expected one of coverage, support, found 'key_point'"),
        (["--labels", "FOREIGN"], "--labels: expected --task coverage or support beside these sheets"),
        (["--labels", "SHEET", "--task", "coverage", "--annotator", "bo"], "labels of coverage by bo on summaries of"),
        (["--labels", "SHEET", "--task", "coverage", "--measure", "mood"], "--measure: expected some of"),
        (["--labels", "SHEET", "--task", "coverage", "--systems", "notes"], "--systems: expected A=B, two systems"),
        (["--labels", "SHEET", "--task", "coverage", "--systems", "notes=notes"], "expected two systems, found"),
        (["--labels", "FOREIGN", "--task", "coverage"], "expected the key of a pair of these summaries"),
        (["--labels", "nowhere.csv", "--task", "coverage"], "nowhere.csv: expected a filled sheet"),
    ],
)
def test_wrong_use_is_told(
    town: Town, capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], told: str
) -> None:
    sheet = town.folder / "wrong" / "ann.csv"
    if not sheet.exists():
        fill(town.sheet("wrong", "--summaries", "12"), strict)
    foreign = tmp_path / "foreign.csv"
    foreign.write_text("pair,annotator,answer,linked_unit\np0,ann,none,\n")
    given = [word.replace("SHEET", str(sheet)).replace("FOREIGN", str(foreign)) for word in words]
    town(capsys, *given, ends=2)
    assert told in town.error
