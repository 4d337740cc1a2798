"""Settings of a chat model: what is part of its identity, and what may not stand in a request's body."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from longform.keys import content_key
from longform.settings.chat import ChatSettings


def test_the_identity_of_older_configurations_is_what_it_was() -> None:
    """Stored summaries and verdicts have it in their keys."""
    found = ChatSettings(model="m").identity
    assert set(found) == {
        "provider", "model", "base_url", "context_window", "max_tokens", "temperature", "json_schema", "script"
    }  # fmt: skip
    assert content_key(found) == "6a628db3327e7cbcb5b2"


@pytest.mark.parametrize(
    "setting", [{"top_p": 0.9}, {"seed": 0}, {"reasoning_effort": "low"}, {"extra_body": {"top_k": 1}}]
)
def test_what_decides_a_text_is_part_of_the_identity(setting: dict[str, Any]) -> None:
    found = ChatSettings(model="m", **setting).identity
    assert found == ChatSettings(model="m").identity | setting


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"temperature": 1}, "temperature: expected beside `extra_body`"),
        ({"stream": True}, "stream: decides how a reply is read"),
        ({"Authorization": "x"}, "Authorization seems to hold a secret"),
        ({"headers": {"X-Api-Key": "x"}}, "headers.X-Api-Key seems to hold a secret"),
        ({"auth": [{"access_token": "x"}]}, "auth.access_token seems to hold a secret"),
        ({"note": "Bearer 123"}, "note seems to hold a secret"),
    ],
)
def test_a_body_holds_no_secret_and_nothing_twice(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ChatSettings(model="m", extra_body=fields)


def test_names_that_only_sound_like_secrets_are_taken() -> None:
    fields = {"min_tokens": 3, "stop_token_ids": [1], "skip_special_tokens": True, "key_points": "a"}
    assert ChatSettings(model="m", extra_body=fields).extra_body == fields


@pytest.mark.parametrize(
    "setting", [{"top_p": 0}, {"top_p": 1.1}, {"seed": -1}, {"reasoning_effort": ""}, {"extra_body": [1]}]
)
def test_values_out_of_range_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(setting))):
        ChatSettings(model="m", **setting)
