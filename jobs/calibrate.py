"""Hold a judge against human labels, and write its card."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from actors.storage.folder import Folder
from jobs.calibration.asking import plan_calibration
from jobs.calibration.card import calibrate
from jobs.calibration.cost import cost_words
from jobs.calibration.documents import LabelledDocuments
from jobs.calibration.judges_by_name import named_judge
from jobs.calibration.labelled import Calibration, Labelled, Measured, kind_of_judge
from jobs.calibration.targets import LabelledTargets
from jobs.calling import calling_of
from jobs.cluster import Cluster, cluster_of
from jobs.commands import Outcome, run_verb
from jobs.configs import read_experiment
from jobs.exit_codes import DONE, FAILURES_ABOVE_THRESHOLD
from jobs.parsers.calibrate import parser
from jobs.runs.cards import write_card
from jobs.runs.served_judges import described, with_versions
from jobs.spending.plan import plan_words
from longform.errors import UsageError
from longform.judges.cards import describe
from longform.judges.kind import Kind
from longform.judges.meta_evaluation import DOCUMENT, EACH_DOCUMENT, JOINED, Mode, Scoring, chunks_of
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.settings.shipped_judges import SHIPPED_JUDGES

_UNJUDGED_THRESHOLD: float = Experiment.model_fields["unjudged_threshold"].default
"""The share of answers above which the exit code says so, if no configuration states one."""

_OF_SUPPORT = {"modes": "document", "orders": False, "fidelity": "ours", "threshold": None}
"""Options of support judges alone, and what they are when nobody names them."""


def calibration_of(
    arguments: argparse.Namespace, experiment: Experiment | None, cluster: Cluster | None = None
) -> Calibration:
    """
    Return the judge and the labels that the command line names; a served judge is asked for its version on *cluster*.

    Raises:
        UsageError: There is no such judge, or an option does not fit it.
    """
    known = {**SHIPPED_JUDGES, **(experiment.judges if experiment else {})}
    task = "support" if arguments.support else None
    name, judges = named_judge(arguments.support or arguments.judge, known, task=task)
    if cluster is not None:
        asked = {one: judges[one] for one in (name, *getattr(judges.get(name), "members", ())) if one in judges}
        judges = {**judges, **with_versions(asked, described(asked, cluster))}
    return Calibration(
        judge=name,
        judges=judges,
        labelled=_labelled(arguments, kind_of_judge(judges.get(name)), judges.get(name)),
        prompts=experiment.prompts if experiment else None,
        note=arguments.note,
    )


def _labelled(arguments: argparse.Namespace, kind: Kind, settings: JudgeSettings | None) -> Labelled:
    common: dict[str, Any] = {
        "url": arguments.benchmark,
        "task": kind.task,
        "target_kind": kind.targets,
        "answers": tuple(kind.counts),
        "annotators": tuple(dict.fromkeys(arguments.annotator)),
        "seed": arguments.seed,
        "resamples": arguments.resamples,
    }
    if kind.targets != "document":
        if given := [name for name, usual in _OF_SUPPORT.items() if getattr(arguments, name) != usual]:
            raise UsageError(f"--{given[0]}: expected a support judge, found one of {kind.task}")
        return LabelledTargets(**common)
    modes = modes_of(arguments.modes)
    if arguments.out and EACH_DOCUMENT not in modes:
        raise UsageError(f"--out: a card is of mode {DOCUMENT}, found --modes {arguments.modes}")
    return LabelledDocuments(**common, modes=modes, orders=arguments.orders, scoring=_scoring(arguments, settings))


def _scoring(arguments: argparse.Namespace, settings: JudgeSettings | None) -> Scoring:
    if arguments.threshold is not None and not 0 <= arguments.threshold < 1:
        raise UsageError(f"--threshold: expected a number in [0, 1), found {arguments.threshold:g}")
    own = getattr(settings, "threshold", Scoring().threshold)
    threshold = own if arguments.threshold is None else arguments.threshold
    return Scoring(arguments.fidelity, threshold, arguments.seed, arguments.resamples)


def modes_of(text: str) -> tuple[Mode, ...]:
    """
    Return the modes of a comma list, each once.

    Raises:
        UsageError: One is none.
    """
    return tuple(dict.fromkeys(_mode(part.strip()) for part in text.split(",")))


def _mode(text: str) -> Mode:
    named = {mode.name: mode for mode in (EACH_DOCUMENT, JOINED)}
    if chunk := re.fullmatch(r"chunk-0*([1-9]\d*)", text, re.ASCII):
        return chunks_of(int(chunk[1]))
    if text not in named:
        raise UsageError(f"--modes: expected document, full or chunk-N with N tokens, found {text!r}")
    return named[text]


# ---------------------------------------------------------------- command line


def outcome(arguments: argparse.Namespace) -> Outcome:
    """Calibrate; exit code 3 if more than the threshold of the answers are missing."""
    experiment = read_experiment(arguments.config) if arguments.config else None
    calling = calling_of(arguments, "calibrate", arguments.benchmark)
    with ExitStack() as until_done, cluster_of(arguments) as cluster:
        calibration = calibration_of(arguments, experiment, None if arguments.plan else cluster)
        run = _run_of(arguments, until_done)
        if arguments.plan:
            planned = plan_calibration(calibration, run=run, calling=calling, workers=cluster.workers)
            return Outcome(planned, plan_words(planned))
        found = calibrate(calibration, run=run, cluster=cluster, calling=calling)
    judged_some = found.n > found.n_unjudged
    if found.card and arguments.out and judged_some:
        write_card(found.card, arguments.out)
    words = _words(calibration.judge, found)
    if arguments.out and not judged_some:
        words += f"\n{arguments.out}: no card is written, since no label was judged"
    most = experiment.unjudged_threshold if experiment else _UNJUDGED_THRESHOLD
    code = FAILURES_ABOVE_THRESHOLD if found.n_unjudged / found.n > most else DONE
    told = {**found.card} if found.card and not found.told else {**(found.told or {}), "card": found.card}
    return Outcome(told, words, code)


def _words(judge: str, found: Measured) -> str:
    parts = [found.words] if found.words else []
    if found.card:
        parts.append(
            f"{'The card:' if parts else judge} {describe(found.card)}\ncost: {cost_words(found.card['cost'])}"
        )
    return "\n\n".join(parts)


def _run_of(arguments: argparse.Namespace, until_done: ExitStack) -> Folder:
    """Return the folder of verdicts; if none is named, one of the command's own, which is deleted behind it."""
    if arguments.run:
        return Folder(arguments.run)
    return Folder(until_done.enter_context(tempfile.TemporaryDirectory(prefix="longform-calibrate-")))


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), outcome, argv)


if __name__ == "__main__":
    raise SystemExit(main())
