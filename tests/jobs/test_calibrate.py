"""Judges against the released human labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.offline_judge import PROMPT_VERSION
from jobs.calibrate import calibrate, main
from jobs.ingest import ingest
from longform.configuration import OfflineJudge
from longform.judge_cards import describe, shipped_card

OFFLINE = OfflineJudge(kind="offline")


@pytest.fixture(scope="module")
def human(released: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    url = str(tmp_path_factory.mktemp("human"))
    ingest("summhay", [str(released / "summhay" / "eval_benchmark_data.json.gz")], url)
    return url


def test_released_judges_equal_the_paper_s_table_1_on_these_labels(human: str, released: Path) -> None:
    for row in json.loads((released / "summhay" / "expected_table1.json").read_text()):
        card = calibrate(human, row["judge"], definition=None, resamples=100)
        assert card["pearson"]["value"] == pytest.approx(row["pearson"], abs=1e-9)
        assert card["linking_accuracy"]["value"] == pytest.approx(row["linking_accuracy"], abs=1e-9)
        assert (card["pearson"]["n"], card["linking_accuracy"]["n"]) == (row["n"], row["n_linked"])


def test_offline_judge_agrees_with_people_as_its_card_says(human: str) -> None:
    """The shipped card is of this very judge: another version needs a new card."""
    shipped = shipped_card("offline")
    card = calibrate(human, "offline", definition=OFFLINE)

    assert shipped is not None
    assert shipped["prompt_version"] == PROMPT_VERSION
    for measure in ("pearson", "kappa", "linking_accuracy"):
        assert card[measure] == pytest.approx(shipped[measure], abs=1e-6)
    assert card["labels"] == shipped["labels"]
    assert card["pearson"]["value"] > 0.76
    assert "in sample" in describe(shipped)


def test_unknown_judge_is_named_with_those_that_ship(human: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([human, "--judge", "released:gpt-9"]) == 2
    assert "released:gpt-4o" in capsys.readouterr().err


def test_card_is_written_where_asked(human: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main([human, "--judge", "released:gpt-4o", "--json", "--resamples", "100", "--out", str(tmp_path / "c")]) == 0
    )

    assert json.loads((tmp_path / "c").read_text()) == json.loads(capsys.readouterr().out)
