import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.storage.folder import Folder
from jobs.ingest import main as ingest
from jobs.synthesis.haystacks import read_config, synthesize
from lab.fits import reach_table
from lab.fits.reach import KINDS, readers_without
from lab.train import Training, main, train
from longform.judges.card_columns import reach_of
from longform.metrics.statistics import Estimate
from longform.models import read_model
from longform.records import gold_documents
from tests.places import ROOT
from tests.soak import ONLY_IN_SOAK

SMALL = ["documents=52"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two haystacks of 52 documents; more than the fewest that have a background."""
    folder = str(tmp_path_factory.mktemp("train") / "bench")
    synthesize(read_config("demo", SMALL), folder)
    return folder


class Unread:
    """An encoder that gives every text the same vector: what is fitted on words does not read it."""

    def __init__(self, model: str, *, threads: int) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 1), dtype=np.float32)


@pytest.fixture(scope="module")
def training(bench: str) -> Training:
    """On words alone, so that nothing is embedded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lab.train.Encoder", Unread)
        made = Training(bench, None)
        assert made.haystacks  # read while nothing is embedded; tests behind this one embed again
    return made


@pytest.mark.slow
def test_support_is_fitted_and_measured_on_a_benchmark_the_project_made(bench: str, tmp_path: Path) -> None:
    """No released data: the gold map is known by construction."""
    rows = train(["support"], bench, None, tmp_path / "models")
    files = {path.name: json.loads(path.read_text()) for path in (tmp_path / "models").iterdir()}
    assert set(files) == {f"support_{kind}.json" for kind in KINDS} | {"reach_support.json", "seen_support.json"}
    assert files["reach_support.json"]["rows"] == rows
    assert {row["measure"] for row in rows} == {
        f"documents found for an insight, by {k}: F1" for k in ("words", "vectors", "words read twice")
    }
    assert all(0.5 < row["value"] <= 1 for row in rows)
    assert all(weight > 0 for weight in files["support_vectors.json"]["model"]["weights"].values())


def test_figures_do_not_know_the_gold_map_of_the_haystack_they_are_measured_on(training: Training) -> None:
    """Each haystack's figure comes from the model of the others: its own map may say anything to that model."""
    haystacks = training.haystacks
    first, second = haystacks
    honest = [readers_without(haystacks, haystack.haystack_id) for haystack in haystacks]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(first), "claims", first.claims._replace(gold=~first.claims.gold))
        assert readers_without(haystacks, first.haystack_id) == honest[0]
        changed = readers_without(haystacks, second.haystack_id)
        assert changed.first != honest[1].first
        assert changed.second != honest[1].second


def test_what_is_missing_is_said(bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "models")]
    assert main(["judge", bench, *out]) == 2
    assert "--human" in capsys.readouterr().err
    one = str(tmp_path / "one")
    synthesize(read_config("demo", [*SMALL, "haystacks=1"]), one)
    assert main(["support", one, *out]) == 2
    assert "expected two or more haystacks" in capsys.readouterr().err
    assert not (tmp_path / "models").exists()


def test_gold_map_of_a_haystack_is_that_of_the_benchmark(training: Training) -> None:
    gold = gold_documents(training._bench.qrels)
    for haystack in training.haystacks:
        ids = [document.doc_id for document in haystack.documents]
        for target, row in zip(haystack.targets, haystack.claims.gold, strict=True):
            assert {ids[place] for place in row.nonzero()[0]} == gold[target.target_id]
            numbers = {document.number for document in haystack.documents if document.doc_id in gold[target.target_id]}
            assert haystack.gold_numbers()[target.target_id] == numbers


def test_table_writes_shares_and_percent() -> None:
    rows = [
        reach_of("a", Estimate(0.5, 0.25, 0.75, 1200), fitted_on="x", scored_on="y"),
        reach_of("b", Estimate(66.25, None, None, 3), fitted_on="x", scored_on="z"),
    ]
    assert reach_table(rows).splitlines()[2:] == [
        "| a | 0.500 [0.250, 0.750] | 1,200 | x | y |",
        "| b | 66.2 | 3 | x | z |",
    ]


def test_the_documentation_shows_the_figures_that_ship() -> None:
    """docs/reach.md has the tables of the files that ship."""
    page = (ROOT / "docs" / "reach.md").read_text(encoding="utf-8")
    for name in ("support", "ranker", "judge"):
        table = reach_table(read_model(f"reach_{name}")["rows"])
        assert table in page, f"docs/reach.md does not have the table of reach_{name}.json"


@pytest.mark.slow
@ONLY_IN_SOAK
def test_shipped_support_models_are_the_fit(released: Path, tmp_path: Path) -> None:
    """`longform train support` on the released haystacks writes the files that ship."""
    files = [str(released / "summhay" / f"topic_{name}.json.gz") for name in ("news3", "news5", "conv5")]
    assert ingest(["summhay", *files, "--out", str(tmp_path / "bench")]) == 0
    assert Folder(str(tmp_path / "bench")).has("benchmark.json")
    train(["support"], str(tmp_path / "bench"), None, tmp_path / "models")
    for name in (f"support_{kind}" for kind in KINDS):
        made = json.loads((tmp_path / "models" / f"{name}.json").read_text())["model"]
        shipped = read_model(name)["model"]
        assert made["intercept"] == pytest.approx(shipped["intercept"], rel=1e-3)
        assert made["weights"] == pytest.approx(shipped["weights"], rel=1e-3)
    shown = {row["measure"] + row["scored_on"]: row["value"] for row in read_model("reach_support")["rows"]}
    made_rows = json.loads((tmp_path / "models" / "reach_support.json").read_text())["rows"]
    made_figures = {row["measure"] + row["scored_on"]: row["value"] for row in made_rows}
    assert made_figures == pytest.approx({name: shown[name] for name in made_figures}, rel=5e-3)
