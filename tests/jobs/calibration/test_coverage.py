"""A coverage judge against labels of one's own: whose labels, what a chat model is asked, and what that costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from actors.ledger.ledger import Ledger
from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.calibrate import main
from jobs.ingest import main as ingest
from longform.judges.cards import describe
from longform.rehearsal.settings import FakeSettings
from tests.places import ROOT

N_CALLS = 4
"""Two summaries, each asked about the two insights of its query."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The example of docs/formats.md, whose labels are by the annotator `first`."""
    page = (ROOT / "docs" / "formats.md").read_text()
    fences = [part.split("```")[0].split("\n", 1) for part in page.split("```json title=")[1:]]
    folder = tmp_path_factory.mktemp("example")
    for name, body in fences:
        if name.endswith(".jsonl"):
            (folder / name).write_text(body)
    url = str(tmp_path_factory.mktemp("bench"))
    assert ingest(["jsonl", str(folder), "--out", url]) == 0
    return url


def test_the_example_of_the_documentation_is_calibrated(bench: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main([bench, "--judge", "offline-people", "--resamples", "100", "--json"]) == 0

    card = json.loads(capsys.readouterr().out)
    assert (card["n"], card["n_unjudged"]) == (3, 0)
    assert card["labels"]["annotators"] == ["first"]
    assert [(row["texts"], row["fitted"]) for row in card["texts"]] == [(["news"], False)]
    assert "against annotator first, on a topic kept out, news (3 labels, 2 summaries, 1 topic): r " in describe(card)


def with_a_second_annotator(folder: Path, *, people: str = "s1 s2", model: str = "s1 s2", documents: int = 1) -> str:
    """A benchmark of two summaries, where two people have labelled those named, and a model those named for it."""
    other = [{"doc_id": f"other{place}", "text": "Farmers met."} for place in range(1, documents)]
    labelled = {"ann": people, "bo": people, "released:m": model}
    rows = {
        "documents": [{"doc_id": "d", "text": "The dam was closed in May."}, *other],
        "queries": [{"query_id": "q", "text": "What happened?"}],
        "insights": [{"insight_id": "i", "query_id": "q", "text": "The dam was closed in May.", "doc_ids": ["d"]}],
        "summaries": [
            {"summary_id": "s1", "query_id": "q", "summarizer": "ed", "text": "- The dam was closed in May [1]."},
            {"summary_id": "s2", "query_id": "q", "summarizer": "ed", "text": "- Farmers met [1]."},
        ],
        "labels": [
            {"summary_id": summary, "insight_id": "i", "annotator": annotator, "coverage": coverage, "bullet": None}
            for annotator, marks in (("ann", "full none"), ("bo", "none full"), ("released:m", "full none"))
            for summary, coverage in zip(("s1", "s2"), marks.split(), strict=True)
            if summary in labelled[annotator]
        ],
    }
    (folder / "in").mkdir()
    for name, content in rows.items():
        (folder / "in" / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in content))
    assert ingest(["jsonl", str(folder / "in"), "--out", str(folder / "bench")]) == 0
    return str(folder / "bench")


