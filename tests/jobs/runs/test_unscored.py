"""Documents and queries alone are retrieved and summarised; the end and the report say what has no score, and why."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.ingest import main as ingest
from jobs.runs.unscored import unscored
from longform.records import Target
from longform.settings.experiment import Experiment
from tests.longform.report.pages import html, markdown

NOT_SCORED = "Coverage, citation and joint scores need insights, and no query has insights"
BULLETS = "8 bullets are asked for there; set bullets to another number"
NO_JUDGE = "No summary is scored: the configuration names no judge"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("corpus")
    texts = ["The council voted to rebuild the bridge.", "Rebuilding the bridge costs 3 million.", "Shops are closed."]
    documents = [{"doc_id": f"d{place}", "text": text} for place, text in enumerate(texts)]
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (folder / "queries.jsonl").write_text(json.dumps({"query_id": "q", "text": "What about the bridge?"}))
    url = str(tmp_path_factory.mktemp("bench"))
    assert ingest(["jsonl", str(folder), "--out", url]) == 0
    return url


def config(folder: Path, **more: object) -> str:
    experiment = {
        "name": "town",
        "seed": 1,
        "retrievers": {"bm25": {"kind": "bm25"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "systems": [{"retriever": "bm25", "budget_tokens": 100, "summarizer": "offline"}],
        "resamples": 100,
    }
    (folder / "town.yaml").write_text(json.dumps(experiment | more))
    return str(folder / "town.yaml")


def ended(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_a_benchmark_without_insights_is_summarised_and_says_what_is_not_scored(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    judged = config(tmp_path, judges={"offline": {"kind": "offline", "calibration": "people"}})
    told = ended([judged, "--bench", bench, "--out", run, "--until", "summarize"], capsys)
    (summary,) = Folder(run).read("summaries").to_pylist()
    assert "bridge" in summary["text"]
    assert NOT_SCORED in told
    assert BULLETS in told

    told = ended([judged, "--bench", bench, "--out", run], capsys)
    report = (Path(run) / "report" / "report.md").read_text()
    assert all(NOT_SCORED in text and BULLETS in text for text in (told, report))

    told = ended([config(tmp_path), "--bench", bench, "--out", str(tmp_path / "unjudged")], capsys)
    assert NO_JUDGE in told
    assert NO_JUDGE in (tmp_path / "unjudged" / "report" / "report.md").read_text()


def test_what_is_not_scored_leads_the_report() -> None:
    results: dict[str, Any] = {"title": "t", "aggregate": "pooled", "unscored": ["No judge was named."], "run": {}}

    assert markdown(results).index("No judge was named.") < markdown(results).index("How the numbers were made")
    assert "No judge was named." in html(results)


@pytest.mark.parametrize(
    ("kinds", "told"), [([], [NOT_SCORED, BULLETS]), (["reference"], [NOT_SCORED]), (["insight", "reference"], [])]
)
def test_a_query_with_a_reference_has_a_number_of_sentences(kinds: list[str], told: list[str], tmp_path: Path) -> None:
    judges = {"offline": {"kind": "offline", "calibration": "people"}}
    experiment = Experiment.model_validate_json(Path(config(tmp_path, judges=judges)).read_text())
    targets = [Target(kind, kind, "q", "h", place, None, "a text") for place, kind in enumerate(kinds)]
    benchmark: Any = SimpleNamespace(targets={"q": targets})

    found = unscored(experiment, benchmark, ["q"])

    assert [sentence for sentence in (NOT_SCORED, BULLETS) if any(sentence in one for one in found)] == told


@pytest.mark.parametrize(("measures", "told"), [(["words"], 1), (["coverage"], 0), (None, 0)])
def test_a_judge_whose_verdicts_no_measure_reads_is_named(
    measures: list[str] | None, told: int, tmp_path: Path
) -> None:
    judges = {"offline": {"kind": "offline", "calibration": "people"}}
    written = config(tmp_path, judges=judges, measures=measures, studies=[])
    benchmark: Any = SimpleNamespace(targets={"q": [Target("i", "insight", "q", "h", 0, None, "a text")]})

    found = unscored(Experiment.model_validate_json(Path(written).read_text()), benchmark, ["q"])

    assert len(found) == told
    assert all(one.startswith("Verdicts of coverage are not scored: no measure") for one in found)


def test_judges_of_key_points_and_references_say_what_they_lack(tmp_path: Path) -> None:
    chat = {"provider": "scripted", "model": "m", "script": "obedient"}
    judges = {
        "points": {"kind": "offline", "task": "key_point"},
        "rated": {"kind": "chat", "task": "reference", "chat": chat},
        "errors": {"kind": "chat", "task": "errors", "chat": chat},
        "support": {"kind": "offline", "task": "support"},
    }
    experiment = Experiment.model_validate_json(Path(config(tmp_path, judges=judges)).read_text())
    point = Target("p", "key_point", "q", "h", 0, None, "a text")
    reference = Target("r", "reference", "s", "h", 0, None, "a text")
    benchmark: Any = SimpleNamespace(targets={"q": [point], "s": [reference]})

    assert [one.partition(":")[0] for one in unscored(experiment, benchmark, ["q", "s", "t"])] == [
        "Judges of key_point need key points, and 2 of 3 queries have no key points",
        "Judges of reference need reference texts, and 2 of 3 queries have no reference texts",
        "Judges of errors need reference texts, and 2 of 3 queries have no reference texts",
        "Summaries have as many bullets as their query has targets, and 1 of 3 queries have no targets",
    ]
    assert unscored(experiment, benchmark, ["q"])[0].startswith(
        "Judges of reference need reference texts, and no query"
    )
