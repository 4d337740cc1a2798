"""Whatever a provider sends, a row is a reply or a reason: bodies of any kind through all that reads them."""

from __future__ import annotations

import json
from itertools import product
from math import inf, isfinite, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.chat.call import ChatReply, ChatRequest, Message
from longform.chat.completions import read_completion
from longform.chat.first_word import yes_probability
from longform.chat.prices import Price, TokenEstimates, cost_usd
from longform.judges.kind import Group
from longform.judges.kinds import KINDS
from longform.summaries.methods import summary_text
from longform.synthesis.asking import Reply, read_reply
from longform.synthesis.written.replies import FORMS
from tests.any_values import ANY_TEXT
from tests.completion import completion

REQUEST = ChatRequest(messages=(Message("user", "hello"),), max_tokens=10)
PRICE = Price(input=1.0, output=1.0, cached_input=1.0, reasoning=1.0)

_WORDS = st.sampled_from(
    ["yes", "No", " no.", "coverage", "FULL_COVERAGE", "bullet_id", "insights", "text", "\\ud800", "\ud800"]
)
_SCALARS = st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats() | _WORDS | st.text(max_size=5)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3), max_leaves=8
)
_TEXTS = ANY_TEXT | _WORDS | _VALUES.map(json.dumps) | _VALUES.map(lambda v: f"```json\n{json.dumps(v)}```")
_LOGPROBS = st.floats() | st.sampled_from([1000.0, 0.0, 1e-9, -1.0, inf, -inf, nan]) | st.none()
_ALTERNATIVES = st.fixed_dictionaries({"token": _WORDS, "logprob": _LOGPROBS})
_TOKENS = st.fixed_dictionaries(
    {"token": _WORDS, "logprob": _LOGPROBS, "top_logprobs": st.lists(_ALTERNATIVES, max_size=3)}
)
_BODIES = st.builds(
    lambda content, tokens, usage, model, reason: (
        completion(message={"content": content}, logprobs={"content": tokens}, finish_reason=reason)
        | {"usage": usage, "model": model}
    ),
    content=_TEXTS,
    tokens=st.lists(_TOKENS, max_size=3) | _VALUES,
    usage=st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), _SCALARS) | _VALUES,
    model=st.none() | ANY_TEXT,
    reason=st.none() | ANY_TEXT | st.just("stop"),
)


def check(reply: ChatReply) -> None:
    """Hand a reply to everything that reads replies."""
    assert (reply.text is None) != (reply.failure is None)
    assert all(text is None or text.encode() for text in (reply.failure, reply.finish_reason, reply.text))
    assert reply.model is None or reply.model.encode() is not None
    TokenEstimates().learn(REQUEST, reply.usage)
    assert isfinite(cost_usd(reply.usage, PRICE) or 0.0)
    json.dumps(reply.logprobs, allow_nan=False)
    probability = yes_probability(reply.logprobs)
    assert probability is None or 0 <= probability <= 1
    for form in FORMS.values():
        read = read_reply(Reply(reply.text, reply.failure, "call"), form)
        assert (read.answer is None) != (read.reason is None)
    if reply.text is not None:
        for kind, fidelity in product(KINDS.values(), ("ours", "release")):
            verdict = kind.read(reply.text, reply.logprobs, Group("s", ("a", "b", "c"), ()), fidelity)
            assert (verdict.answer is None) != (verdict.failure is None)
            assert verdict.linked_unit is None or verdict.linked_unit in range(3)
            assert verdict.probability is None or 0 <= verdict.probability <= 1
        summary_text(reply.text)


@given(_BODIES)
def test_a_completion_of_any_content_is_a_reply_or_a_reason(body: dict[str, Any]) -> None:
    check(read_completion(json.dumps(body).encode()))


@given(st.binary(max_size=50) | _VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_reply_or_a_reason(body: bytes) -> None:
    check(read_completion(body))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"text":' * 100_000, '{"coverage": ' + "9" * 5_000, "\\" * 1000])
def test_a_text_that_strains_a_parser_is_a_reason(text: str) -> None:
    check(read_completion(json.dumps(completion(message={"content": text})).encode()))


@pytest.mark.parametrize("logprob", [1000.0, 0.5, inf, nan, None, "often"])
def test_log_probabilities_that_are_none_leave_the_reply(logprob: Any) -> None:
    token = {"token": "Yes", "logprob": logprob, "top_logprobs": [{"token": "No", "logprob": -1.0}]}
    reply = read_completion(json.dumps(completion(logprobs={"content": [token]})).encode())
    assert (reply.text, reply.failure, reply.logprobs) == ("hi there", None, None)


def test_log_probabilities_are_bounded_where_they_are_read() -> None:
    token = {"token": "Yes", "logprob": 1e-9, "top_logprobs": [{"token": "No", "logprob": -inf}]}
    reply = read_completion(json.dumps(completion(logprobs={"content": [token]})).encode())
    assert reply.logprobs is not None
    assert (reply.logprobs[0].logprob, reply.logprobs[0].top) == (0.0, (("No", -9999.0),))
    assert yes_probability(reply.logprobs) == 1.0


@pytest.mark.parametrize("logprob", [1000.0, inf, nan])
def test_a_stored_value_that_is_no_log_probability_gives_none(logprob: float) -> None:
    """Ledgers of before hold them."""
    token = {"token": "Yes", "logprob": -0.1, "top_logprobs": []}
    (read,) = read_completion(json.dumps(completion(logprobs={"content": [token]})).encode()).logprobs or ()
    assert yes_probability([read]) == 1.0
    assert yes_probability([read._replace(logprob=logprob)]) is None


def test_a_body_of_100_megabytes_is_no_reply() -> None:
    body = json.dumps(completion(message={"content": "x" * 20 * 2**20})).encode()
    reply = read_completion(body)
    assert (reply.text, reply.failure) == (None, "reply_too_large")


def test_a_count_that_makes_no_sense_is_unknown() -> None:
    """A governor would hold all calls back for it, and a sum of such overflows."""
    body = completion() | {"usage": {"prompt_tokens": 10**12, "completion_tokens": 4}}
    usage = read_completion(json.dumps(body).encode()).usage
    assert usage == (None, None, 4, None)
