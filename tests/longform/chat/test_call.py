from dataclasses import replace

import pytest

from longform.chat.call import (
    Capabilities,
    ChatReply,
    ChatRequest,
    Message,
    call_id,
    capabilities,
    known_capabilities,
    refusal_reason,
)
from longform.settings.chat import ChatSettings

REQUEST = ChatRequest(messages=(Message("user", "hello"),), max_tokens=10)


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o", 128_000),
        ("gpt-4o-mini-2024-07-18", 128_000),
        ("openai/gpt-4o", 128_000),
        ("GPT-4", 8_192),
        ("gpt-3.5-turbo-0125", 16_385),
        ("o3-mini", 200_000),
        ("claude-3-opus-20240229", 200_000),
        ("gemini-1.5-pro", 2_097_152),
    ],
)
def test_models_of_the_papers_and_today_are_known(model: str, window: int) -> None:
    assert known_capabilities(model).context_window == window


@pytest.mark.parametrize("model", ["", "my-gpt-4o", "gpt-4o-audio-preview", "gpt-40", "o5", "llama", "gpt-4-vision"])
def test_of_any_other_name_nothing_is_claimed(model: str) -> None:
    """A guess from a similar name would refuse what the model can do."""
    assert known_capabilities(model) == Capabilities()


def test_a_configuration_overrides_what_is_known() -> None:
    settings = ChatSettings(model="gpt-4o", context_window=500, json_schema=False)
    found = capabilities(settings)
    assert (found.context_window, found.json_schema, found.temperature) == (500, False, True)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"temperature": 0.0}, "unsupported_temperature"),
        ({"json_schema": {}}, "unsupported_json_schema"),
        ({"top_logprobs": 0}, "unsupported_logprobs"),
        ({"reasoning_effort": "low"}, "unsupported_reasoning_effort"),
        ({"top_p": 0.9}, "unsupported_top_p"),
        ({"seed": 0}, "unsupported_seed"),
    ],
)
def test_what_a_model_lacks_is_refused_and_what_is_unknown_is_not(asked: dict[str, object], reason: str) -> None:
    request = replace(REQUEST, **asked)
    nothing = Capabilities(
        temperature=False, top_p=False, seed=False, json_schema=False, logprobs=False, reasoning_effort=False
    )
    assert refusal_reason(request, nothing) == reason
    assert refusal_reason(request, Capabilities()) is None
    assert refusal_reason(REQUEST, nothing) is None


def test_input_and_output_together_must_fit_the_window() -> None:
    window = Capabilities(context_window=100)
    assert refusal_reason(replace(REQUEST, input_tokens=90), window) is None
    reason = refusal_reason(replace(REQUEST, input_tokens=91), window)
    assert reason == "context_exceeds_window: 91 input + 10 output tokens > 100"
    assert refusal_reason(replace(REQUEST, input_tokens=91), Capabilities()) is None


def test_a_call_id_follows_who_is_asked_and_what() -> None:
    settings = ChatSettings(model="m")
    ids = [
        call_id(settings, REQUEST),
        call_id(ChatSettings(model="n"), REQUEST),
        call_id(ChatSettings(model="m", base_url="http://127.0.0.1:1/v1"), REQUEST),
        call_id(settings, replace(REQUEST, messages=(Message("user", "hello "),))),
        call_id(settings, replace(REQUEST, messages=(Message("system", "hello"),))),
        call_id(settings, replace(REQUEST, max_tokens=11)),
        call_id(settings, replace(REQUEST, temperature=0.0)),
        call_id(settings, replace(REQUEST, json_schema={"type": "object"})),
        call_id(settings, replace(REQUEST, top_logprobs=0)),
        call_id(settings, replace(REQUEST, repeat=1)),
        call_id(settings, replace(REQUEST, top_p=0.9)),
        call_id(settings, replace(REQUEST, seed=0)),
        call_id(settings, replace(REQUEST, reasoning_effort="low")),
        call_id(settings, replace(REQUEST, extra_body={"top_k": 20})),
    ]
    assert len(set(ids)) == len(ids)


def test_a_call_without_newer_parameters_has_the_id_that_it_always_had() -> None:
    """Stored replies would be paid for again."""
    assert set(REQUEST.content) == {
        "messages", "max_tokens", "temperature", "json_schema", "top_logprobs", "reasoning_effort", "repeat"
    }  # fmt: skip
    assert call_id(ChatSettings(model="m"), REQUEST) == "19c852c5a52a9120a96a"


def test_a_call_id_does_not_follow_keys_limits_or_counts() -> None:
    """Otherwise a finished call would be paid again after a change that cannot change its reply."""
    slow = ChatSettings(model="m", api_key_env="OTHER_KEY", timeout_s=1, concurrency=2, context_window=10)
    assert call_id(slow, replace(REQUEST, input_tokens=7)) == call_id(ChatSettings(model="m"), REQUEST)


@pytest.mark.parametrize(("text", "failure"), [(None, None), ("a", "b")])
def test_a_reply_has_a_text_or_a_reason(text: str | None, failure: str | None) -> None:
    with pytest.raises(ValueError, match="a text or a failure"):
        ChatReply(text=text, failure=failure)
