import asyncio
import json
import sys
from pathlib import Path

import pytest

from actors.chat.llama_cpp_client import LlamaChat
from longform.chat.call import ChatRequest, Message, Usage
from longform.chat.completions import read_completed
from longform.errors import UsageError
from longform.settings.chat import ChatSettings

SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "enum": ["yes", "no"]}}, "required": ["a"]}


def local(path: str, **settings: object) -> ChatSettings:
    return ChatSettings.model_validate({"provider": "llama_cpp", "model": path} | settings)


def request(text: str, **asked: object) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), **{"max_tokens": 60, "temperature": 0.0} | asked)  # type: ignore[arg-type]


def test_without_its_package_the_message_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(UsageError, match="pip install xllamacpp"):
        LlamaChat(local(str(tmp_path)))


def test_a_missing_file_is_named() -> None:
    pytest.importorskip("xllamacpp")
    with pytest.raises(UsageError, match=r"'nowhere\.gguf': expected the path of a GGUF file"):
        LlamaChat(local("nowhere.gguf"))


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (
            {"code": 400, "message": "request (9031 tokens) exceeds the available context size", "n_ctx": 8192},
            "context_exceeds_window",
        ),
        ({"code": 500, "message": "out of memory"}, "http_500"),
        ({"message": "no code"}, "provider_error"),
    ],
)
def test_an_error_in_place_of_a_completion_is_a_failure(error: dict[str, object], failure: str) -> None:
    assert read_completed({"error": error}).failure == failure


def test_a_completion_is_read_as_a_server_s_is() -> None:
    reply = read_completed({"choices": [{"message": {"content": "hi"}}], "usage": {"prompt_tokens": 3}})
    assert (reply.text, reply.usage) == ("hi", Usage(input_tokens=3))


@pytest.mark.slow
def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    (tmp_path / "bad.gguf").write_text("nothing")
    with pytest.raises(UsageError, match=r"bad\.gguf.*cannot load it"):
        LlamaChat(local(str(tmp_path / "bad.gguf")))


@pytest.mark.slow
async def test_a_local_model_answers_while_the_event_loop_is_free(small_model: str) -> None:
    chat = LlamaChat(local(small_model, context_window=2048, json_schema=True))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.001)
            turns += 1

    counting = asyncio.create_task(count())
    answered, too_long = await asyncio.gather(
        chat.complete(request("Is a cat an animal?", json_schema=SCHEMA, top_logprobs=2)),
        chat.complete(request("word " * 3000)),
    )
    counting.cancel()
    await chat.close()
    assert turns > 10
    assert json.loads(answered.text or "")["a"] in ("yes", "no")
    assert answered.model == Path(small_model).name
    assert answered.usage.output_tokens == len(answered.logprobs or ())
    assert too_long.failure == "context_exceeds_window"


@pytest.mark.slow
async def test_the_deadline_of_a_call_does_not_count_the_ones_before_it(small_model: str) -> None:
    """The first one is given up after its deadline and computes on; the next has all of its own."""
    chat = LlamaChat(local(small_model, context_window=2048, timeout_s=60))
    await chat.complete(request("hello", max_tokens=1))
    chat.settings = local(small_model, timeout_s=0.01)
    given_up = await chat.complete(request("Tell me a long story.", max_tokens=40))
    chat.settings = local(small_model, timeout_s=600)
    after = await chat.complete(request("hello", max_tokens=1))
    await chat.close()
    assert (given_up.failure, after.failure) == ("timeout", "length")
