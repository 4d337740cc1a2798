"""Texts that are assumed while a run is planned: their lines, marks and lengths."""

from __future__ import annotations

import pytest

from actors.local_models.tokenizer import TokenCounter
from jobs.spending.assumed_texts import LINE_TOKENS, AssumedTexts, WrittenText, marks
from longform.chat.call import ChatRequest, Message
from longform.judges.kinds.support import claim
from longform.keys import content_key
from longform.settings.methods import SHIPPED_METHODS, CalibrationMethodSettings
from longform.summaries.calibration import orders_needed
from longform.text.units import UnitKind, units_of

COUNTER = TokenCounter(threads=1)
CALL = "0123456789abcdef"


def texts(*written: WrittenText) -> AssumedTexts:
    return AssumedTexts(COUNTER, "summarize mine", written, max_tokens=600)


def asked(*said: str) -> ChatRequest:
    return ChatRequest(messages=tuple(Message("user", text) for text in said), max_tokens=10)


@pytest.mark.parametrize("units", ["statements", "bullets", "sentences"])
def test_text_is_split_into_as_many_units_as_asked_for_each_another(units: UnitKind) -> None:
    """A judge is asked about equal sentences once, and no two sentences of a written summary are equal."""
    text, _ = texts().text(12, CALL)
    found = [claim(unit.text) for unit in units_of(text, units)]
    assert len(set(found)) == 12
    assert {COUNTER.count(line) for line in found} == {LINE_TOKENS}


@pytest.mark.parametrize("units", ["statements", "bullets", "sentences"])
def test_where_a_line_ends_joins_it_to_no_other(units: UnitKind) -> None:
    """A mark has more tokens or fewer, so that lines end at other words."""
    found = {len(units_of(texts().text(8, content_key(call))[0], units)) for call in range(60)}
    assert found == {8}


def test_a_request_tells_how_many_assumed_lines_are_in_it_and_whose() -> None:
    text, lines = texts().text(3, CALL)
    (mark,) = lines
    assert marks(asked("Merge:", text)) == [mark] * 3
    assert marks(asked(f"Supported? {text.splitlines()[1]}")) == [mark]
    assert marks(asked("It was assumed that a dam broke.")) == []
    assert texts().text(3, "f" + CALL)[0] != text


def test_without_a_written_text_a_line_is_between_nothing_and_the_output_limit() -> None:
    text, lines = texts().text(3, CALL)
    each = COUNTER.count(text.splitlines()[0])
    (line,) = lines.values()
    assert (each + line.fewer, each + line.more) == pytest.approx((0, 600 / 3))
    assert "26 words" in line.source


def test_written_texts_make_the_interval_narrower() -> None:
    written = [WrittenText(2, f"{'word ' * n}\n{'word ' * n}") for n in (28, 30, 32)]
    text, lines = texts(*written).text(2, CALL)
    (line,) = lines.values()
    assert COUNTER.count(text) / 2 == pytest.approx(COUNTER.count(written[1].text) / 2, abs=1)
    assert -30 < line.fewer < 0 < line.more < 30
    assert "the 3 that are there of 'summarize mine'" in line.source


def test_usual_texts_agree_as_a_method_that_draws_orders_reads_them_and_texts_apart_never_do() -> None:
    method = SHIPPED_METHODS["calibration-sampled"]
    assert isinstance(method, CalibrationMethodSettings)
    assert method.spread is not None
    calls = [content_key(number) for number in range(3)]
    usual, apart = ([texts().text(5, call, apart=how)[0] for call in calls] for how in (False, True))
    assert orders_needed(usual, method.spread) == 3
    assert orders_needed(apart, method.spread) >= method.most
    assert {COUNTER.count(line) for text in apart for line in text.splitlines()} <= {LINE_TOKENS - 1, LINE_TOKENS}
