"""Faults that are certain are told before the first call."""

from __future__ import annotations

from typing import Any

import pytest

from actors.chat.opening import check_chat
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
        ({"model": "gpt-4o"}, {"reasoning_effort": True}, "does not accept reasoning_effort"),
        ({"model": "gpt-4", "max_tokens": 9000}, {}, "max_tokens 9000 exceeds its window 8192"),
        ({"model": "m", "base_url": "localhost:8000"}, {}, "expected http:// or https:// or serve://"),
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
