"""SummHay's haystacks at the paper's size: roles, price without a call, and the same made small by scripted models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.storage.benchmark import Benchmark
from jobs.synthesis.model_synthesis import read_config
from jobs.synthesize_models import main
from longform.records import gold_documents

ROLES = {
    "news": {"planner": "gpt-4o", "writer": "gpt-4o", "verifier": "gpt-4o"},
    "conversation": {"planner": "gpt-4o", "writer": "gpt-3.5-turbo", "verifier": "gpt-4o"},
}
SMALL = {"subtopics": 3, "insights": 3, "least_insights": 2, "documents": 10, "words": 60, "insights_per_document": 6}
SCRIPTED = "{provider: scripted, script: synthesis, model: '%s', max_tokens: 1000}"
WRITER, VERIFIER = SCRIPTED % "scripted-writer:seed=1", SCRIPTED % "scripted-verifier:seed=1"


@pytest.mark.parametrize("domain", ROLES)
def test_sizes_caps_and_roles_are_the_paper_s(domain: str) -> None:
    settings = read_config(f"summhay_paper_{domain}")

    sizes, caps = settings.sizes, settings.caps
    assert (sizes.documents, sizes.words, sizes.subtopics, sizes.least_documents) == (100, 750, 10, 5)
    assert 5 <= sizes.least_insights <= sizes.insights <= 10
    assert (caps.edits, caps.chapters) == (5, 10)
    assert [topic.domain for topic in settings.topics] == [domain]
    for role, model in ROLES[domain].items():
        assert settings.chats[role].model.startswith(model), role


@pytest.mark.parametrize(("domain", "documents_written"), [("news", 100), ("conversation", 400)])
def test_a_plan_tells_the_price_and_needs_no_key(
    domain: str,
    documents_written: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each chapter of a conversation is a call: 100 documents of 4 insights."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    assert main([f"summhay_paper_{domain}", "--out", str(tmp_path / "bench"), "--plan", "--json"]) == 0

    planned = json.loads(capsys.readouterr().out)
    lowest = {row["stage"]: row for row in planned["lowest"]["stages"]}
    assert lowest["synthesize write writer"]["calls"] == documents_written
    assert planned["highest"]["total"]["usd"]["high"] > planned["lowest"]["total"]["usd"]["high"] > 0
    assert not (tmp_path / "bench").exists()


@pytest.mark.parametrize("domain", ROLES)
def test_scripted_models_make_it_small(domain: str, tmp_path: Path) -> None:
    bench = str(tmp_path / "bench")
    models = [f"writer={WRITER}", f"planner={WRITER}", f"verifier={VERIFIER}", "sizes.subtopics_per_document=3"]
    changes = [*(f"sizes.{name}={value}" for name, value in SMALL.items()), *models]
    words = [word for change in changes for word in ("--set", change)]

    code = main(
        [f"summhay_paper_{domain}", "--out", bench, "--ledger", str(tmp_path / "ledger"), "--workers", "0", *words]
    )

    made = Benchmark(bench)
    assert code == 0
    assert {query.domain for query in made.queries.values()} == {domain}
    assert [len(made.documents(haystack)) for haystack in made.haystack_ids] == [10]
    assert min(map(len, gold_documents(made.qrels).values())) >= 5
