"""Judges as a command line names them: of a configuration, shipped, released, a mean, or settings of their own."""

from __future__ import annotations

from collections.abc import Mapping

from jobs.calibration.labelled import RELEASED
from jobs.configs import Content, validated
from longform.errors import UsageError
from longform.nearest import meant
from longform.settings.judges import JudgeSettings, judges_of
from longform.settings.strict import Strict
from longform.settings.yaml_text import yaml_value

_MEAN = "mean:"
_SHOWN = 100  # characters of a name in an error


class _Named(Strict):
    judge: JudgeSettings


def named_judge(
    text: str, judges: Mapping[str, JudgeSettings], *, task: str | None = None
) -> tuple[str, dict[str, JudgeSettings]]:
    """
    Return the name of the judge that *text* means, and all judges of its task, it among them.

    Args:
        text: `released:NAME`, one of *judges*, the mean of some (`mean:A+B`), or settings as YAML.
        judges: Those that can be named.
        task: Of the judge; None: its own, which is coverage if nothing tells.

    Raises:
        UsageError: It is none of these, or it is a mean of judges that are not asked.
    """
    name, own = _own(text, judges, task)
    known = judges_of(own.task if own else task or "coverage", {**judges, **({name: own} if own else {})})
    members = known[name].members if name in known else ()
    for member in members or (name,):
        if member not in known and not (member.startswith(RELEASED) and task is None):
            raise UsageError(_unknown(member, known, task))
    if inner := [member for member in members if member in known and known[member].members]:
        asked = sorted(other for other, one in known.items() if not one.members)
        raise UsageError(f"{name}: expected judges that are asked, of {asked}; found the mean {inner[0]!r}")
    return name, known


def _own(text: str, judges: Mapping[str, JudgeSettings], task: str | None) -> tuple[str, JudgeSettings | None]:
    """Return the judge that *text* defines or names, with its name; None if only its labels are known, or nothing."""
    if text.startswith(RELEASED) or (text in judges and task in (None, judges[text].task)):
        return text, judges.get(text)
    if text.startswith(_MEAN):
        members = text.removeprefix(_MEAN).split("+")
        tasks = [judges[name].task for name in members if name in judges]
        return text, _validated({"kind": "mean", "of": [*members]}, task or next(iter(tasks), "coverage"), where=text)
    content = yaml_value(text, f"no judge {text[:_SHOWN]!r}")
    if not isinstance(content, dict):
        return text, None
    judge = _validated(content, task or str(content.get("task", "coverage")), where="the judge")
    return (judge.asked_model.model if judge.asked_model else judge.model_name), judge


def _validated(content: Content, task: str, *, where: str) -> JudgeSettings:
    return validated(_Named, {"judge": content | {"task": task}}, (), where=where).judge


def _unknown(name: str, known: Mapping[str, JudgeSettings], task: str | None) -> str:
    of_task = f" of {task}" if task else ""
    released = "" if task else "released:NAME, "
    expected = f"{released}mean:A+B, settings as YAML or one of {sorted(known)}"
    return f"no judge {name!r}{of_task}: expected {expected}{meant(name, known)}"
