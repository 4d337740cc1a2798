"""The matrix executor before a real server that keeps one prefix a slot: each shared text is read about once."""

from __future__ import annotations

import random
import re
from pathlib import Path

import aiohttp
import pytest

from actors.chat.matrix_executor import MatrixExecutor, group_of
from actors.chat.model import CallContext
from actors.chat.opening import Asking, open_pool
from actors.judges.chat import ChatJudge
from longform.chat.call import ChatRequest, Message
from longform.judges.kind import Group
from longform.judges.kinds import KINDS
from longform.settings.chat import ChatSettings
from longform.settings.judges import ChatJudgeSettings
from tests.soak import ONLY_IN_SOAK

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_ray")]
N_DOCUMENTS, N_SENTENCES = 4, 5
WORDS = "river budget council bridge winter market teacher engine harvest signal letter garden doctor planet".split()


def document(number: int) -> str:
    drawn = random.Random(number)
    return f"Document {number}. " + " ".join(drawn.choice(WORDS) for _ in range(150))


def ask(number: int, sentence: int) -> ChatRequest:
    text = f"{document(number)}\n\nIs this said above? The {WORDS[sentence]} is closed. Answer Yes or No."
    return ChatRequest(messages=(Message("user", text),), max_tokens=2, temperature=0.0, repeat=0)


async def counted(server: str, name: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(f"{server.removesuffix('/v1')}/metrics") as reply:
        found = re.search(rf"^llamacpp:{name} (\d+)", await reply.text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


async def tokens(server: str, request: ChatRequest) -> tuple[int, ...]:
    """The prompt of *request* as the server reads it."""
    root = server.removesuffix("/v1")
    messages = [{"role": message.role, "content": message.text} for message in request.messages]
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{root}/apply-template", json={"messages": messages}) as reply:
            prompt = (await reply.json())["prompt"]
        async with session.post(f"{root}/tokenize", json={"content": prompt, "parse_special": True}) as reply:
            return tuple((await reply.json())["tokens"])


def least_tokens(prompts: list[tuple[int, ...]]) -> int:
    """Tokens that must be read where no beginning is ever read twice."""
    return len({prompt[:end] for prompt in prompts for end in range(1, len(prompt) + 1)})


@ONLY_IN_SOAK
async def test_each_document_is_read_about_once(llama_server: str, tmp_path: Path) -> None:
    """At most 1.15 times the least prompt tokens by the server's own count; rows in random order take far more."""
    settings = ChatSettings(
        model="smollm2", base_url=llama_server, prefix_cache="slot", concurrency=1, timeout_s=300, temperature=0.0
    )
    pool = open_pool(settings, CallContext(job="grouped", stage="test", ledger=str(tmp_path / "grouped")))
    cells = [[ask(number, sentence) for sentence in range(N_SENTENCES)] for number in range(N_DOCUMENTS)]

    before = await counted(llama_server, "prompt_tokens_total")
    groups = [group_of(str(number), row) for number, row in enumerate(cells)]
    replies = await MatrixExecutor(pool, settings).replies(groups)
    grouped = await counted(llama_server, "prompt_tokens_total") - before
    await pool.close()

    assert all(reply.failure in (None, "length") for row in replies for reply in row)
    least = least_tokens([await tokens(llama_server, request) for row in cells for request in row])
    assert grouped <= 1.15 * least

    other = settings.model_copy(update={"max_tokens": 3})  # the same prompts, none from the ledger
    pool = open_pool(other, CallContext(job="shuffled", stage="test", ledger=str(tmp_path / "shuffled")))
    shuffled = [request for row in cells for request in row]
    random.Random(1).shuffle(shuffled)
    before = await counted(llama_server, "prompt_tokens_total")
    for request in shuffled:
        await pool.complete(request)
    in_random_order = await counted(llama_server, "prompt_tokens_total") - before
    await pool.close()
    print(f"least {least}, grouped {grouped} ({grouped / least:.2f}), random order {in_random_order}")
    assert in_random_order > 1.5 * grouped


async def test_a_judge_of_key_points_has_each_response_read_about_once(llama_server: str, tmp_path: Path) -> None:
    """The shipped prompt shows the response first; a reply of two tokens is cut, which is all that is wanted here."""
    chat = ChatSettings(
        model="smollm2", base_url=llama_server, prefix_cache="slot", concurrency=1, timeout_s=300, temperature=0.0,
        max_tokens=2,
    )  # fmt: skip
    settings = ChatJudgeSettings(kind="chat", task="key_point", chat=chat)
    pool = open_pool(chat, CallContext(job="judged", stage="test", ledger=str(tmp_path / "judged")))
    judge = ChatJudge(KINDS["key_point"], "small", settings, Asking(chat=pool))
    points = tuple(f"The {one} of the {other} was closed." for one in WORDS[:2] for other in WORDS[4:8])
    groups = [Group(str(number), (document(number),), points) for number in range(2)]

    before = await counted(llama_server, "prompt_tokens_total")
    await judge.ask(groups)
    read = await counted(llama_server, "prompt_tokens_total") - before
    await pool.close()

    least = least_tokens([await tokens(llama_server, request) for request in next(judge.plan(groups)).values()])
    assert read <= 1.15 * least
