"""The demo's benchmarks and a small run of it, which tests read and do not write to."""

from __future__ import annotations

from pathlib import Path

from jobs.evaluate import main as evaluate
from jobs.synthesis.haystacks import read_config, synthesize
from tests.made.store import made


def two_haystacks() -> str:
    """Return a benchmark of twelve queries."""
    return str(made("two_haystacks", _two_haystacks))


def one_haystack() -> str:
    """Return a benchmark of six queries."""
    return str(made("one_haystack", _one_haystack))


def railway() -> str:
    """Return a benchmark of the railway's haystack alone."""
    return str(made("railway", _railway))


def two_systems() -> str:
    """Return a finished run of `longform evaluate demo` with two retrievers and two queries."""
    return str(made("two_systems", _two_systems) / "demo")


def _two_haystacks(folder: Path) -> None:
    synthesize(read_config("demo", ["haystacks=2"]), str(folder))


def _one_haystack(folder: Path) -> None:
    synthesize(read_config("demo", ["haystacks=1"]), str(folder))


def _railway(folder: Path) -> None:
    synthesize(read_config("demo", ["haystacks=1", "topics=[railway]"]), str(folder))


PEOPLE = "{kind: offline, calibration: people, features: vectors}"


def _two_systems(folder: Path) -> None:
    changes = [
        "resamples=100",
        "summarizers={offline: {kind: offline}}",
        f"judges={{offline-people-vectors: {PEOPLE}, offline-gpt-4o: {{kind: offline, calibration: gpt-4o}}}}",
        "systems=[{retriever: [bm25, oracle], budget_tokens: 3500, summarizer: offline}]",
    ]
    given = [word for change in changes for word in ("--set", change)]
    assert evaluate(["demo", "--out", str(folder / "demo"), "--workers", "0", "--limit", "2", *given]) == 0
