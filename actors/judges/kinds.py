"""Kinds of judgement by name: those that ship, and those of users by import path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ParamSpec, TypeVar

from actors.python_class import named_value, user_code, version_of
from longform.errors import UsageError
from longform.judges.cards import Version
from longform.judges.kind import Kind
from longform.judges.kinds import LISTED
from longform.keys import content_key
from longform.settings.judges import JudgeSettings

P = ParamSpec("P")
R = TypeVar("R")


def kind_of(settings: JudgeSettings) -> Kind:
    """Return the kind of a judge, as `named_kind` says."""
    return named_kind(settings.task, folder=settings.folder)


def named_kind(path: str, *, folder: str | None) -> Kind:
    """
    Return the kind of a task, or of a user at an import path, whose module is looked for in *folder* first.

    Raises:
        UsageError: There is no such task, or the kind of a user cannot be loaded or is none.
    """
    found = named_value(path, LISTED, Kind, asked="task", folder=folder)
    if path in LISTED:
        return found
    if found.targets == "document":
        raise UsageError(
            f"{path}: expected targets insight, key_point or reference; documents are judged by task support"
        )
    return replace(
        found,
        task=path,
        unit=_guarded(path, found.unit, "unit"),
        show=_guarded(path, found.show, "show"),
        settle=_guarded(path, found.settle, "settle"),
        read=_guarded(path, found.read, "read"),
        decide=_guarded(path, found.decide, "decide"),
    )


def with_kind(version: Version, settings: JudgeSettings) -> Version:
    """Return the version of what makes a judge's verdicts, its kind included if that is a user's."""
    if settings.task in LISTED:
        return version
    return version._replace(work=content_key(version.work, version_of(settings.task, folder=settings.folder)))


def _guarded(path: str, function: Callable[P, R], name: str) -> Callable[P, R]:
    """Return the same function; its errors name the user's file."""

    def call(*given: P.args, **named: P.kwargs) -> R:
        with user_code(path, name):
            return function(*given, **named)

    return call