@pytest.mark.parametrize(
    ("named", "annotators", "n", "r"),
    [
        (None, ["ann", "bo"], 4, 0.0),
        ("ann", ["ann"], 2, 1.0),
        ("bo", ["bo"], 2, -1.0),
        ("released:m", ["released:m"], 2, 1.0),
    ],
)
def test_a_card_is_of_the_annotators_named_or_of_all_people(
    named: str | None,
    annotators: list[str],
    n: int,
    r: float,
    *,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, options = with_a_second_annotator(tmp_path), ["--annotator", named] if named else []
    for judge in ("offline-people", "released:m"):
        capsys.readouterr()
        assert main([url, "--judge", judge, "--resamples", "100", "--json", *options]) == 0
        card = json.loads(capsys.readouterr().out)

        assert (card["labels"]["annotators"], card["n"]) == (annotators, n)
        assert card["pearson"]["value"] == pytest.approx(r)
        assert " and ".join(annotators) in describe(card)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--judge", "offline-people", "--annotator", "cy"], "of annotator 'cy', found ['ann', 'bo', 'released:m']"),
        (["--judge", "offline-people", "--orders"], "--orders: expected a support judge"),
        (["--judge", "offline", "--annotator", "ann"], "of support of annotator 'ann', found none"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([with_a_second_annotator(tmp_path), *options]) == 2
    assert told in capsys.readouterr().err


def test_a_judge_that_answers_nothing_gets_no_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The predictions of a model for one of two labelled summaries, of which people labelled the other."""
    url, card = with_a_second_annotator(tmp_path, people="s2", model="s1"), tmp_path / "card.json"
    capsys.readouterr()

    assert main([url, "--judge", "released:m", "--annotator", "ann", "--out", str(card), "--resamples", "100"]) == 3
    told = capsys.readouterr().out
    assert "1 unjudged (1 no verdict)" in told
    assert "no card is written" in told
    assert not card.exists()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with fake_process(FakeSettings(delay_s=0.0)) as url:
        yield url


class Command:
    """`calibrate` with a chat model, a price list and a ledger of its own."""

    def __init__(self, bench: str, server: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        self.chat = {"model": f"fake-{folder.name}", "base_url": server}
        experiment = {
            "name": "x",
            "seed": 1,
            "retrievers": {"full": {"kind": "full"}},
            "summarizers": {"o": {"kind": "offline"}},
            "judges": {"gpt": {"kind": "chat", "chat": self.chat}},
            "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "o"}],
        }
        prices = {"date": "2026-01-01", "models": {self.chat["model"]: {"input": 1e6, "output": 0.0}}}
        for name, content in (("x.yaml", experiment), ("prices.yaml", prices)):
            (folder / name).write_text(yaml.safe_dump(content))
        files = ["--config", folder / "x.yaml", "--prices", folder / "prices.yaml", "--ledger", folder / "ledger"]
        self._arguments = [bench, "--judge", "gpt", "--resamples", "100", "--json", *map(str, files)]

    def __call__(self, *options: str, ends: int = 0) -> dict[str, Any]:
        self._capsys.readouterr()
        assert main([*self._arguments, *options]) == ends
        out = self._capsys.readouterr().out
        return dict(json.loads(out)) if out else {}


@pytest.fixture
def command(bench: str, server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(bench, server, tmp_path, capsys)


def test_a_plan_says_what_a_chat_judge_costs_and_asks_nothing(command: Command) -> None:
    (stage,) = command("--plan")["stages"]

    assert (stage["stage"], stage["calls"], stage["paid_already"]) == ("judge gpt", N_CALLS, 0)
    assert stage["usd"]["low"] == pytest.approx(stage["input_tokens"]["low"])  # a dollar a token
    assert not (command.folder / "ledger").exists()


def governors() -> set[str]:
    import ray

    named = (actor["name"] for actor in ray.util.list_named_actors(all_namespaces=True))
    return {name for name in named if name.startswith("governor:")}


@pytest.mark.ray
def test_a_chat_judge_is_asked_as_evaluate_asks_it(command: Command, ray_session: None) -> None:
    """In the cluster's governor, recorded, with its cost from the ledger, and never twice."""
    before, run = governors(), str(command.folder / "run")
    card = command("--out", str(command.folder / "card.json"), "--run", run)

    assert len(governors() - before) == 1
    ledger = Ledger.existing(str(command.folder / "ledger"))
    totals = ledger.totals()
    ledger.close()
    assert totals.answered >= N_CALLS
    assert card["cost"]["usd"] == pytest.approx(totals.known_usd) != 0
    assert card["judged_by"]["model"] == command.chat["model"]
    assert card["n"] + card["n_unjudged"] == 3
    assert Folder(run).read("verdicts").num_rows == N_CALLS

    assert command("--run", run)["cost"] == card["cost"]
    (stage,) = command("--plan")["stages"]
    assert (stage["calls"], stage["paid_already"]) == (0, N_CALLS)
