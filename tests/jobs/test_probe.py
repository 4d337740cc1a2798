import json
from typing import Any

import pytest

from actors.chat.openai_client import OpenAIChat
from actors.chat.probe import Finding, probe
from actors.rehearsal.fake_provider import FakeProvider
from jobs.probe import main, outcome
from longform.rehearsal.settings import FakeSettings
from longform.settings.chat import ChatSettings

YES, NO = Finding(accepted=True), Finding(accepted=False)


async def probed(model: str = "m", **settings: Any) -> tuple[ChatSettings, dict[str, Finding]]:
    async with FakeProvider(FakeSettings(**{"delay_s": 0.0} | settings)) as fake:
        patience_s = 0.5 if "hang" in settings.get("faults", {}) else 60.0
        asked = ChatSettings(model=model, base_url=fake.url, timeout_s=patience_s)
        chat = OpenAIChat(asked)
        found = await probe(chat)
        await chat.close()
    return asked, found


async def test_what_is_taken_and_heeded_is_accepted() -> None:
    _, found = await probed()
    reasoning = Finding(None, "taken, but no reasoning was counted")
    assert found == {
        "max_completion_tokens": NO,
        "temperature": YES,
        "top_p": YES,
        "seed": YES,
        "json_schema": YES,
        "logprobs": YES,
        "reasoning_effort": reasoning,
    }


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("seed", "seed"),
        ("response_format", "json_schema"),
        ("logprobs", "logprobs"),
        ("reasoning_effort", "reasoning_effort"),
    ],
)
async def test_what_the_provider_answers_400_to_is_refused(sent: str, name: str) -> None:
    _, found = await probed(refused_parameters=(sent,))
    assert {key for key, finding in found.items() if finding == NO} == {name, "max_completion_tokens"}


async def test_a_model_of_another_name_for_its_limit_is_found_out() -> None:
    """Known models too: nothing is held back for what the table says."""
    _, found = await probed("o3", refused_parameters=("max_tokens", "temperature"))
    assert (found["max_completion_tokens"], found["temperature"], found["logprobs"]) == (YES, NO, YES)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"key": "sk-1"}, "http_401"),
        ({"faults": {"http_503": 1.0}}, "http_503"),
        ({"faults": {"hang": 1.0}}, "timeout"),
        ({"refused_parameters": ("messages",)}, "http_400"),
    ],
)
async def test_what_goes_wrong_otherwise_leaves_all_unknown(settings: dict[str, Any], reason: str) -> None:
    """An outage read as "no" would switch off what the model can do."""
    asked, found = await probed(**settings)
    assert set(found.values()) == {Finding(None, reason, answered=False)}
    assert outcome(asked, found).exit_code == 1
    assert "json_schema" not in outcome(asked, found).document["configuration"]


async def test_an_answer_that_shows_nothing_is_no_failure_and_a_missing_one_is() -> None:
    asked, found = await probed()
    assert outcome(asked, found).exit_code == 0
    assert outcome(asked, found | {"logprobs": Finding(None, "timeout", answered=False)}).exit_code == 3


async def test_the_report_sets_findings_beside_the_table() -> None:
    asked, found = await probed("gpt-4o", refused_parameters=("temperature", "reasoning_effort"))
    said = outcome(asked, found)
    rows = {row["parameter"]: (row["probed"], row["table"]) for row in said.document["parameters"]}
    assert rows["temperature"] == (False, True)
    assert rows["logprobs"] == (True, True)
    assert "temperature            no       yes\n" in said.words
    assert "  json_schema: true" in said.words
    assert said.exit_code == 0


def test_the_verb_prints_json_and_names_what_it_cannot_ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    assert main(["m", "--base-url", f"http://127.0.0.1:{unused_tcp_port}/v1", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert {row["reason"] for row in document["parameters"]} == {"connection"}
    monkeypatch.delenv("NO_KEY", raising=False)
    assert main(["m", "--api-key-env", "NO_KEY"]) == 2
    assert "NO_KEY" in capsys.readouterr().err
