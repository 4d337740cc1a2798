"""Errors name a key as it stands in the file, changes are told, and a slip is understood."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from jobs.configs import read_experiment, validated
from jobs.configs.shown import changed, place_in_file
from longform.errors import UsageError
from longform.settings.experiment import Experiment

CONTENT = {
    "summarizers": {"a": {"kind": "chat", "chat": {"model": "m"}}},
    "systems": [{"retriever": "r"}],
    "support_judges": {"check": {"kind": "offline"}},
}


@pytest.mark.parametrize(
    ("place", "key"),
    [
        (("summarizers", "a", "chat", "chat", "modle"), "summarizers.a.chat.modle"),
        (("summarizers", "a", "chat", "promt"), "summarizers.a.promt"),
        (("systems", 0, "retriever"), "systems.0.retriever"),
        (("judges", "check", "offline", "scale"), "support_judges.check.scale"),
        (("seed",), "seed"),
        ((), "(top)"),
    ],
)
def test_a_place_is_the_key_in_the_file(place: tuple[int | str, ...], key: str) -> None:
    assert place_in_file(place, CONTENT) == key


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("judges.offline-people-vectors.scale=1", r"\n  judges\.offline-people-vectors\.scale: no such key"),
        ("retrievers.bm25.kind=bm52", r"retrievers\.bm25\.kind: no kind 'bm52'.*did you mean 'bm25'"),
        ("systems.0.retriever=[bm52]", r"systems\.retriever names 'bm52'.*did you mean 'bm25'"),
        ("resample=100", r"resample: no such key; did you mean 'resamples'"),
        ("judges.a.retriever=1", r"judges\.a: has no kind; expected one of .*\bchat\b"),
        ("rerankers.new.depth=3", r"rerankers\.new: has no kind; expected one of [^\n]*\bcross_encoder\b.*\bpython\b"),
        ("retrievers.bm25.retriever=1", r"retriever: no such key here; .* in a configuration$"),
    ],
)
def test_what_is_wrong_is_named_and_mended(change: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_experiment("demo", [change])


def test_a_key_that_stands_elsewhere_is_mended_at_the_top_alone() -> None:
    content: Any = {"reranker": {}, "judges": {"a": {"kind": "offline", "reranker": 1}}}

    with pytest.raises(UsageError) as raised:
        validated(Experiment, content, [], where="mine.yaml")

    elsewhere = "reranker: no such key here; keys of this name stand elsewhere in a configuration"
    told = str(raised.value).splitlines()
    assert f"  {elsewhere}; did you mean 'rerankers'?" in told
    assert f"  judges.a.{elsewhere}" in told


def test_a_preset_is_mended() -> None:
    with pytest.raises(UsageError, match="did you mean 'demo'"):
        read_experiment("dmeo")


def told_of(before: Any, after: Any) -> Sequence[str]:
    return list(changed(before, after, Experiment))


def test_changes_are_told_by_key() -> None:
    assert told_of({"a": {"b": 1, "c": [1, 2]}}, {"a": {"b": 2, "c": [1, 3]}}) == ["a.b: 1 -> 2", "a.c.1: 2 -> 3"]
    assert told_of({}, {"resamples": 100, "name": "x"}) == ["resamples: 2000 (default) -> 100", "name: not there -> x"]
    assert told_of({"a": 1}, {}) == ["a: 1 -> left out"]
    assert told_of({"a": 1}, {"a": 1}) == []


def test_set_says_what_it_changed_unless_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_experiment("demo", ["resamples=100", "budget=2000"])
    told = capsys.readouterr()
    assert told.out == ""
    assert "set resamples: 2000 (default) -> 100" in told.err
    assert "set systems.0.budget_tokens: 3500 -> 2000" in told.err

    monkeypatch.setattr(logging.getLogger(), "level", logging.ERROR)
    logging.getLogger("jobs").manager._clear_cache()
    read_experiment("demo", ["resamples=100"])
    assert capsys.readouterr().err == ""
