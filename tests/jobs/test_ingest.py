"""Files become benchmark folders, or nothing at all."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.evaluate import main as evaluate
from jobs.files.located_file import files_under
from jobs.files.write_benchmark import write_benchmark
from jobs.ingest import main
from longform.formats.summhay import summhay_files
from tests.modules import Write

DOCUMENTS = [{"doc_id": f"d{i}", "text": f"Text number {i}."} for i in range(3)]
QUERIES = [{"query_id": "q", "text": "Which text?"}]
INSIGHTS = [{"insight_id": "i", "query_id": "q", "text": "The second.", "doc_ids": ["d1"]}]


def write_lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    write_lines(folder / "documents.jsonl", DOCUMENTS)
    write_lines(folder / "queries.jsonl", QUERIES)
    write_lines(folder / "insights.jsonl", INSIGHTS)
    return folder


def test_own_corpus_becomes_a_benchmark(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jsonl", str(corpus), "--out", str(tmp_path / "b"), "--json"]) == 0

    manifest = json.loads(capsys.readouterr().out)
    benchmark = Benchmark(str(tmp_path / "b"))
    assert manifest["rows"]["documents"] == 3
    assert [d.number for d in benchmark.documents("corpus")] == [1, 2, 3]
    assert benchmark.gold_numbers("corpus") == {"i": frozenset({2})}


def test_same_files_again_are_not_written_again(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "b"
    main(["jsonl", str(corpus), "--out", str(out)])
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}

    assert main(["jsonl", str(corpus), "--out", str(out)]) == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_other_files_do_not_replace_a_benchmark(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["jsonl", str(corpus), "--out", str(tmp_path / "b")])
    write_lines(corpus / "documents.jsonl", [*DOCUMENTS, {"doc_id": "new", "text": "x"}])

    assert main(["jsonl", str(corpus), "--out", str(tmp_path / "b")]) == 2
    assert "name another folder" in capsys.readouterr().err


def test_malformed_input_writes_nothing(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "insights.jsonl", [INSIGHTS[0] | {"doc_ids": ["d9"]}])

    assert main(["jsonl", str(corpus), "--out", str(tmp_path / "b")]) == 2
    message = capsys.readouterr().err
    assert all(word in message for word in ("insights.jsonl", "line 1", "doc_ids", "d9"))
    assert not (tmp_path / "b").exists()


def test_beir_error_at_the_end_of_the_corpus_removes_what_was_written(tmp_path: Path) -> None:
    """Documents are written as they are read: the last of them may still be wrong."""
    folder = tmp_path / "tiny"
    write_lines(folder / "corpus.jsonl", [{"_id": f"d{i}", "title": "", "text": "x"} for i in range(5)])
    write_lines(folder / "queries.jsonl", [{"_id": "q", "text": "x"}])
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tgone\t1\n")

    assert main(["beir", str(folder), "--out", str(tmp_path / "b")]) == 2
    assert not (tmp_path / "b").exists()


def test_beir_folder_becomes_one_haystack(tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    write_lines(folder / "corpus.jsonl", [{"_id": "d", "title": "T", "text": "x"}])
    write_lines(folder / "queries.jsonl", [{"_id": "q", "text": "x"}, {"_id": "unjudged", "text": "y"}])
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t2\n")

    assert main(["beir", str(folder), "--out", str(tmp_path / "b")]) == 0
    benchmark = Benchmark(str(tmp_path / "b"))
    assert list(benchmark.queries) == ["q"]
    assert benchmark.qrels[0].relevance == 2


def test_folder_of_topics_is_read_gzipped_or_not(tmp_path: Path, released: Path) -> None:
    source = released / "summhay" / "topic_news5.json.gz"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "topic_news5.json").write_bytes(gzip.decompress(source.read_bytes()))
    (tmp_path / "in" / "notes.txt").write_text("not a topic")

    assert main(["summhay", str(tmp_path / "in"), "--out", str(tmp_path / "plain")]) == 0
    assert main(["summhay", str(source), "--out", str(tmp_path / "packed")]) == 0
    plain, packed = (Benchmark(str(tmp_path / name)).manifest for name in ("plain", "packed"))
    assert plain["dataset_hash"] == packed["dataset_hash"]
    queries = Benchmark(str(tmp_path / "plain")).queries.values()
    assert {query.dataset for query in queries} == {"summhay"}
    unnamed = write_benchmark(
        str(tmp_path / "unnamed"), summhay_files({"": files_under(str(source))}).haystacks, sources=[]
    )
    assert unnamed["dataset_hash"] == plain["dataset_hash"], "a benchmark made before has the same work"


@pytest.mark.parametrize("kind", ["beir", "jsonl", "summhay"])
def test_folder_without_the_files_is_an_error_that_says_which(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()

    assert main([kind, str(tmp_path / "empty"), "--out", str(tmp_path / "b")]) == 2
    assert "expected" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()


def study_sample(**named: object) -> dict[str, object]:
    """A record of SummHay's human study; conversations name their haystack by `topic_fn`, news by `topic_id`."""
    return {
        **named,
        "topic": "A bridge",
        "subtopic_id": "money",
        "subtopic": "what it costs",
        "summkey": "summary_subtopic_oracle_gpt-4o",
        "summary": ["- Five million [1]", "- A loan [2]"],
        "reference_insights": [{"insight_id": "i1", "insight_name": "price", "insight": "It costs 5 million."}],
        "annotation": [{"insight_id": "i1", "coverage": "fully_covered", "candidate_id": "0"}],
    }


