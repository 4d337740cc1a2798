"""Replay and calibrate against the numbers that the release prints."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.evaluations.replay import ReplaySettings, replay
from jobs.evaluations.stored import aggregate
from jobs.ingest import ingest
from jobs.results.write import read_results
from jobs.stages.cluster import Cluster
from longform.errors import UsageError
from longform.repair.twins import LABEL
from longform.results.cells import table_rows
from tests.made import released as released_runs
from tests.made.released import NAMED, news
from tests.results import cells_of, value_of

CLUSTER = Cluster(address=None, workers=0)
FEW = ReplaySettings(resamples=200, compare_with=NAMED)


@pytest.fixture(scope="module")
def bench(released: Path) -> str:
    return str(news())


@pytest.fixture(scope="module")
def replayed(released: Path) -> tuple[Folder, dict[str, Any]]:
    return read(released_runs.replayed())


@pytest.fixture(scope="module")
def repaired(released: Path) -> tuple[Folder, dict[str, Any]]:
    return read(released_runs.repaired())


@pytest.fixture(scope="module")
def few(released: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Folder, dict[str, Any]]:
    """The benchmark of one topic with the summaries of one model, a replay of it, and its results."""
    folder = tmp_path_factory.mktemp("few")
    topic = json.loads(gzip.decompress((released / "summhay" / "topic_news5.json.gz").read_bytes()))
    for subtopic in topic["subtopics"]:
        for part in ("summaries", "eval_summaries"):
            subtopic[part] = {key: said for key, said in subtopic[part].items() if key.endswith("_claude3-opus")}
    (folder / "topic_news5.json").write_text(json.dumps(topic))
    bench, out = str(folder / "bench"), str(folder / "run")
    ingest("summhay", [str(folder / "topic_news5.json")], bench)
    results = replay(bench, out, FEW, cluster=CLUSTER)
    assert len(cells_of(results)) > 3
    return bench, Folder(out), results


def read(run: Path) -> tuple[Folder, dict[str, Any]]:
    return Folder(str(run)), read_results(Folder(str(run)))


def test_every_released_cell_is_reproduced(replayed: tuple[Folder, dict[str, Any]], released: Path) -> None:
    expected = json.loads((released / "summhay" / "expected_cells_pooled.json").read_text())
    found = {(cell["setting"], cell["summarizer"]): cell for cell in cells_of(replayed[1])}

    assert len(found) == len(expected) == 78
    for cell in expected:
        ours = found[cell["setting"], cell["summarizer"]]
        for measure, value in cell.items():
            assert ours[measure] == (value if isinstance(value, str) else pytest.approx(value, abs=1e-9)), measure


def test_intervals_hold_their_values(replayed: tuple[Folder, dict[str, Any]]) -> None:
    for cell in cells_of(replayed[1]):
        for measure, (low, high) in cell["intervals"].items():
            assert low <= cell[measure] <= high


def by_order(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Summarizer -> its score by each order of documents, and how much it is moved."""
    found: dict[str, dict[str, Any]] = {}
    for row in table_rows(results, "position"):
        found.setdefault(row["summarizer"], {"sensitivity": row["sensitivity"]})[row["order"]] = value_of(row["score"])
    return found


def test_gpt_4o_reads_the_bottom_best_and_gemini_is_least_moved(replayed: tuple[Folder, dict[str, Any]]) -> None:
    """The paper's table 3 on all haystacks; its direction holds on these two for GPT-4o."""
    rows = by_order(replayed[1])

    assert rows["gpt-4o"]["bottom"] > rows["gpt-4o"]["top"] > rows["gpt-4o"]["given"]
    assert rows["gpt-4o"]["sensitivity"] > rows["gemini-1.5-pro"]["sensitivity"]


def test_table_3_is_that_of_the_released_labels(replayed: tuple[Folder, dict[str, Any]], released: Path) -> None:
    """The sensitivity is the largest distance from the order given, by the cells that were computed from the files."""
    cells = json.loads((released / "summhay" / "expected_cells_pooled.json").read_text())
    joint = {(cell["summarizer"], cell["setting"]): cell["joint"] for cell in cells}
    keys = {"top": "fl-ctxt-sort", "middle": "fl-ctxt-middle", "bottom": "fl-ctxt-rev-sort", "given": "full"}

    rows = by_order(replayed[1])

    assert sorted(rows) == ["claude3-opus", "gemini-1.5-pro", "gpt-4o"]
    for model, row in rows.items():
        expected = {order: joint[model, key] for order, key in keys.items()}
        assert {order: row[order] for order in keys} == pytest.approx(expected, abs=1e-9)
        furthest = max(abs(expected[end] - expected["given"]) for end in ("top", "bottom"))
        assert row["sensitivity"] == pytest.approx(furthest, abs=1e-9)


