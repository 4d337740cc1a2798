"""`longform synthesize-models` of the kind key_points: by rules, and by models that misbehave."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.annotate import main as annotate
from jobs.command.calling import Calling
from jobs.command_line import main as command
from jobs.stages.cluster import Cluster
from jobs.synthesis.model_synthesis import asks_models, read_config
from jobs.synthesize_models import main, synthesize_with_models
from longform.errors import UsageError
from longform.records import gold_documents
from tests.jobs.attempts import counted_attempts

TOWNS = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir")
MISDEEDS = "spread=0.5,dull=0.2,strays=0.3,doubles=0.5,gaps=0.5,prose=0.15,empty=0.15"


def corpus(folder: Path) -> list[str]:
    """Write documents and questions, and return the changes that name them."""
    documents = [
        {
            "id": f"{town.lower()}-{part}",
            "text": f"The council of {town} paid {n}{part}0 thousand for its bridge in 19{n}{part}. "
            f"Later the people of {town} built a harbour with {part + 2} piers by the river. "
            f"Nobody knows why the choir of {town} left the town in 18{part}{n}.",
        }
        for n, town in enumerate(TOWNS, start=1)
        for part in (1, 2)
    ]
    questions = [
        {"query_id": f"q{n}", "query": f"What did the council of {town} pay for?"} for n, town in enumerate(TOWNS)
    ]
    for name, records in (("documents", documents), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    return [f"documents=[{folder}/documents.jsonl]", f"questions.files=[{folder}/questions.jsonl]"]


def modelled(folder: Path, *, misdeeds: str = "") -> str:
    """Write a configuration in which scripted models do everything, and return its name."""
    corpus(folder)
    writer = {"provider": "scripted", "script": "synthesis", "model": f"scripted-extractor:seed=1,{misdeeds}"}
    content = {
        "kind": "key_points",
        "name": "scripted",
        "seed": 1,
        "documents": [f"{folder}/documents.jsonl"],
        "questions": {"kind": "evolved", "files": [f"{folder}/questions.jsonl"], "per_cell": 2, "seeds": 2},
        "categories": {"factual": "asks for facts", "causal": "asks why"},
        "domains": {"towns": "places", "others": "else"},
        "search": {"decomposed": True, "documents": 3},
        "extraction": "models",
        "models": {"threshold": 0.5},
        "writer": writer,
        "verifier": writer | {"model": "scripted-verifier:seed=1"},
    }
    (folder / "models.yaml").write_text(json.dumps(content))
    return f"{folder}/models.yaml"


def synthesize(name: str, url: str, *changes: str) -> dict[str, Any]:
    return {
        **synthesize_with_models(
            read_config(name, changes),
            url,
            cluster=Cluster(address=None, workers=0),
            calling=Calling("test", ledger=f"{url}-ledger"),
        )
    }


def test_rules_make_a_benchmark_whose_points_stand_in_their_documents(tmp_path: Path) -> None:
    url = str(tmp_path / "bench")
    account = synthesize("long2rag", url, *corpus(tmp_path), "rules.most=3")
    made = Benchmark(url)
    assert len(made.queries) == len(TOWNS)
    texts = {(d.haystack_id, d.doc_id): d.text for name in made.haystack_ids for d in made.documents(name)}
    gold = gold_documents(made.qrels)
    for query_id, targets in made.targets.items():
        assert {target.kind for target in targets} == {"key_point"}
        assert all(target.text in texts[query_id, doc] for target in targets for doc in gold[target.target_id])
    assert account["models"] == {}
    assert not Folder(f"{url}-ledger").parts("calls")


def test_every_rejection_is_counted_and_the_attempts_have_its_reason(tmp_path: Path) -> None:
    url = str(tmp_path / "bench")
    account = synthesize("long2rag", url, *corpus(tmp_path), "rules.most=1")
    counted_attempts(url, account)
    attempts = Folder(url).read("attempts").to_pylist()
    assert all((row["verdict"] == "accepted") == (row["reason"] is None) for row in attempts)
    ranked = [row["verdict"] for row in attempts if row["check"] == "point in rank"]
    assert Counter(ranked)["accepted"] == len(TOWNS)


@pytest.fixture(scope="module")
def misbehaved(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("misbehaved")
    url = str(folder / "bench")
    return url, synthesize(modelled(folder, misdeeds=MISDEEDS), url)


def test_whatever_models_reply_is_caught_and_counted(misbehaved: tuple[str, dict[str, Any]]) -> None:
    url, account = misbehaved
    counted_attempts(url, account)
    lost = {row["check"] for row in account["checks"] if row["rejected"] + row["exhausted"]}
    assert lost >= {
        "question suitable",
        "question sorted",
        "questions listed",
        "points listed",
        "span found",
        "point grounded",
        "points merged",
        "point in one group",
        "point significant",
    }
    reasons = {row["reason"] for row in Folder(url).read("attempts").to_pylist()}
    assert reasons >= {"unverified: invalid_json", "unverified: empty_reply", "none of 1 spans stands in the document"}


def test_kept_points_have_a_score_above_the_threshold_spans_that_stand_there_and_sources_once(
    misbehaved: tuple[str, dict[str, Any]],
) -> None:
    url, account = misbehaved
    made = Benchmark(url)
    questions = {one["haystack_id"]: one for one in account["haystacks"][1:]}
    for name in made.haystack_ids:
        texts = {document.doc_id: document.text for document in made.documents(name)}
        points, query = questions[name]["points"], made.queries[name]
        assert {one["name"] for one in query.facets or ()} == {"category", "domain"}
        assert [target.text for target in made.haystack_targets(name)] == [p["point"] for p in points if p["kept"]]
        assert all(point["kept"] == (point["score"] is not None and point["score"] >= 0.5) for point in points)
        spans = [span for point in points for span in point["spans"]]
        assert all(texts[span["doc_id"]][span["start"] : span["end"]] == span["text"] for span in spans)
        numbers = [number for point in points for number in point["numbers"]]
        assert sorted(numbers) == list(range(1, questions[name]["extracted"] + 1))


def test_models_without_a_fault_fill_every_cell(tmp_path: Path) -> None:
    account = synthesize(modelled(tmp_path, misdeeds="spread=0.5"), str(tmp_path / "bench"))
    together = account["haystacks"][0]
    assert together["scores"][-1] == {"score": 1.0, "share": 1.0}
    made = {(cell["category"], cell["domain"]): (cell["wanted"], cell["made"]) for cell in together["cells"]}
    assert len(made) == 4
    assert {row["check"]: row["exhausted"] for row in account["checks"]}["points merged"] == 0


def test_again_it_calls_nobody_and_another_threshold_is_another_benchmark_of_the_same_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, url = modelled(tmp_path, misdeeds="spread=0.5"), str(tmp_path / "bench")
    first = synthesize(name, url)
    assert synthesize(name, url) == first
    with pytest.raises(UsageError, match="other contents or settings"):
        synthesize(name, url, "models.threshold=0.9")
    arguments = [name, "--out", str(tmp_path / "other"), "--ledger", f"{url}-ledger", "--workers", "0", "--json"]
    capsys.readouterr()
    main([*arguments, "--set", "models.threshold=0.9"])
    fewer = json.loads(capsys.readouterr().out)
    kept = [sum(one["key_points"] for one in account["haystacks"][1:]) for account in (fewer, first)]
    assert kept[0] < kept[1]


def test_a_plan_asks_nothing_and_what_is_asked_lies_within_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, url = modelled(tmp_path, misdeeds="spread=0.5"), str(tmp_path / "bench")
    capsys.readouterr()
    assert main([name, "--out", url, "--plan", "--json", "--workers", "0"]) == 0
    steps = {row["step"]: row for row in json.loads(capsys.readouterr().out)["steps"]}
    assert {"read criteria", "sort questions", "write deeper questions", "extract points", "score points"} <= set(steps)
    account = synthesize(name, url)
    merges = next(row["attempts"] for row in account["checks"] if row["check"] == "points merged")
    assert steps["merge points"]["lowest"] <= merges <= steps["merge points"]["highest"]


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[str]]]:
    """Serve one document to every search; yield its URL and the queries that it got."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["query"])
            found = [{"url": "http://x/1", "text": "The council of Alder paid 77 thousand for a lift in 1988."}]
            body = json.dumps(found).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/search", asked
        server.shutdown()
        thread.join()


