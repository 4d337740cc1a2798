"""Judges against the released human labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from actors.judges.lexical import PROMPT_VERSION
from actors.storage.folder import Folder
from jobs.calibrate import main
from jobs.ingest import ingest
from longform.judges.cards import KEY_POINT_CHECKER, describe, shipped_card, shipped_card_of, worth
from longform.judges.offline_coverage import shipped_judge
from longform.metrics.agreement import WEIGHTS
from longform.settings.named_judges import SHIPPED_JUDGES, SHIPPED_KEY_POINT_CHECKER, judges_of
from tests.key_point_labels import questions

NEWS = "6419263d9c6c91e5010d4abf"
"""The haystack whose summaries the offline judges were fitted on."""


@pytest.fixture(scope="module")
def human(released: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    url = str(tmp_path_factory.mktemp("human"))
    ingest("summhay", [str(released / "summhay" / "eval_benchmark_data.json.gz")], url)
    return url


@pytest.fixture(scope="module")
def study(released: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """News and conversations."""
    url = str(tmp_path_factory.mktemp("study"))
    names = ("eval_benchmark_data.json.gz", "eval_benchmark_data_conversation.json.gz")
    ingest("summhay", [str(released / "summhay" / name) for name in names], url)
    return url


class Calibrated:
    """The verb: its card, and what it says in words."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def words(self, bench: str, judge: str, *options: str) -> str:
        self._capsys.readouterr()
        assert main([bench, "--judge", judge, "--resamples", "100", *options]) == 0
        return self._capsys.readouterr().out

    def card(self, bench: str, judge: str, *options: str, adversarial: bool = False) -> dict[str, Any]:
        options = options if adversarial else (*options, "--no-adversarial")
        return dict(json.loads(self.words(bench, judge, "--json", *options)))


@pytest.fixture
def calibrated(capsys: pytest.CaptureFixture[str]) -> Calibrated:
    return Calibrated(capsys)


def test_released_judges_equal_the_paper_s_table_1_on_these_labels(
    human: str, released: Path, calibrated: Calibrated
) -> None:
    for row in json.loads((released / "summhay" / "expected_table1.json").read_text()):
        card = calibrated.card(human, row["judge"])
        assert card["pearson"]["value"] == pytest.approx(row["pearson"], abs=1e-9)
        assert card["linking_accuracy"]["value"] == pytest.approx(row["linking_accuracy"], abs=1e-9)
        assert (card["pearson"]["n"], card["linking_accuracy"]["n"]) == (row["n"], row["n_linked"])
        assert card["scale"] is None


def correlation(bench: str, haystack: str | None, marks: dict[tuple[str, str], float]) -> float:
    """Correlate *marks* with people's labels, by hand; over all haystacks, or over the one left out of the rest."""
    of = {row["summary_id"]: row["haystack_id"] for row in Folder(bench).read("summaries").to_pylist()}
    labels = [row for row in Folder(bench).read("labels").to_pylist() if row["annotator"] == "human"]
    chosen = [row for row in labels if haystack is None or of[row["summary_id"]] != haystack]
    given = [marks[row["summary_id"], row["target_id"]] for row in chosen]
    return float(np.corrcoef(given, [WEIGHTS[row["answer"]] for row in chosen])[0, 1])


def test_a_judge_is_measured_on_each_kind_of_text_and_on_all(study: str, calibrated: Calibrated) -> None:
    labels = Folder(study).read("labels").to_pylist()
    gpt = {
        (row["summary_id"], row["target_id"]): WEIGHTS[row["answer"]]
        for row in labels
        if row["annotator"] == "released:gpt-4o"
    }
    card = calibrated.card(study, "released:gpt-4o")
    rows = {tuple(row["texts"]): row for row in card["texts"]}

    assert list(rows) == [("conversation", "news"), ("conversation",), ("news",)]
    assert [row["n"] for row in rows.values()] == [887, 325, 562]
    assert card["pearson"] == rows["conversation", "news"]["pearson"]
    assert card["pearson"]["value"] == pytest.approx(correlation(study, None, gpt))
    assert rows[("conversation",)]["pearson"]["value"] == pytest.approx(correlation(study, NEWS, gpt))
    assert "against people, conversation and news (887 labels, 117 summaries, 2 topics): r 0.71" in describe(card)


def test_a_fitted_judge_leads_with_text_that_it_was_not_fitted_on(study: str, calibrated: Calibrated) -> None:
    card = calibrated.card(study, "offline-people")
    unseen, fitted = card["texts"]

    assert (unseen["texts"], unseen["fitted"], fitted["texts"], fitted["fitted"]) == (
        ["conversation"],
        False,
        ["news"],
        True,
    )
    assert (card["n"], card["in_sample"], card["fitted_haystacks"]) == (325, False, [NEWS])
    assert card["pearson"] == unseen["pearson"]
    assert card["pearson"]["value"] < 0.75 < fitted["pearson"]["value"]
    line = describe(card)
    assert line.index("on a topic kept out, conversation (325 labels, 56 summaries, 1 topic): r 0.72") < line.index(
        "r 0.83"
    )
    assert "fitted on another topic (labels of 56 summaries by people), on news: r 0.84" in line


