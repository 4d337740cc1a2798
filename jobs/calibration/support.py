"""
A support judge against people's labels of summaries and sentences: its card, and the grid of mergings.

Reads   documents, summaries, labels and rankings of a benchmark made by `longform ingest longformfact`
Writes  `verdicts` into the folder that `--run` names, where they are found again; else they are kept for the command
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import yaml

from actors.chat.opening import check_chat
from actors.judges.opening import make_judge
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calibration.label_cells import (
    Judging,
    Verdicts,
    Wanted,
    cells_of,
    cells_stage,
    cells_tasks,
    read_verdicts,
    work_ids,
)
from jobs.calibration.label_texts import LabelledText, labelled_texts
from jobs.calibration.plan import calibration_plan
from jobs.calling import Calling, calling_of
from jobs.cluster import Cluster, cluster_of
from jobs.commands import DONE, FAILURES_ABOVE_THRESHOLD, Outcome
from jobs.configs import validated
from jobs.runs.cards import write_card
from jobs.spending.plan import plan_words
from jobs.stages.runner import Task, run_stage
from longform.errors import UsageError
from longform.judges.cards import SUPPORT_LEXICAL, describe, shipped_card
from longform.judges.kinds.support import SUPPORT
from longform.judges.mean import mean_rows
from longform.judges.meta_evaluation import (
    BY_ORDER,
    DOCUMENT,
    EACH_DOCUMENT,
    JOINED,
    LabelledSummary,
    Mode,
    Scoring,
    chunks_of,
    grid,
    label_counts,
    order_study,
)
from longform.judges.meta_evaluation_words import meta_evaluation_words
from longform.judges.support_cards import shown_row, support_card
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.settings.judges import SHIPPED_JUDGES, JudgeSettings, MeanJudgeSettings, judges_of, whole_identity
from longform.settings.strict import Strict

UNJUDGED_THRESHOLD: float = Experiment.model_fields["unjudged_threshold"].default
"""The share of cells above which the exit code says so, where no configuration does."""

_MEAN = "mean:"


class Asked(NamedTuple):
    """
    The judge to be calibrated, and its options.

    Attributes:
        members: Whom to ask: the judge itself, or those that it is the mean of.
    """

    name: str
    settings: JudgeSettings
    members: Mapping[str, JudgeSettings]
    prompts: str | None = None  # a folder whose files replace ours of the same name
    modes: tuple[Mode, ...] = (EACH_DOCUMENT,)
    orders: bool = False
    scoring: Scoring = Scoring()

    @property
    def all_modes(self) -> list[Mode]:
        """The modes whose cells are needed."""
        by_order = BY_ORDER.values() if self.orders else []
        return list(dict.fromkeys([*self.modes, *by_order]))


class _Part(NamedTuple):
    """One judge that is asked: what is wanted of it, and the tasks that are not done."""

    judging: Judging
    wanted: Mapping[str, Wanted]
    tasks: list[Task]

    @property
    def chat(self) -> ChatSettings | None:
        """The model that it asks; None: it asks none, or nothing is to be done."""
        return self.judging.settings.asked_model if self.tasks else None


def calibrate_support(
    bench_url: str, asked: Asked, *, run: Folder, cluster: Cluster, calling: Calling
) -> dict[str, Any]:
    """
    Calibrate a judge on the benchmark's labels, as JSON values: `grid`, `orders`, counts, and its `card`.

    Args:
        bench_url: With labels of annotator `people`.
        asked: The judge, modes and measures.
        run: Where verdicts are, and are found.
        cluster: Where the judge runs.
        calling: Where the calls of a judge that asks a model are recorded, and what they may cost.

    Raises:
        UsageError: There are no labels, the judge cannot be used, or no summary has the ranking that orders need.
    """
    texts, parts = _parts(bench_url, asked, run)
    _judge(parts, run=run, cluster=cluster, calling=calling)
    cells, failures = cells_of(_verdicts(asked, {part.judging.name: read_verdicts(run, part.wanted) for part in parts}))
    summaries = [text.summary for text in texts]
    fitted = frozenset(article for part in parts for article in part.judging.fitted)
    found = {
        "judge": asked.name,
        "scoring": asked.scoring._asdict(),
        "data_sets": [
            {**counts, "held_out": counts["data_set"] in _held_out(summaries, fitted)}
            for counts in label_counts(summaries)
        ],
        "n_cells": sum(matrix.size for matrix in cells.values()),
        "n_cells_unjudged": sum(failures.values()),
        "failures": failures,
        "grid": grid(summaries, cells, [mode.name for mode in asked.modes], asked.scoring),
        "orders": order_study(summaries, cells, asked.scoring) if asked.orders else None,
    }
    return found | {"card": _card(asked, fitted, found, summaries)}


def plan_support(bench_url: str, asked: Asked, *, run: Folder, calling: Calling, workers: int) -> dict[str, Any]:
    """Plan the calibration's calls to a chat model, and their tokens; nothing is asked, and no key is needed."""
    for settings in asked.members.values():
        if settings.asked_model is not None:
            check_chat(settings.asked_model, logprobs=settings.needs_logprobs, with_key=False)
    _, parts = _parts(bench_url, asked, run)
    return calibration_plan([(part.judging, part.tasks) for part in parts], calling=calling, workers=workers)


