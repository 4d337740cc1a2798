"""Plans over chat models: through the fake provider, and what failing calls do to them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from actors.chat.model import ChatModel
from actors.chat.openai_client import OpenAIChat
from actors.rehearsal.fake_provider import FakeProvider
from actors.synthesis.models import SynthesisModels
from actors.synthesis.scripted import VerifierFaults, scripted_faults
from actors.synthesis.scripted_writer import WriterFaults
from longform.chat.call import Capabilities, ChatReply, ChatRequest, failed
from longform.errors import LongformError, UsageError
from longform.rehearsal.settings import FakeSettings
from longform.settings.chat import ChatSettings
from longform.synthesis.asking import Log
from longform.synthesis.written.insights import OutlineJob
from longform.synthesis.written.outline import write_outline
from longform.synthesis.written.settings import ModelSynthesis
from tests.longform.synthesis.synthesizing import CAPS, NEWS, SIZES, TALK, Scripted

WRITER = "scripted-writer:seed=2,duplicates=0.2,invalid_json=0.1,refusals=0.2"
VERIFIER = "scripted-verifier:seed=2,errors=0.05"


def config(url: str | None = None) -> ModelSynthesis:
    return ModelSynthesis(
        name="n",
        seed=1,
        topics=(NEWS,),
        sizes=SIZES,
        caps=CAPS,
        writer=ChatSettings(model=WRITER, base_url=url),
        verifier=ChatSettings(model=VERIFIER, base_url=url),
    )


class Same:
    """Replies alike to everything; keeps the requests."""

    def __init__(self, reply: ChatReply, *, json_schema: bool = False) -> None:
        self.reply, self.requests = reply, list[ChatRequest]()
        self.accepted = Capabilities(json_schema=json_schema)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return self.reply

    async def close(self) -> None:
        """Nothing is held."""


async def test_the_scripted_models_say_the_same_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals, too, arrive as what they are; so what tests find without a server holds with one."""
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-secret")
    job = OutlineJob(topic=TALK, sizes=SIZES, caps=CAPS)
    here, there = Log(), Log()
    expected = Scripted(WRITER, VERIFIER).run(write_outline(job, here))
    opened: list[ChatModel] = []

    def open_model(settings: ChatSettings) -> ChatModel:
        opened.append(OpenAIChat(settings))
        return opened[-1]

    async with FakeProvider(FakeSettings(delay_s=0.0)) as fake:
        models = SynthesisModels(config(fake.url), open_model)
        found = await models.carry_out(write_outline(job, there))
        for model in opened:
            await model.close()
    assert found == expected
    assert [attempt._replace(call_id=None) for attempt in here.attempts] == [
        attempt._replace(call_id=None) for attempt in there.attempts
    ]
    assert "refusal" in {attempt.reason for attempt in there.attempts}


async def carried_out(open_model: Callable[[ChatSettings], ChatModel]) -> Log:
    log = Log()
    models = SynthesisModels(config(), open_model)
    await models.carry_out(write_outline(OutlineJob(topic=NEWS, sizes=SIZES, caps=CAPS), log))
    return log


@pytest.mark.parametrize(
    "failure",
    ["http_503", "timeout", "http_401", "http_404", "insufficient_quota", "context_exceeds_window: 9 + 1 > 5"],
)
async def test_a_call_that_failed_whatever_was_asked_is_no_attempt_but_an_error(failure: str) -> None:
    """An overloaded server or a wrong key must not decide what a benchmark holds."""
    with pytest.raises(LongformError, match=rf"{failure.partition(':')[0]}.*the same command goes on"):
        await carried_out(lambda _: Same(failed(failure)))


@pytest.mark.parametrize("failure", ["content_filter", "refusal", "length", "empty_reply", "http_400"])
async def test_a_final_failure_is_a_rejected_attempt(failure: str) -> None:
    log = await carried_out(lambda _: Same(failed(failure)))
    verdicts = ["rejected"] * (CAPS.subtopics - 1) + ["exhausted"]
    assert [(attempt.verdict, attempt.reason) for attempt in log.attempts] == [(one, failure) for one in verdicts]


async def test_a_model_that_takes_schemas_is_given_them_and_another_is_not() -> None:
    for takes in (True, False):
        model = Same(failed("refusal"), json_schema=takes)
        await carried_out(lambda _, model=model: model)
        assert {request.json_schema is not None for request in model.requests} == {takes}


async def test_a_model_in_two_roles_is_opened_once() -> None:
    opened: list[str] = []

    def open_model(settings: ChatSettings) -> ChatModel:
        opened.append(settings.model)
        return Same(failed("refusal"))

    await carried_out(open_model)
    assert opened == [WRITER, VERIFIER]


def test_the_name_of_a_model_says_how_it_errs() -> None:
    assert scripted_faults("scripted-writer:seed=3,leaks=0.5") == WriterFaults(seed=3, leaks=0.5)
    assert scripted_faults("scripted-verifier") == VerifierFaults()
    assert scripted_faults("gpt-4o") is None
    for wrong in ("scripted-writer:errors=0.1", "scripted-verifier:errors=much", "scripted-verifier:errors"):
        with pytest.raises(UsageError, match="expected options of"):
            scripted_faults(wrong)


async def test_another_seed_makes_other_calls_and_the_temperature_is_the_plans() -> None:
    found = {}
    for seed in (1, 2):
        model = Same(failed("refusal"))
        models = SynthesisModels(config().model_copy(update={"seed": seed}), lambda _, model=model: model)
        await models.carry_out(write_outline(OutlineJob(topic=TALK, sizes=SIZES, caps=CAPS), Log()))
        found[seed] = [(request.repeat, request.temperature) for request in model.requests]
    assert found == {seed: [(seed, None)] + [(seed, 1.0)] * (CAPS.subtopics - 1) for seed in (1, 2)}
