"""Sheets of a benchmark and of a run: out, filled, back in, with agreement, and judges held against them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.annotate import main
from jobs.calibrate import main as calibrate
from jobs.ingest import main as ingest
from tests.modules import Write

SAID = "The dam was closed in May."
ROWS: dict[str, list[dict[str, Any]]] = {
    "documents": [
        {"haystack": "h", "doc_id": "a", "title": "Report", "text": f"{SAID} Farmers met."},
        {"haystack": "h", "doc_id": "b", "text": "Repairs went on all summer."},
    ],
    "queries": [{"query_id": "q", "haystack": "h", "text": "What happened at the dam?", "domain": "news"}],
    "insights": [
        {"insight_id": "i1", "query_id": "q", "text": SAID, "doc_ids": ["a"]},
        {"insight_id": "i2", "query_id": "q", "text": "Swans nest by the harbour.", "doc_ids": ["b"]},
        {"insight_id": "k1", "query_id": "q", "kind": "key_point", "text": SAID},
        {"insight_id": "r1", "query_id": "q", "kind": "reference", "text": f"{SAID} Repairs went on."},
    ],
    "summaries": [
        {
            "summary_id": "s1",
            "query_id": "q",
            "summarizer": "ed",
            "text": f"- {SAID} [1]\n- Repairs went on all summer.",
        },
        {"summary_id": "s2", "query_id": "q", "summarizer": "ed", "text": "- Farmers met."},
        {"summary_id": "s3", "query_id": "q", "summarizer": "ed", "text": f"- Nothing is known.\n- {SAID}"},
    ],
}


@pytest.fixture
def bench(tmp_path: Path) -> str:
    (tmp_path / "in").mkdir()
    for name, content in ROWS.items():
        (tmp_path / "in" / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in content))
    assert ingest(["jsonl", str(tmp_path / "in"), "--out", str(tmp_path / "bench")]) == 0
    return str(tmp_path / "bench")


class Annotating:
    """The verb on one folder."""

    def __init__(self, folder: str, sheets: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.sheets, self._capsys = folder, sheets, capsys

    def __call__(self, *options: str, ends: int = 0) -> dict[str, Any]:
        self._capsys.readouterr()
        assert main([self.folder, *options, "--resamples", "100", "--json"]) == ends
        out, self.error = self._capsys.readouterr()
        return dict(json.loads(out)) if out else {}

    def write(self, *annotators: str, task: str = "coverage") -> dict[str, Any]:
        named = [word for name in annotators for word in ("--annotator", name)]
        return self("--task", task, "--sheets", str(self.sheets), *named)

    def fill(self, annotator: str, answer: Callable[[dict[str, str]], dict[str, str]]) -> str:
        """Fill each row of a sheet by its texts."""
        path = self.sheets / f"{annotator}.csv"
        rows = [row | answer(row) for row in csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""))]
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(reversed(rows))
        return str(path)


@pytest.fixture
def annotating(bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Annotating:
    return Annotating(bench, tmp_path / "sheets", capsys)


def by_words(row: dict[str, str]) -> dict[str, str]:
    """Cover an insight that a numbered line says, and link that line."""
    lines = [number for number, line in enumerate(row["bullets"].splitlines(), start=1) if row["insight"] in line]
    return {"answer": "full", "linked_unit": str(lines[0])} if lines else {"answer": "none"}


def test_coverage_goes_out_comes_back_and_judges_are_held_against_it(
    annotating: Annotating, capsys: pytest.CaptureFixture[str]
) -> None:
    written = annotating.write("ann", "bo")
    assert (written["n_summaries"], written["n_pairs"], len(written["sheets"])) == (3, 6, 2)
    assert "1. - The dam" in (annotating.sheets / "ann.csv").read_text("utf-8-sig")
    assert "full, partial or none" in (annotating.sheets / "guide.md").read_text()

    ann = annotating.fill("ann", by_words)
    bo = annotating.fill("bo", lambda row: {"answer": "none"} if "Nothing" in row["bullets"] else by_words(row))
    told = annotating("--filled", ann, bo)

    assert told["sheets"] == {name: {"rows": 6, "filled": 6} for name in ("ann", "bo")}
    assert told["labels"] == {"ann": 6, "bo": 6}
    (both,) = told["agreement"]
    assert both["annotators"] == ["ann", "bo"]
    assert (both["same"]["value"], both["same"]["n"]) == (pytest.approx(5 / 6), 6)
    # by hand: shares of full 2/6 and 1/6; chance (2/6)(1/6) + (4/6)(5/6) = 22/36
    assert both["kappa"]["value"] == pytest.approx((5 / 6 - 22 / 36) / (1 - 22 / 36))
    assert both["kappa"]["low"] is not None
    assert (both["links"]["value"], both["links"]["n"]) == (1.0, 1)
    labels = Folder(annotating.folder).read("labels").to_pylist()
    assert {(row["summary_id"], row["linked_unit"]) for row in labels if row["answer"] == "full"} == {
        ("s1", 0),
        ("s3", 1),
    }

    capsys.readouterr()
    judge = [annotating.folder, "--judge", "offline-people", "--resamples", "100", "--json"]
    assert calibrate([*judge, "--annotator", "ann"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert (card["n"], card["labels"]["annotators"]) == (6, ["ann"])
    assert card["pearson"]["value"] > 0.9


def test_agreement_of_labels_that_are_there_is_told_alone(annotating: Annotating) -> None:
    annotating.write("ann", "bo")
    told = annotating("--filled", *(annotating.fill(name, by_words) for name in ("ann", "bo")))

    assert annotating() == told | {"sheets": {}}
    assert told["agreement"][0]["kappa"]["value"] == 1.0


ANSWERS: dict[str, Callable[[dict[str, str]], str]] = {
    "support": lambda row: "supported" if "dam" in row["sentence"] else "unsupported",
    "key_point": lambda row: "entailed" if row["key_point"] in row["response"] else "not_entailed",
    "reference": lambda row: "4" if "dam" in row["summary"] else "1",
}


@pytest.mark.parametrize("task", ANSWERS)
def test_sheets_of_other_kinds_go_out_and_come_back(annotating: Annotating, task: str) -> None:
    annotating.write("ann", task=task)
    told = annotating("--task", task, "--filled", annotating.fill("ann", lambda row: {"answer": ANSWERS[task](row)}))

    assert told["labels"] == {"ann": {"support": 5, "key_point": 3, "reference": 3}[task]}
    rows = Folder(annotating.folder).read("labels").to_pylist()
    assert {row["target_kind"] for row in rows} == {"document" if task == "support" else task}
    assert len({row["answer"] for row in rows}) == 2


def test_documents_to_read_are_files_of_their_own(annotating: Annotating) -> None:
    annotating.write("ann", task="support")
    (file,) = (annotating.sheets / "documents").iterdir()
    rows = list(csv.DictReader(io.StringIO((annotating.sheets / "ann.csv").read_text("utf-8-sig"), newline="")))

    assert {row["documents"] for row in rows} == {f"documents/{file.name}"}
    assert file.read_text().startswith(f"[1] Report\n\n{SAID} Farmers met.\n")
    assert "[2]\n\nRepairs went on all summer." in file.read_text()


def test_a_sheet_that_is_read_again_replaces_its_labels(annotating: Annotating) -> None:
    annotating.write("ann")
    first = annotating.fill("ann", lambda row: by_words(row) if "Swans" not in row["insight"] else {})
    assert annotating("--filled", first)["labels"] == {"ann": 3}
    again = annotating.fill("ann", lambda _: {"answer": "none", "linked_unit": ""})
    assert annotating("--filled", again)["labels"] == {"ann": 6}
    none = annotating.fill("ann", lambda row: {"answer": "" if "Swans" in row["insight"] else "none"})
    assert annotating("--filled", none)["labels"] == {"ann": 3}
    assert {row["answer"] for row in Folder(annotating.folder).read("labels").to_pylist()} == {"none"}


def test_a_misfilled_sheet_changes_nothing(annotating: Annotating) -> None:
    annotating.write("ann", "bo")
    good, bad = annotating.fill("ann", by_words), annotating.fill("bo", lambda _: {"answer": "yes"})

    annotating("--filled", good, bad, ends=2)
    assert f"{bad}, row 2, column answer: expected full, partial or none, found 'yes'" in annotating.error
    assert Folder(annotating.folder).read("labels").num_rows == 0


def test_some_summaries_are_chosen_by_the_seed(annotating: Annotating) -> None:
    told = annotating("--sheets", str(annotating.sheets), "--annotator", "ann", "--summaries", "2", "--seed", "3")
    assert (told["n_summaries"], told["n_pairs"]) == (2, 4)
    annotating("--sheets", str(annotating.sheets), "--annotator", "bo", "--summaries", "4", ends=2)
    assert "--summaries: expected a number from 1 to 3, found 4" in annotating.error


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--sheets", "SHEETS", "--annotator", "ann"], "found one, which may be filled"),
        (["--sheets", "SHEETS"], "--sheets: expected --annotator NAME"),
        (["--annotator", "ann"], "expected --sheets DIR"),
        (["--sheets", "SHEETS", "--annotator", "a/b"], "expected a name that a file can have, found 'a/b'"),
        (["--sheets", "SHEETS", "--annotator", "released:m"], "found 'released:m'"),
        (
            ["--task", "mood"],
            "expected one of coverage, support, key_point, reference, errors, misses, or MODULE:NAME, found 'mood'",
        ),
        (["--task", "reference"], "expected labels of reference, found none; --sheets writes sheets"),
        (["--filled", "nowhere.csv"], "nowhere.csv: expected a filled sheet"),
    ],
)
def test_wrong_use_is_told(annotating: Annotating, options: list[str], told: str) -> None:
    annotating.write("ann")
    annotating(*(word.replace("SHEETS", str(annotating.sheets)) for word in options), ends=2)
    assert told in annotating.error


def test_labels_that_came_with_the_benchmark_are_not_replaced(annotating: Annotating) -> None:
    annotating.write("ann")
    folder, sheet = Folder(annotating.folder), annotating.fill("ann", by_words)
    row = {
        "annotator": "ann",
        "summary_id": "s1",
        "target_kind": "insight",
        "target_id": "i1",
        "mode": "full",
        "repeat": 0,
    }
    folder.commit("labels", [folder.write_part("labels", [row | {"answer": "partial"}], work_ids=["theirs"])])

    annotating("--filled", sheet, ends=2)
    assert "annotator 'ann' has labels that are of no sheet" in annotating.error


def test_summaries_of_a_run_are_labelled_in_the_run(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sentences are held against the documents of the prompt, and judges calibrated on these labels."""
    run = Folder(str(tmp_path / "run"))
    run.write_json("run.json", {"benchmark": {"url": bench}})
    doc_ids = [row["doc_id"] for row in Folder(bench).read("documents").to_pylist()][:1]
    summaries = [
        {"summary_id": f"w{n}", "query_id": "q", "haystack_id": "h", "context_id": "c", "step": step, "text": text}
        for n, (text, step) in enumerate([(f"- {SAID}\n- Swans nest here.", None), ("- A draft.", "draft")])
    ]
    contexts = [{"context_id": "c", "haystack_id": "h", "doc_ids": doc_ids, "doc_chars": [len(SAID)]}]
    for table, rows in (("summaries", summaries), ("contexts", contexts)):
        run.commit(table, [run.write_part(table, rows, work_ids=["w"])])
    annotating = Annotating(run.url, tmp_path / "sheets", capsys)

    assert annotating.write("ann", task="support")["n_pairs"] == 2
    (file,) = (annotating.sheets / "documents").iterdir()
    assert file.read_text() == f"[1] Report\n\n{SAID}\n"
    annotating("--task", "support", "--filled", annotating.fill("ann", lambda row: {"answer": ANSWERS["support"](row)}))
    assert Folder(bench).read("labels").num_rows == 0
    assert run.read("labels").num_rows == 2

    capsys.readouterr()
    chat = "{task: support, kind: chat, chat: {provider: scripted, model: m, script: obedient}}"
    assert calibrate([run.url, "--judge", chat, "--plan", "--json", "--ledger", str(tmp_path / "ledger")]) == 0
    assert json.loads(capsys.readouterr().out)["stages"][0]["calls"] == 2