def test_labels_that_a_judge_was_fitted_on_are_no_transfer(human: str, calibrated: Calibrated) -> None:
    card = calibrated.card(human, "offline-people")

    assert card["in_sample"]
    assert "text that it was not fitted on: not measured; fitted on another topic (" in describe(card)


AGREEMENT = ("pearson", "kappa", "linking_accuracy", "linking_recall")


@pytest.mark.parametrize("judge", sorted(judges_of("coverage", SHIPPED_JUDGES).keys() - {"offline-people-vectors"}))
def test_offline_judge_agrees_with_people_as_its_card_says(study: str, judge: str, calibrated: Calibrated) -> None:
    """The shipped card is of this very judge: another version needs a new card."""
    shipped = shipped_card(judge)
    card = calibrated.card(study, judge, "--resamples", "2000", adversarial=True)

    assert shipped is not None
    assert shipped["judged_by"] == card["judged_by"]
    for measure in AGREEMENT:
        assert card[measure] == pytest.approx(shipped[measure], abs=1e-6)
    assert card["labels"] == shipped["labels"]
    for now, then in zip(card["adversarial"]["rows"], shipped["adversarial"]["rows"], strict=True):
        assert (now["perturbation"], now["n_summaries"]) == (then["perturbation"], then["n_summaries"])
        assert now["drop"] == pytest.approx(then["drop"], abs=1e-6)
    assert shipped["scale"] == SHIPPED_JUDGES[judge].scale


@pytest.mark.slow
def test_the_judge_by_vectors_agrees_with_people_as_its_card_says(study: str, calibrated: Calibrated) -> None:
    """The perturbed copies are left out: an encoder reads five thousand lines of them for ten minutes."""
    shipped = shipped_card("offline-people-vectors")
    card = calibrated.card(study, "offline-people-vectors", "--resamples", "2000")

    assert shipped is not None
    assert shipped["judged_by"] == card["judged_by"]
    assert {name: card[name] for name in AGREEMENT} == {
        name: pytest.approx(shipped[name], abs=1e-6) for name in AGREEMENT
    }
    assert card["labels"] == shipped["labels"]


@pytest.mark.parametrize("judge", ["offline-people", "offline-gpt-4o"])
def test_a_card_of_the_judges_by_words_leads_with_text_that_they_never_saw(judge: str) -> None:
    shipped: Any = shipped_card(judge)

    assert PROMPT_VERSION in shipped["judged_by"]["prompt_version"]
    assert describe(shipped).startswith(
        f"{shipped['scale']}; against people, on a topic kept out, conversation (325 labels"
    )


def test_the_card_of_a_judge_that_saw_both_topics_leads_with_each_kept_out_and_says_so() -> None:
    shipped: Any = shipped_card("offline-people-vectors")
    line, news, talks = describe(shipped), "labels of 61 summaries of news", "labels of 56 summaries of conversation"
    parts = [
        f"against people, fitted on another topic ({news} by people), on {talks} by people: r 0.76 [",
        f"; fitted on another topic ({talks} by people), on {news} by people: r 0.83 [",
        f"; the judge that ships was fitted on all of these topics; within {news} by people (",
        f"; within {talks} by people (labels of both topics, without the query): r 0.7",
    ]

    assert [part for part in parts if part not in line] == []
    assert [line.index(part) for part in parts] == sorted(line.index(part) for part in parts)
    told = "agrees with people about as well as Gemini 1.5 Pro does on the same 117 summaries, correlation "
    assert worth(shipped) == f"{told}0.76 and 0.83 beside 0.75 and 0.76"
    assert set(shipped["fitted_haystacks"]) == set(shipped_judge("people-vectors").fitted_haystacks)


def test_mean_of_released_judges_is_the_mean_of_what_they_answered(human: str, calibrated: Calibrated) -> None:
    """By hand: the correlation of the mean of two answers' weights with people's."""
    labels = Folder(human).read("labels").to_pylist()
    given = {(row["annotator"], row["summary_id"], row["target_id"]): row["answer"] for row in labels}
    people = {key[1:]: answer for key, answer in given.items() if key[0] == "human" and answer is not None}
    members = ("released:gpt-4o", "released:claude3-opus")
    known = [key for key in people if all(given.get((name, *key)) is not None for name in members)]
    means = [np.mean([WEIGHTS[given[name, *key]] for name in members]) for key in known]
    expected = np.corrcoef(means, [WEIGHTS[people[key]] for key in known])[0, 1]

    card = calibrated.card(human, f"mean:{'+'.join(members)}")

    assert card["pearson"]["value"] == pytest.approx(expected)
    assert card["n"] == len(known)
    assert card["cost"]["usd"] == pytest.approx(6.9 + 23.8)
    assert card["scale"] == "mean of released:gpt-4o and released:claude3-opus"


