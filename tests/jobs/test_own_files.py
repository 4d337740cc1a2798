"""Files of one's own, of every kind and on bad days, become a benchmark, or a message that names each fault."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from actors import python_reader
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.ingest import main
from tests.longform.formats.test_texts import HTML, docx, pdf
from tests.quickstart_files import write_quickstart
from tests.results import cells_of

ROOT_USER = os.geteuid() == 0


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one file of each kind, with the questions among them; the test stands beside it."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "notes"
    (folder / "my minutes").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config.txt").write_text("hidden")
    (folder / "my minutes" / "märz.md").write_text("# March\n\nThe council met.")
    (folder / "b.html").write_text(HTML)
    (folder / "c.pdf").write_bytes(pdf("The bridge is closed."))
    (folder / "d.docx").write_bytes(docx("It opens in May."))
    (folder / "a.txt").write_text("Rain fell.")
    (folder / "questions.txt").write_text("What was decided?\nWhen does it open?\n")
    return folder


FOLDER = ["folder", "notes", "--queries", "notes/questions.txt", "--out", "b"]


def test_a_mixed_folder_is_read_in_the_order_of_its_paths(notes: Path) -> None:
    assert main(FOLDER) == 0

    bench = Benchmark("b")
    documents = bench.documents("corpus")
    assert [one.doc_id for one in documents] == ["a.txt", "b.html", "c.pdf", "d.docx", "my minutes/märz.md"]
    assert [one.title for one in documents] == [None, "Town news", None, None, "March"]
    assert {query_id: query.text for query_id, query in bench.queries.items()} == {
        "q1": "What was decided?",
        "q2": "When does it open?",
    }
    assert [one["name"] for one in bench.manifest["sources"]] == ["notes", "questions.txt"]


def test_the_same_folder_by_another_path_is_the_same_and_a_moved_file_is_not(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(FOLDER) == 0
    assert main(["folder", f"{notes}/", "--queries", "./notes/questions.txt", "--out", "b"]) == 0
    (notes / "a.txt").rename(notes / "z.txt")
    assert main(FOLDER) == 2
    assert "a benchmark made from ['notes', 'questions.txt']" in capsys.readouterr().err


def test_all_files_without_text_are_named_and_left_out_on_request(
    notes: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    (notes / "empty.md").touch()
    (notes / "old.txt").write_bytes("Café".encode("cp1252"))
    (notes / "scan.pdf").write_bytes(pdf(""))
    (notes / "photo.png").write_bytes(b"\x89PNG\x00")
    (notes / "gone.txt").symlink_to("nowhere.txt")

    assert main(FOLDER) == 2
    told = capsys.readouterr().err
    assert "5 of 10 files give no text; nothing was written" in told
    for name in (
        "empty.md: the file is empty",
        "old.txt: no UTF-8",
        "scan.pdf: a PDF of 1 pages without",
        "photo.png:",
    ):
        assert name in told
    assert "gone.txt: it cannot be read (No such file" in told
    assert not Path("b").exists()

    assert main([*FOLDER, "--skip-unreadable"]) == 0
    assert "5 files give no text and are left out" in caplog.text
    assert len(Benchmark("b").documents("corpus")) == 5


@pytest.mark.skipif(ROOT_USER, reason="root may read everything")
def test_files_and_folders_that_may_not_be_read_are_named(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (notes / "a.txt").chmod(0)
    assert main(FOLDER) == 2
    assert "a.txt: it cannot be read (Permission denied)" in capsys.readouterr().err
    (notes / "my minutes").chmod(0)
    assert main(FOLDER) == 2
    assert "my minutes: the folder cannot be read (Permission denied)" in capsys.readouterr().err
    (notes / "my minutes").chmod(0o700)


def test_a_link_that_leads_round_is_passed_over_and_others_are_followed(notes: Path, tmp_path: Path) -> None:
    (notes / "my minutes" / "up").symlink_to("..")
    (notes / "above").symlink_to(tmp_path)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "e.txt").write_text("More.")
    (notes / "linked").symlink_to(tmp_path / "more")

    assert main(FOLDER) == 0
    ids = [one.doc_id for one in Benchmark("b").documents("corpus")]
    assert ids == ["a.txt", "b.html", "c.pdf", "d.docx", "linked/e.txt", "my minutes/märz.md"]


def test_equal_files_are_said(notes: Path, caplog: pytest.LogCaptureFixture) -> None:
    (notes / "copy.txt").write_text("Rain fell.\n")
    assert main(FOLDER) == 0
    assert "a.txt, copy.txt" in caplog.text


def test_a_file_of_fifty_megabytes_is_read(notes: Path) -> None:
    (notes / "long.txt").write_text("Rain fell on the town. " * 2_200_000)

    assert main(FOLDER) == 0
    assert max(len(one.text) for one in Benchmark("b").documents("corpus")) > 50_000_000


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["folder", "notes", "--out", "b"], "expected --queries FILE"),
        (
            ["folder", "notes", "--queries", "none.txt", "--out", "b"],
            "--queries: none.txt: expected a file or a folder",
        ),
        (["folder", "empty", "--queries", "notes/questions.txt", "--out", "b"], "expected documents (.txt, .md, .html"),
        (["folder", "notes", "notes/a.txt", "--queries", "q", "--out", "b"], "--queries: q: expected"),
        (
            ["jsonl", "notes", "--queries", "notes/questions.txt", "--out", "b"],
            "--queries is for folder, csv, hf, trec",
        ),
        (["ir_datasets", "no/such", "--out", "b"], "knows no data set 'no/such'"),
    ],
)
def test_wrong_words_are_told(words: list[str], told: str, notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if words[0] == "ir_datasets":
        pytest.importorskip("ir_datasets")
    Path("empty").mkdir()
    assert main(words) == 2
    assert told in capsys.readouterr().err
    assert not Path("b").exists()


def test_insights_beside_the_folder_make_it_a_benchmark(notes: Path) -> None:
    Path("insights.csv").write_text("query_id,text,doc_ids\nq2,It opens in May.,d.docx\n")

    assert main([*FOLDER, "--insights", "insights.csv"]) == 0
    bench = Benchmark("b")
    assert bench.gold_numbers("corpus") == {"q2-1": frozenset({4})}


def test_rows_of_a_table_are_documents(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("url;headline;article\nu1;First;Rain fell.\nu2;;It opened.\n")
    base = ["csv", "t.csv", "--queries", "notes/questions.txt", "--out", "b"]
    assert main(base) == 2
    assert "a filled column of text, contents" in capsys.readouterr().err

    assert main([*base, "--text-column", "article"]) == 0
    found = Benchmark("b").documents("corpus")
    assert [(one.doc_id, one.title, one.text) for one in found] == [
        ("u1", "First", "Rain fell."),
        ("u2", None, "It opened."),
    ]


def test_an_id_that_stands_twice_in_a_table_is_told(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("id,text\n1,a\n1,b\n")
    assert main(["csv", "t.csv", "--queries", "notes/questions.txt", "--out", "b"]) == 2
    assert "t.csv: line 3: field 'id': expected an id that no row above has" in capsys.readouterr().err


def test_saved_data_sets_are_read_as_their_library_reads_them(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    datasets = pytest.importorskip("datasets")
    made = datasets.Dataset.from_dict({"id": ["x", "y", "z"], "text": ["One.", "Two.", "Three."]})
    made.filter(lambda row: row["id"] != "y").save_to_disk("one", num_shards=2)
    datasets.DatasetDict(train=made, test=made.select([2])).save_to_disk("two")
    capsys.readouterr()
    options = ["--queries", "notes/questions.txt", "--out"]

    assert main(["hf", "one", *options, "b1"]) == 0
    found = [(one.doc_id, one.text) for one in Benchmark("b1").documents("corpus")]
    assert found == [(row["id"], row["text"]) for row in datasets.load_from_disk("one")]
    assert main(["hf", "two", *options, "b2"]) == 2
    assert "several splits; name one by --split: test, train" in capsys.readouterr().err
    assert main(["hf", "two", "--split", "test", *options, "b2"]) == 0
    assert [one.doc_id for one in Benchmark("b2").documents("corpus")] == ["z"]
    assert main(["hf", "notes", *options, "b3"]) == 2
    assert "expected a folder of Dataset.save_to_disk" in capsys.readouterr().err


def test_a_data_set_that_ir_datasets_knows_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = pytest.importorskip("ir_datasets")
    from ir_datasets.formats import TrecQrels, TsvDocs, TsvQueries

    def held(name: str, text: str) -> SimpleNamespace:
        (tmp_path / name).write_text(text)
        return SimpleNamespace(
            stream=lambda: (tmp_path / name).open("rb"), path=lambda force=True: str(tmp_path / name)
        )

    own = library.Dataset(
        TsvDocs(held("docs.tsv", "d1\tThe bridge.\nd2\tThe tram.\n")),
        TsvQueries(held("queries.tsv", "7\tWhat bridge?\n")),
        TrecQrels(held("qrels", "7 0 d1 2\n7 0 d2 0\n"), {2: "states it", 0: "does not"}),
    )
    library.registry.register("longform-own", own)

    assert main(["ir_datasets", "longform-own", "--out", str(tmp_path / "b")]) == 0
    bench = Benchmark(str(tmp_path / "b"))
    assert [(one.doc_id, one.text) for one in bench.documents("corpus")] == [("d1", "The bridge."), ("d2", "The tram.")]
    assert bench.queries["7"].text == "What bridge?"
    assert [(one.doc_id, one.relevance) for one in bench.qrels] == [("d1", 2), ("d2", 0)]
    assert python_reader.open_ir_dataset("longform-own")[1] == library.__version__


def test_trec_s_files_are_read_together(notes: Path) -> None:
    Path("docs.trectext").write_text("<DOC><DOCNO>x</DOCNO><TEXT>The bridge.</TEXT></DOC>")
    Path("topics.trec").write_text("<top><num> Number: 7</num><title>bridge</title></top>")
    Path("qrels.txt").write_text("7 0 x 1\n")
    Path("runs").mkdir()
    for tag in ("bm25", "dense"):
        Path("runs", f"{tag}.run").write_text(f"7 Q0 x 1 2.5 {tag}\n")
    options = ["--queries", "topics.trec", "--qrels", "qrels.txt", "--run", "runs"]

    assert main(["trec", "docs.trectext", *options, "--out", "b"]) == 0
    rankings = Folder("b").read("rankings").to_pylist()
    assert [(row["system"], row["doc_id"]) for row in rankings] == [("bm25", "x"), ("dense", "x")]


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_quickstart(tmp_path)
    assert main(["folder", "notes", "--queries", "questions.txt", "--out", "bench"]) == 0


@pytest.mark.usefixtures("town")
def test_answers_may_be_texts_named_by_query_or_a_table() -> None:
    assert main(["outputs", "answers", "--bench", "bench", "--out", "one"]) == 0
    rows = Folder("one").read("summaries").to_pylist()
    assert {(row["summarizer"], row["query_id"]) for row in rows} == {
        (system, f"q{place}") for system in ("rag", "agent") for place in range(1, 6)
    }
    (rag,) = [row for row in rows if (row["summarizer"], row["query_id"]) == ("rag", "q1")]
    assert rag["text"].splitlines()[0].endswith("bridge [4].")

    assert main(["outputs", "answers/rag", "--bench", "bench", "--out", "two"]) == 0
    assert {row["summarizer"] for row in Folder("two").read("summaries").to_pylist()} == {"rag"}

    table = 'query_id,system,text,citations,cost_usd\nq1,person,"Seven voted, two did not.",bridge/04.md; 2,0.5\n'
    Path("a.csv").write_text(table)
    assert main(["outputs", "a.csv", "--bench", "bench", "--out", "three"]) == 0
    (row,) = Folder("three").read("summaries").to_pylist()
    assert (row["text"], row["cost_usd"]) == ("- Seven voted, two did not. [4, 2]", 0.5)


@pytest.mark.usefixtures("town")
def test_faults_of_answers_are_told_by_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("answers/rag/q9.md").write_text("No such question.")
    assert main(["outputs", "answers", "--bench", "bench", "--out", "one"]) == 2
    assert "rag/q9.md: line 1: error: query_id: expected a query of the benchmark" in capsys.readouterr().err

    Path("a.csv").write_text('query_id,system,text\nq1,a,"One\nTwo"\nq7,a,Three\n')
    assert main(["outputs", "a.csv", "--bench", "bench", "--out", "two"]) == 2
    assert "a.csv: line 4: error: query_id" in capsys.readouterr().err

    Path("answers/more.csv").write_text("x\n")
    assert main(["outputs", "answers", "--bench", "bench", "--out", "three"]) == 2
    assert "expected texts or tables of answers, found both" in capsys.readouterr().err


@pytest.mark.usefixtures("town")
def test_answers_to_a_corpus_without_insights_are_judged_by_its_documents(capsys: pytest.CaptureFixture[str]) -> None:
    from jobs.judge import main as judge

    capsys.readouterr()
    assert judge(["answers", "--bench", "bench", "--out", "run", "--workers", "0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    cells = {cell["summarizer"]: cell for cell in cells_of(found)}
    assert (cells["rag"]["cited_support"], cells["agent"]["cited_support"]) == (100.0, 50.0)
    assert cells["agent"]["sentences_cited"] == 50.0
    report = Path("run/report/report.md").read_text()
    assert "No query that is answered has insights: coverage, citations and their joint score cannot be told." in report
    assert "citations supported" in report
