"""Judges with a class of a user's own."""

from __future__ import annotations

import inspect
from asyncio import gather
from collections.abc import Iterable, Sequence
from math import isfinite

from actors.chat.model import CallContext
from actors.judges.opening import Judge, JudgeBackend
from actors.python_class import UserCodeError, check_class, class_version, open_class, user_code
from longform.judges.cards import Version
from longform.judges.kind import Group, Kind, Pair, Verdict, Verdicts, in_place, open_groups, shared_of, unjudged
from longform.protocols import Judge as UserJudge
from longform.settings.judges import PythonJudgeSettings

NOT_JUDGED = "not_judged"
"""The failure of a pair that the class leaves unjudged."""


class PythonJudge:
    """
    Asks an object of the user's class about every pair that needs a judge, each once a call.

    Raises:
        UsageError: The class cannot be used.
        UserCodeError: Its constructor raised.
    """

    def __init__(self, kind: Kind, settings: PythonJudgeSettings) -> None:
        self._kind, self._settings = kind, settings
        self._judge = open_class(settings, UserJudge)

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items)."""
        found = await gather(*(self._judged(group) for group in open_groups(self._kind, groups)))
        return in_place(self._kind, groups, {pair: verdict for of in found for pair, verdict in of.items()})

    async def _judged(self, group: Group) -> dict[Pair, Verdict]:
        with user_code(self._settings, "judge"):
            returned = self._judge.judge(group)
            answers: object = await returned if inspect.isawaitable(returned) else returned
            found = list(answers) if isinstance(answers, Iterable) and not isinstance(answers, str) else None
        if found is None or len(found) != len(group.items):
            told = repr(answers)[:60] if found is None else str(len(found))
            raise self._wrong(f"{len(group.items)} judgements, one an item", told)
        return {
            (shared_of(group), item): self._verdict(judgement)
            for item, judgement in zip(group.items, found, strict=True)
        }

    def _verdict(self, judgement: object) -> Verdict:
        """Return the verdict that the class gives: a number, an answer, a verdict, or None."""
        answers = sorted(self._kind.counts)
        match judgement:
            case None:
                return unjudged(NOT_JUDGED)
            case Verdict(answer=None, failure=None):
                return judgement._replace(failure=NOT_JUDGED)
            case Verdict(answer=answer) if answer is None or answer in answers:
                return judgement
            case str() if judgement in answers:
                return Verdict(judgement, None)
            case int() | float() if not isinstance(judgement, bool) and isfinite(judgement) and 0 <= judgement <= 1:
                return self._kind.by_number(float(judgement), self._settings.bounds)
        expected = f"a number from 0 to 1, one of {', '.join(answers)}, a Verdict with one of them, or None"
        raise self._wrong(expected, f"{type(judgement).__name__} {str(judgement)[:60]}")

    def _wrong(self, expected: str, found: str) -> UserCodeError:
        return UserCodeError(f"{self._settings.class_}: judge: expected {expected}, found {found}")


class ByClass(Judge):
    settings: PythonJudgeSettings

    def _version(self) -> Version:
        check_class(self.settings, UserJudge)
        version = class_version(self.settings)
        return Version(version, f"{self.settings.class_}@{version}")

    def open(self, _context: CallContext, _threads: int, /) -> JudgeBackend:
        return PythonJudge(self.kind, self.settings)