def test_offline_judge_and_one_chat_judge_agree_with_people_better_than_the_chat_judge(
    study: str, calibrated: Calibrated
) -> None:
    """On conversations, which the offline judge was not fitted on."""
    (alone,) = [r for r in calibrated.card(study, "released:gpt-4o")["texts"] if r["texts"] == ["conversation"]]
    both = calibrated.card(study, "mean:offline-people+released:gpt-4o")

    assert both["n"] == alone["n"]
    assert both["pearson"]["value"] > alone["pearson"]["value"] + 0.02
    assert both["scale"] == "mean of offline-people (marks as people do) and released:gpt-4o"
    assert [member["model"] for member in both["judged_by"]["of"]] == ["offline-people", "released:gpt-4o"]


def experiment_file(folder: Path, **judges: object) -> str:
    """A configuration with *judges*."""
    content = {
        "name": "x",
        "seed": 1,
        "retrievers": {"full": {"kind": "full"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": judges,
        "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
    }
    (folder / "experiment.yaml").write_text(yaml.safe_dump(content))
    return str(folder / "experiment.yaml")


OFFLINE = {"kind": "offline", "calibration": "people"}
GENEROUS = {"kind": "offline", "calibration": "gpt-4o"}


def test_mean_with_a_judge_of_a_configuration_uses_its_cuts(human: str, tmp_path: Path, calibrated: Calibrated) -> None:
    """Cuts move answers, and nothing that rests on the mean itself."""
    mean = {"kind": "mean", "of": ["a", "b"]}
    cuts = {"wide": mean | {"cuts": [0.01, 1.0]}, "narrow": mean | {"cuts": [0.5, 0.51]}}
    config = experiment_file(tmp_path, a=OFFLINE, b=GENEROUS, **cuts)
    first, second = (calibrated.card(human, name, "--config", config) for name in cuts)

    assert first["pearson"]["value"] == second["pearson"]["value"]
    assert first["kappa"]["value"] != second["kappa"]["value"]
    assert first["judged_by"]["cuts"] == [0.01, 1.0]


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        ("released:gpt-9", "released:gpt-4o"),
        ("nobody", "offline-people"),
        ("ofline-people", "; did you mean 'offline-people'?"),
        ("offline", "expected people's labels of support"),
        ("mean:offline-people", "at least 2"),
        ("mean:offline-people+offline", "no judge 'offline'"),
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


def test_mean_of_a_mean_is_refused(human: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = experiment_file(tmp_path, a=OFFLINE, b=GENEROUS, inner={"kind": "mean", "of": ["a", "b"]})

    assert main([human, "--judge", "mean:inner+released:gpt-4o", "--config", config]) == 2
    assert "found the mean 'inner'" in capsys.readouterr().err


def test_card_is_written_where_asked(human: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main([human, "--judge", "released:gpt-4o", "--json", "--resamples", "100", "--out", str(tmp_path / "c")]) == 0
    )

    assert json.loads((tmp_path / "c").read_text()) == json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_the_card_of_the_key_point_checker_is_that_of_released_labels(
    released: Path, tmp_path: Path, calibrated: Calibrated
) -> None:
    """An insight that people call fully covered is said. Floats of other processors may move an answer."""
    talks, points = str(tmp_path / "talks"), str(tmp_path / "points")
    ingest("summhay", [str(released / "summhay" / "eval_benchmark_data_conversation.json.gz")], talks)
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in questions(talks)))
    ingest("key_points", [str(tmp_path / "labels.jsonl")], points)
    shipped: Any = shipped_card(KEY_POINT_CHECKER)
    found = calibrated.card(points, KEY_POINT_CHECKER)

    assert found["judged_by"] == shipped["judged_by"]
    assert found["labels"]["hash"] == shipped["labels"]["hash"]
    for figure in ("pearson", "kappa"):
        assert found[figure]["value"] == pytest.approx(shipped[figure]["value"], abs=0.03)


def test_the_key_point_checker_is_told_with_its_card() -> None:
    card = shipped_card_of(SHIPPED_KEY_POINT_CHECKER)
    line = card and describe(card)

    assert line is not None
    assert "threshold chosen on its news" in line
    assert shipped_card_of(SHIPPED_KEY_POINT_CHECKER.model_copy(update={"threshold": 0.5})) is None