def _parts(bench_url: str, asked: Asked, run: Folder) -> tuple[list[LabelledText], list[_Part]]:
    texts = labelled_texts(Benchmark(bench_url))
    if asked.orders and not any(text.ranking for text in texts):
        raise UsageError(f"{bench_url}: orders need a ranking of documents by importance, and no summary has one")
    parts = []
    for name, settings in asked.members.items():
        judging = _judging(bench_url, asked, name, settings)
        wanted = work_ids(judging, texts, asked.all_modes)
        parts.append(_Part(judging, wanted, cells_tasks(run, judging, wanted)))
    return texts, parts


def _judge(parts: Sequence[_Part], *, run: Folder, cluster: Cluster, calling: Calling) -> None:
    if chats := [part.chat for part in parts if part.chat is not None]:
        for chat in chats:
            check_chat(chat, with_key=True)
        calling.check_prices(chats)
        cluster.start()
        calling.start()
    for part in parts:
        stage = cells_stage(run, part.judging, calling=calling, threads=max(1, int(cluster.cpus)))
        run_stage(run, stage, len(part.wanted), part.tasks, cluster=cluster)


def _verdicts(asked: Asked, found: Mapping[str, Verdicts]) -> Verdicts:
    """Return the judge's own verdicts, or the means of those that its members gave."""
    if not asked.settings.members:
        return found[asked.name]
    bounds = asked.settings.bounds
    return {
        key: mean_rows(
            SUPPORT, {name: verdicts[key] for name, verdicts in found.items()}, judge=asked.name, bounds=bounds
        )
        for key in found[asked.settings.members[0]]
    }


def _judging(bench_url: str, asked: Asked, name: str, settings: JudgeSettings) -> Judging:
    scoring = asked.scoring
    return Judging(
        bench_url=bench_url,
        name=name,
        settings=settings,
        version=make_judge(name, asked.members, prompts=asked.prompts).version.work,
        fidelity=scoring.fidelity,
        seed=scoring.seed,
        prompts=asked.prompts,
        fitted=frozenset(_fitted_articles(settings)),
    )


def _version(asked: Asked) -> str:
    judges = {**asked.members, asked.name: asked.settings}
    return make_judge(asked.name, judges, prompts=asked.prompts).version.work


def _fitted_articles(settings: JudgeSettings) -> list[str]:
    # the offline judge's figures on its own training labels would be in sample; only its shipped card names them
    if not settings.is_lexical:
        return []
    return list((shipped_card(SUPPORT_LEXICAL) or {})["fitted_articles"])


def _held_out(summaries: Sequence[LabelledSummary], fitted: frozenset[str]) -> list[str]:
    return sorted({summary.data_set for summary in summaries if summary.article in fitted})


def _card(
    asked: Asked, fitted: frozenset[str], found: Mapping[str, Any], summaries: Sequence[LabelledSummary]
) -> dict[str, Any] | None:
    if shown_row(found) is None:
        return None
    return support_card(
        judge=asked.name,
        settings=whole_identity(asked.settings, asked.members),
        version=_version(asked),
        found=found,
        summaries=summaries,
        held_out=_held_out(summaries, fitted),
        fitted_articles=sorted(fitted),
    )


# ---------------------------------------------------------------- command line


def add_support_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("of support judges")
    group.add_argument("--modes", default=DOCUMENT, help="comma list of document, full, chunk-N (N tokens)")
    group.add_argument("--orders", action="store_true", help="judge the joined documents in four orders by importance")
    group.add_argument("--fidelity", choices=["ours", "release"], default="ours", help="how missing cells are merged")
    group.add_argument("--threshold", type=float, help="a number above it is supported; the judge's own where not said")


