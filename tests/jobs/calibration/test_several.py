"""Several judges in one command: one document, one page, a card each, and a judge that fails loses nobody else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.ledger.ledger import Ledger
from actors.storage.folder import Folder
from jobs.calibrate import main, parser
from jobs.calibration.calibrated import has_page, modes_of
from jobs.calibration.card import card_names
from jobs.calibration.label_texts import (
    ImportanceBy,
    data_set_statistics,
    importance_by,
    labelled_texts,
    labels_of_people,
)
from jobs.calibration.place import LabelledPlace
from jobs.command import DONE, USAGE
from jobs.ingest import ingest
from longform.errors import UsageError
from longform.judges.cards import read_card

SCRIPTED = "{kind: chat, chat: {provider: scripted, model: scripted, script: obedient}}"
WITHOUT_KEY = "{kind: chat, chat: {model: gpt-4o}}"
INSIGHTS = ["The dam leaked.", "Repairs took a summer.", "The works cost 3 million."]
LINES = ["The dam leaked [1].", "Repairs took a whole summer [1].", "The works cost a lot [1]."]


def lines_of(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A benchmark of one query, with eight summaries that two people labelled alike but for one label."""
    folder = tmp_path / "own"
    folder.mkdir()
    insights = [
        {"insight_id": f"i{n}", "query_id": "q", "text": text, "doc_ids": ["d"]} for n, text in enumerate(INSIGHTS)
    ]
    summaries, labels = [], []
    for n in range(8):
        said = LINES[: n % 3 + 1]
        summaries.append({"summary_id": f"s{n}", "query_id": "q", "summarizer": "ab"[n % 2], "lines": said})
        for place in range(3):
            for name in ("ann", "bo"):
                full = place < len(said) and not (name == "bo" and (n, place) == (0, 0))
                label = {"coverage": "full", "bullet": place + 1} if full else {"coverage": "none", "bullet": None}
                labels.append({"summary_id": f"s{n}", "insight_id": f"i{place}", "annotator": name, **label})
    files = {
        "documents": [{"doc_id": "d", "text": " ".join(INSIGHTS)}],
        "queries": [{"query_id": "q", "text": "Why?"}],
        "insights": insights,
        "summaries": summaries,
        "labels": labels,
    }
    for name, records in files.items():
        (folder / f"{name}.jsonl").write_text(lines_of(records))
    url = str(tmp_path / "bench")
    ingest("jsonl", [str(folder)], url)
    return url


@pytest.fixture(autouse=True)
def _without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main([*arguments, "--json", "--resamples", "100"])
    return code, json.loads(capsys.readouterr().out)


def judges(*names: str) -> list[str]:
    return [part for name in names for part in ("--judge", name)]


