"""
A judge against human labels: its agreement, its bias, and the card that states both.

    longform calibrate HUMAN --judge released:gpt-4o --json
    longform calibrate HUMAN --judge offline-people --out card.json
    longform calibrate HUMAN --judge mean:offline-people+released:gpt-4o
    longform calibrate HUMAN --judge NAME --config CONFIG --plan
    longform calibrate HUMAN --judge NAME --config CONFIG --annotator first
    longform calibrate LABELS --support offline --modes document,full,chunk-1024 --orders
    longform calibrate LABELS --support mean:offline+checker
    longform calibrate LABELS --support '{kind: checkpoint, model: FOLDER}' --out card.json

Reads   summaries, targets and labels of a benchmark; those of all annotators but `released:NAME`, unless told
Writes  the card, if `--out` names a file
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from jobs.calibration.coverage import RELEASED, Calibration, calibrate, plan_calibration
from jobs.calibration.support import UNJUDGED_THRESHOLD, add_support_arguments, run_of, support_outcome
from jobs.calling import add_calling_arguments, calling_of
from jobs.cluster import add_cluster_arguments, cluster_of
from jobs.commands import DONE, FAILURES_ABOVE_THRESHOLD, Outcome, run_verb, verb_parser
from jobs.configs import read_experiment, validated
from jobs.runs.cards import write_card
from jobs.spending.plan import plan_words
from longform.errors import UsageError
from longform.judges.cards import describe
from longform.settings.experiment import Experiment
from longform.settings.judges import SHIPPED_JUDGES, JudgeSettings, MeanJudgeSettings, judges_of

_MEAN = "mean:"
_OF_SUPPORT = {"modes": "document", "orders": False, "fidelity": "ours", "threshold": None}
"""Options that --judge does not take, and what they are when nobody names them."""


def named_judges(judge: str, judges: Mapping[str, JudgeSettings]) -> Mapping[str, JudgeSettings]:
    """
    Return *judges*, with the one that `mean:A+B` defines if *judge* is such a name.

    Raises:
        UsageError: *judge*, or a judge it means over, is neither released nor one of *judges*; or the mean is none.
    """
    if judge not in judges and judge.startswith(_MEAN):
        content = {"kind": "mean", "task": task_of(judge, judges), "of": _members(judge)}
        mean = validated(MeanJudgeSettings, content, (), where=judge)
        judges = {**judges, judge: mean}
    definition = judges.get(judge)
    for name in (definition.members if definition else ()) or [judge]:
        if name not in judges and not name.startswith(RELEASED):
            raise UsageError(f"no judge {name!r}: expected released:NAME, mean:A+B or one of {sorted(judges)}")
        if name != judge and name in judges and judges[name].members:
            raise UsageError(f"{judge}: expected judges that are asked, found the mean {name!r}")
    return judges


def _members(judge: str) -> list[str]:
    """Return the judges that a name means over; itself, if it is no `mean:A+B`."""
    return judge.removeprefix(_MEAN).split("+") if judge.startswith(_MEAN) else [judge]


def task_of(judge: str, judges: Mapping[str, JudgeSettings]) -> str:
    """Return what a judge judges, by its name or by those it means over; predictions of a release are of coverage."""
    known = [judges[name].task for name in [judge, *_members(judge)] if name in judges]
    return known[0] if known else "coverage"


def targets_outcome(arguments: argparse.Namespace, experiment: Experiment | None, task: str) -> Outcome:
    """Calibrate a judge of targets; exit code 3 if more than the threshold of the labels are unjudged."""
    if given := [name for name, usual in _OF_SUPPORT.items() if getattr(arguments, name) != usual]:
        raise UsageError(f"--{given[0]}: expected a support judge (--support), found --judge of {task}")
    calibration = Calibration(
        bench_url=arguments.benchmark,
        judge=arguments.judge,
        judges=named_judges(arguments.judge, judges_of(task, _judges(experiment))),
        prompts=experiment.prompts if experiment else None,
        annotators=tuple(dict.fromkeys(arguments.annotator)),
        seed=arguments.seed,
        resamples=arguments.resamples,
    )
    calling = calling_of(arguments, "calibrate", arguments.benchmark)
    with ExitStack() as until_done, cluster_of(arguments) as cluster:
        run = run_of(arguments, until_done)
        if arguments.plan:
            planned = plan_calibration(calibration, run=run, calling=calling, workers=cluster.workers)
            return Outcome(planned, plan_words(planned))
        card = calibrate(calibration, run=run, cluster=cluster, calling=calling)
    judged_some = len(calibration.labels) > card["n_unjudged"]
    write_card(card, note=arguments.note, out=arguments.out if judged_some else None)
    share = card["n_unjudged"] / len(calibration.labels)
    most = experiment.unjudged_threshold if experiment else UNJUDGED_THRESHOLD
    words = f"{arguments.judge} {describe(card)}\ncost: {_cost_words(card['cost'])}"
    if arguments.out and not judged_some:
        words += f"\n{arguments.out}: no card is written, since no label was judged"
    return Outcome(card, words, FAILURES_ABOVE_THRESHOLD if share > most else DONE)


def _judges(experiment: Experiment | None) -> dict[str, JudgeSettings]:
    return {**SHIPPED_JUDGES, **(experiment.judges if experiment else {})}


def _cost_words(cost: Mapping[str, object]) -> str:
    dollars = "unknown" if cost["usd"] is None else f"${cost['usd']:,.4f}"
    return f"{dollars} ({cost['why']})"


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("calibrate", __doc__)
    parser.add_argument("benchmark", metavar="BENCH")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--judge", help="of any task: released:NAME, one that ships, mean:A+B, or a judge of --config")
    which.add_argument("--support", help="a judge of support, which may be its settings as YAML")
    parser.add_argument("--config", help="a configuration whose judges may be named")
    parser.add_argument(
        "--annotator",
        action="append",
        default=[],
        metavar="NAME",
        help="of --judge: hold it against this annotator's labels; may be repeated; default: all but released:NAME",
    )
    parser.add_argument("--out", metavar="CARD", help="write the card to this file")
    parser.add_argument("--note", help="what a reader of the card must know besides, in one sentence")
    parser.add_argument("--resamples", type=int, default=2000, help="of each interval")
    parser.add_argument("--seed", type=int, default=1, help="of the intervals")
    parser.add_argument(
        "--plan", action="store_true", help="say what the judge is asked and what it costs; ask nothing"
    )
    parser.add_argument("--run", metavar="RUN", help="keep verdicts in this folder, and find them there")
    add_calling_arguments(parser)
    add_cluster_arguments(parser)
    add_support_arguments(parser)

    def work(arguments: argparse.Namespace) -> Outcome:
        experiment = read_experiment(arguments.config) if arguments.config else None
        if not arguments.support:
            task = task_of(arguments.judge, _judges(experiment))
            if task != "support":
                return targets_outcome(arguments, experiment, task)
            arguments.support = arguments.judge
        if arguments.annotator:
            raise UsageError("--annotator: expected a coverage judge, or another of targets, found one of support")
        return support_outcome(arguments, experiment)

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
