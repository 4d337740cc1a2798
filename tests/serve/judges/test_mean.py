"""Means of served judges: as the jobs take them, from what the members answer by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.judges.opening import make_judge
from longform.errors import UsageError
from longform.judges.cards import describe, shipped_card
from serve.deployments import load_engine
from serve.http.app import Backends, ServedJudge
from serve.judges.items import judge_item
from serve.judges.workers import NO_CARD_OF_MEAN, item_type, load_judge, mean_verdicts
from serve.settings import ServedKind, Settings, parse_settings
from tests.serve.served import client, local_app

CHAT = {"provider": "scripted", "model": "scripted", "script": "obedient", "max_tokens": 100}
OFFLINE = {"task": "coverage", "judge": {"kind": "offline", "calibration": "people"}}
CHAT_COVERAGE = {"task": "coverage", "judge": {"kind": "chat", "chat": CHAT}}
MEAN = {"task": "coverage", "judge": {"kind": "mean", "of": ["offline", "chat"]}}
SUPPORT = {"task": "support", "judge": {"kind": "offline"}}
JUDGES = {"offline": OFFLINE, "chat": CHAT_COVERAGE, "both": MEAN}
ITEMS = [
    {"bullets": ["The tram opens in June.", "Shops complain."], "insights": ["The tram opens in June.", "Swans nest."]},
    {"bullets": [], "insights": ["The tram opens in June."]},
]


def settings(ledger: Path, **judges: Any) -> Settings:
    return parse_settings({"judges": JUDGES | judges, "ledger": str(ledger)})


async def answers(served: Settings, *names: str) -> dict[str, Any]:
    """
    Return the answers of each judge, or of each of *names*, about the items, from replicas that
    have just started.
    """
    wanted = names or tuple(JUDGES)
    backends = {
        name: ServedJudge(load_engine(served, "judges", name), item_type(name, served.judges)) for name in wanted
    }
    async with client(local_app(Backends(judges=backends))) as asked:
        bodies = {name: await asked.post("/v1/judge", json={"judge": name, "items": ITEMS}) for name in wanted}
    assert {body.status_code for body in bodies.values()} == {200}, [body.text for body in bodies.values()]
    return {name: body.json() for name, body in bodies.items()}


async def test_a_mean_is_that_of_what_its_members_answer(tmp_path: Path) -> None:
    found = await answers(settings(tmp_path))
    for offline, chat, both in zip(*(found[name]["results"] for name in JUDGES), strict=True):
        for one, other, mean in zip(*(result["verdicts"] for result in (offline, chat, both)), strict=True):
            number = {"full": 1.0, "partial": 0.5, "none": 0.0}[other["answer"]]
            assert mean["probability"] == pytest.approx((one["probability"] + number) / 2, abs=1e-6)
            assert json.loads(mean["reply"]) == {"offline": one["probability"], "chat": number}
    first, second = found["both"]["results"][0]["verdicts"]
    assert (first["answer"], first["linked_bullet"]) == ("full", 0)
    assert (second["answer"], second["linked_bullet"]) == ("none", None)
    assert (found["both"]["card"], found["both"]["card_reason"]) == (None, NO_CARD_OF_MEAN)
    members = sum(found[name]["usage"]["prompt_tokens"] for name in ("offline", "chat"))
    assert found["both"]["usage"]["prompt_tokens"] == members


def test_a_mean_has_the_card_that_is_named_for_it_and_no_other_one(tmp_path: Path) -> None:
    """The card of a member is refused, and one of another mean of the same members."""
    other = {"task": "coverage", "judge": {"kind": "offline", "calibration": "gpt-4o"}}
    own = {"kind": "mean", "of": ["a", "b"]}
    card = tmp_path / "card.json"

    def loaded(judge: dict[str, Any], **more: Any) -> Any:
        entries = {"a": OFFLINE, "b": other, "both": {"task": "coverage", "judge": judge, **more}}
        return load_judge("both", parse_settings({"judges": entries}).judges, threads=1).about

    assert loaded(own).card_reason == NO_CARD_OF_MEAN
    made: Any = shipped_card("offline-people")
    member = {"backend": "offline", "prompt_version": made["judged_by"]["prompt_version"]}
    of = [member | {"model": name} for name in ("offline-people", "offline-gpt-4o")]
    figures = made | {"judged_by": {"backend": "mean", "cuts": [0.25, 0.75], "of": of}}
    card.write_text(json.dumps(figures))
    assert loaded(own, card=str(card)).card == describe(figures)
    with pytest.raises(UsageError, match=r"cuts 0\.25, not 0\.3"):
        loaded(own | {"cuts": [0.3, 0.75]}, card=str(card))
    card.write_text(json.dumps(made))
    with pytest.raises(UsageError, match="backend 'offline', not 'mean'"):
        loaded(own, card=str(card))


async def test_a_mean_is_from_the_ledger_where_all_calls_of_its_members_are(tmp_path: Path) -> None:
    """The local member computes its share again; where nothing was asked, nothing is in the ledger."""
    found = [await answers(settings(ledger), "both") for ledger in (tmp_path / "a", tmp_path / "a", tmp_path / "b")]
    first, again, elsewhere = ([one["verdicts"] for one in of["both"]["results"]] for of in found)
    marks = [[{verdict["from_ledger"] for verdict in item} for item in of] for of in (first, again, elsewhere)]
    assert marks == [[{False}, {False}], [{True}, {False}], [{False}, {False}]]
    assert [of["both"]["from_ledger"] for of in found] == [False, True, False], "the second item had nothing to ask"
    assert [verdict["probability"] for verdict in first[0]] == [verdict["probability"] for verdict in again[0]]


async def test_a_member_without_an_answer_leaves_no_mean(tmp_path: Path) -> None:
    broken = {"task": "coverage", "judge": {"kind": "chat", "chat": CHAT | {"context_window": 150}}}
    found = await answers(settings(tmp_path, chat=broken))
    first, _ = found["both"]["results"][0]["verdicts"]
    assert (first["answer"], first["probability"]) == (None, None)
    assert first["failure"].startswith("chat: context_exceeds_window")


def test_sentences_are_supported_above_the_threshold() -> None:
    served = {"a": SUPPORT, "b": SUPPORT, "m": {"task": "support", "judge": {"kind": "mean", "of": ["a", "b"]}}}
    entries = parse_settings({"judges": served}).judges
    judges = {name: entry.judge for name, entry in entries.items() if isinstance(entry, ServedKind)}
    mean = make_judge("m", judges)
    members = {
        "a": [_support("supported", 0.9), _support("unsupported", 0.2), _support(None, None)],
        "b": [_support("supported", None), _support("unsupported", None), _support("supported", 0.8)],
    }
    found = mean_verdicts(mean, members)
    assert [(one["answer"], one["probability"], one["failure"]) for one in found] == [
        ("supported", 0.95, None),
        ("unsupported", 0.1, None),
        (None, None, "a: no_verdict_line"),
    ]


def _support(answer: str | None, probability: float | None) -> dict[str, Any]:
    failure = None if answer else "no_verdict_line"
    return {"answer": answer, "probability": probability, "failure": failure, "chunk_index": None}


def test_items_are_those_that_every_member_can_read(tmp_path: Path) -> None:
    assert item_type("both", settings(tmp_path).judges) is judge_item("coverage", weighs_words=True)


@pytest.mark.parametrize(
    ("judges", "said"),
    [
        pytest.param({"chat": SUPPORT}, r"found \['chat'\]", id="another-task"),
        pytest.param(
            {"offline": MEAN | {"judge": {"kind": "mean", "of": ["chat", "both"]}}}, "both", id="mean-of-mean"
        ),
        pytest.param(
            {"both": {"task": "coverage", "judge": {"kind": "mean", "of": ["chat", "x"]}}}, "'x'", id="unknown"
        ),
    ],
)
def test_a_mean_of_what_it_cannot_be_of_is_refused(tmp_path: Path, judges: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        settings(tmp_path, **judges)
