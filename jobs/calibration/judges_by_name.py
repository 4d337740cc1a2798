"""Judges as a command line names them: of a configuration, shipped, released, a mean, or settings of their own."""

from __future__ import annotations

from collections.abc import Mapping

from jobs.calibration.labelled import RELEASED
from jobs.configs import Content, validated
from longform.errors import UsageError, meant
from longform.settings.judges import JudgeSettings, judges_of
from longform.settings.strict import Strict
from longform.settings.yaml_text import yaml_value

_MEAN = "mean:"
_SHOWN = 100  # characters of a name in an error


class _Named(Strict):
    judge: JudgeSettings


def named_judge(text: str, judges: Mapping[str, JudgeSettings]) -> tuple[str, dict[str, JudgeSettings]]:
    """
    Return the name of the judge that *text* means, and all judges of its task, it among them.

    Args:
        text: `released:NAME`, one of *judges*, the mean of some (`mean:A+B`), or settings as YAML, which are of
            coverage if they name no task.
        judges: Those that can be named.

    Raises:
        UsageError: It is none of these, or it is a mean of judges that are not asked.
    """
    name, own = _own(text, judges)
    known = judges_of(own.task if own else "coverage", {**judges, **({name: own} if own else {})})
    members = known[name].members if name in known else ()
    for member in members or (name,):
        if member not in known and not member.startswith(RELEASED):
            raise UsageError(_unknown(member, known if members else judges))
    if inner := [member for member in members if member in known and known[member].members]:
        asked = sorted(other for other, one in known.items() if not one.members)
        raise UsageError(f"{name}: expected judges that are asked, of {asked}; found the mean {inner[0]!r}")
    return name, known


def _own(text: str, judges: Mapping[str, JudgeSettings]) -> tuple[str, JudgeSettings | None]:
    """Return the judge that *text* defines or names, with its name; None if only its labels are known, or nothing."""
    if text.startswith(RELEASED) or text in judges:
        return text, judges.get(text)
    if text.startswith(_MEAN):
        members = text.removeprefix(_MEAN).split("+")
        task = next((judges[name].task for name in members if name in judges), "coverage")
        return text, _validated({"kind": "mean", "of": [*members], "task": task}, where=text)
    content = yaml_value(text, f"no judge {text[:_SHOWN]!r}")
    if not isinstance(content, dict):
        return text, None
    judge = _validated(content if "task" in content else content | {"task": "coverage"}, where="the judge")
    return (judge.asked_model.model if judge.asked_model else judge.model_name), judge


def _validated(content: Content, *, where: str) -> JudgeSettings:
    return validated(_Named, {"judge": content}, (), where=where).judge


def _unknown(name: str, known: Mapping[str, JudgeSettings]) -> str:
    expected = f"released:NAME, mean:A+B, settings as YAML or one of {sorted(known)}"
    return f"no judge {name!r}: expected {expected}{meant(name, known)}"
