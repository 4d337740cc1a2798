"""A stored reply comes back as it came."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.ledger.entry import LedgerEntry, Session, from_lines, to_lines
from actors.ledger.ledger import Ledger
from longform.chat.call import ChatReply, Signals, TokenLogprobs, Usage, failed
from longform.chat.ledger_rows import Receipt
from tests.actors.ledger.ledgers import answered, intent

pytest_plugins = ["tests.s3_server"]

_counts = st.none() | st.integers(0, 2**40)
_texts = st.text(st.characters(codec=None, exclude_categories=()))  # lone surrogates too
_logprobs = st.floats(allow_nan=False)
_tokens = st.builds(TokenLogprobs, _texts, _logprobs, st.lists(st.tuples(_texts, _logprobs), max_size=2).map(tuple))
_replies = st.builds(
    ChatReply,
    text=_texts,
    failure=st.none(),
    finish_reason=st.none() | st.just("stop"),
    model=st.none() | st.text(),
    usage=st.builds(Usage, _counts, _counts, _counts, _counts),
    cost_usd=st.none() | st.floats(0, 10),
    seconds=st.none() | st.floats(0, 10),
    logprobs=st.none() | st.lists(_tokens, max_size=3).map(tuple),
)


@given(reply=_replies)
def test_reply_comes_back_as_it_came(reply: ChatReply, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever a provider sends: half characters, zero bytes, infinite log probabilities."""
    ledger = Ledger(str(tmp_path_factory.mktemp("ledger")), job="j")
    ledger.exchange([intent("a")], [])
    ledger.exchange([], [Receipt("a", "c", reply)])
    found = ledger.finished(["c", "unknown"])
    ledger.close()

    assert found == {"c": replace(reply, seconds=None)}, "an unknown cost stays unknown, a known one is what was paid"


@given(reply=_replies | st.builds(failed, st.text()), deadline_s=st.floats(0, 1e6), usd=st.none() | st.floats(0, 1))
def test_entry_comes_back_from_its_lines(reply: ChatReply, deadline_s: float, usd: float | None) -> None:
    entry = LedgerEntry(
        "e",
        Session("h", 1, 2.5),
        "j",
        7,
        [Receipt("a", "c", reply)],
        ["x"],
        [intent("b", deadline_s=deadline_s, usd=usd)],
    )

    assert from_lines(to_lines(entry)) == entry


def test_what_a_reply_says_of_limits_is_not_kept(ledger: Ledger) -> None:
    """It spoke of another minute."""
    reply = ChatReply(text="yes", failure=None, signals=Signals(retry_after_s=3.0))
    ledger.exchange([], [Receipt("a", "c", reply)])

    assert ledger.finished(["c"])["c"].signals == Signals()


def test_count_that_no_table_holds_is_unknown(ledger: Ledger) -> None:
    """The rest of its batch must not be lost to one provider's odd number."""
    ledger.exchange([], [Receipt("a", "c", ChatReply(text="yes", failure=None, usage=Usage(10**30, 1, 2**63, 3)))])

    assert ledger.finished(["c"])["c"].usage == Usage(None, 1, None, 3)


def test_more_keys_than_a_query_takes_are_found(ledger: Ledger) -> None:
    ledger.exchange([], [answered(f"a{n}", f"c{n}", text=str(n)) for n in range(1203)])

    found = ledger.finished([f"c{n}" for n in range(0, 2000, 2)])
    assert {call: reply.text for call, reply in found.items()} == {f"c{n}": str(n) for n in range(0, 1203, 2)}