def write_study(folder: Path, *samples: dict[str, object]) -> str:
    file = folder / "eval_benchmark_data.json"
    file.write_text(json.dumps(samples))
    return str(file)


def test_human_study_names_a_haystack_by_id_or_by_file(tmp_path: Path) -> None:
    file = write_study(
        tmp_path, study_sample(topic_id="news-1"), study_sample(topic_fn="data/topic_a_conversation.json")
    )

    assert main(["summhay", file, "--out", str(tmp_path / "b")]) == 0
    benchmark = Benchmark(str(tmp_path / "b"))
    queries = benchmark.folder.read("queries").to_pylist()
    assert {row["haystack_id"]: row["domain"] for row in queries} == {
        "news-1": "news",
        "a_conversation": "conversation",
    }
    summaries = benchmark.folder.read("summaries").to_pylist()
    labels = benchmark.folder.read("labels").to_pylist()
    assert len({row["summary_id"] for row in summaries}) == 2
    assert {row["summary_id"] for row in labels} == {row["summary_id"] for row in summaries}


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({}, ["'topic_id'", "topic_NAME.json in 'topic_fn'", "found nothing"]),
        ({"topic_id": None, "topic_fn": None}, ["'topic_id'", "topic_NAME.json in 'topic_fn'", "found null"]),
        ({"topic_fn": "data/haystack.json"}, ["'topic_fn'", "topic_NAME.json", "found string 'data/haystack.json'"]),
        ({"topic_fn": 7}, ["'topic_fn'", "found integer 7"]),
        ({"topic_id": ["x"], "topic_fn": "data/topic_x.json"}, ["'topic_id'", "a string", "found list"]),
    ],
)
def test_sample_without_a_haystack_is_named(
    named: dict[str, object], told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_study(tmp_path, study_sample(topic_id="t"), study_sample(**named))

    assert main(["summhay", file, "--out", str(tmp_path / "b")]) == 2
    message = capsys.readouterr().err
    assert all(words in message for words in ["eval_benchmark_data.json", "(file)[1]", *told])
    assert not (tmp_path / "b").exists()


def test_published_conversations_of_the_human_study_are_read(tmp_path: Path, released: Path) -> None:
    file = released / "summhay" / "eval_benchmark_data_conversation.json.gz"

    assert main(["summhay", str(file), "--out", str(tmp_path / "b")]) == 0
    benchmark = Benchmark(str(tmp_path / "b"))
    (named,) = {sample["topic_fn"] for sample in json.loads(gzip.decompress(file.read_bytes()))}
    (haystack,) = {row["haystack_id"] for row in benchmark.folder.read("queries").to_pylist()}
    assert named == f"data/topic_{haystack}.json"
    labels = benchmark.folder.read("labels").to_pylist()
    assert len([row for row in labels if row["annotator"] == "human"]) == 325
    assert len(labels) == 7 * 325


NOTES = """
from longform.formats.rows import HaystackRows
from longform.records import Document, Query

class Notes:
    def __init__(self, question="What happened?"):
        self.question = question

    def read(self, files):
        texts = [file.read().decode() for file in files if file.path.endswith(".txt")]
        documents = (Document(text.split()[0], "notes", i, None, text) for i, text in enumerate(texts))
        yield HaystackRows("notes", documents, [Query("q", "notes", self.question)])
"""


@pytest.fixture
def notes(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of `ingest` for a folder of two notes, typed in the folder of the reader."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("dam is built")
    (tmp_path / "in" / "b.txt").write_text("mill is built")
    write("their_format", NOTES)
    return ["python", "--class", "their_format:Notes", "in", "--out", "b"]


def test_a_format_of_ones_own_is_read_with_its_options(notes: list[str]) -> None:
    assert main([*notes, "--set", "question=What stands?"]) == 0

    benchmark = Benchmark("b")
    assert [document.text for document in benchmark.documents("notes")] == ["dam is built", "mill is built"]
    assert benchmark.queries["q"].text == "What stands?"
    (first, _) = benchmark.manifest["sources"]
    assert (first["name"], first["class"], first["options"]) == (
        "a.txt",
        "their_format:Notes",
        '{"question": "What stands?"}',
    )


def test_another_version_of_a_reader_makes_another_benchmark(
    notes: list[str], write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("their_later_format", NOTES + "\n    version = 2")
    later = [word.replace("their_format", "their_later_format") for word in notes]

    assert main(notes) == main(notes) == 0
    assert main(later) == 2
    assert "with other contents or settings, or by another version, stands here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (("text.split()[0]", "text.splits()"), "their_format:Notes: read raised AttributeError: 'str' object has no"),
        (('"notes", i,', '"notes", 7,'), "their_format:Notes: haystack 'notes', Document 0: field 'doc_index'"),
        (("yield HaystackRows", "HaystackRows"), "TypeError: expected haystacks, returned or yielded, found None"),
        (("def read(", "def reads("), "expected a method read(files), found ['reads']"),
    ],
)
def test_a_reader_that_fails_is_told_and_leaves_nothing(
    notes: list[str], write: Write, capsys: pytest.CaptureFixture[str], broken: tuple[str, str], said: str
) -> None:
    write("their_format", NOTES.replace(*broken))

    assert main(notes) in {1, 2}
    assert said in capsys.readouterr().err
    assert not Path("b").exists()


@pytest.mark.parametrize("words", [["python", "in"], ["jsonl", "--class", "their_format:Notes", "in"]])
def test_a_class_is_for_the_format_python(
    words: list[str], notes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--out", "b"]) == 2
    assert "--class MODULE:CLASS is for python, and needed there" in capsys.readouterr().err


def test_gold_that_the_corpus_lacks_makes_recall_smaller_if_it_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The manifest says so, and another format has no such option."""
    folder = tmp_path / "meet"
    folder.mkdir()
    (folder / "documents.jsonl").write_text('{"id": "a", "text": "late harvest"}\n{"id": "b", "text": "frost"}\n')
    query = {"query_id": "1", "query": "late harvest", "gold_documents": ["a", "lost"], "answer": "Late."}
    (folder / "queries.jsonl").write_text(json.dumps(query))
    recalls, notes = {}, {}
    for choice in ("drop", "keep"):
        bench = str(tmp_path / choice)
        assert main(["msrs", str(folder), "--out", bench, "--missing-gold", choice]) == 0
        capsys.readouterr()
        systems = "systems=[{retriever: bm25, n_documents: 3, budget_tokens: null, summarizer: offline}]"
        only = ["--set", systems, "--until", "retrieve", "--workers", "0", "--no-vectors", "--json"]
        assert evaluate(["msrs_meet", "--bench", bench, "--out", f"{bench}/run", *only]) == 0
        (row,) = json.loads(capsys.readouterr().out)["retrieval"]
        recalls[choice] = row["R"]
        notes[choice] = {source.get("gold") for source in Benchmark(bench).manifest["sources"]}
    assert recalls == {"drop": 100.0, "keep": 50.0}
    assert notes == {"drop": {None}, "keep": {"documents that the corpus lacks count as missed"}}
    assert main(["jsonl", str(folder), "--out", str(tmp_path / "other"), "--missing-gold", "keep"]) == 2
    assert "--missing-gold is for msrs, found it with jsonl" in capsys.readouterr().err


def test_ids_that_differ_in_zeros_alone_are_said(
    corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_lines(corpus / "documents.jsonl", [{"doc_id": one, "text": "x"} for one in (7, "007", "d1", "0", 70)])

    assert main(["jsonl", str(corpus), "--out", str(tmp_path / "b")]) == 0
    told = [record.getMessage() for record in caplog.records]
    assert [one for one in told if "ids differ" in one] == [
        "documents: ids differ in leading zeros or spaces alone, and each names one of its own: '007' and '7'"
    ]


JUDGED = """name: judged
seed: 1
cutoffs: [1]
retrievers: {bm25: {kind: bm25}}
summarizers: {offline: {kind: offline}}
judges: {}
systems: [{retriever: bm25, budget_tokens: 100, summarizer: offline}]
"""


def test_what_sets_rankings_apart_from_published_numbers_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(tmp_path / "arguments" / "queries.jsonl", [{"_id": "a1", "text": "Dams should go."}])
    texts = {"a1": "Dams should go.", "a2": "Dams should stay.", "a3": "Rivers flow."}
    write_lines(tmp_path / "arguments" / "corpus.jsonl", [{"_id": one, "text": text} for one, text in texts.items()])
    qrels = tmp_path / "arguments" / "qrels" / "test.tsv"
    qrels.parent.mkdir()
    qrels.write_text("query-id\tcorpus-id\tscore\na1\ta2\t1\na1\ta3\t3\n")
    (tmp_path / "c.yaml").write_text(JUDGED)
    bench, out = str(tmp_path / "b"), str(tmp_path / "run")
    assert main(["beir", str(tmp_path / "arguments"), "--out", bench]) == 0
    command = [str(tmp_path / "c.yaml"), "--bench", bench, "--out", out, "--workers", "0", "--no-vectors"]

    assert evaluate([*command, "--until", "retrieve"]) == 0
    told = capsys.readouterr().out
    assert evaluate(command) == 0
    page = (tmp_path / "run" / "report" / "retrieval.html").read_text()
    for words in ("Judgements have the grades 1, 3", "1 of 1 queries stands among the documents"):
        assert words in told
        assert words in page


def test_a_run_of_others_is_ranked_as_it_says(tmp_path: Path) -> None:
    """Scores of a softmax became ties, in the order of the documents."""
    write_lines(tmp_path / "d.jsonl", [{"id": one, "text": f"Text {one}."} for one in ("D1", "D2", "D3")])
    (tmp_path / "t.tsv").write_text("T1\ta question\n")
    (tmp_path / "run").write_text("T1 Q0 D3 1 9.5e-08 mine\nT1 Q0 D2 2 3.1e-08 mine\nT1 Q0 D1 3 1.2e-08 mine\n")
    (tmp_path / "c.yaml").write_text(JUDGED.replace("{kind: bm25}", "{kind: released, name: mine}"))
    bench, out = str(tmp_path / "b"), str(tmp_path / "out")
    options = ["--queries", str(tmp_path / "t.tsv"), "--run", str(tmp_path / "run")]
    assert main(["trec", str(tmp_path / "d.jsonl"), *options, "--out", bench]) == 0

    command = [str(tmp_path / "c.yaml"), "--bench", bench, "--out", out, "--until", "retrieve", "--workers", "0"]
    assert evaluate([*command, "--no-vectors"]) == 0
    rows = sorted(Folder(out).read("rankings").to_pylist(), key=lambda row: row["rank"])
    assert [(row["doc_id"], row["score"]) for row in rows] == [("D3", 9.5e-08), ("D2", 3.1e-08), ("D1", 1.2e-08)]