OWN_KIND = """
from longform.judges.kind import Kind

MENTION = Kind(
    targets="insight",
    shared="summary",
    fields=("summary", "insight"),
    counts={"mentioned": 1.0, "left_out": 0.0},
    decide=lambda number, bounds: "mentioned",
    version="1",
)
"""


def test_a_kind_of_a_user_has_sheets(
    annotating: Annotating, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    """Its labels stand beside those of coverage on the same insights."""
    write("own_kind_of_labels", OWN_KIND)
    monkeypatch.chdir(tmp_path)
    task = "own_kind_of_labels:MENTION"
    annotating.write("ann")
    annotating("--filled", annotating.fill("ann", by_words))
    (annotating.sheets / "ann.csv").unlink()
    annotating.write("bo", task=task)
    filled = annotating.fill(
        "bo", lambda row: {"answer": "mentioned" if row["insight"] in row["summary"] else "left_out"}
    )

    assert annotating("--task", task, "--filled", filled)["labels"] == {"bo": 6}
    assert annotating()["labels"] == {"ann": 6}


# ---------------------------------------------------------------- queries, by the criteria of a rubric

QUERIES: dict[str, list[dict[str, Any]]] = {
    "documents": [{"haystack": "h", "doc_id": name, "text": f"Document {name}."} for name in "abcd"],
    "queries": [
        {"query_id": f"{dataset}{number}", "haystack": "h", "text": f"{number}?", "dataset": dataset, "domain": "news"}
        for dataset in ("story", "meet")
        for number in range(3)
    ],
    "insights": [
        {"insight_id": f"{dataset}{n}r", "query_id": f"{dataset}{n}", "kind": "reference", "text": f"{dataset} {n}."}
        for dataset in ("story", "meet")
        for n in range(3)
    ],
    "qrels": [
        {"query_id": f"{dataset}{n}", "doc_id": "abc"[n], "relevance": 1}
        for dataset in ("story", "meet")
        for n in range(2)
    ],
}


@pytest.fixture
def rating(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Annotating:
    (tmp_path / "queries").mkdir()
    for name, content in QUERIES.items():
        (tmp_path / "queries" / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in content))
    assert ingest(["jsonl", str(tmp_path / "queries"), "--out", str(tmp_path / "made")]) == 0
    return Annotating(str(tmp_path / "made"), tmp_path / "sheets", capsys)


def test_queries_are_rated_by_six_criteria_and_each_has_its_mean_and_agreement(rating: Annotating) -> None:
    written = rating.write("ann", "bo", task="example_quality")
    guide = (rating.sheets / "guide.md").read_text()

    assert (written["n_queries"], written["n_pairs"]) == (4, 24)  # two of each data set have gold documents
    assert "## relationships" in guide
    assert "why you answer so" in guide
    ann = rating.fill("ann", lambda row: {"answer": "5", "note": "fine"})
    seen: list[dict[str, str]] = []

    def strict(row: dict[str, str]) -> dict[str, str]:
        seen.append(row)
        return {"answer": "1" if row["query"] == "0?" and "coherence" in row["criterion"] else "5", "note": "so"}

    told = rating("--task", "example_quality", "--filled", ann, rating.fill("bo", strict))

    assert "Document a." in (rating.sheets / seen[0]["documents"]).read_text()
    means = {row["criterion"]: row for row in told["rated"]}
    assert len(means) == 6
    # by hand: of 8 ratings of coherence two are 1 and six are 5
    assert means["coherence"]["mean"]["value"] == pytest.approx((2 * 1 + 6 * 5) / 8)
    assert means["coherence"]["best"]["value"] == pytest.approx(6 / 8)
    assert means["coherence"]["mean"]["low"] < 4 < means["coherence"]["mean"]["high"]
    assert means["consistency"]["mean"]["value"] == 5
    agreed = {row["criterion"]: row["same"]["value"] for row in told["agreement"]}
    assert (agreed["coherence"], agreed["consistency"]) == (0.5, 1.0)
    labels = Folder(rating.folder).read("labels").to_pylist()
    assert {row["reply"] for row in labels} == {"fine", "so"}


def test_filled_sheets_that_moved_without_their_sample_say_what_is_lost(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    annotating = Annotating(bench, tmp_path / "sheets", capsys)
    annotating.write("ann")
    sheet = Path(annotating.fill("ann", lambda row: {"answer": "none"}))
    elsewhere = tmp_path / "mail" / "ann.csv"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(sheet.read_bytes())

    assert annotating("--filled", str(elsewhere))["n_undrawn"] == 3
    assert main([bench, "--filled", str(elsewhere)]) == 0
    assert "how 3 of these summaries were chosen: expected sample.json" in capsys.readouterr().out
    assert annotating("--filled", str(sheet))["n_undrawn"] == 0
    assert annotating("--filled", str(elsewhere))["n_undrawn"] == 0, "the sample is kept with the labels"


def test_a_sample_is_as_large_of_each_data_set_and_the_seed_draws_it(rating: Annotating, tmp_path: Path) -> None:
    drawn = []
    for number, seed in enumerate(("1", "1", "2", "3", "4", "5")):
        rating.sheets = tmp_path / f"sheets{number}"
        few = ["--queries", "1", "--seed", seed, "--annotator", "ann"]
        assert rating("--task", "example_quality", "--sheets", str(rating.sheets), *few)["n_queries"] == 2
        drawn.append((rating.sheets / "ann.csv").read_text("utf-8-sig"))

    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
    assert all("story" in one and "meet" in one for one in drawn)


def test_a_score_needs_a_reason_and_other_options_are_refused(rating: Annotating) -> None:
    task = ["--task", "example_quality"]
    rating.write("ann", task="example_quality")
    rating(*task, "--filled", rating.fill("ann", lambda _: {"answer": "4", "note": " "}), ends=2)
    assert "row 2, column note: expected why answer is 4, in a few words; found nothing" in rating.error
    rating(*task, "--filled", rating.fill("ann", lambda _: {"answer": "6", "note": "so"}), ends=2)
    assert "column answer: expected 1, 2, 3, 4 or 5, found '6'" in rating.error
    more = ["--sheets", f"{rating.sheets}2", "--annotator", "ann"]
    rating(*task, *more, "--summaries", "1", ends=2)
    assert "example_quality labels queries: expected --queries" in rating.error
    rating(*task, *more, "--queries", "3", ends=2)
    assert "--queries: expected a number from 1 to 2 of story, found 3" in rating.error
    rating("--task", "coverage", *more, ends=2)
    assert "expected summaries" in rating.error
