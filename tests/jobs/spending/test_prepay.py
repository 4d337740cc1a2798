"""Chat stages of the main job whose calls go through a provider's batch API."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.ledger.ledger import Ledger
from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluations.evaluation import evaluate
from jobs.runs.begin import check_batches
from jobs.stages.cluster import Cluster
from longform.errors import UsageError
from longform.rehearsal.settings import FakeSettings
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from tests.made.demo import one_haystack
from tests.results import cells_of

PRICES = """
date: 2026-01-01
models:
  m: {input: 10, output: 100, batch_discount: 0.5}
"""


@pytest.fixture(scope="module")
def bench() -> str:
    return one_haystack()


@pytest.fixture(scope="module")
def fake() -> Iterator[str]:
    with fake_process(FakeSettings(delay_s=0.0, batch_failed_share=0.3)) as url:
        yield url


def experiment(base_url: str) -> Experiment:
    chat = {"model": "m", "base_url": base_url, "batch": True}
    return Experiment.model_validate(
        {
            "name": "batches",
            "seed": 1,
            "retrievers": {"oracle": {"kind": "oracle"}},
            "summarizers": {"fake": {"kind": "chat", "chat": chat}},
            "judges": {"fake": {"kind": "chat", "chat": chat}},
            "systems": [
                {
                    "retriever": "oracle",
                    "budget_tokens": 2000,
                    "n_documents": 3,
                    "method": ["plain", "hierarchical-once"],
                    "summarizer": "fake",
                }
            ],
            "resamples": 100,
        }
    )


def counters(base_url: str) -> dict[str, Any]:
    with urllib.request.urlopen(base_url.replace("/v1", "/counters")) as answer:
        return json.loads(answer.read())


def test_stages_find_every_reply_in_the_ledger_at_the_price_of_a_batch(bench: str, fake: str, tmp_path: Path) -> None:
    """Steps that read others go in a later round; a second run into another folder makes no batch and no call."""
    (tmp_path / "prices.yaml").write_text(PRICES)
    ledger = str(tmp_path / "ledger")

    def run(name: str) -> dict[str, Any]:
        calling = Calling("test", ledger=ledger, prices=str(tmp_path / "prices.yaml"))
        cluster = Cluster(address=None, workers=0)
        return evaluate(experiment(fake), bench, str(tmp_path / name), cluster=cluster, calling=calling)

    first = run("first")
    served = counters(fake)
    assert served["accepted"] == 0
    assert served["batch"]["failed"] > 0

    totals = Ledger.existing(ledger).totals()
    verdicts = Folder(str(tmp_path / "first")).read("verdicts")
    summaries = Folder(str(tmp_path / "first")).read("summaries")
    assert totals.answered == verdicts.num_rows + summaries.num_rows
    assert {row["step"] for row in summaries.to_pylist()} == {None, "document-1", "document-2", "document-3"}
    assert totals.calls == served["batch"]["items"]
    assert totals.known_usd == pytest.approx((totals.input_tokens * 5 + totals.output_tokens * 50) / 1e6)
    assert verdicts["failure"].null_count == verdicts.num_rows

    second = run("second")
    assert cells_of(second) == cells_of(first)
    assert counters(fake) == served


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        pytest.param({"provider": "litellm"}, "provider 'litellm'", id="another-provider"),
        pytest.param({"replicas": ("http://127.0.0.1:1", "http://127.0.0.1:2")}, "replicas", id="several-servers"),
    ],
)
def test_batches_of_a_model_without_them_are_refused(settings: dict[str, Any], found: str) -> None:
    check_batches([ChatSettings(model="m", **settings)])
    with pytest.raises(UsageError, match=found):
        check_batches([ChatSettings(model="m", batch=True, **settings)])