def test_an_endpoint_is_searched_once_and_its_documents_are_kept(
    endpoint: tuple[str, list[str]], tmp_path: Path
) -> None:
    (url, asked), bench = endpoint, str(tmp_path / "bench")
    _, questions = corpus(tmp_path)
    changes = ["documents=[]", questions, "questions.most=1", f"search.endpoints=[{{url: '{url}'}}]"]
    first = synthesize("long2rag", bench, *changes)
    (query,) = Benchmark(bench).queries.values()
    assert asked == [query.text]
    assert [one.doc_id for one in Benchmark(bench).documents(query.haystack_id)] == ["http://x/1"]
    assert synthesize("long2rag", bench, *changes) == first
    assert len(asked) == 1


def test_synthesize_hands_over_what_is_a_kind_of_synthesize_models(tmp_path: Path) -> None:
    words = [word for change in corpus(tmp_path) for word in ("--set", change)]
    assert command(["synthesize", "long2rag", "--out", str(tmp_path / "bench"), *words]) == 0
    assert Folder(str(tmp_path / "bench")).has("synthesis.json")
    assert asks_models(modelled(tmp_path))
    (tmp_path / "grammar.yaml").write_text("{topics: [a], seed: 1}")
    assert not any(asks_models(name) for name in ("full", "demo", "none", f"{tmp_path}/grammar.yaml"))


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = [f"--set=documents=[{tmp_path}/none.jsonl]", f"--set=questions.files=[{tmp_path}/none.jsonl]"]
    assert main(["long2rag", "--out", str(tmp_path / "bench"), *changes]) != 0
    assert "none.jsonl" in capsys.readouterr().err


