"""The served models give what the jobs' models give."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.judges.lexical import LexicalJudge
from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from actors.retrieval.reranker import CrossEncoderModel
from longform.errors import UsageError
from longform.judges.cards import describe, shipped_card
from longform.judges.kind import Group
from longform.judges.kinds.support import SUPPORT
from longform.judges.replies import served_verdict
from serve.deployments import load_worker
from serve.engine import Engine
from serve.judges.items import NO_CARD, judge_item
from serve.judges.workers import item_type
from serve.settings import Batching, Settings, parse_settings
from tests.actors.local_models.tiny_checkpoints import save_bert
from tests.scores import ONE_STEP
from tests.serve.served import LengthItem

DOCUMENT = "The bank raised its rate on Monday. Shops were closed. The mayor spoke of 12 new schools."
SENTENCES = ["The bank raised its rate.", "The mayor closed 3 schools.", " "]


def settings_of(kind: str, entry: dict[str, Any]) -> Settings:
    return parse_settings({kind: {"m": entry}})


def loaded(kind: str, entry: dict[str, Any]) -> Any:
    return load_worker(settings_of(kind, entry), kind, "m")


def test_embeddings_are_the_encoders() -> None:
    worker = loaded("embeddings", {"model": MINILM})
    texts = ["one text", "another one", "word " * 400]
    work = worker.run(texts)
    encoder = Encoder(MINILM, threads=1)
    for one, vector in zip(work, encoder.embed(texts), strict=True):
        assert one.content == pytest.approx(vector, abs=1e-5)
    assert [one.truncated for one in work] == [False, False, True]
    assert work[2].tokens == worker.about.window == encoder.window
    assert worker.about.dimensions == 384


def test_cosines_are_of_the_encoders_vectors() -> None:
    worker = loaded("rerankers", {"kind": "cosine", "model": MINILM})
    first, second = worker.run([("the same", "the same"), ("a bank", "raised its rate")])
    assert first.content == pytest.approx(1.0, abs=1e-5)
    vectors = Encoder(MINILM, threads=1).embed(["a bank", "raised its rate"])
    assert second.content == pytest.approx(float(vectors[0] @ vectors[1]), abs=1e-5)
    assert worker.about.score_kind == "cosine"


def test_logits_are_the_rerankers(tmp_path: Path, save_cross_encoder: Callable[..., str]) -> None:
    folder = save_cross_encoder(tmp_path / "model", n_labels=1)
    worker = loaded("rerankers", {"kind": "cross_encoder", "model": folder, "scores": "probability"})
    pairs = [("bank rate", "fed"), ("bank", "rate " * 100), ("fed", "rate")]
    work = worker.run(pairs)
    reranker = CrossEncoderModel(folder, threads=1)
    for one, (query, text) in zip(work, pairs, strict=True):
        assert one.content == pytest.approx(reranker.score(query, [text])[0], abs=ONE_STEP)
    assert [one.truncated for one in work] == [False, True, False]
    assert worker.about.window == 64


def test_support_is_the_offline_judges_cell_by_cell() -> None:
    worker = loaded("judges", {"task": "support", "judge": {"kind": "offline"}})
    units = worker.split({"document": DOCUMENT, "sentences": SENTENCES})
    found = [one.content[0] for one in worker.run([*units, (SENTENCES[0], DOCUMENT)])][: len(units)]
    (expected,) = LexicalJudge(threads=1).judge([Group("d", (DOCUMENT,), tuple(SENTENCES))])
    assert found == [served_verdict(SUPPORT, verdict) for verdict in expected]
    assert found[0]["answer"] == "supported"
    assert found[2]["failure"] == "sentence_without_text"
    assert worker.about.card == describe(shipped_card("support-lexical"))


def test_a_checkpoint_judges_and_has_no_card(tmp_path: Path) -> None:
    folder = save_bert(tmp_path / "checkpoint", n_labels=2)
    worker = loaded("judges", {"task": "support", "judge": {"kind": "checkpoint", "model": folder}})
    (work,) = worker.run([("the bank cut a rate", "the fed cut a rate")])
    assert 0 < work.content[0]["probability"] < 1
    assert (worker.about.card, worker.about.card_reason) == (None, NO_CARD)


async def test_a_judge_is_made_and_asked_where_a_loop_runs() -> None:
    """A replica is made inside its event loop."""
    worker = loaded("judges", {"task": "support", "judge": {"kind": "offline"}})
    found = await Engine(worker, Batching()).ask([{"document": DOCUMENT, "sentences": SENTENCES}])
    assert [answer.content[0]["answer"] for answer in found.answers[0]] == ["supported", "unsupported", None]


def test_another_judges_card_is_refused(tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    shipped = shipped_card("support-lexical") or {}
    another = {"judged_by": shipped["judged_by"] | {"prompt_version": "another"}}
    card.write_text(json.dumps(shipped | another))
    with pytest.raises(UsageError, match="found the card of another judge: prompt_version 'another', not "):
        loaded("judges", {"task": "support", "judge": {"kind": "offline"}, "card": str(card)})
    card.write_text("[1]")
    with pytest.raises(UsageError, match="expected a file that `longform calibrate` wrote"):
        loaded("judges", {"task": "support", "judge": {"kind": "offline"}, "card": str(card)})
    with pytest.raises(UsageError, match=r"gone\.json.*expected a file that `longform calibrate` wrote"):
        loaded("judges", {"task": "support", "judge": {"kind": "offline"}, "card": str(tmp_path / "gone.json")})


@pytest.mark.parametrize("features", ["words", "vectors"])
def test_coverage_links_the_bullet_that_says_it(features: str) -> None:
    judge = {"kind": "offline", "calibration": "people", "features": features}
    worker = loaded("judges", {"task": "coverage", "judge": judge})
    item = judge_item("coverage", weighs_words=True)(
        bullets=("Shops were closed.", "The bank raised its rate on Monday."),
        insights=("On Monday the bank raised its rate.", "Whales sing at night.", "?"),
    )
    (work,) = worker.run(worker.split(item.model_dump()))
    full, none, empty = work.content
    assert (full["answer"], full["linked_bullet"]) == ("full", 1)
    assert (none["answer"], none["linked_bullet"]) == ("none", None)
    assert (empty["answer"], empty["failure"]) == (None, "target_without_words")
    assert worker.about.card.startswith("marks as people do")


def test_models_do_not_share_answers() -> None:
    """A cache that mixed them would hand out scores of two judges as one."""
    judges = ({"calibration": "people"}, {"calibration": "gpt-4o"}, {"calibration": "people", "features": "vectors"})
    versions = {
        loaded("judges", {"task": "coverage", "judge": {"kind": "offline"} | judge}).about.version for judge in judges
    }
    assert len(versions) == 3


async def test_a_judge_of_a_new_kind_is_one_entry_of_the_configuration() -> None:
    entry = {"make": "tests.serve.served:LengthJudge", "settings": {"strictness": 2.0}}
    settings = settings_of("judges", entry)
    assert item_type("m", settings.judges) is LengthItem
    engine = Engine(load_worker(settings, "judges", "m"), settings.judges["m"].batching)
    found = await engine.ask([{"text": "one two three", "most_words": 2}, {"text": "a b c d e", "most_words": 2}])
    assert [answers[0].content[0]["answer"] for answers in found.answers] == ["short", "long"]
    assert found.about.task == "length"


async def test_a_reranker_of_one_s_own_is_one_entry_of_the_configuration() -> None:
    entry = {"make": "tests.serve.gated:GatedReranker", "settings": {"gate": __file__}}
    engine = Engine(loaded("rerankers", entry), Batching())
    (answers,) = (await engine.ask([{"query": "a bank", "texts": ["a fox", "the bank"]}])).answers
    assert answers[1].content > answers[0].content
    with pytest.raises(UsageError, match=r"'m': cannot import no\.such\.module:Reranker"):
        loaded("rerankers", {"make": "no.such.module:Reranker"})


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        pytest.param({"make": "no.such.module:Judge"}, "cannot import", id="no-module"),
        pytest.param({"make": "tests.serve.served:NoJudge"}, "cannot import", id="no-attribute"),
        pytest.param({"make": "tests.serve.served:LengthJudge", "settings": {"x": 1}}, "these settings", id="settings"),
        pytest.param({"make": "tests.serve.served:no_judge"}, "a judge with item", id="no-judge"),
    ],
)
def test_what_is_no_judge_is_refused(entry: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        loaded("judges", entry)


@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        ("embeddings", {"model": "/no/such/model"}),
        ("rerankers", {"kind": "cross_encoder", "model": "/no/such/model", "scores": "logit"}),
        ("judges", {"task": "support", "judge": {"kind": "checkpoint", "model": "/no/such/model"}}),
    ],
)
def test_weights_that_are_not_there_are_named(kind: str, entry: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="/no/such/model"):
        loaded(kind, entry)
