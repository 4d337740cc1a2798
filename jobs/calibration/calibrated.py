"""Hold judges against human labels, and write their cards and a page that holds them beside each other."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from actors.judges.opening import write_card
from actors.storage.folder import Folder
from jobs.calibration.asking import plan_calibrations
from jobs.calibration.card import PAGE, Failed, answer_of, calibrate, calibrate_all, cost_words, write_cards
from jobs.calibration.label_texts import importance_by
from jobs.calibration.labelled import RELEASED, Calibration, Labelled, kind_of_judge
from jobs.calibration.measured import Measured, compared, fitted_haystacks
from jobs.command import DONE, FAILURES_ABOVE_THRESHOLD
from jobs.command.calling import calling_of
from jobs.command.run import Outcome, answered
from jobs.configs import read_experiment, validated
from jobs.runs.judges import described, with_versions
from jobs.spending.plan import plan_words
from jobs.stages.cluster import Cluster, cluster_of
from longform.errors import LongformError, StoppedError, UsageError, meant
from longform.judges.adversarial import ADVERSARIAL, adversarial_words
from longform.judges.cards import describe
from longform.judges.kind import Kind
from longform.judges.lexical_support import shipped_lexical_support
from longform.judges.merges import DOCUMENT, EACH_DOCUMENT, JOINED, Mode, Scoring, chunks_of
from longform.report.answers import answer_text
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.settings.named_judges import KNOWN_JUDGES, judges_of
from longform.settings.strict import Strict
from longform.settings.yaml_text import yaml_value

_UNJUDGED_THRESHOLD: float = Experiment.model_fields["unjudged_threshold"].default
"""The share of answers above which the exit code says so, if no configuration states one."""

_OF_SUPPORT = {"modes": "document", "orders": False, "fidelity": "ours", "threshold": None, "importance": "released"}
"""Options of support judges alone, and what they are when nobody names them."""

PAPER = "paper"
PAPER_MODES = ("document", "full", "chunk-1024", "chunk-2048", "chunk-4096", "chunk-8192")
"""Texts of tables 3, 6 and 7 of Wan et al."""


def calibrations_of(
    arguments: argparse.Namespace, experiment: Experiment | None, cluster: Cluster | None = None
) -> list[Calibration]:
    """
    Return each judge that the command line names, with the labels; served ones say their version on *cluster*.

    Raises:
        UsageError: There is no such judge, an option does not fit it, two have one name, or they are of several tasks.
    """
    if arguments.support or not arguments.judge:
        of = "--support: " if arguments.support else ""
        raise UsageError(f"{of}expected --judge JUDGE, which takes judges of every task; settings say `task: support`")
    found = [_calibration(arguments, experiment, cluster, text) for text in arguments.judge]
    names = [one.judge for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"--judge: expected different judges, found {twice[0]!r} twice; name them in --config")
    if has_page(arguments) and arguments.out and Path(arguments.out).is_file():
        raise UsageError(f"--out: expected a folder for the page, found the file {arguments.out}")
    if len(tasks := list(dict.fromkeys(one.kind.task for one in found))) > 1:
        raise UsageError(f"--judge: expected judges of one task, found {' and '.join(tasks)}")
    return found


def _calibration(
    arguments: argparse.Namespace, experiment: Experiment | None, cluster: Cluster | None, text: str
) -> Calibration:
    known = {**KNOWN_JUDGES, **(experiment.judges if experiment else {})}
    name, judges = named_judge(text, known)
    fault = None
    if cluster is not None:
        asked = {one: judges[one] for one in (name, *getattr(judges.get(name), "members", ())) if one in judges}
        try:
            judges = {**judges, **with_versions(asked, described(asked, cluster))}
        except StoppedError:
            raise
        except LongformError as error:  # told where the judge's turn comes: others have theirs
            fault = error
    return Calibration(
        judge=name,
        judges=judges,
        labelled=_labelled(arguments, name, judges),
        prompts=experiment.prompts if experiment else None,
        note=arguments.note,
        fault=fault,
    )


def _labelled(arguments: argparse.Namespace, name: str, judges: Mapping[str, JudgeSettings]) -> Labelled:
    settings = judges.get(name)
    kind = kind_of_judge(settings)
    common: dict[str, Any] = {
        "url": arguments.benchmark,
        "task": kind.task,
        "target_kind": kind.targets,
        "answers": tuple(kind.counts),
        "annotators": tuple(dict.fromkeys(arguments.annotator)),
    }
    interval = {"seed": arguments.seed, "resamples": arguments.resamples}
    if not kind.of_documents:
        if given := [name for name, usual in _OF_SUPPORT.items() if getattr(arguments, name) != usual]:
            raise UsageError(f"--{given[0]}: expected a support judge, found one of {kind.task}")
        return Labelled(**common, scoring=Scoring(**interval), **_perturbations(arguments, kind, name, judges))
    if arguments.adversarial is not None:
        raise UsageError("--adversarial: expected a judge of coverage, found one of support")
    modes = modes_of(arguments.modes)
    if arguments.out and not has_page(arguments) and EACH_DOCUMENT not in modes:
        raise UsageError(f"--out: a card is of mode {DOCUMENT}, found --modes {arguments.modes}")
    threshold = _own_threshold(settings) if arguments.threshold is None else arguments.threshold
    scoring = Scoring(arguments.fidelity, threshold, **interval)
    importance = importance_by(arguments.importance)
    return Labelled(**common, modes=modes, orders=arguments.orders, scoring=scoring, importance=importance)


_CANNOT_BE_ASKED = "a release ships the predictions of {}, and perturbed summaries are not among them"
_COSTS = "{}; --adversarial asks it about perturbed summaries, too"


def _perturbations(
    arguments: argparse.Namespace, kind: Kind, name: str, judges: Mapping[str, JudgeSettings]
) -> dict[str, Any]:
    """Return the perturbations that a judge is asked about; one whose answers may cost is only by `--adversarial`."""
    settings, wanted = judges.get(name), arguments.adversarial
    if not kind.links:
        if wanted:
            raise UsageError(f"--adversarial: expected a judge that links bullets, found one of {kind.task}")
        return {}
    members = {one: judges.get(one) for one in (settings.members if settings else ()) or (name,)}
    released = [one for one, judge in members.items() if judge is None]
    dear = [f"{one} {judge.costs}" for one, judge in members.items() if judge is not None and judge.costs]
    full = max(kind.counts, key=lambda answer: kind.counts[answer])
    found = {"full": full, "fitted": fitted_haystacks(members.values())}
    if wanted is False:
        return found | {"why_unperturbed": "left out by --no-adversarial"}
    if released:
        return found | {"why_unperturbed": _CANNOT_BE_ASKED.format(" and ".join(released))}
    if dear and not wanted:
        return found | {"why_unperturbed": _COSTS.format(" and ".join(dear))}
    return found | {"perturbations": tuple(ADVERSARIAL)}


def has_page(arguments: argparse.Namespace) -> bool:
    """Return whether `--out` is a folder with a page: of several judges, or if it is one or ends in a slash."""
    return len(arguments.judge) > 1 or bool(
        arguments.out and (arguments.out.endswith("/") or Path(arguments.out).is_dir())
    )


def _own_threshold(settings: JudgeSettings | None) -> float:
    if settings is not None and settings.is_lexical:
        return shipped_lexical_support().threshold
    stated = None if settings is None else settings.own_threshold
    return Scoring().threshold if stated is None else stated


def modes_of(text: str) -> tuple[Mode, ...]:
    """
    Return the modes of a comma list, each once; `paper` stands for all of tables 3, 6 and 7 (Wan et al.).

    Raises:
        UsageError: One is none.
    """
    parts = [part.strip() for part in text.split(",")]
    return tuple(dict.fromkeys(_mode(one) for part in parts for one in (PAPER_MODES if part == PAPER else [part])))


def _mode(text: str) -> Mode:
    named = {mode.name: mode for mode in (EACH_DOCUMENT, JOINED)}
    if chunk := re.fullmatch(r"chunk-0*([1-9]\d*)", text, re.ASCII):
        return chunks_of(int(chunk[1]))
    if text not in named:
        raise UsageError(f"--modes: expected document, full, chunk-N with N tokens or paper, found {text!r}")
    return named[text]


# ---------------------------------------------------------------- command line


def outcome(arguments: argparse.Namespace) -> Outcome:
    """Calibrate; exit code 3 if more than the threshold of the answers are missing."""
    experiment = read_experiment(arguments.config) if arguments.config else None
    calling = calling_of(arguments, "calibrate", arguments.benchmark)
    most = experiment.unjudged_threshold if experiment else _UNJUDGED_THRESHOLD
    with ExitStack() as until_done, cluster_of(arguments) as cluster:
        calibrations = calibrations_of(arguments, experiment, None if arguments.plan else cluster)
        run = _run_of(arguments, until_done)
        if arguments.plan:
            planned = plan_calibrations(calibrations, run=run, calling=calling, workers=cluster.workers)
            return Outcome(planned, "\n".join([plan_words(planned), *_not_planned(calibrations)]))
        if has_page(arguments):
            several, failed = calibrate_all(calibrations, run=run, cluster=cluster, calling=calling)
            return _several(calibrations, several, failed, arguments, most)
        found = calibrate(calibrations[0], run=run, cluster=cluster, calling=calling)
    return _one(calibrations[0], found, arguments, most)


def _not_planned(calibrations: Sequence[Calibration]) -> list[str]:
    """Say which judges are not asked about perturbed summaries, so that their calls are not in a plan."""
    whys = [one.labelled.why_unperturbed for one in calibrations if one.chats]
    return [f"not in it: perturbed summaries ({why})" for why in dict.fromkeys(whys) if why]


def _one(calibration: Calibration, found: Measured, arguments: argparse.Namespace, most: float) -> Outcome:
    judged_some = found.n > found.n_unjudged
    if found.card and arguments.out and judged_some:
        write_card(found.card, arguments.out)
    words = _words(calibration, found)
    if arguments.out and not judged_some:
        words += f"\n{arguments.out}: no card is written, since no label was judged"
    told = {**found.card} if found.card and not found.told else {**(found.told or {}), "card": found.card}
    return Outcome(told, words, _code(found, most))


def _code(found: Measured, most: float) -> int:
    return FAILURES_ABOVE_THRESHOLD if found.n_unjudged / found.n > most else DONE


def _several(
    calibrations: Sequence[Calibration],
    found: Mapping[str, Measured],
    failed: Sequence[Failed],
    arguments: argparse.Namespace,
    most: float,
) -> Outcome:
    """Write page and cards if `--out` names a folder; a judge that failed gives its own exit code."""
    answer = answer_of(calibrations, found, failed)
    if found:
        cards = write_cards(Folder(arguments.out), found) if arguments.out else []
        done = answered(answer, PAGE, arguments.out)
        words = "\n".join([done.words, *([f"cards: {', '.join(cards)}"] if cards else [])])
    else:
        words = "\n".join(["no judge could be held against the labels", *answer.told])
    codes = [one["exit_code"] for one in failed] + [_code(one, most) for one in found.values()]
    stopped = [code for code in codes if code not in (DONE, FAILURES_ABOVE_THRESHOLD)]
    return Outcome(answer.document, words, max(stopped or codes))


def _words(calibration: Calibration, found: Measured) -> str:
    """Return the card, below the tables of what it does not state."""
    parts = [answer_text(compared(calibration.labelled, [found], calibration.kind))] if found.told else []
    if found.told and (failures := found.told["failures"]):
        parts.append(f"unjudged: {', '.join(f'{n:,} {reason}' for reason, n in failures.items())}")
    if found.card:
        name = "The card:" if parts else calibration.judge
        parts.append(f"{name} {describe(found.card)}\ncost: {cost_words(found.card['cost'])}")
        parts += adversarial_words(found.card)
    return "\n\n".join(parts)


def _run_of(arguments: argparse.Namespace, until_done: ExitStack) -> Folder:
    """Return the folder of verdicts: the one named, the page's, or one of the command's own, deleted behind it."""
    if arguments.run:
        return Folder(arguments.run)
    if arguments.out and has_page(arguments):
        return Folder(arguments.out)
    return Folder(until_done.enter_context(tempfile.TemporaryDirectory(prefix="longform-calibrate-")))


# ---------------------------------------------------------------- judges as a command line names them

_MEAN = "mean:"
_SHOWN = 100  # characters of a name in an error


class _Named(Strict):
    judge: JudgeSettings


def named_judge(text: str, judges: Mapping[str, JudgeSettings]) -> tuple[str, dict[str, JudgeSettings]]:
    """
    Return the name of the judge that *text* means, and all judges of its task, it among them.

    The text is `released:NAME`, one of *judges*, the mean of some (`mean:A+B`), or settings as YAML, which are of
    coverage if they name no task.

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


def _validated(content: dict[str, Any], *, where: str) -> JudgeSettings:
    return validated(_Named, {"judge": content}, (), where=where).judge


def _unknown(name: str, known: Mapping[str, JudgeSettings]) -> str:
    expected = f"released:NAME, mean:A+B, settings as YAML or one of {sorted(known)}"
    return f"no judge {name!r}: expected {expected}{meant(name, known)}"
