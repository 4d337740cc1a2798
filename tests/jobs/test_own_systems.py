"""Systems of one's own in a whole run: a server that may misbehave, and classes whose calls go through the ledger."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from actors.rehearsal.own_system import OwnSystem
from actors.storage.folder import Folder
from jobs.evaluate import main
from tests.modules import Write, write  # noqa: F401  a fixture

CALLS = """
from pathlib import Path
from longform.protocols import Written

class Notes:
    version = 1

    def __init__(self, file, fails=""):
        self.file, self.fails = Path(file), fails

    def _note(self, what):
        with self.file.open("a") as file:
            file.write(what + "\\n")

    def rank(self, query, documents):
        self._note("rank " + query.query_id)
        return [len(document.text) for document in documents]

    def summarize(self, query, documents, n_requested):
        self._note("summarize " + query.query_id)
        if self.fails and self.fails in query.query_id:
            raise IndexError("nothing there")
        return Written(f"- {documents[0].text[:60]} [{documents[0].number}]", cost_usd=0.01)
"""


def config(folder: Path, retriever: dict[str, Any], summarizer: dict[str, Any]) -> str:
    content = {
        "name": "own",
        "seed": 1,
        "retrievers": {"mine": retriever},
        "summarizers": {"mine": summarizer},
        "judges": {"offline": {"kind": "offline", "calibration": "people"}},
        "systems": [{"retriever": "mine", "budget_tokens": 1000, "summarizer": "mine"}],
        "resamples": 100,
    }
    path = folder / "own.yaml"
    path.write_text(json.dumps(content))
    return str(path)


def ends(config: str, bench: str, run: Path, *more: str) -> int:
    return main([config, "--bench", bench, "--out", str(run), "--workers", "0", *more])


def of_http(url: str, **more: Any) -> dict[str, Any]:
    return {"kind": "http", "url": url, "model": "own-system-1", "attempts": 3, **more}


def rows(run: Path, table: str) -> list[dict[str, Any]]:
    return Folder(str(run)).read(table).to_pylist()


def test_a_server_ranks_and_writes_and_is_asked_once_for_each_query(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with OwnSystem() as system:
        named = config(tmp_path, of_http(system.url), of_http(system.url))
        assert ends(named, bench, tmp_path / "run", "--plan") == 0
        planned = capsys.readouterr().out
        n_queries = len(Folder(bench).read("queries"))
        assert not system.asked
        assert "state it with its `cost_usd_per_call`" in planned
        assert "--prices" not in planned
        assert re.search(rf"retrieve mine +own-system-1 +{n_queries} ", planned), planned
        assert re.search(rf"summarize mine +own-system-1 +{n_queries} ", planned), planned
        assert ends(named, bench, tmp_path / "run") == 0
        assert set(system.asked.values()) == {1}
        assert len(system.asked) == 2 * n_queries
        assert ends(named, bench, tmp_path / "again") == 0  # another run, the same ledger
        assert len(system.asked) == sum(system.asked.values()) == 2 * n_queries

    written = rows(tmp_path / "run", "summaries")
    assert {row["model"] for row in written} == {"own-system-1"}
    assert {row["cost_usd"] for row in written} == {0.001}
    assert all(re.search(r"\[\d+\]$", row["text"].splitlines()[0]) for row in written)
    ranked = [row for row in rows(tmp_path / "run", "rankings") if row["rank"] < 2]
    assert all(row["score"] is not None and row["failure"] is None for row in ranked)


def test_what_passes_is_tried_again_and_what_does_not_is_a_row_with_its_reason(bench: str, tmp_path: Path) -> None:
    faults = {"http_500": 0.15, "garbage": 0.1, "http_429": 0.1, "huge": 0.02}
    bad = {"out_of_range": 0.2, "refuses": 0.2, **faults}
    with OwnSystem(faults) as good, OwnSystem(bad) as worse:
        named = config(tmp_path, of_http(good.url, attempts=8), of_http(worse.url, attempts=8))
        assert ends(named, bench, tmp_path / "run") in (0, 3)

    assert not any(row["failure"] for row in rows(tmp_path / "run", "rankings"))
    failures = {row["failure"] for row in rows(tmp_path / "run", "summaries")} - {None}
    assert "refused" in failures
    assert any(re.fullmatch(r"bad_answer: bullet 1 cites '9999', .*", failure) for failure in failures)


@pytest.mark.parametrize("fault", ["wrong_scores", "unknown_document"])
def test_a_ranking_that_cannot_be_had_is_a_row_with_its_reason(bench: str, tmp_path: Path, fault: str) -> None:
    with OwnSystem({fault: 1.0}) as system, OwnSystem() as writer:
        assert ends(config(tmp_path, of_http(system.url), of_http(writer.url)), bench, tmp_path / "run") == 3
    ranked = rows(tmp_path / "run", "rankings")
    assert all(row["failure"].startswith("bad_answer: ") and row["score"] is None for row in ranked)
    assert {row["failure"] for row in rows(tmp_path / "run", "summaries")} == {"no_documents"}
    n = len(ranked)
    cause = f"Retriever mine ranked nothing for {n} queries (bad_answer {n}; the first: bad_answer: "
    assert cause in (tmp_path / "run" / "report" / "report.md").read_text().replace("\\", "")


def test_calls_and_dollars_are_bounded(bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with OwnSystem() as system:
        named = config(tmp_path, of_http(system.url), of_http(system.url))
        assert ends(named, bench, tmp_path / "run", "--max-cost", "1") == 2
        assert "cost_usd_per_call" in capsys.readouterr().err
        assert ends(named, bench, tmp_path / "run", "--max-calls", "3") == 4
        assert sum(system.asked.values()) == 3
    with OwnSystem(cost_usd=0.3) as system:
        priced = of_http(system.url, cost_usd_per_call=0.5)
        assert ends(config(tmp_path, priced, priced), bench, tmp_path / "dear", "--max-cost", "0.6") == 4


def test_a_class_goes_through_the_ledger_and_fails_alone(
    bench: str,
    tmp_path: Path,
    write: Write,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("noting", CALLS)
    query = min(row["query_id"] for row in rows(Path(bench), "queries"))
    calls = {"attempts": 2, "cost_usd_per_call": 0.02}
    mine = {"kind": "python", "class": "noting:Notes", "calls": calls}
    notes = tmp_path / "notes"
    named = config(
        tmp_path,
        {**mine, "options": {"file": str(notes)}},
        {**mine, "options": {"file": str(notes), "fails": query}},
    )
    assert ends(named, bench, tmp_path / "run", "--max-cost", "5") in (0, 3)

    why = "raised: summarize raised IndexError: nothing there (noting.py, line 22)"
    assert f"The first failure of summarizer mine: {why}.\n" in capsys.readouterr().out
    done = notes.read_text().splitlines()
    n_queries = len(rows(Path(bench), "queries"))
    assert len([line for line in done if line.startswith("rank")]) == n_queries
    assert len([line for line in done if line.startswith("summarize")]) == n_queries + 1  # tried twice
    written = {row["query_id"]: row for row in rows(tmp_path / "run", "summaries")}
    assert written[query]["failure"] == why
    assert {row["cost_usd"] for key, row in written.items() if key != query} == {0.01}

    assert ends(named, bench, tmp_path / "again") in (0, 3)
    later = notes.read_text().splitlines()[len(done) :]
    assert later == [f"summarize {query}"] * 2


def test_a_chat_model_of_provider_http_is_refused(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = {"kind": "chat", "chat": {"provider": "http", "model": "m", "base_url": "http://127.0.0.1:1/"}}
    assert ends(config(tmp_path, {"kind": "oracle"}, chat), bench, tmp_path / "run") == 2
    assert "configured without `chat`" in capsys.readouterr().err
