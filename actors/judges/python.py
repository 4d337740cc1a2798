"""Judges with a class of a user's own."""

from __future__ import annotations

import inspect
from asyncio import gather
from collections.abc import Sequence
from contextlib import suppress

from pydantic import TypeAdapter, ValidationError

from actors.chat.model import CallContext
from actors.judges.opening import Judge, JudgeBackend
from actors.python_class import check_class, class_version, listed, open_class, returned, user_code, wrong
from longform.given import Share
from longform.judges.cards import Version
from longform.judges.kind import Group, Kind, Verdict, Verdicts, in_place, open_groups
from longform.protocols import Judge as UserJudge
from longform.settings.judges import PythonJudgeSettings

NOT_JUDGED = "not_judged"
"""The failure of a pair that the class leaves unjudged."""
_SHARE = TypeAdapter[float](Share)


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
        opened = open_groups(self._kind, groups)
        return in_place(self._kind, groups, opened, await gather(*map(self._judged, opened)))

    async def _judged(self, group: Group) -> list[Verdict]:
        with user_code(self._settings, "judge"):
            answers = self._judge.judge(group)
            judged: object = await answers if inspect.isawaitable(answers) else answers
        of = f"summary {group.key!r}" if self._kind.shared == "summary" else f"the text {group.text[:40]!r}"
        found = listed(self._settings, "judge", judged, len(group.items), f"judgements, one an item, for {of}")
        return [self._verdict(judgement, len(group.shared)) for judgement in found]

    def _verdict(self, judgement: object, n_shared: int) -> Verdict:
        """Return the verdict that the class gives: a number, an answer, a verdict, or None."""
        answers = sorted(self._kind.counts)
        with suppress(ValidationError):
            return self._kind.by_number(_SHARE.validate_python(judgement), self._settings.bounds)
        expected = f"a number from 0 to 1, one of {', '.join(answers)}, a Verdict with one of them, or None"
        said = Verdict(judgement, None) if isinstance(judgement, str | None) else judgement
        verdict = returned(self._settings, "judge", said, Verdict, expected=expected)
        answer, failure, unit = verdict.answer, verdict.failure, verdict.linked_unit
        wanted = {
            expected: answer is None or answer in answers,
            "no failure beside an answer": answer is None or failure is None,
        }
        if unit is not None and unit >= n_shared:
            there = f"a linked_unit from 0 to {n_shared - 1} ({n_shared} lines, counted from 0)"
            raise wrong(self._settings, "judge", there if n_shared else "no linked_unit, as there is no line", unit)
        if missed := [want for want, is_met in wanted.items() if not is_met]:
            raise wrong(self._settings, "judge", missed[0], judgement)
        return verdict if answer or failure else verdict._replace(failure=NOT_JUDGED)


class ByClass(Judge):
    settings: PythonJudgeSettings

    def _version(self) -> Version:
        check_class(self.settings, UserJudge)
        version = class_version(self.settings)
        return Version(version, f"{self.settings.class_}@{version}")

    def open(self, _context: CallContext, _threads: int, /) -> JudgeBackend:
        return PythonJudge(self.kind, self.settings)