def test_unlinked_bullets_are_counted_by_class(replayed: tuple[Folder, dict[str, Any]]) -> None:
    rows = table_rows(replayed[1], "failure_modes")
    counted = sum(row["n_bullets"] for row in rows)

    assert counted == replayed[0].read("units").num_rows
    assert all(
        row["n_bullets"] == sum(row[k] for k in row if isinstance(row[k], int) and k != "n_bullets") for row in rows
    )


@pytest.mark.slow
def test_what_is_said_of_a_difference_is_what_its_interval_says(
    replayed: tuple[Folder, dict[str, Any]], repaired: tuple[Folder, dict[str, Any]]
) -> None:
    """156 systems with their twins, 16 queries: differences reach 50 points, and chance cannot make them."""
    for _, results in (replayed, repaired):
        (family,), rows = (table_rows(results, name) for name in ("comparisons_families", "comparisons"))
        assert (family["n_clusters"], family["cluster"], len(rows)) == (16, "query", 77)
        for row in rows:
            alike = row["difference"]["low"] <= 0 <= row["difference"]["high"]
            assert (row["finding"] == "not distinguishable") == alike == (row["p"] > 0.05)
    found = Counter(row["finding"] for row in table_rows(repaired[1], "comparisons"))
    assert found["worse"] > found["not distinguishable"] > 0
    assert {row["finding"] for row in table_rows(repaired[1], "repair") if row["measure"] == "joint"} == {"better"}


@pytest.mark.slow
def test_report_says_what_was_compared_with_what(
    replayed: tuple[Folder, dict[str, Any]], repaired: tuple[Folder, dict[str, Any]]
) -> None:
    named, best = (run.read_bytes("report/report.md").decode() for run, _ in (replayed, repaired))

    assert "compared with claude3-opus, oracle." in best
    assert "| claude3-opus | oracle | joint | 51.3 | best " in best
    assert "compared with claude3-opus, full." in named
    assert "| claude3-opus | full | joint | 27.6 | named " in named
    assert "they share the documents of 2 haystacks" in best


def test_reference_that_no_system_is_called_is_refused_before_any_work(bench: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'claude3-opus, full'"):
        replay(bench, str(tmp_path / "run"), ReplaySettings(compare_with="claude3-opus, ful"), cluster=CLUSTER)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_repaired_citations_stand_beside_originals_with_the_same_coverage(
    replayed: tuple[Folder, dict[str, Any]], repaired: tuple[Folder, dict[str, Any]]
) -> None:
    """Released systems cite far fewer documents than support their bullets."""
    run, results = repaired
    cells = {(cell["setting"], cell["summarizer"]): cell for cell in cells_of(results)}
    before = {(cell["setting"], cell["summarizer"]): cell for cell in cells_of(replayed[1])}
    pairs = [(cells[key], cells[key[0], f"{key[1]}, {LABEL}"]) for key in before]

    assert len(cells) == 2 * len(before)
    assert all(cells[key]["joint"] == before[key]["joint"] for key in before)
    assert all(original["coverage"] == repaired["coverage"] for original, repaired in pairs)
    assert sum(repaired["joint"] > original["joint"] for original, repaired in pairs) / len(pairs) > 0.9
    assert run.read("units").num_rows == 2 * replayed[0].read("units").num_rows


def test_second_replay_redoes_nothing(few: tuple[str, Folder, dict[str, Any]]) -> None:
    bench, run, before = few
    again = replay(bench, run.url, FEW, cluster=CLUSTER)

    assert sum(stage["rows"] for stage in again["run"]["last_call"]["stages"]) == 0
    assert cells_of(again) == cells_of(before)


def test_aggregate_scores_again_what_partial_coverage_counts(
    few: tuple[str, Folder, dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Partial coverage at 0 lowers coverage by half of the partial share, and asks nothing again."""
    _, run, before = few
    own = shutil.copytree(run.url, tmp_path / "run")
    after = aggregate(str(own), ["partial_score=0"], cluster=CLUSTER)

    assert "other settings than before: partial_score was 0.5, is 0.0\n" in capsys.readouterr().err
    assert [stage["name"] for stage in after["run"]["last_call"]["stages"]] == ["score"]
    assert all(a["coverage"] < b["coverage"] for a, b in zip(cells_of(after), cells_of(before), strict=True))