def test_released_judges_are_table_1_of_the_paper_on_these_labels(
    released: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads((released / "summhay" / "expected_table1.json").read_text())
    ingest("summhay", [str(released / "summhay" / "eval_benchmark_data.json.gz")], str(tmp_path / "human"))
    out = tmp_path / "page"
    named = judges(*(row["judge"] for row in rows))
    code, found = told([str(tmp_path / "human"), *named, "--out", str(out)], capsys)
    by_name = {judge["judge"]: judge for judge in found["of_targets"]["judges"]}

    assert code == DONE
    for row in rows:
        part = by_name[row["judge"]]["parts"]["all"]
        assert part["pearson"]["value"] == pytest.approx(row["pearson"], abs=1e-9)
        assert part["linking_accuracy"]["value"] == pytest.approx(row["linking_accuracy"], abs=1e-9)
        assert by_name[row["judge"]]["cost"]["usd"] is None
    assert "These are 61 of the 200 summaries" in (out / "judges.md").read_text()
    (printed,) = (row for row in found["tables"]["printed"]["rows"] if row["judge"] == "released:gpt-4o")
    assert (printed["printed_pearson"], printed["printed_usd"]) == (0.716, 6.9)
    assert json.loads((out / "judges.json").read_text()) == found


def test_a_page_and_a_card_each_are_written_and_a_judge_without_a_key_is_named(
    own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code, found = told([own, *judges("offline-people", WITHOUT_KEY, "offline-gpt-4o"), "--out", str(out)], capsys)

    assert code == USAGE
    assert [one["judge"] for one in found["failed"]] == ["gpt-4o"]
    assert "OPENAI_API_KEY" in found["failed"][0]["reason"]
    assert list(found["cards"]) == ["offline-people", "offline-gpt-4o"]
    for name in found["cards"]:
        assert read_card((out / "cards" / f"{name}.json").read_bytes(), "coverage") == found["cards"][name]
    assert "gpt-4o: model 'gpt-4o' needs a key" in (out / "judges.html").read_text().replace("&#39;", "'")
    people = found["of_targets"]["people"]
    assert (people["annotators"], people["n_items"]) == (["ann", "bo"], 24)
    assert people["people"]["same"]["value"] == pytest.approx(23 / 24)


def test_without_a_folder_the_answer_is_printed(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([own, *judges("offline-people", "offline-gpt-4o"), "--resamples", "100"]) == DONE

    printed = capsys.readouterr().out
    assert printed.startswith("offline-people: correlation with people 0.9")
    assert "\nPeople against people\n" in printed
    assert "ann, bo: 24 items of 8 summaries" in printed


def test_if_every_judge_fails_all_are_named(own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = WITHOUT_KEY.replace("gpt-4o", "gpt-4.1")
    assert main([own, *judges(WITHOUT_KEY, other), "--out", str(tmp_path / "out")]) == USAGE

    printed = capsys.readouterr().out
    assert "no judge could be held against the labels" in printed
    assert "gpt-4.1: model" in printed
    assert not (tmp_path / "out" / "judges.html").exists()


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.usefixtures("ray_session")
def test_the_plan_counts_all_judges_and_a_second_call_asks_nothing(
    own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    second = SCRIPTED.replace("model: scripted", "model: other")
    named = [own, *judges("offline-people", SCRIPTED, second), "--ledger", str(tmp_path / "ledger")]
    out = ["--out", str(tmp_path / "out")]
    _, planned = told([*named, "--plan"], capsys)
    _, found = told([*named, *out], capsys)
    parts = Folder(str(tmp_path / "out")).parts("verdicts")
    _, again = told([*named, *out], capsys)
    ledger = Ledger.existing(str(tmp_path / "ledger"))
    calls = ledger.totals().calls
    ledger.close()

    assert [stage["stage"] for stage in planned["stages"]] == ["judge scripted", "judge other"]
    assert sum(stage["calls"] for stage in planned["stages"]) == calls
    assert again["of_targets"] == found["of_targets"]
    assert Folder(str(tmp_path / "out")).parts("verdicts") == parts


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (("offline-people", "offline-people"), "found 'offline-people' twice"),
        (("offline-people", "checker"), "expected judges of one task, found coverage and support"),
        (("offline-people", "nobody"), "no judge 'nobody'"),
    ],
)
def test_judges_that_cannot_stand_on_one_page_are_refused(
    own: str, named: tuple[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([own, *judges(*named)]) == USAGE
    assert message in capsys.readouterr().err


def test_a_file_is_no_place_for_a_page(own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "card").write_text("mine")

    assert main([own, *judges("offline-people", "offline-gpt-4o"), "--out", str(tmp_path / "card")]) == USAGE
    assert "expected a folder for the page, found the file" in capsys.readouterr().err
    assert (tmp_path / "card").read_text() == "mine"


@pytest.mark.parametrize(("out", "page"), [("card.json", False), ("folder/", True)])
def test_one_judge_has_a_page_if_its_output_is_a_folder(out: str, page: bool) -> None:
    assert has_page(parser().parse_args(["bench", "--judge", "x", "--out", out])) is page


def test_cards_have_files_of_their_own() -> None:
    names = card_names(["released:gpt-4o", "released/gpt-4o", "mean:a+b", "../.."])

    assert names["released:gpt-4o"] == "cards/released_gpt-4o.json"
    assert names["mean:a+b"] == "cards/mean_a+b.json"
    assert len(set(names.values())) == len(names)
    assert not any(".." in name for name in names.values())


def test_modes_of_the_paper_are_those_of_its_tables() -> None:
    assert [mode.name for mode in modes_of("paper,full")] == [
        "document", "full", "chunk-1024", "chunk-2048", "chunk-4096", "chunk-8192",
    ]  # fmt: skip


# ---------------------------------------------------------------- support


def test_importance_is_released_or_by_likeness() -> None:
    assert importance_by("released") == ImportanceBy("released", None)
    assert importance_by("summary").how == "summary"
    assert importance_by("reference:some/model") == ImportanceBy("reference", "some/model")
    for wrong in ("summry", "released:model", ""):
        with pytest.raises(UsageError, match="--importance: expected released, summary"):
            importance_by(wrong)


def test_likeness_to_the_summary_ranks_the_document_that_says_it_first(tmp_path: Path) -> None:
    texts = ["Penguins dive deeper than most seabirds.", " ", "The council voted to rebuild the old bridge."]
    said = {"documents": texts, "summary": "The council will rebuild the bridge.", "faithfulness": 1}
    alone = said | {"documents": texts[:1]}
    (tmp_path / "x.jsonl").write_text(lines_of([said, alone]))
    ingest("longformfact", [str(tmp_path / "x.jsonl")], str(tmp_path / "b"))
    place = LabelledPlace(str(tmp_path / "b"))
    first, second = labelled_texts(place, labels_of_people(place), importance_by("summary"))

    assert first.ranking is not None
    best, worst = sorted(first.ranking, key=lambda doc_id: -(first.ranking or {})[doc_id])
    assert (best[-1], worst[-1]) == ("2", "0")
    assert second.ranking is None  # one document has no order


def test_statistics_of_a_released_set_are_those_of_table_2(released: Path, tmp_path: Path) -> None:
    """PubMed: 3,299.2 words, 10.4 sentences, 195.0 words of summaries; with empty documents 6.9, without them 6.5."""
    file = released / "longformfact" / "metric_benchmark" / "longeval_pubmed.jsonl.gz"
    ingest("longformfact", [str(file)], str(tmp_path / "b"))
    place = LabelledPlace(str(tmp_path / "b"))
    (row,) = data_set_statistics(place, labelled_texts(place, labels_of_people(place)))

    assert (row["n_examples"], row["level"], row["n_labels"], row["n_supported"]) == (40, "sentence", 225, 144)
    assert row["document_words"] == pytest.approx(3299.15)
    assert row["summary_sentences"] == pytest.approx(10.375)
    assert row["summary_words"] == pytest.approx(195.05)
    assert row["documents"] == pytest.approx(6.5)


@pytest.mark.slow
def test_the_page_of_support_has_the_paper_s_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bridge = "The council voted to rebuild the bridge. The works will cost 3 million euros."
    library = "The library opens on Sundays. Volunteers are welcome."
    examples = [
        {"documents": [bridge, f"{library} Number {n}."], "ranking": [n % 2, 1 - n % 2], "faithfulness": [1, 0]}
        | {"summary": "The council voted to rebuild the bridge. The king resigned at noon."}
        for n in range(6)
    ]
    (tmp_path / "x.jsonl").write_text(lines_of(examples))
    ingest("longformfact", [str(tmp_path / "x.jsonl")], str(tmp_path / "b"))
    arguments = [str(tmp_path / "b"), *judges("offline", SCRIPTED.replace("{", "{task: support, ", 1))]
    more = ["--modes", "document,full,chunk-1024", "--orders", "--workers", "0", "--ledger", str(tmp_path / "ledger")]
    code, found = told([*arguments, *more, "--out", str(tmp_path / "out")], capsys)
    page = (tmp_path / "out" / "judges.md").read_text()

    assert code == DONE
    assert found["of_targets"] is None
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    assert titles == [
        "## What to conclude", "## Merging over documents", "## Sizes of chunks",
        "## Merging over documents and sentences", "## Differences between judges", "## Orders of documents",
        "## Data sets", "## Verdicts and their cost", "## Judges", "## How the numbers were made",
    ]  # fmt: skip
    best = next(row for row in found["of_support"]["grid"] if (row["judge"], row["documents"]) == ("offline", "max"))
    assert best["average"]["value"] == 1.0
    assert "1024 tokens" in page
    assert "| natural |" in page
