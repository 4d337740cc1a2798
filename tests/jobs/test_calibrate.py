"""Judges against the released human labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from actors.offline_judge import PROMPT_VERSION
from actors.storage import Folder
from jobs.calibrate import calibrate, main
from jobs.calling import Calling
from jobs.ingest import ingest
from longform.errors import UsageError
from longform.judge_cards import describe, shipped_card
from longform.judge_settings import SHIPPED_JUDGES, MeanJudge
from longform.metrics.agreement import WEIGHTS

CALLING = Calling("test", ledger="no judge of these tests calls a model")


@pytest.fixture(scope="module")
def human(released: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    url = str(tmp_path_factory.mktemp("human"))
    ingest("summhay", [str(released / "summhay" / "eval_benchmark_data.json.gz")], url)
    return url


def test_released_judges_equal_the_paper_s_table_1_on_these_labels(human: str, released: Path) -> None:
    for row in json.loads((released / "summhay" / "expected_table1.json").read_text()):
        card = calibrate(human, row["judge"], resamples=100, calling=CALLING)
        assert card["pearson"]["value"] == pytest.approx(row["pearson"], abs=1e-9)
        assert card["linking_accuracy"]["value"] == pytest.approx(row["linking_accuracy"], abs=1e-9)
        assert (card["pearson"]["n"], card["linking_accuracy"]["n"]) == (row["n"], row["n_linked"])
        assert card["scale"] is None


@pytest.mark.parametrize("judge", sorted(SHIPPED_JUDGES))
def test_offline_judge_agrees_with_people_as_its_card_says(human: str, judge: str) -> None:
    """The shipped card is of this very judge: another version needs a new card."""
    shipped = shipped_card(judge)
    card = calibrate(human, judge, calling=CALLING)

    assert shipped is not None
    assert shipped["prompt_version"] == card["prompt_version"]
    assert PROMPT_VERSION in card["prompt_version"]
    for measure in ("pearson", "kappa", "linking_accuracy"):
        assert card[measure] == pytest.approx(shipped[measure], abs=1e-6)
    assert card["labels"] == shipped["labels"]
    assert card["pearson"]["value"] > 0.7
    assert describe(shipped).startswith(f"{SHIPPED_JUDGES[judge].scale}; against people, held out: r ")


def test_mean_of_released_judges_is_the_mean_of_what_they_answered(human: str) -> None:
    """By hand: the correlation of the mean of two answers' weights with people's."""
    labels = Folder(human).read("labels").to_pylist()
    given = {(row["annotator"], row["summary_id"], row["target_id"]): row["answer"] for row in labels}
    people = {key[1:]: answer for key, answer in given.items() if key[0] == "human" and answer is not None}
    members = ("released:gpt-4o", "released:claude3-opus")
    known = [key for key in people if all(given.get((name, *key)) is not None for name in members)]
    means = [np.mean([WEIGHTS[given[name, *key]] for name in members]) for key in known]
    expected = np.corrcoef(means, [WEIGHTS[people[key]] for key in known])[0, 1]

    card = calibrate(human, f"mean:{'+'.join(members)}", resamples=100, calling=CALLING)

    assert card["pearson"]["value"] == pytest.approx(expected)
    assert card["n"] == len(known)
    assert card["cost"]["usd"] == pytest.approx(6.9 + 23.8)
    assert card["scale"] == "mean of released:gpt-4o and released:claude3-opus"


def test_offline_judge_and_one_chat_judge_agree_with_people_better_than_the_chat_judge(human: str) -> None:
    alone = calibrate(human, "released:gpt-4o", resamples=100, calling=CALLING)["pearson"]["value"]
    both = calibrate(human, "mean:offline-people+released:gpt-4o", resamples=100, calling=CALLING)

    assert both["pearson"]["value"] > alone + 0.03
    assert both["scale"] == "mean of offline-people (marks as people do) and released:gpt-4o"
    assert both["prompt_version"].startswith("mean@")


def test_mean_with_a_judge_of_a_configuration_uses_its_cuts(human: str) -> None:
    """Cuts move answers, and nothing that rests on the mean itself."""
    of = ("released:gpt-4o", "released:gpt3.5")
    wide = {"m": MeanJudge(kind="mean", of=of, cuts=(0.01, 1.0))}
    narrow = {"m": MeanJudge(kind="mean", of=of, cuts=(0.5, 0.51))}
    first, second = (calibrate(human, "m", judges=judges, resamples=100, calling=CALLING) for judges in (wide, narrow))

    assert first["pearson"]["value"] == second["pearson"]["value"]
    assert first["kappa"]["value"] != second["kappa"]["value"]


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        ("released:gpt-9", "released:gpt-4o"),
        ("offline", "offline-people"),
        ("mean:offline-people", "at least 2"),
        ("mean:offline-people+nobody", "no judge 'nobody'"),
        ("mean:released:gpt-4o+released:gpt-4o", "different judges"),
        ("mean:released:gpt-4o+released:gpt-9", "released:gpt3.5"),
    ],
)
def test_unknown_judge_is_named_with_those_that_there_are(
    human: str, judge: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([human, "--judge", judge]) == 2
    assert told in capsys.readouterr().err


def test_mean_of_a_mean_is_refused(human: str) -> None:
    inner = MeanJudge(kind="mean", of=("released:gpt-4o", "released:gpt3.5"))

    with pytest.raises(UsageError, match="found the mean 'inner'"):
        calibrate(human, "mean:inner+released:gpt-4o", judges={"inner": inner}, calling=CALLING)


def test_card_is_written_where_asked(human: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main([human, "--judge", "released:gpt-4o", "--json", "--resamples", "100", "--out", str(tmp_path / "c")]) == 0
    )

    assert json.loads((tmp_path / "c").read_text()) == json.loads(capsys.readouterr().out)
