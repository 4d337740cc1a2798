"""`longform ledger`: what was called and what it cost, in words, as JSON, as a Parquet file."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from actors.ledger.ledger import Ledger
from jobs.ledger import main
from longform.chat.call import ChatReply, Usage, failed
from longform.chat.ledger_rows import Intent, Receipt
from longform.schemas import CALLS

RECORD = {"format": 2, "verb": "evaluate", "benchmark": {}, "config": None, "limit": None, "stages": []}

USAGE = Usage(input_tokens=1000, cached_tokens=3000, output_tokens=50, reasoning_tokens=0)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Two jobs: one call answered for 25 cents, one of unknown price, one failed; one of another model unsettled."""
    folder = str(tmp_path / "ledger")
    first, second = Ledger(folder, job="first"), Ledger(folder, job="second")
    intents = [Intent(name, name, "judge", "openai", "m", 0, 0.5, 60.0) for name in "abc"]
    first.exchange(intents, [])
    reply = ChatReply(text="yes", failure=None, model="m-2026", usage=USAGE, cost_usd=0.25)
    unpriced = ChatReply(text="no", failure=None)
    first.exchange([], [Receipt("a", "a", reply), Receipt("b", "b", unpriced), Receipt("c", "c", failed("http_400"))])
    second.exchange([Intent("d", "d", "summarize", "openai", "n", 0, 0.125, 60.0)], [])
    return folder


def test_table_says_what_is_known_and_what_is_not(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([url, "--by", "model"]) == 0

    head, *lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert [cell.strip() for cell in head if cell.strip()][:4] == ["calls", "answered", "failed", "unsettled"]
    assert cells == [
        ["m", "3", "2", "1", "0", "1,000", "3,000", "50", "0", "75.0%", "$0.2500 + 2 of unknown price", "m-2026"],
        ["n", "1", "0", "0", "1 (at most $0.1250)", *["unknown"] * 5, "$0.0000"],
        [
            *("all", "4", "2", "1", "1 (at most $0.1250)", "1,000", "3,000", "50", "0", "75.0%"),
            *("$0.2500 + 2 of unknown price", "m-2026"),
        ],
    ]


def test_json_has_totals_and_groups_of_one_job(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([url, "--job", "second", "--by", "stage", "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert found["totals"]["unsettled_usd"] == 0.125
    assert found["totals"]["input_tokens"] is None
    assert [(group["name"], group["calls"]) for group in found["groups"]] == [("summarize", 1)]


def test_parquet_file_is_the_whole_table(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([url, "--parquet", str(tmp_path / "out" / "calls.parquet"), "--job", "first"]) == 0

    table = pq.read_table(tmp_path / "out" / "calls.parquet")
    assert table.schema == CALLS
    assert sorted(table["attempt_id"].to_pylist()) == ["a", "b", "c", "d"]
    assert "4 calls" in capsys.readouterr().out


def test_ledger_is_the_named_one_or_that_of_the_environment(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LONGFORM_LEDGER", raising=False)
    assert main([]) == 2
    assert "LONGFORM_LEDGER" in capsys.readouterr().err

    monkeypatch.setenv("LONGFORM_LEDGER", url)
    assert main([]) == 0


def test_ledger_or_job_that_is_not_there_is_wrong_usage(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "typo")]) == 2
    assert "no ledger at" in capsys.readouterr().err

    assert main([url, "--job", "frist"]) == 2
    assert "['first', 'second']" in capsys.readouterr().err


def test_a_run_leads_to_its_ledger_wherever_the_command_is_called(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger is named as the run's command named it, from its own folder; beside the run stands the same."""
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    run.mkdir()
    elsewhere.mkdir()
    job = {"job": "second", "ledger": "ledger", "prices": None, "stages": []}
    (run / "run.json").write_text(json.dumps(RECORD | {"jobs": [job]}))
    Ledger(str(elsewhere / "ledger"), job="another").close()  # of the same name, without the run's calls
    monkeypatch.chdir(elsewhere)

    assert main([str(run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["ledger"], found["totals"]["calls"]) == (url, 1)

    (run / "run.json").write_text(json.dumps(RECORD | {"jobs": []}))
    assert main([str(run)]) == 2
    assert "no command of this run called one" in capsys.readouterr().err
