"""A judge of coverage that prompts a chat model, behind the application."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.chat.opening import Asking, load_prompt, open_chat
from actors.judges.chat import ChatJudge
from actors.ledger.ledger import Ledger
from actors.rehearsal.scripted_chat import SCRIPTS
from longform.chat.call import ChatReply, ChatRequest, Usage
from longform.errors import UsageError
from longform.judges.cards import shipped_card
from longform.judges.kind import Group
from longform.judges.kinds.coverage import COVERAGE
from longform.settings.judges import ChatJudgeSettings
from serve.deployments import load_engine
from serve.http.app import Backends, ServedJudge
from serve.judges.items import NO_CARD, judge_item
from serve.judges.workers import item_type
from serve.settings import Settings, parse_settings
from tests.serve.served import client, local_app

SCRIPTED = {"provider": "scripted", "model": "scripted", "script": "obedient", "max_tokens": 100}
BULLETS = ("- Shops complain about the noise. [2]", "- The tram opens in June. [1][2]")
INSIGHTS = ("The tram opens in June.", "Shops complain about the noise of it.", "Swans nest by the harbour.")
ITEM = {"bullets": BULLETS, "insights": INSIGHTS}


def settings(ledger: Path | None, card: Path | None = None, **chat: Any) -> Settings:
    judge = {"kind": "chat", "chat": SCRIPTED | chat}
    entry = {"task": "coverage", "judge": judge, "card": None if card is None else str(card)}
    return parse_settings({"judges": {"asked": entry}, "ledger": None if ledger is None else str(ledger)})


async def judged(ledger: Path, *items: Any, card: Path | None = None, **chat: Any) -> Any:
    """Return the answer of a replica that has just started."""
    served = settings(ledger, card, **chat)
    backend = ServedJudge(load_engine(served, "judges", "asked"), item_type("asked", served.judges))
    async with client(local_app(Backends(judges={"asked": backend}))) as asked:
        response = await asked.post("/v1/judge", json={"judge": "asked", "items": list(items)})
    assert response.status_code == 200, response.text
    return response.json()


async def test_the_served_verdicts_are_those_of_the_jobs_judge(tmp_path: Path) -> None:
    definition = ChatJudgeSettings.model_validate({"kind": "chat", "chat": SCRIPTED})
    judge = ChatJudge(COVERAGE, "local", definition, Asking(chat=open_chat(definition.chat)))
    (local,) = await judge.ask([Group("summary", BULLETS, INSIGHTS)])
    answer = await judged(tmp_path, ITEM)
    (served,) = answer["results"]
    names = ("answer", "linked_bullet", "failure", "reply", "call_id")
    assert [tuple(verdict[name] for name in names) for verdict in served["verdicts"]] == [
        (one.answer, one.linked_unit, one.failure, one.reply, one.call_id) for one in local
    ]
    assert [(v["answer"], v["linked_bullet"]) for v in served["verdicts"]] == [("full", 1), ("full", 0), ("none", None)]
    assert (answer["task"], answer["card"], answer["card_reason"]) == ("coverage", None, NO_CARD)
    assert (answer["score_kind"], answer["usage"]["estimated"]) == (None, False)


async def test_another_replica_finds_the_calls_in_the_ledger(tmp_path: Path) -> None:
    """Also where a new insight stands beside those that were judged: only that one is asked about."""
    first, again = await judged(tmp_path, ITEM), await judged(tmp_path, ITEM)
    assert (first["from_ledger"], again["from_ledger"], again["from_cache"]) == (False, True, True)
    said = [[v["reply"] for v in one["results"][0]["verdicts"]] for one in (first, again)]
    assert said[0] == said[1]
    mixed = await judged(tmp_path, ITEM | {"insights": [INSIGHTS[0], "A new bridge was built."]})
    assert [verdict["from_ledger"] for verdict in mixed["results"][0]["verdicts"]] == [True, False]
    totals = Ledger.existing(str(tmp_path)).totals()
    assert (totals.calls, totals.answered, totals.known_usd) == (4, 4, 0.0)


async def test_a_malformed_reply_is_no_answer_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def rambling(request: ChatRequest, model: str) -> ChatReply:
        return ChatReply(text="Well, in a way it is covered.", failure=None, finish_reason="stop", model=model)

    monkeypatch.setitem(SCRIPTS, "obedient", rambling)
    (found,) = (await judged(tmp_path, ITEM))["results"]
    assert {(v["answer"], v["probability"], v["linked_bullet"]) for v in found["verdicts"]} == {(None, None, None)}
    assert {v["failure"] for v in found["verdicts"]} == {"no_json_object"}
    assert {v["reply"] for v in found["verdicts"]} == {"Well, in a way it is covered."}


async def test_what_the_model_counted_is_the_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def counting(request: ChatRequest, model: str) -> ChatReply:
        text = '{"coverage": "NO_COVERAGE", "bullet_id": "NA"}'
        usage = Usage(input_tokens=50, cached_tokens=10, output_tokens=7)
        return ChatReply(text=text, failure=None, finish_reason="stop", model=model, usage=usage)

    monkeypatch.setitem(SCRIPTS, "obedient", counting)
    usage = (await judged(tmp_path, ITEM))["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (180, 21, 201)


async def test_a_reply_that_was_asked_for_again_counts_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the second reply cannot be read either; and a repeated request asks for neither again."""

    async def garbage_first(request: ChatRequest, model: str) -> ChatReply:
        readable = len(request.messages) > 1 and "Swans" not in request.messages[0].text
        text = '{"coverage": "NO_COVERAGE", "bullet_id": "NA"}' if readable else "Well, in a way."
        usage = Usage(input_tokens=100 if len(request.messages) > 1 else 50, output_tokens=7)
        return ChatReply(text=text, failure=None, finish_reason="stop", model=model, usage=usage)

    monkeypatch.setitem(SCRIPTS, "obedient", garbage_first)
    first, again = await judged(tmp_path, ITEM), await judged(tmp_path, ITEM)
    assert [verdict["answer"] for verdict in first["results"][0]["verdicts"]] == ["none", "none", None]
    for answer in (first, again):
        assert (answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"]) == (3 * 150, 6 * 7)
    assert (first["from_ledger"], again["from_ledger"]) == (False, True)
    assert (first["usage"]["cached_tokens"], again["usage"]["cached_tokens"]) == (0, 450)
    assert Ledger.existing(str(tmp_path)).totals().calls == 6


async def test_failures_of_a_model_that_misbehaves_are_reasons(tmp_path: Path) -> None:
    """Its calls fail, are cut or cannot be read, each in its way; none of it is a 5xx, and no row is lost."""
    items = [{"bullets": [f"The tram opens in June {number}."], "insights": INSIGHTS} for number in range(8)]
    answer = await judged(tmp_path, *items, script="misbehaving", attempts=1)
    verdicts = [verdict for result in answer["results"] for verdict in result["verdicts"]]
    assert len(verdicts) == 24
    assert all((verdict["answer"] is None) == (verdict["failure"] is not None) for verdict in verdicts)
    assert len({verdict["failure"] for verdict in verdicts}) > 2
    assert not any(verdict["from_ledger"] for verdict in verdicts)


async def test_bullets_that_say_nothing_cover_nothing_and_no_call_is_made(tmp_path: Path) -> None:
    (found,) = (await judged(tmp_path, {"bullets": [], "insights": INSIGHTS}))["results"]
    assert {(v["answer"], v["reply"]) for v in found["verdicts"]} == {("none", None)}
    assert Ledger.existing(str(tmp_path)).totals().calls == 0


async def test_what_nobody_was_asked_about_does_not_count_as_missing_in_the_ledger(tmp_path: Path) -> None:
    silent = {"bullets": [], "insights": INSIGHTS}
    first, again = await judged(tmp_path, ITEM, silent), await judged(tmp_path, ITEM, silent)
    assert [(of["from_cache"], of["from_ledger"]) for of in (first, again)] == [(False, False), (True, True)]
    assert not any(verdict["from_ledger"] for verdict in again["results"][1]["verdicts"])
    assert (await judged(tmp_path, silent))["from_ledger"] is False


async def test_the_card_that_is_named_comes_with_each_answer(tmp_path: Path) -> None:
    prompt = load_prompt("judge_coverage_3", None).version
    made_of = {"backend": "chat", "model": "scripted (script obedient)", "prompt_version": prompt}
    card = (shipped_card("released:gpt-4o") or {}) | {"judged_by": made_of, "note": "mine"}
    file = tmp_path / "card.json"
    file.write_text(json.dumps(card))
    answer = await judged(tmp_path, ITEM, card=file)
    assert answer["card"].endswith("; mine")
    assert answer["card_reason"] is None
    for change in ({"model": "gpt-4o"}, {"prompt_version": "judge_coverage_3@another"}):
        file.write_text(json.dumps(card | {"judged_by": made_of | change}))
        with pytest.raises(UsageError, match=f"found the card of another judge: {next(iter(change))} "):
            await judged(tmp_path, ITEM, card=file)


def test_a_model_that_costs_money_or_a_judge_without_a_ledger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"judges\.asked\..*what costs money is asked by a job, which has a budget"):
        settings(tmp_path, provider="openai", model="gpt-4o", script=None)
    with pytest.raises(UsageError, match=r"expected a `ledger` for the calls of \['asked'\]"):
        settings(None)


async def test_what_a_chat_judge_would_not_read_is_refused(tmp_path: Path) -> None:
    """Word weights are the offline judge's: ignored silently, they would be a wrong answer."""
    served = settings(tmp_path)
    assert item_type("asked", served.judges) is judge_item("coverage")
    offline = {"task": "coverage", "judge": {"kind": "offline", "calibration": "people"}}
    assert item_type("offline", parse_settings({"judges": {"offline": offline}}).judges) is judge_item(
        "coverage", weighs_words=True
    )
    with pytest.raises(ValueError, match="haystack_insights"):
        judge_item("coverage").model_validate(ITEM | {"haystack_insights": INSIGHTS})
