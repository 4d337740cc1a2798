"""`calibrate` asks a judge about perturbed summaries, unless that costs calls, and its card tells of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from actors.storage.folder import Folder
from jobs.calibrate import main
from jobs.runs.judges import judge_rows
from longform.judges.adversarial import ADVERSARIAL, PRECISION, adversarial_words
from longform.results.judges import perturbed_tables
from longform.tables.table import checked
from tests.jobs.calibration.test_coverage import with_a_second_annotator
from tests.jobs.runs.test_cards import experiment
from tests.modules import Write

OFFLINE = {"kind": "offline", "calibration": "people"}
CHAT = {"kind": "chat", "chat": {"provider": "scripted", "model": "scripted", "script": "obedient"}}


@pytest.fixture
def bench(tmp_path: Path) -> str:
    """Two summaries of one insight, which `ann` calls covered in the first, and `bo` in the second."""
    return with_a_second_annotator(tmp_path)


class Calibrate:
    def __init__(self, bench: str, folder: Path, capsys: pytest.CaptureFixture[str], write: Write) -> None:
        self._bench, self._capsys = bench, capsys
        content = {
            "name": "x",
            "seed": 1,
            "retrievers": {"full": {"kind": "full"}},
            "summarizers": {"offline": {"kind": "offline"}},
            "judges": {"a": OFFLINE, "gpt": CHAT, "m": {"kind": "mean", "of": ["a", "offline-gpt-4o"]}},
            "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
        }
        write("their_judge", "class Full:\n    def judge(self, group):\n        return [1.0] * len(group.items)\n")
        content["judges"]["own"] = {"kind": "python", "class": "their_judge:Full"}
        content["judges"]["offline-gpt-4o"] = {"kind": "offline", "calibration": "gpt-4o"}
        self.config = str(folder / "x.yaml")
        Path(self.config).write_text(yaml.safe_dump(content))

    def __call__(self, judge: str, *options: str) -> dict[str, Any]:
        return dict(json.loads(self.words(judge, "--json", *options)))

    def words(self, judge: str, *options: str) -> str:
        self._capsys.readouterr()
        common = [self._bench, "--judge", judge, "--annotator", "ann", "--resamples", "50"]
        assert main([*common, "--config", self.config, *options]) == 0
        said, self.progress = self._capsys.readouterr()
        return said


@pytest.fixture
def calibrate(bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Write) -> Calibrate:
    return Calibrate(bench, tmp_path, capsys, write)


def section(card: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["perturbation"], row["measure"]): row for row in card["adversarial"]["rows"]}


def test_an_offline_judge_is_asked_about_perturbed_summaries(calibrate: Calibrate) -> None:
    found = section(calibrate("a"))

    assert {name for name, _ in found} == ADVERSARIAL.keys() - {"paraphrase", "pad", "number"}
    assert found["copy", "score"]["after"]["value"] > 0.9
    assert found["negate", "score"]["drop"]["value"] > 0.2
    assert found["cite all", "score"]["drop"] | {"n": 0} == {"value": 0.0, "low": 0.0, "high": 0.0, "n": 0}
    assert found["echo", "score"]["after"]["value"] < found["echo", "score"]["before"]["value"]


def test_progress_counts_the_copies(calibrate: Calibrate) -> None:
    copies = sum(row["n_summaries"] for row in calibrate("a")["adversarial"]["rows"] if row["measure"] == "score")
    assert re.search(
        rf"^judge a +{2 + copies} summaries and copies in .* s in this process$", calibrate.progress, re.MULTILINE
    )

    calibrate("a", "--no-adversarial")
    assert re.search(r"^judge a +2 summaries in ", calibrate.progress, re.MULTILINE)


def test_citations_of_everything_are_seen_where_the_gold_documents_are_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    """One of the two documents states the insight; the bullet cites it alone, then both."""
    url = with_a_second_annotator(tmp_path, documents=2)
    found = section(Calibrate(url, tmp_path, capsys, write)("a"))[("cite all", PRECISION)]

    assert (found["before"]["value"], found["after"]["value"], found["should"]) == (1.0, 0.5, "less")


def test_no_other_figure_of_the_card_moves(calibrate: Calibrate) -> None:
    with_section, without = calibrate("a"), calibrate("a", "--no-adversarial")

    assert without.pop("adversarial") == {
        "rows": [],
        "missing": {},
        "reason": "left out by --no-adversarial",
    }
    assert with_section.pop("adversarial")["rows"]
    assert with_section == without


def test_a_mean_has_a_section_of_its_own(calibrate: Calibrate) -> None:
    parts = [section(calibrate(name))["shuffle", "score"]["after"]["value"] for name in ("a", "offline-gpt-4o")]
    mean = section(calibrate("m"))["shuffle", "score"]["after"]["value"]

    assert parts[0] != parts[1]
    assert mean == pytest.approx(sum(parts) / 2, abs=1e-6)


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        ("released:m", "a release ships the predictions of released:m, and perturbed summaries are not among them"),
        ("mean:a+released:m", "a release ships the predictions of released:m"),
        ("gpt", "gpt asks a chat model, which costs calls; --adversarial asks it about perturbed summaries, too"),
        ("mean:a+gpt", "gpt asks a chat model"),
        ("own", "own runs a class of one's own, which may ask what costs calls; --adversarial"),
    ],
)
def test_a_judge_that_is_not_asked_says_why(judge: str, reason: str, calibrate: Calibrate) -> None:
    card = calibrate(judge)

    assert card["adversarial"]["reason"].startswith(reason)
    assert card["adversarial"]["rows"] == []
    assert adversarial_words(card)[0].startswith(f"perturbed summaries: not judged ({reason}")


def test_a_plan_counts_the_calls_about_perturbed_summaries_if_they_are_wanted(calibrate: Calibrate) -> None:
    (few,) = calibrate("gpt", "--plan")["stages"]
    (many,) = calibrate("gpt", "--plan", "--adversarial")["stages"]

    assert few["calls"] == 2
    assert few["calls"] < many["calls"] <= 2 * (1 + len(ADVERSARIAL))


def test_a_plan_says_that_they_are_not_in_it(calibrate: Calibrate) -> None:
    assert "not in it: perturbed summaries (gpt asks a chat model, which costs calls" in calibrate.words(
        "gpt", "--plan"
    )
    assert "perturbed" not in calibrate.words("gpt", "--plan", "--adversarial")
    assert "perturbed" not in calibrate.words("a", "--plan", "--no-adversarial")


def test_a_chat_judge_is_asked_if_the_command_line_says_so(calibrate: Calibrate, tmp_path: Path) -> None:
    card = calibrate("gpt", "--adversarial", "--run", str(tmp_path / "run"), "--ledger", str(tmp_path / "ledger"))

    assert ("copy", "score") in section(card)
    modes = Folder(str(tmp_path / "run")).read("verdicts").column("mode").to_pylist()
    assert {"full", "copy", "negate"} <= set(modes)


def test_a_judge_of_support_has_no_perturbed_summaries(bench: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([bench, "--judge", "offline", "--adversarial"]) == 2
    assert "--adversarial: expected a judge of coverage" in capsys.readouterr().err


def test_the_report_shows_the_section_of_the_shipped_card() -> None:
    (row,) = judge_rows(experiment({"mine": OFFLINE}))
    (table,) = perturbed_tables({"mine": row["adversarial"]})

    (negated,) = (row for row in checked(table).rows if row["perturbation"] == "negate")
    assert (negated["in_words"], negated["n"]) == ("when negated; should lose all", 126)
    assert negated["drop"].value == pytest.approx(0.35, abs=0.005)  # type: ignore[union-attr]


def test_a_card_of_an_earlier_version_has_no_such_table() -> None:
    assert list(perturbed_tables({"old": None})) == []
