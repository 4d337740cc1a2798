"""Groups of calls that share a text: the first goes alone, the rest when the text has been read."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.chat.matrix_executor import CallGroup, MatrixExecutor, group_of, growing
from longform.chat.call import Capabilities, ChatReply, ChatRequest, Message
from longform.settings.chat import ChatSettings

LONG = 5000.0


class Recording:
    """Answers each request with its text when told to; keeps what was asked, in order."""

    accepted = Capabilities()

    def __init__(self, *, from_ledger: frozenset[str] = frozenset()) -> None:
        self.asked: list[ChatRequest] = []
        self.alone: list[str] = []  # answered while nobody else had been asked
        self.open = 0
        self.most_open = 0
        self._from_ledger = from_ledger

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        for _ in range(3):
            await asyncio.sleep(0)
        if self.open == len(self.asked) == 1:
            self.alone.append(request.messages[-1].text)
        self.open -= 1
        text = request.messages[-1].text
        return ChatReply(text=text, failure=None, seconds=None if text in self._from_ledger else 0.1)

    async def close(self) -> None: ...

    @property
    def order(self) -> list[str]:
        return [request.messages[-1].text for request in self.asked]


def ask(text: str) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), max_tokens=5)


def group(key: str, *texts: str, tokens: float = LONG) -> CallGroup:
    return CallGroup(key, tokens, tuple(ask(text) for text in texts))


def executor(chat: Recording, **settings: object) -> MatrixExecutor:
    return MatrixExecutor(chat, ChatSettings.model_validate({"model": "m", "base_url": "http://127.0.0.1", **settings}))


async def test_replies_stand_in_the_place_of_their_requests() -> None:
    replies = await executor(Recording()).replies([group("a", "a1", "a2", "a3"), group("b"), group("c", "c1")])
    assert [[reply.text for reply in part] for part in replies] == [["a1", "a2", "a3"], [], ["c1"]]


async def test_first_of_a_group_goes_alone_and_the_rest_together() -> None:
    chat = Recording()
    await executor(chat).replies([group("a", *"1234")])
    assert chat.alone == ["1"]
    assert chat.most_open == 3


async def test_replies_from_the_ledger_warm_nothing() -> None:
    """The server never saw the text, so the first call that really leaves goes alone."""
    chat = Recording(from_ledger=frozenset("12"))
    await executor(chat).replies([group("a", *"123456")])
    assert chat.order[:3] == ["1", "2", "3"]
    assert chat.most_open == 3


async def test_a_text_too_short_to_be_kept_holds_nothing_back() -> None:
    chat = Recording()
    await executor(chat).replies([group("a", *"1234", tokens=200.0)])
    assert chat.most_open == 4


async def test_a_server_with_slots_gets_a_group_one_by_one_and_as_many_groups_as_slots() -> None:
    chat = Recording()
    await executor(chat, prefix_cache="slot", concurrency=2).replies(
        [group("a", "a1", "a2"), group("b", "b1", "b2"), group("c", "c1", "c2")]
    )
    assert chat.most_open == 2
    assert [text for text in chat.order if text[0] == "a"] == ["a1", "a2"]
    assert set(chat.order[:4]) == {"a1", "a2", "b1", "b2"}


async def test_calls_of_one_text_go_to_one_replica() -> None:
    chat = Recording()
    urls = ["http://127.0.0.1:1", "http://127.0.0.1:2"]
    await executor(chat, replicas=urls).replies(
        [group(str(key), *(f"{key}-{i}" for i in range(3))) for key in range(6)]
    )
    replicas = {key: {r.replica for r in chat.asked if r.messages[0].text.startswith(f"{key}-")} for key in range(6)}
    assert all(len(chosen) == 1 for chosen in replicas.values())
    assert len(set.union(*replicas.values())) == 2


@pytest.mark.parametrize("n", [1, 2, 5])
def test_shared_tokens_are_those_of_the_common_beginning(n: int) -> None:
    shared = "w" * 4000
    found = group_of("a", [ask(f"{shared}{'x' * 400}{place}") for place in range(n)])
    assert found.shared_tokens == pytest.approx(1100 if n > 1 else 1100.25)


def test_what_the_first_of_growing_prompts_leaves_is_what_the_next_takes() -> None:
    """Not the shortest, which is all that they have in common."""
    texts = ["w" * n for n in (12_000, 8_000, 400)]
    assert group_of("a", [ask(text) for text in texts]).shared_tokens == pytest.approx(2000)
    assert group_of("a", []).shared_tokens == 0


@given(st.lists(st.text("ab", max_size=12), max_size=8))
def test_growing_prompts_stand_together_behind_the_longest(texts: list[str]) -> None:
    groups = growing([ask(text) for text in texts])
    assert sorted(place for group in groups for place in group) == list(range(len(texts)))
    for group in groups:
        lengths = [len(texts[place]) for place in group]
        assert lengths == sorted(lengths, reverse=True)
        for place in group[1:]:
            half = -(-len(texts[place]) // 2)
            assert texts[group[0]].startswith(texts[place][:half])


def test_lengths_of_two_texts_are_two_groups() -> None:
    texts = ["aa", "bbbbbb", "aaaaaa", "bbbbx", "", "abbbbb"]
    assert growing([ask(text) for text in texts]) == [[1, 3, 4], [2, 0], [5]]


@pytest.mark.parametrize(("whole", "n_replicas"), [(True, 1), (False, 2)])
async def test_a_whole_group_is_never_divided(*, whole: bool, n_replicas: int) -> None:
    chat = Recording()
    urls = ["http://127.0.0.1:1", "http://127.0.0.1:2"]
    parts = group_of("a", [ask(str(item)) for item in range(20)], whole=whole)
    await executor(chat, replicas=urls).replies([parts])
    assert len({request.replica for request in chat.asked}) == n_replicas
