"""Costs of calls, in sums and as a table."""

from __future__ import annotations

import pytest

from actors.ledger.ledger import Ledger
from longform.chat.call import ChatReply, Usage
from longform.chat.ledger_rows import Receipt
from longform.schemas import CALLS
from tests.actors.ledger.ledgers import answered, intent, refused

pytest_plugins = ["tests.s3_server"]


@pytest.fixture
def mixed(ledger: Ledger) -> Ledger:
    """Two answered (one of unknown price), one failed, one refused, two open (one of unknown price)."""
    attempts = [intent(name, name, usd=0.5) for name in "abcde"] + [intent("f", "f", usd=None)]
    ledger.exchange(attempts, [])
    receipts = [answered("a", "a"), answered("b", "b", usd=None), refused("c", "c"), refused("d", "d", "http_429")]
    ledger.exchange([], receipts)
    return ledger


def test_totals_are_sums_over_attempts_and_count_what_is_not_known(mixed: Ledger) -> None:
    found = mixed.totals()

    assert (found.calls, found.answered, found.failed, found.refused, found.open) == (6, 2, 2, 1, 2)
    assert (found.input_tokens, found.cached_tokens) == (10 + 10, 30 + 30)
    assert (found.output_tokens, found.reasoning_tokens) == (5 + 5, 2 + 2)
    assert found.cached_share == 60 / (20 + 60)
    assert (found.known_usd, found.n_unknown_usd) == (0.25, 2)  # b and the failed c; d was refused
    assert (found.unsettled_usd, found.n_unsettled_unknown_usd) == (0.5, 1)
    assert found.answered_models == ("m-1",)


def test_what_no_attempt_states_is_unknown_and_not_zero(ledger: Ledger) -> None:
    assert ledger.totals().calls == 0
    assert ledger.totals().input_tokens is None

    stated = ChatReply(text="yes", failure=None, usage=Usage(input_tokens=10, output_tokens=1))
    ledger.exchange([], [Receipt("a", "c", stated)])
    assert ledger.totals().cached_share is None

    ledger.exchange([], [answered("b", "d")])
    assert ledger.totals().cached_share == 30 / (10 + 30)  # the first says nothing of its cache


def test_totals_by_something_add_up(mixed: Ledger) -> None:
    mixed.exchange([intent("z", "z")._replace(stage="summarize", model="n")], [])

    by_stage = mixed.totals_by("stage")
    assert {stage: totals.calls for stage, totals in by_stage.items()} == {"judge": 6, "summarize": 1}
    assert mixed.totals(stage="summarize") == by_stage["summarize"]
    assert {model: totals.open for model, totals in mixed.totals_by("model").items()} == {"m": 2, "n": 1}
    assert mixed.totals_by("job", jobs=["another"]) == {}
    assert sum(totals.calls for totals in mixed.totals_by("day").values()) == 7


def test_table_has_a_row_for_each_attempt_and_nulls_where_nothing_came(mixed: Ledger) -> None:
    tables = list(mixed.batches(rows=4))
    rows = {row["attempt_id"]: row for table in tables for row in table.to_pylist()}

    assert [table.num_rows for table in tables] == [4, 2]
    assert all(table.schema == CALLS for table in tables)
    assert rows["a"]["state"] == "answered"
    assert rows["a"]["answered_at"] >= rows["a"]["asked_at"]
    assert rows["c"]["failure"] == "timeout"
    assert (rows["e"]["state"], rows["e"]["answered_at"], rows["e"]["reserved_usd"]) == ("open", None, 0.5)


def test_table_can_be_read_while_others_write(mixed: Ledger) -> None:
    batches = mixed.batches(rows=2)
    next(batches)

    assert mixed.exchange([intent("new", "new")], []) == ["go"]
    assert sum(table.num_rows for table in batches) == 4
