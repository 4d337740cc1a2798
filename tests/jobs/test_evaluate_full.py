"""The main job on a haystack of the full writer: the offline system is above chance, and the audit is in the report."""

from __future__ import annotations

from pathlib import Path

from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluations.evaluation import evaluate
from jobs.stages.cluster import Cluster
from jobs.synthesis.haystacks import make_benchmark, read_config
from longform.settings.experiment import Experiment
from tests.results import cells_of

EXPERIMENT = {
    "name": "full",
    "seed": 1,
    "retrievers": {"random": {"kind": "random", "seed": 1}, "oracle": {"kind": "oracle"}},
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": {"offline": {"kind": "offline", "calibration": "people"}},
    "systems": [{"retriever": ["random", "oracle"], "budget_tokens": 1500, "summarizer": "offline"}],
    "resamples": 100,
}
SMALL = ["haystacks=1", "documents=60", "words=200", "insights_per_document=5", "distractors=0", "most_share=0.5"]


def test_a_run_on_a_made_haystack_reports_its_audit(tmp_path: Path) -> None:
    bench, out = str(tmp_path / "bench"), str(tmp_path / "run")
    make_benchmark(read_config("full", SMALL), bench)

    results = evaluate(
        Experiment.model_validate(EXPERIMENT),
        bench,
        out,
        cluster=Cluster(address=None, workers=0),
        calling=Calling("test", ledger="no model is called here"),
    )
    cells = {cell["setting"]: cell for cell in cells_of(results)}

    assert cells["oracle"]["joint"] > cells["random"]["joint"]
    assert results["audit"] == Folder(bench).read_json("audit.json")
    assert results["benchmark_tables"] == Folder(bench).read_json("tables.json")
    assert "How far to trust this benchmark" in Folder(out).read_bytes("report/report.md").decode()