def test_the_released_stories_and_meetings_become_twenty_questions(released: Path, tmp_path: Path) -> None:
    parts = [released / "msrs" / name for name in ("story", "meeting")]
    documents = ",".join(f"{part}/documents.jsonl.gz" for part in parts)
    questions = ",".join(f"{part}/queries.jsonl.gz" for part in parts)
    url = str(tmp_path / "bench")
    account = synthesize("long2rag", url, f"documents=[{documents}]", f"questions.files=[{questions}]")
    assert len(Benchmark(url).queries) == 20
    assert all(len(one["documents"]) == 5 for one in account["haystacks"][1:])
    counted_attempts(url, account)


# ---------------------------------------------------------------- people


@pytest.fixture
def bench(tmp_path: Path) -> str:
    url = str(tmp_path / "bench")
    synthesize("long2rag", url, *corpus(tmp_path), "rules.most=8")
    return url


def annotated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert annotate([*arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def filled(path: Path, answer: Callable[[dict[str, str]], str]) -> str:
    """Fill a sheet, and return its path."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "answer": answer(row)} for row in rows)
    return str(path)


def test_people_check_points_and_a_copy_has_those_that_they_accept(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheets, task = tmp_path / "sheets", ["--task", "key_point_check"]
    annotated(capsys, bench, *task, "--sheets", str(sheets), "--annotator", "ann", "--annotator", "bo")
    seen: list[dict[str, str]] = []

    def strict(row: dict[str, str]) -> str:
        seen.append(row)
        return "agree" if "paid" in row["key_point"] else "neutral"

    names = [filled(sheets / "ann.csv", lambda row: "agree" if "paid" in row["key_point"] else "not_grounded")]
    names.append(filled(sheets / "bo.csv", strict))
    told = annotated(capsys, bench, *task, "--filled", *names, "--accepted", str(tmp_path / "accepted"))

    assert seen[0]["key_point"] in seen[0]["passages"]
    assert seen[0]["key_point"] in (sheets / seen[0]["documents"]).read_text()
    n_paid = sum("paid" in row["key_point"] for row in seen)
    assert 0 < n_paid < len(seen)
    assert (told["checked"]["accepted"], told["checked"]["rejected"]) == (n_paid, len(seen) - n_paid)
    (agreement,) = told["agreement"]
    same = n_paid / len(seen)
    assert agreement["free_kappa"]["value"] == pytest.approx((same - 1 / 4) / (1 - 1 / 4))
    copy = Benchmark(str(tmp_path / "accepted"))
    texts = [target.text for name in copy.haystack_ids for target in copy.haystack_targets(name)]
    assert len(texts) == n_paid
    assert all("paid" in text for text in texts)
    assert {qrel.target_id for qrel in copy.qrels} == {
        target.target_id for name in copy.haystack_ids for target in copy.haystack_targets(name)
    }


def test_a_share_goes_to_all_annotators_and_the_rest_is_dealt_out(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--sheets", str(tmp_path / "sheets"), "--overlap", "0.3", "--annotator", "ann", "--annotator", "bo"]
    annotated(capsys, bench, "--task", "key_point_check", *few)
    asked = []
    for name in ("ann", "bo"):
        with (tmp_path / "sheets" / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
            asked.append({row["query"] for row in csv.DictReader(file)})
    assert len(asked[0] & asked[1]) == 2  # of 6 questions, 0.3 rounded up
    assert len(asked[0] | asked[1]) == len(TOWNS)
    assert abs(len(asked[0]) - len(asked[1])) <= 1


def test_what_nobody_accepts_and_a_copy_of_other_labels_are_refused(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheets, task = tmp_path / "sheets", ["--task", "key_point_check"]
    annotated(capsys, bench, *task, "--sheets", str(sheets), "--annotator", "ann")
    name = filled(sheets / "ann.csv", lambda _: "disagree")
    assert annotate([bench, *task, "--filled", name, "--accepted", str(tmp_path / "none")]) == 2
    assert "expected key_points that people accept, found none" in capsys.readouterr().err
    assert annotate([bench, "--accepted", str(tmp_path / "none")]) == 2
    assert "--accepted: expected --task key_point_check, found coverage" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        annotate([bench, *task, "--sheets", f"{sheets}2", "--annotator", "bo", "--overlap", "2"])
    assert "--overlap: expected a share from 0 to 1, found '2'" in capsys.readouterr().err
