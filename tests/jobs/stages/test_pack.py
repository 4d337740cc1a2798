"""Prompts with each document cut to its first tokens, and keys of contexts that older runs hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.local_models.tokenizer import TokenCounter
from jobs.command.calling import Calling
from jobs.evaluations.evaluation import Evaluation
from jobs.stages.cluster import Cluster
from jobs.stages.pack import Pack, Packed
from longform.settings.experiment import Experiment
from longform.settings.systems import RelevanceImportanceSettings

MOST = 40
CUT: dict[str, Any] = {
    "name": "cut",
    "seed": 1,
    "retrievers": {"full": {"kind": "full"}},
    "summarizers": {"offline": {"kind": "offline"}},
    "systems": [{"retriever": "full", "budget_tokens": [None, 100], "document_tokens": MOST, "summarizer": "offline"}],
}


def test_each_document_is_cut_to_its_first_tokens_and_that_is_told(tmp_path: Path, bench: str) -> None:
    evaluation = Evaluation(
        Experiment.model_validate(CUT), bench, str(tmp_path / "run"),
        cluster=Cluster(address=None, workers=0), calling=Calling("test", ledger=str(tmp_path / "ledger")), limit=1,
    )  # fmt: skip
    evaluation.through("summarize")
    run, counter = evaluation.run, TokenCounter(threads=1)
    contexts = {row["budget_tokens"]: row for row in run.read("contexts").to_pylist()}
    found = contexts[None]
    documents = {one.doc_id: one.text for one in evaluation.benchmark.documents(found["haystack_id"])}
    whole = [counter.count(documents[doc_id]) for doc_id in found["doc_ids"]]
    assert found["doc_ids"] == list(documents)
    assert found["doc_tokens"] == [min(n, MOST) for n in whole]
    assert found["n_cut"] == sum(n > MOST for n in whole) > 1
    assert found["cut_tokens"] == sum(whole) - found["n_tokens"]
    assert found["cut_doc_id"] is None
    for doc_id, n_chars, n_tokens in zip(found["doc_ids"], found["doc_chars"], found["doc_tokens"], strict=True):
        assert counter.count(documents[doc_id][:n_chars]) == n_tokens

    budgeted = contexts[100]
    assert budgeted["doc_tokens"] == [40, 40, 20]
    assert (budgeted["cut_doc_id"], budgeted["n_cut"]) == (budgeted["doc_ids"][2], 3)
    settings = {row["setting"] for row in run.read("summaries").to_pylist()}
    assert settings == {"full/all tokens/40 tokens a document", "full/100 tokens/40 tokens a document"}


@pytest.mark.parametrize(
    ("how", "key"),
    [
        ({"budget_tokens": 600}, "6ff13a03073701ab8a83"),
        ({"n_documents": 3}, "3359a5f36df617ad7d75"),
        ({"length_tokens": 4000}, "4f281e290f877a66d82b"),
        ({"order": "permuted", "permutation": 2}, "dfed0ce55ff43c59235e"),
    ],
)
def test_contexts_of_whole_documents_have_the_keys_they_always_had(how: dict[str, Any], key: str) -> None:
    importance = RelevanceImportanceSettings(kind="relevance")
    pack = Pack(run="r", bench="b", kinds=(), importance=importance, seed=1)
    plain: dict[str, Any] = dict.fromkeys(Packed._fields) | {"query_id": "q", "retriever": "bm25", "order": "given"}
    assert pack._work_id("r" * 20, Packed(**plain | how)) == key
    assert pack._work_id("r" * 20, Packed(**plain | how | {"document_tokens": 9})) != key
