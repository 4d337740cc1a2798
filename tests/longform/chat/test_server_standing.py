"""A command gives a server up on the first attempts of a dozen calls, or on nothing but refusals for long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longform.chat.call import ChatReply, Signals, failed
from longform.chat.server_standing import FIRST_CALLS, Server, Watch

SERVER = Server("http://host/v1", "m", "A_KEY", timeout_s=400, patience_s=300)
ANSWERED = ChatReply(text="yes", failure=None)
REFUSED = failed("http_429")


def heard(*replies: ChatReply, n_calls: int = FIRST_CALLS) -> Watch:
    """A watch that has heard each reply once for each of so many calls."""
    watch = Watch(SERVER)
    for reply in replies:
        for n in range(n_calls):
            watch.hear(0.0, str(n), reply)
    return watch


def reason(watch: Watch, now: float = 0.0, *, has_answered: bool = False) -> str:
    return watch.reason_to_end(now, has_answered=has_answered) or ""


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (
            failed("connection", "connection refused"),
            "http://host/v1 could not be reached: connection refused; 0 of 12",
        ),
        (failed("http_401"), "refuses the key in A_KEY (http_401); 0 of 12 calls of model 'm' succeeded"),
        (failed("http_404"), "does not know the path of base_url, or the model (http_404)"),
        (failed("insufficient_quota"), "the account of the key in A_KEY has no credit (insufficient_quota)"),
        (failed("timeout"), "gave no answer within 400 s"),
        (failed("bad_body"), "no completion; see base_url (bad_body)"),
        (failed("http_503"), "http://host/v1 fails (http_503)"),
    ],
)
def test_a_dozen_calls_without_a_success_give_a_server_up(reply: ChatReply, words: str) -> None:
    assert words in reason(heard(reply))
    assert reason(heard(reply, n_calls=FIRST_CALLS - 1)) == ""
    assert reason(heard(reply, reply, reply, n_calls=4)) == "", "attempts of the same calls prove no more"


@pytest.mark.parametrize("answer", [ANSWERED, failed("length"), failed("http_400"), failed("context_exceeds_window")])
def test_one_call_that_was_answered_keeps_the_server(answer: ChatReply) -> None:
    """Whatever the answer was, and whatever follows."""
    watch = heard(failed("connection"), n_calls=FIRST_CALLS - 1)
    watch.hear(0.0, "answered", answer)
    for n in range(100):
        watch.hear(0.0, f"later {n}", failed("http_401"))
    assert reason(watch) == ""


def test_calls_that_fail_one_by_one_prove_nothing_of_a_server_that_has_answered_other_commands() -> None:
    """The rows that a first command could not make may be all that a second one asks for."""
    assert reason(heard(failed("timeout")), has_answered=True) == ""
    assert "could not be reached" in reason(heard(failed("connection")), has_answered=True)


def test_an_earlier_keeper_of_the_command_counts() -> None:
    watch = Watch(SERVER, has_succeeded=True)
    for n in range(100):
        watch.hear(0.0, str(n), failed("connection"))
    assert reason(watch) == ""


def test_nothing_but_refusals_for_longer_than_the_patience_end_the_command() -> None:
    watch = heard(ANSWERED, n_calls=1)
    for second in range(0, 301, 10):
        watch.hear(float(second), "a", REFUSED)
    assert reason(watch, 300.0) == ""
    assert "http://host/v1 has refused every call of model 'm' for 5 minutes (a limit" in reason(watch, 301.0)
    assert "31 refusals, nothing let in" in reason(watch, 301.0)


@pytest.mark.parametrize(
    ("between", "ends"), [(ANSWERED, False), (failed("http_500"), False), (failed("timeout"), True)]
)
def test_a_call_that_was_let_in_ends_a_row_of_refusals(between: ChatReply, *, ends: bool) -> None:
    watch = Watch(SERVER)
    watch.hear(0.0, "a", REFUSED)
    watch.hear(250.0, "b", between)
    watch.hear(260.0, "a", REFUSED)
    assert bool(reason(watch, 400.0)) is ends


@pytest.mark.parametrize("failure", ["http_429", "http_503"])
def test_a_long_wait_is_told_at_once_and_bounded_by_the_patience(failure: str) -> None:
    watch = Watch(SERVER, has_succeeded=True)
    watch.hear(0.0, "a", replace(failed(failure), signals=Signals(retry_after_s=100_000.0)))
    watch.hear(10.0, "b", replace(failed(failure), signals=Signals(retry_after_s=5.0)))
    assert watch.standing(10.0).wait_s == 99_990.0
    assert reason(watch, 300.0) == ""
    assert "asks to wait another 28 hours" in reason(watch, 301.0)
    watch.hear(302.0, "b", ANSWERED)
    assert watch.standing(302.0).wait_s is None
    assert reason(watch, 1000.0) == ""


def test_replies_that_were_asked_for_again_are_counted_by_what_was_wrong() -> None:
    watch = Watch(SERVER)
    for again in (None, "no_json_object", "no_json_object", "several_objects"):
        watch.hear(0.0, "a", ANSWERED, again=again)
    assert watch.standing(0.0).unread == {"no_json_object": 2, "several_objects": 1}


def test_redirects_give_a_server_up_by_the_name_of_its_other_address() -> None:
    moved = failed("http_302", "http_302, a redirect to http://other, which is not followed")
    assert "answers with http_302, a redirect to http://other, which is not followed" in reason(heard(moved))


def test_refusals_of_the_last_minute_are_counted() -> None:
    watch = Watch(SERVER)
    for second in range(100):
        watch.hear(float(second), "a", REFUSED)
    assert watch.standing(99.0).n_refused_lately == 60
    assert watch.standing(500.0).n_refused_lately == 0


def test_few_calls_tell_too_once_they_are_over() -> None:
    """A stage of three calls: all of them failed because of the key."""
    few = heard(failed("http_401"), n_calls=3).standing(0.0)
    assert "0 of 3 calls" in (few.unusable or "")
    assert heard(failed("http_500"), n_calls=3).standing(0.0).unusable is None
    assert heard(failed("http_401"), ANSWERED, n_calls=3).standing(0.0).unusable is None


def test_failures_are_counted_by_their_reason() -> None:
    watch = heard(
        ANSWERED, failed("http_500"), failed("connection", "connection refused"), failed("cancelled"), n_calls=2
    )
    found = watch.standing(0.0)
    assert (found.n_succeeded, found.failures) == (2, {"http_500": 2, "connection refused": 2})
