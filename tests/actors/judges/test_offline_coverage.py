import asyncio
import json
from pathlib import Path

import pytest

from actors.judges.backend import judged_rows
from actors.judges.lexical import OfflineCoverageJudge
from actors.judges.opening import make_judge
from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from actors.storage.benchmark import Benchmark, part_work_id
from actors.storage.folder import Folder
from jobs.stages.judge import judged_summary
from longform.errors import UsageError
from longform.schemas import VERDICTS, conform
from longform.settings.judges import OfflineJudgeSettings

SALES = "Sales fell 3% to $2.33 billion in the winter quarter."
STORES = "The company closes 400 mall stores by 2026."


@pytest.fixture
def bench(tmp_path: Path) -> str:
    """Two queries of one haystack; the first has two insights."""
    folder = Folder(str(tmp_path))
    folder.write_json("benchmark.json", {})
    texts = [("q1", 1, STORES), ("q1", 0, SALES), ("q2", 0, "Members earn points in the app.")]
    targets = [
        {
            "target_id": f"{query}-{i}", "kind": "insight", "query_id": query, "haystack_id": "h",
            "target_index": i, "name": None, "text": text,
        }
        for query, i, text in texts
    ]  # fmt: skip
    queries = [{"query_id": query, "haystack_id": "h", "text": "?"} for query in ("q1", "q2")]
    folder.commit("queries", [folder.write_part("queries", queries, work_ids=[part_work_id("h", 0)])])
    folder.commit("targets", [folder.write_part("targets", targets, work_ids=[part_work_id("h", 0)])])
    return str(tmp_path)


def summary(bullets: list[str], query_id: str = "q1") -> dict:
    return {"work_id": "w", "summary_id": "s", "query_id": query_id, "haystack_id": "h", "bullets": bullets}


class OfflineJudge:
    """The judge that counts words, asked about rows of summaries as the judge stage asks it."""

    def __init__(self, bench: str, name: str = "offline", *, calibration: str, features: str | None = None) -> None:
        content = {"kind": "offline", "calibration": calibration, "features": features}
        settings = OfflineJudgeSettings.model_validate(content)
        assert settings.fitted_model is not None
        self._benchmark, self._backend = Benchmark(bench), OfflineCoverageJudge(model=settings.fitted_model)
        self._judge = make_judge(name, {name: settings})

    def judge(self, rows: list[dict]) -> list[dict]:
        kind = self._judge.kind
        summaries = [judged_summary(kind, row | {"failure": None}, row["bullets"], self._benchmark) for row in rows]
        return asyncio.run(judged_rows(self._judge, self._backend, summaries))


def test_each_target_gets_one_verdict_with_link_and_reason(bench: str) -> None:
    rows = OfflineJudge(bench, name="words", calibration="people").judge(
        [summary(["Intro:", f"- {STORES} [4]", "- Sales fell. [2]"])]
    )
    table = conform(rows, VERDICTS)
    assert table.column("target_id").to_pylist() == ["q1-0", "q1-1"]
    sales, stores = rows
    assert (stores["answer"], stores["linked_unit"]) == ("full", 1)
    assert (sales["answer"], sales["linked_unit"]) == ("partial", 2)
    assert json.loads(stores["reply"]) | {"share": 0} == {
        "closest_bullet": 1, "recall": 1.0, "precision": 1.0, "share": 0, "numbers_missing": 0.0,
        "numbers_contradicted": 0.0, "denial_mismatch": 0.0, "order_lost": 0.0, "dilution": 0.0,
    }  # fmt: skip
    assert {(r["judge"], r["mode"], r["repeat"], r["unit_index"], r["failure"]) for r in rows} == {
        ("words", "full", 0, None, None)
    }


def test_the_judge_by_vectors_tells_what_it_reads_and_names_its_encoder(bench: str) -> None:
    judge = OfflineJudge(bench, calibration="people", features="vectors")
    _, stores = judge.judge([summary([f"- {STORES} [4]", "- Sales fell. [2]"])])

    assert (stores["answer"], stores["linked_unit"]) == ("full", 0)
    assert list(json.loads(stores["reply"])) == [
        "closest_bullet", "recall", "precision", "share", "numbers_contradicted", "denial_mismatch", "order_lost",
        "bullet_share", "cosine", "crowding", "token_recall", "token_lead",
    ]  # fmt: skip
    assert json.loads(stores["reply"])["cosine"] == json.loads(stores["reply"])["token_recall"] == 1.0
    versions = judge._judge.version
    assert versions.work == versions.prompt == stores["prompt_version"]
    assert versions.prompt.endswith(MINILM)
    assert versions.work != OfflineJudge(bench, calibration="people")._judge.version.work


def test_bullets_are_read_a_summary_at_a_time_and_insights_once_for_all(
    bench: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of pieces take a hundred times the room of a sentence's: those of many summaries are never held."""
    asked: list[set[str]] = []
    read = Encoder.read
    monkeypatch.setattr(Encoder, "read", lambda self, texts: (asked.append({*texts}), read(self, texts))[1])
    judge = OfflineJudge(bench, calibration="people", features="vectors")
    judge.judge([summary(["- Sales rose.", "- It rained."]), summary(["- Sales fell. [2]"])])
    judge.judge([summary(["- Winter sales fell."])])

    assert asked == [{"Sales rose.", "It rained."}, {SALES, STORES}, {"Sales fell."}, {"Winter sales fell."}]


def test_summary_without_bullets_covers_nothing(bench: str) -> None:
    rows = OfflineJudge(bench, calibration="people").judge([summary([])])
    assert [(r["answer"], r["probability"], r["linked_unit"], r["failure"]) for r in rows] == [
        ("none", 0.0, None, None)
    ] * 2


def test_unsaid_target_is_linked_to_no_bullet(bench: str) -> None:
    verdict = OfflineJudge(bench, calibration="people").judge([summary([f"- {STORES}"])])[0]
    assert (verdict["answer"], verdict["linked_unit"]) == ("none", None)
    assert json.loads(verdict["reply"])["closest_bullet"] == 0


@pytest.mark.parametrize("features", ["words", "vectors"])
def test_verdicts_do_not_depend_on_what_else_is_judged(bench: str, features: str) -> None:
    """Rows reach an actor in any company; a re-run with other blocks must give the same rows."""
    first, second = summary([f"- {SALES}"]), summary(["- Points in the app"], "q2")
    together, *alone = (OfflineJudge(bench, calibration="people", features=features) for _ in range(3))
    assert together.judge([second, first]) == alone[0].judge([second]) + alone[1].judge([first])


def test_query_without_targets_has_no_verdict(bench: str) -> None:
    assert OfflineJudge(bench, calibration="people").judge([summary(["- a"], "q3")]) == []


def test_calibrations_are_two_scales(bench: str) -> None:
    """GPT-4o marks more generously than people."""
    row = [summary(["- Members earn more. [1]"], "q2")]
    people, gpt4o = (
        [verdict["probability"] for verdict in OfflineJudge(bench, calibration=name).judge(row)]
        for name in ("people", "gpt-4o")
    )
    assert gpt4o[0] > people[0] + 0.05


def test_calibration_that_does_not_ship_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="gemini"):
        OfflineCoverageJudge(model="gemini")