def support_outcome(arguments: argparse.Namespace, experiment: Experiment | None) -> Outcome:
    """The verb, for a support judge; exit code 3 where more than the threshold of cells are unjudged."""
    asked = asked_of(
        arguments, experiment.support_judges if experiment else {}, experiment.prompts if experiment else None
    )
    if arguments.out and EACH_DOCUMENT not in asked.modes:
        raise UsageError(f"--out: a card is of mode {DOCUMENT}, found --modes {arguments.modes}")
    calling = calling_of(arguments, "calibrate", arguments.benchmark)
    with ExitStack() as until_done, cluster_of(arguments) as cluster:
        run = run_of(arguments, until_done)
        if arguments.plan:
            planned = plan_support(arguments.benchmark, asked, run=run, calling=calling, workers=cluster.workers)
            return Outcome(planned, plan_words(planned))
        found = calibrate_support(arguments.benchmark, asked, run=run, cluster=cluster, calling=calling)
    words = meta_evaluation_words(found)
    if found["card"]:
        write_card(found["card"], note=arguments.note, out=arguments.out)
        words += f"\n\nThe card: {describe(found['card'])}"
    share = found["n_cells_unjudged"] / found["n_cells"]
    most = experiment.unjudged_threshold if experiment else UNJUDGED_THRESHOLD
    return Outcome(found, words, FAILURES_ABOVE_THRESHOLD if share > most else DONE)


def asked_of(arguments: argparse.Namespace, configured: Mapping[str, JudgeSettings], prompts: str | None) -> Asked:
    """
    Return the request of the command line.

    Raises:
        UsageError: No such judge or mode, or a threshold outside [0, 1).
    """
    if arguments.threshold is not None and not 0 <= arguments.threshold < 1:
        raise UsageError(f"--threshold: expected a number in [0, 1), found {arguments.threshold:g}")
    known = {**judges_of("support", SHIPPED_JUDGES), **configured}
    name, settings = named_support_judge(arguments.support, known)
    members = support_members(name, settings, known)
    own = getattr(settings, "threshold", Scoring().threshold)
    threshold = own if arguments.threshold is None else arguments.threshold
    scoring = Scoring(arguments.fidelity, threshold, arguments.seed, arguments.resamples)
    return Asked(name, settings, members, prompts, modes_of(arguments.modes), arguments.orders, scoring)


def modes_of(text: str) -> tuple[Mode, ...]:
    """
    The modes of a comma list, each once.

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


class _Named(Strict):
    judge: JudgeSettings


def named_support_judge(text: str, known: Mapping[str, JudgeSettings]) -> tuple[str, JudgeSettings]:
    """
    A judge of *known*, the mean of some (`mean:A+B`), or the one that YAML settings define, with its name.

    Raises:
        UsageError: It is none of these.
    """
    if text in known:
        return text, known[text]
    if text.startswith(_MEAN):
        mean = {"kind": "mean", "task": "support", "of": text.removeprefix(_MEAN).split("+")}
        return text, validated(MeanJudgeSettings, mean, (), where=text)
    try:
        settings = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"--support {text!r}: expected YAML: {error}") from error
    if not isinstance(settings, dict):
        raise UsageError(f"no support judge {text!r}: expected settings as YAML, or one of {sorted(known)}")
    judge = validated(_Named, {"judge": settings | {"task": "support"}}, (), where="--support").judge
    return judge.asked_model.model if judge.asked_model else judge.model_name, judge


def support_members(name: str, settings: JudgeSettings, known: Mapping[str, JudgeSettings]) -> dict[str, JudgeSettings]:
    """
    Whom judge *name* means to ask: itself, or the judges of *known* that it is the mean of.

    Raises:
        UsageError: A member is not known, or is a mean itself.
    """
    if not settings.members:
        return {name: settings}
    members = {}
    for member in settings.members:
        found = known.get(member)
        if found is None or found.members:
            asked = sorted(other for other, one in known.items() if not one.members)
            raise UsageError(f"{name}: expected judges that are asked, of {asked}; found {member!r}")
        members[member] = found
    return members


def run_of(arguments: argparse.Namespace, until_done: ExitStack) -> Folder:
    """The folder of verdicts; one of the command's own, deleted behind it, where none is named."""
    if arguments.run:
        return Folder(arguments.run)
    return Folder(until_done.enter_context(tempfile.TemporaryDirectory(prefix="longform-calibrate-")))
