"""`longform synthesize --plan`: the bounds of a model's prose are the calls that are made, and nothing is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.ledger.ledger import RECORDS, Ledger
from actors.storage.folder import Folder
from jobs.synthesize import main

TRIES = 2


def prose(writer: str) -> str:
    chat = f"{{provider: scripted, script: synthesis, model: '{writer}', max_tokens: 300}}"
    return f"prose={{chat: {chat}, tries: {TRIES}}}"


def command(folder: Path, *changes: str, options: tuple[str, ...] = (), out: str = "bench") -> list[str]:
    sets = [part for change in changes for part in ("--set", change)]
    return ["prose", "--out", str(folder / out), "--ledger", str(folder / "ledger"), *sets, *options]


def plan(folder: Path, capsys: pytest.CaptureFixture[str], *changes: str, out: str = "bench") -> dict[str, Any]:
    before = state(folder)
    assert main(command(folder, *changes, options=("--plan", "--json"), out=out)) == 0
    assert state(folder) == before
    planned: dict[str, Any] = json.loads(capsys.readouterr().out)
    return planned


def state(folder: Path) -> tuple[dict[str, bytes], int]:
    """Every file but the ledger's, which SQLite tidies whoever reads it; and the calls in that."""
    found = (file for file in sorted(folder.rglob("*")) if file.is_file() and not file.name.startswith(RECORDS))
    return {str(file): file.read_bytes() for file in found}, n_calls(folder)


def n_calls(folder: Path) -> int:
    if not (folder / "ledger").exists():
        return 0
    ledger = Ledger.existing(str(folder / "ledger"))
    try:
        return ledger.totals().calls
    finally:
        ledger.close()


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize("topic", ["railway", "orchard"])
@pytest.mark.parametrize(
    ("bound", "writer"), [("lowest", "scripted-writer:seed=1"), ("highest", "scripted-writer:seed=1,refusals=1")]
)
def test_the_bounds_are_the_calls_of_a_writer_without_faults_and_of_one_that_refuses(
    bound: str, writer: str, topic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = (prose(writer), f"topics=[{topic}]")
    planned = plan(tmp_path, capsys, *changes)
    assert main(command(tmp_path, *changes)) == 0

    assert planned[bound]["total"]["calls"] == planned["steps"][0][bound] == n_calls(tmp_path)
    assert planned["highest"]["total"]["calls"] == TRIES * planned["lowest"]["total"]["calls"]


def test_dollars_need_no_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    planned = plan(tmp_path, capsys, "prose={chat: {model: gpt-4o-2024-08-06, max_tokens: 300}, tries: 3}")
    least, most = (planned[bound]["total"] for bound in ("lowest", "highest"))

    assert least["output_tokens"]["high"] == 300 * least["calls"] > 0
    assert 0 < least["usd"]["low"] < least["usd"]["high"] < most["usd"]["high"]


# ---------------------------------------------------------------- what is there already


def test_what_is_paid_is_left_out_and_what_was_refused_is_asked_again_within_the_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refusals are no answers: the ledger does not keep them."""
    changes = (prose("scripted-writer:seed=1,omissions=0.5,refusals=0.3"), "documents=12")
    all_passages = plan(tmp_path, capsys, *changes)["lowest"]["total"]["calls"]
    assert main(command(tmp_path, *changes)) == 0
    before = n_calls(tmp_path)
    capsys.readouterr()
    planned = plan(tmp_path, capsys, *changes, out="another")
    assert main(command(tmp_path, *changes, out="another")) == 0

    least, most = (planned[bound]["total"] for bound in ("lowest", "highest"))
    assert 0 < least["calls"] <= n_calls(tmp_path) - before <= most["calls"]
    assert planned["passages"]["waiting"] == least["calls"] < all_passages
    assert sum(planned["passages"].values()) == all_passages
    assert 0 < least["paid_already"] < before
    assert least["calls"] < most["calls"] < TRIES * least["calls"]  # a try that was answered, and rejected, is used up


def test_what_the_ledger_holds_of_every_passage_is_read_as_the_command_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = prose("scripted-writer:seed=1,omissions=0.4,leaks=0.3")
    assert main(command(tmp_path, changes)) == 0
    capsys.readouterr()
    (haystack,) = Folder(str(tmp_path / "bench")).read_json("audit.json")["haystacks"]
    again = plan(tmp_path, capsys, changes, out="another")
    there = plan(tmp_path, capsys, changes)

    written = {"kept": haystack["prose"]["kept"], "fallen_back": haystack["prose"]["fallen_back"]}
    assert again["passages"] == {"waiting": 0, **written}
    assert written["fallen_back"] > 0
    assert again["steps"] == there["steps"] == []


# ---------------------------------------------------------------- who asks nobody, and who is refused


@pytest.mark.parametrize("preset", ["demo", "full"])
def test_a_grammar_alone_asks_no_model(preset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([preset, "--out", str(tmp_path / "bench"), "--plan"]) == 0
    assert capsys.readouterr().out == "no model is called: without `prose` the grammar writes every sentence\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param("prose.chat.script=novel", "one of", id="model"),
        pytest.param("least_documents=5", "documents", id="sizes"),
    ],
)
def test_a_plan_refuses_what_the_command_refuses(
    change: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(tmp_path, change, options=("--plan",))) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
