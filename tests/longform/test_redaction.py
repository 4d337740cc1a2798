"""A secret that somebody else's text repeats is taken out of it, in the forms that programs give to text."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.chat.call import ChatReply, TokenLogprobs
from longform.redaction import MARK, Redaction

KEY = 'sk-a/key+that"must-not-be-seen-4711'
REDACTION = Redaction([KEY, "another-secret"])


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(KEY, id="as it is"),
        pytest.param(json.dumps(KEY), id="JSON"),
        pytest.param(json.dumps(KEY).replace("/", "\\/"), id="JSON with a stroke escaped"),
        pytest.param("".join(f"\\u{ord(character):04X}" for character in KEY), id="JSON with all escaped"),
        pytest.param(quote(KEY), id="URL"),
        pytest.param(quote(KEY, safe=""), id="URL parameter"),
        pytest.param(b64encode(KEY.encode()).decode(), id="base64"),
        pytest.param(b64encode(f"user:{KEY}".encode()).decode(), id="basic authentication"),
        pytest.param(urlsafe_b64encode(f"me:{KEY}!".encode()).decode(), id="base64 for URLs"),
        pytest.param(KEY.encode().hex(), id="hexadecimal"),
    ],
)
def test_every_form_of_a_secret_is_taken_out(form: str) -> None:
    said = REDACTION.text(f"Your key {form} is fine; another-secret, too.")
    assert MARK in said
    assert form not in said
    assert "another" not in said
    assert said.endswith("is fine; [REDACTED], too.")


@given(before=st.binary(max_size=7), after=st.binary(max_size=7))
def test_base64_hides_no_secret_wherever_it_stands(before: bytes, after: bytes) -> None:
    assert MARK in REDACTION.text(b64encode(before + KEY.encode() + after).decode())


def test_a_short_secret_shreds_no_text() -> None:
    assert Redaction(["", "key", "EMPTY"]).text("The key is EMPTY.") == "The key is EMPTY."


def test_a_reply_loses_the_secret_everywhere_and_nothing_else() -> None:
    tokens = ("Yes", " sk-a/key+", 'that"must', "-not-be-seen-4711", " ok")
    logprobs = tuple(TokenLogprobs(token, -0.5, ((token, -0.5), (KEY, -3.0))) for token in tokens)
    reply = ChatReply(text=f"Yes {KEY} ok", failure=None, finish_reason=KEY, model=f"m {KEY}", logprobs=logprobs)
    found = REDACTION.reply(reply)
    assert (found.text, found.finish_reason, found.model) == (f"Yes {MARK} ok", MARK, f"m {MARK}")
    assert found.logprobs is not None
    assert [token.token for token in found.logprobs] == ["Yes", MARK, MARK, MARK, " ok"]
    assert found.logprobs[0].top == (("Yes", -0.5), (MARK, -3.0))
    assert "must" not in repr(found)


def test_what_holds_no_secret_stays_as_it_is() -> None:
    reply = ChatReply(text="Yes", failure=None, model="m", logprobs=(TokenLogprobs("Yes", -0.5, (("No", -1.0),)),))
    assert REDACTION.reply(reply) == Redaction([]).reply(reply) == reply


def test_json_values_are_redacted_to_their_last_string() -> None:
    value = {"results": [{"reply": f"a {KEY}", KEY: 1.5}], "n": 3, "none": None}
    assert REDACTION.value(value) == {"results": [{"reply": f"a {MARK}", MARK: 1.5}], "n": 3, "none": None}
