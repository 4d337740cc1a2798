"""`longform judge`: sixty answers written by hand are judged without a configuration, and only once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from actors.storage.folder import Folder
from jobs.evaluations.answers import default_out, table
from jobs.ingest import main as ingest
from jobs.judge import main
from jobs.results.documents import kept_documents
from jobs.results.write import read_results
from jobs.status import main as status
from longform.judges.matrix import BEST
from tests.jobs.answers.town import EMPTY, N_ANSWERS, OUT_OF_RANGE, TOPICS, town, write_answers, write_corpus
from tests.results import cells_of, checked_of


class Judged(NamedTuple):
    words: list[str]
    run: Folder
    results: dict[str, Any]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    folder = tmp_path_factory.mktemp("judged")
    words = [str(write_answers(folder / "answers.jsonl")), "--bench", town(), "--workers", "0"]
    assert main(words) == 0
    run = Folder(default_out(words[0]))
    return Judged(words, run, read_results(run))


def cells(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {cell["summarizer"]: cell for cell in cells_of(results)}


def support(results: dict[str, Any]) -> dict[str, float]:
    return {row["summarizer"]: row["faithfulness"]["value"] for row in checked_of(results)}


def test_sixty_answers_are_judged(judged: Judged) -> None:
    assert sum(cell["n_summaries"] for cell in cells_of(judged.results)) == N_ANSWERS


def test_scores_follow_what_the_answers_say(judged: Judged) -> None:
    found, supported = cells(judged.results), support(judged.results)

    assert found["notes"]["coverage"] == found["notes"]["citation"] == found["agent"]["coverage"] == 100.0
    assert found["agent"]["precision"] == 75.0  # the second bullet cites one right and one wrong document
    assert found["terse"]["citation"] == 90.0  # one of ten cites a document that is not there
    assert found["terse"]["coverage"] == found["agent-short"]["coverage"] == 50.0
    assert found["agent-wrong"]["coverage"] < 20 < found["rumours"]["coverage"] < 60
    assert supported["agent-wrong"] < 40
    assert supported["agent"] > 70


def test_sentences_are_checked_against_what_was_seen_in_the_order_of_the_prompt(judged: Judged) -> None:
    contexts = {row["context_id"]: row for row in judged.run.read("contexts").to_pylist()}
    summaries = judged.run.read("summaries").to_pylist()
    agent = next(row for row in summaries if (row["summarizer"], row["query_id"]) == ("agent", "q3"))
    notes = next(row for row in summaries if (row["summarizer"], row["query_id"]) == ("notes", "q3"))
    verdicts = [row for row in judged.run.read("verdicts").to_pylist() if row["target_kind"] == "document"]

    assert contexts[agent["context_id"]]["doc_ids"] == ["town-3b", "town-3a"]
    own = {(row["target_id"], row["doc_position"]) for row in verdicts if row["summary_id"] == agent["summary_id"]}
    assert own == {("town-3b", 0), ("town-3a", 1)}
    others = [row for row in verdicts if row["summary_id"] == notes["summary_id"]]
    assert {row["doc_position"] for row in others} == {None}
    assert {row["mode"] for row in verdicts} == {"cited"}


def test_a_sentence_is_checked_against_what_it_cites_then_against_the_nearest_others(judged: Judged) -> None:
    units = {(row["summary_id"], row["unit_index"]): row["citations"] for row in judged.run.read("units").to_pylist()}
    checked: dict[tuple[str, int], dict[str, str]] = {}
    for row in judged.run.read("verdicts").to_pylist():
        if row["target_kind"] == "document":
            checked.setdefault((row["summary_id"], row["unit_index"]), {})[row["target_id"]] = row["answer"]

    assert checked.keys() == units.keys()
    few = [len(answers) for answers in checked.values()]
    assert max(few) <= max(map(len, units.values())) + BEST < 2 * len(TOPICS)
    once = [answers for place, answers in checked.items() if "supported" in answers.values() and len(units[place]) == 1]
    assert sum(len(answers) == 1 for answers in once) > len(once) / 2


def test_the_share_of_supported_sentences_is_counted_by_the_answers_of_verdicts(judged: Judged) -> None:
    summaries = {row["summary_id"]: row["summarizer"] for row in judged.run.read("summaries").to_pylist()}
    sentences: dict[str, dict[tuple[str, int], bool]] = {}
    for row in judged.run.read("verdicts").to_pylist():
        if row["target_kind"] == "document":
            own = sentences.setdefault(summaries[row["summary_id"]], {})
            place = (row["summary_id"], row["unit_index"])
            own[place] = own.get(place, False) or row["answer"] == "supported"
    shown = {row["summarizer"]: row["supported"]["value"] for row in checked_of(judged.results)}

    assert shown == pytest.approx({name: 100 * sum(own.values()) / len(own) for name, own in sentences.items()})
    lines = table(judged.results)
    head = next(line for line in lines if "sentences supported" in line)
    assert "mean probability of support" in head
    line = next(line for line in lines[lines.index(head) :] if line.strip().startswith("rumours"))
    assert f"{shown['rumours']:.1f}" in line


def test_the_report_says_what_is_not_known(judged: Judged) -> None:
    page = judged.run.read_bytes("report/report.md").decode()

    assert "It is not known which documents 30 of 60 texts saw" in page
    assert "## Written elsewhere" in page
    rows = {row["summarizer"]: row for row in judged.results["elsewhere"]}
    assert rows["agent"]["documents"] == {"named": 10}
    assert rows["rumours"]["n_empty"] == 1
    assert "faithfulness_shapes" not in judged.results["tables"]
    assert "No more are checked: nothing is said of places" in page


def test_a_second_call_redoes_nothing_and_tells_the_same(judged: Judged, capsys: pytest.CaptureFixture[str]) -> None:
    before = {name: judged.run.sizes(name) for name in ("summaries", "verdicts", "scores", "benchmark")}
    assert main([*judged.words, "--json"]) == 0

    told = capsys.readouterr()
    again = json.loads(told.out)
    assert cells_of(again) == cells_of(judged.results)
    assert [problem["line"] for problem in again["outputs"]["problems"]] == [OUT_OF_RANGE, EMPTY]
    assert f"line {OUT_OF_RANGE}: warning: [99]" in told.err
    assert {name: judged.run.sizes(name) for name in before} == before


def test_the_status_names_the_command_that_judged(judged: Judged, capsys: pytest.CaptureFixture[str]) -> None:
    assert status([judged.run.url]) == 0

    told = capsys.readouterr().out
    assert "a run of longform judge" in told
    assert "with exit code 0" in told


def test_other_answers_do_not_go_into_the_same_run(judged: Judged, capsys: pytest.CaptureFixture[str]) -> None:
    other = Path(judged.words[0]).with_name("other.jsonl")
    other.write_text('{"query_id": "q0", "system": "x", "text": "A."}\n')
    assert main([str(other), *judged.words[1:], "--out", judged.run.url]) == 2
    assert "answers of answers.jsonl stand here" in capsys.readouterr().err


def test_a_judge_of_no_such_name_is_refused(judged: Judged, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([*judged.words, "--out", str(tmp_path / "run"), "--judge", "offline-poeple"]) == 2

    said = capsys.readouterr().err
    assert "--judge: expected judges of offline-people, offline-people-vectors, offline-gpt-4o" in said
    assert "found offline-poeple; did you mean 'offline-people'?" in said
    assert not (tmp_path / "run").exists(), "nothing stands in the way of the next command"


def test_a_benchmark_without_insights_lets_support_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, bench = write_corpus(tmp_path / "town"), str(tmp_path / "bench")
    (corpus / "insights.jsonl").unlink()
    assert ingest(["jsonl", str(corpus), "--out", bench]) == 0
    answer = {"query_id": "q0", "system": "rag", "text": f"{TOPICS[0].first} [town-0a]", "documents": ["town-0a"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(answer) + "\n")
    capsys.readouterr()
    assert main([str(tmp_path / "a.jsonl"), "--bench", bench, "--workers", "0"]) == 0

    told = capsys.readouterr().out
    assert "No query that is answered has insights: coverage, citations and their joint score cannot be told." in told
    assert "rag, unknown has no answer to 9 queries of the benchmark (q1, q2, q3, q4, q5, ...)" in told
    results = read_results(Folder(str(tmp_path / "a-judged")))
    assert support(results)["rag"] > 75


def test_many_documents_are_no_reason_to_leave_support_out(tmp_path: Path) -> None:
    """One answer cites the right document, one a wrong one and one none: a few documents each say it."""
    n, said = 2500, "The council of parish 1234 sold its water mill to a choir."
    folder = tmp_path / "many"
    folder.mkdir()
    texts = [f"The council of parish {at} mended the road to lake {at + 7}." for at in range(n - 1)]
    documents = [{"doc_id": f"d{at}", "text": text} for at, text in enumerate([*texts, f"It rained. {said}"])]
    write_lines(folder / "documents.jsonl", documents)
    write_lines(folder / "queries.jsonl", [{"query_id": "q", "text": "What did councils sell?"}])
    assert ingest(["jsonl", str(folder), "--out", str(tmp_path / "bench")]) == 0
    cited = {"right": [n], "wrong": [3], "none": []}
    answers = [
        {"query_id": "q", "system": name, "bullets": [{"text": said, "citations": of}], "numbering": "haystack"}
        for name, of in cited.items()
    ]
    write_lines(tmp_path / "a.jsonl", answers)
    assert main([str(tmp_path / "a.jsonl"), "--bench", str(tmp_path / "bench"), "--workers", "0"]) == 0

    results = read_results(Folder(str(tmp_path / "a-judged")))
    found = {name: (one["sentences_supported"], one["supported_elsewhere"]) for name, one in cells(results).items()}
    assert found == {"right": (100.0, 0.0), "wrong": (100.0, 100.0), "none": (100.0, None)}
    verdicts = Folder(str(tmp_path / "a-judged")).read("verdicts")
    assert verdicts.num_rows == 1 + (1 + BEST) + BEST


def write_lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_refusals_and_languages_without_labels_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim, refusal = f"{TOPICS[0].first} [town-0a].", "The documents do not say who paid for it."
    texts = {"plain": claim, "careful": f"{claim} {refusal}", "refuser": refusal, "foreign": "市议会通过重建大桥。"}
    answers = tmp_path / "a.jsonl"
    lines = [{"query_id": "q0", "system": system, "text": text} for system, text in texts.items()]
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    capsys.readouterr()
    assert main([str(answers), "--bench", town(), "--workers", "0"]) == 0

    told = capsys.readouterr().out
    language = "Written in Chinese: 1 of 1 answers of foreign, unknown: these judges (offline-people-vectors, offline)"
    assert language in told
    assert language in (tmp_path / "a-judged" / "report" / "report.md").read_text()
    results = read_results(Folder(str(tmp_path / "a-judged")))
    found, supported = cells(results), support(results)
    assert {name: cell["refused"] for name, cell in found.items()} == pytest.approx(
        {"plain": 0, "careful": 50, "refuser": 100, "foreign": 0}
    )
    assert found["careful"]["coverage"] == found["plain"]["coverage"] > found["refuser"]["coverage"] == 0
    assert supported["careful"] == supported["plain"]
    assert supported["refuser"] is None


def test_a_page_without_documents_says_that_nothing_cites_one(tmp_path: Path) -> None:
    (tmp_path / "town").mkdir()
    (tmp_path / "town/documents.jsonl").write_text('{"doc_id": "d", "text": "The mill raised the price of flour."}\n')
    (tmp_path / "town/queries.jsonl").write_text('{"query_id": "q", "text": "What became dearer?"}\n')
    (tmp_path / "answers.jsonl").write_text('{"query_id": "q", "system": "a", "text": "Flour became dearer."}\n')
    assert ingest(["jsonl", str(tmp_path / "town"), "--out", str(tmp_path / "bench")]) == 0
    bench, out = str(tmp_path / "bench"), str(tmp_path / "run")
    assert main([str(tmp_path / "answers.jsonl"), "--bench", bench, "--out", out, "--workers", "0"]) == 0
    assert "no summary cites one" in str(kept_documents(Folder(out)).reason)
