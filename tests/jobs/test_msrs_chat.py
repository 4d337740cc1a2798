"""The arms of MSRS with a chat model: retrieved, right and no documents, by the shipped configurations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.configs import read_experiment
from jobs.evaluate import main
from jobs.ingest import main as ingest
from longform.errors import UsageError
from longform.rehearsal.settings import FakeSettings
from tests.results import cells_of

TOPICS = ("lighthouse", "orchard", "glacier")
ONLY = ["--set", "retrievers=[bm25,oracle,none]", "--workers", "0", "--no-vectors", "--json"]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two chapters a story, a question on each story."""
    source = tmp_path_factory.mktemp("source")
    chapters = [
        {
            "id": f"{topic}_{place}",
            "text": f"The {topic} was quiet that night. In part {place} the {topic} keeper left.",
        }
        for topic in TOPICS
        for place in range(2)
    ]
    asked = [
        {
            "query_id": topic,
            "query": f"What became of the {topic} keeper?",
            "gold_documents": [f"{topic}_0", f"{topic}_1"],
            "answer": [f"In part 1 the {topic} keeper left.", f"The {topic} was quiet, and the keeper left."],
        }
        for topic in TOPICS
    ]
    (source / "documents.jsonl").write_text(lines(chapters))
    (source / "queries.jsonl").write_text(lines(asked))
    url = str(tmp_path_factory.mktemp("bench"))
    assert ingest(["msrs", str(source), "--out", url]) == 0
    return url


def ended(config: str, bench: str, run: Path, chat: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    changes = [part for name in ("model", "judge", "reranker") for part in ("--set", f"{name}={chat}")]
    assert main([config, "--bench", bench, "--out", str(run), *ONLY, *changes]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.slow
@pytest.mark.parametrize("config", ["msrs_story_chat", "msrs_meet_chat"])
def test_all_arms_are_rows_of_one_table(
    config: str, bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = "{provider: scripted, model: gpt-4o, script: obedient}"
    found = ended(config, bench, tmp_path, chat, capsys)
    rouge = {cell["setting"].partition("/")[0]: cell["rouge_1"] for cell in cells_of(found)}
    assert rouge.keys() == {"bm25", "bm25+scored", "oracle", "oracle+best", "none"}
    assert rouge["oracle"] > rouge["none"] > 0
    assert min(rouge["bm25"], rouge["bm25+scored"], rouge["oracle+best"]) > rouge["none"]
    assert all(cell["n_judged"] and 20 <= cell["geval_x20"] <= 100 for cell in cells_of(found))
    assert all(cell["n_failed"] == 0 for cell in cells_of(found))
    asked = Folder(str(tmp_path)).read("summaries", columns=["retriever", "prompt_version"]).to_pylist()
    prompts = {row["retriever"]: row["prompt_version"].split("@")[0] for row in asked}
    assert prompts["none"] == "answer_from_memory"
    assert prompts["bm25"] == config.replace("msrs_", "summarize_").replace("meet_chat", "meeting").removesuffix(
        "_chat"
    )


@pytest.mark.slow
def test_a_server_is_asked_with_the_settings_of_the_paper(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake_process(FakeSettings(delay_s=0.0)) as url:
        chat = f"{{model: fake, base_url: '{url}', seed: 1}}"
        found = ended("msrs_story_chat", bench, tmp_path / "a", chat, capsys)
    assert [cell["n_failed"] for cell in cells_of(found)] == [0] * 5
    assert all(cell["n_judged"] for cell in cells_of(found))


def test_memory_is_refused_where_documents_are_retrieved() -> None:
    """Its answers would stand beside the recall of documents that it never saw."""
    with pytest.raises(UsageError, match=r"answers from memory with retriever 'bm25'.*expected .* of kind none"):
        read_experiment("msrs_meet_chat", ["summarizers.model.prompt=answer_from_memory"])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("summarizers.model.prompt_with.orakel=summarize_story", "prompt_with names 'orakel'"),
        ("summarizers.model.prompt_with={oracle: summarize_story}", "`collection` is for the prompt answer_from_m"),
    ],
)
def test_prompts_that_no_system_would_use_are_refused(change: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_experiment("msrs_story_chat", [change])
