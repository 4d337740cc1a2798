"""The record of a run (`run.json`), as far as its report tells it in tables."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from pydantic import JsonValue


class CommandWork(TypedDict):
    """Work of one command at a stage."""

    command: str
    workers: int | None  # null: not recorded


class StageFacts(TypedDict):
    """Work of a stage over all commands."""

    name: str
    rows: int
    pieces: int
    pieces_untold: int  # done by commands that kept no record
    seconds: float
    work: list[CommandWork]


class LastStage(TypedDict):
    """Work of the last command at a stage."""

    name: str
    found: int
    pieces: int
    rows: int
    seconds: float


class LastCall(TypedDict):
    command: str
    stages: list[LastStage]


class CalledStage(TypedDict):
    """Calls of a job at a stage."""

    stage: str
    seconds: float
    reused: int
    calls: int | None  # null: not recorded


class JobFacts(TypedDict):
    """A command that called models."""

    job: str
    ledger: str
    prices: str | None
    stages: list[CalledStage]


class Maker(TypedDict):
    """The code that a command ran."""

    verb: str
    git_commit: str | None
    versions: dict[str, str]
    began_at: NotRequired[float]  # seconds since 1970; absent: an older version did not record it


class RunFacts(TypedDict, total=False):
    limit: int | None
    config: dict[str, JsonValue]
    commands: dict[str, Maker]
    stages: list[StageFacts]
    jobs: list[JobFacts]
    last_call: LastCall
