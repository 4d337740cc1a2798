"""Faults that are certain are told before the first call."""

from __future__ import annotations

from typing import Any

import pytest

from actors.chat.opening import check_chat, prompt_request
from longform.errors import UsageError
from longform.settings.chat import ChatSettings

KEY = "sk-secret-8d1f"


def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    for base_url in (None, "https://models.example/v1", "http://10.0.0.1/v1"):
        with pytest.raises(UsageError, match="environment variable MY_KEY"):
            check_chat(ChatSettings(model="m", base_url=base_url, api_key_env="MY_KEY"))


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:80"])
def test_a_server_on_this_machine_needs_no_key(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    check_chat(ChatSettings(model="m", base_url=f"http://{host}/v1", api_key_env="MY_KEY"))


@pytest.mark.parametrize(
    ("settings", "asked", "message"),
    [
        ({"model": "o3", "temperature": 0.0}, {}, "'o3' does not accept temperature"),
        ({"model": "o3"}, {"logprobs": True}, "does not accept logprobs"),
        ({"model": "gpt-4o", "reasoning_effort": "low"}, {}, "does not accept reasoning_effort"),
        ({"model": "gpt-5-mini", "top_p": 0.9}, {}, "'gpt-5-mini' does not accept top_p"),
        ({"model": "deepseek-reasoner", "temperature": 0.7}, {}, "does not accept temperature"),
        ({"model": "claude-3-opus-latest", "seed": 1}, {}, "does not accept seed"),
        (
            {"model": "a.gguf", "provider": "llama_cpp", "reasoning_effort": "low"},
            {},
            "does not accept reasoning_effort",
        ),
        ({"model": "m", "base_url": "serve://a/v1", "reasoning_effort": "low"}, {}, "does not accept reasoning_effort"),
        (
            {"model": "a.gguf", "provider": "llama_cpp", "extra_body": {"repetition_penalty": 1.1}},
            {},
            r"extra_body: llama\.cpp takes .*repeat_penalty.*, found \['repetition_penalty'\]",
        ),
        ({"model": "m", "base_url": "serve://a/v1", "extra_body": {"top_k": 1}}, {}, r"takes stop, found \['top_k'\]"),
        ({"model": "m", "extra_body": {"note": [f"is {KEY}"]}}, {}, "extra_body holds a secret of the environment"),
        ({"model": "gpt-4", "max_tokens": 9000}, {}, "max_tokens 9000 exceeds its window 8192"),
        ({"model": "m", "base_url": "serve://a/v1", "provider": "litellm"}, {}, "expected http:// or https://, found"),
        ({"model": "m", "script": "obedient"}, {}, "is for `provider: scripted`"),
        ({"model": "m", "provider": "scripted"}, {}, r"one of \['misbehaving', 'obedient', .*; found None"),
        ({"model": "m", "provider": "scripted", "script": "x"}, {}, "found 'x'"),
    ],
)
def test_what_is_known_to_fail_is_said_before_the_first_call(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], asked: dict[str, bool], message: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UsageError, match=message) as raised:
        check_chat(ChatSettings(**settings), **asked)
    assert KEY not in str(raised.value)


def test_settings_that_a_model_takes_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    check_chat(ChatSettings(model="gpt-5", reasoning_effort="high"))
    check_chat(ChatSettings(model="gpt-4o", temperature=0.7, top_p=0.9, seed=3))
    check_chat(ChatSettings(model="their-model", reasoning_effort="low", top_p=0.9, extra_body={"top_k": 20}))
    check_chat(ChatSettings(model="a.gguf", provider="llama_cpp", top_p=0.9, extra_body={"repeat_penalty": 1.1}))


def test_every_setting_that_decides_a_text_is_part_of_a_request() -> None:
    settings = ChatSettings(
        model="m", max_tokens=5, temperature=0.7, top_p=0.9, seed=3, reasoning_effort="low", extra_body={"top_k": 20}
    )
    found = prompt_request(settings, "hello", count_tokens=len)
    assert (found.max_tokens, found.temperature, found.top_p, found.seed) == (5, 0.7, 0.9, 3)
    assert (found.reasoning_effort, found.extra_body, found.input_tokens) == ("low", {"top_k": 20}, 5)
