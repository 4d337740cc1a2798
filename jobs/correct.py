"""Correct the scores of a run by summaries that people labelled."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from actors.judges.kinds import named_kind
from actors.measures import open_measures
from actors.storage.benchmark import MANIFEST
from actors.storage.folder import Folder
from jobs.calibration.labelled import RELEASED
from jobs.calibration.place import RECORD, LabelledPlace
from jobs.calibration.samples import kept_samples, samples_beside
from jobs.calibration.sheets import SummarySubjects, label_row, read_sheets
from jobs.command.run import Outcome, run_verb
from jobs.compare import named_pair
from jobs.parsers.correct import parser
from jobs.results.answers import answered
from jobs.results.people_scores import ByPeople, labels_of_people, of_equal_texts, people_scores
from jobs.results.stored_run import StoredRun, averaging_of, read_stored
from jobs.stages.released import labelled_tasks
from longform.errors import UsageError
from longform.evidence.scan import pl
from longform.judges.kind import Kind
from longform.judges.kinds.support import SUPPORT
from longform.measures import SHIPPED
from longform.metrics.cited_support import MAIN
from longform.metrics.measure import Measure, described
from longform.nearest import meant
from longform.results.corrected import (
    MOST_PAIRS,
    Correction,
    Sample,
    corrected_rows,
    correction_answer,
    sample_cautions,
    sample_words,
)
from longform.rows import LabelRow
from longform.settings.experiment import Experiment
from longform.settings.system_names import SystemName

NAME = "corrected"
Pairs = Callable[[Sequence[SystemName]], Iterable[tuple[SystemName, SystemName]]]


class _Labels(NamedTuple):
    """Labels of any task, and how their summaries were drawn."""

    rows: Callable[[Kind], list[LabelRow]]
    samples: list[Sample]


class _Task(NamedTuple):
    """The judges of one task, and people's labels of it."""

    judges: list[str]
    measures: list[Measure]
    people: ByPeople


def correct(arguments: argparse.Namespace, *, now: float) -> Correction:
    """
    Return what people's labels say of a run; *now* is in seconds since 1970.

    Raises:
        UsageError: There is nothing to correct, or nothing to correct it by; the message says which.
    """
    url = str(arguments.run).rstrip("/")
    run = read_stored(url, url.rpartition("/")[2], now=now)
    if run.benchmark is None:
        raise UsageError(
            f"{url}: expected its benchmark at {run.record['benchmark']['url']}, as it was when the run was made "
            f"(data set hash {run.dataset_hash}); labels are of its targets"
        )
    pairs = _pairs(arguments.systems, run.systems)
    unfinished = [] if run.finished else [f"The run is not finished ({run.status['state']})."]
    found = Correction(url, {}, [], unfinished, [], [], [])
    for task in _tasks(run, arguments, found):
        for judge in task.judges:
            _add_judge(found, judge, run, task, pairs)
    if not found.systems:
        names = ", ".join(sorted({name for judge in run.table.judges for name in run.table.measures(judge)}))
        raise UsageError(f"--measure: expected some of {names}, found {', '.join(arguments.measure)}")
    return found


def _tasks(run: StoredRun, arguments: argparse.Namespace, found: Correction) -> list[_Task]:
    """Return the tasks with people's labels of the run, and tell whose they are and how their summaries were drawn."""
    judges, place = _judges(run, arguments), LabelledPlace(run.url)
    kinds = {kind.task: kind for kind in judges.values()}
    labels = _labels(place, arguments.labels, kinds)
    share = float(run.record["config"].get("partial_score", 0.5))
    tasks = []
    for task, kind in kinds.items():
        names = [name for name, of in judges.items() if of.task == task]
        measures = _measures(run, names, kind, arguments.measure)
        own = labels_of_people(labels.rows(kind), kind, arguments.annotator)
        people = people_scores(place, kind, own, measures, share)
        found.cautions.extend(_cautions(task, people))
        if people.scores:
            tasks.append(_Task(names, measures, people))
            found.measures.extend(map(described, measures))
            found.annotators[task] = people.annotators
            found.samples.extend(sample_words(task, people.scores, labels.samples))
            written = run.summaries.filter(pl.col("failure").is_null())["summary_id"]
            whole = all(summary_id in people.scores for summary_id in written)
            found.cautions.extend(sample_cautions(task, people.scores, labels.samples, whole=whole))
    if not tasks:
        raise UsageError(_nothing(run.url, kinds, found.cautions, arguments))
    return tasks


def _add_judge(found: Correction, judge: str, run: StoredRun, task: _Task, pairs: Pairs) -> None:
    """Add the rows of one judge, for each data set and measure."""
    how = averaging_of(run)
    for scores in run.scored(run.summaries, [judge]).partition_by("dataset", maintain_order=True):
        for measure in task.measures:
            if measure.name in run.table.measures(judge):
                people, of = task.people.scores, described(measure)
                rows, differences, without = corrected_rows(scores, people, of, how, pairs=pairs)
                found.systems.extend(rows)
                found.differences.extend(differences)
                if without:
                    named = "; ".join(map(str, without))
                    found.cautions.append(f"Without a labelled summary, and so without a row: {named}.")


# ---------------------------------------------------------------- judges and measures


def _judges(run: StoredRun, arguments: argparse.Namespace) -> dict[str, Kind]:
    """Return the judges to correct with their kinds."""
    config = run.record["config"] or {}
    if config.get("judges"):
        stated = {name: (one.get("task", "coverage"), one.get("folder")) for name, one in config["judges"].items()}
    else:
        tasks = labelled_tasks(run.benchmark) if run.benchmark is not None else {}
        stated = {name: (task, None) for name, task in tasks.items() if name.startswith(RELEASED)}
    known = {
        name: named_kind(task, folder=folder) for name, (task, folder) in stated.items() if name in run.table.judges
    }
    if not known:
        raise UsageError(f"{run.url}: expected a judge whose scores people's labels can correct, found none")
    for option, wanted, names in (
        ("--judge", arguments.judge, known),
        ("--task", [arguments.task] if arguments.task else [], [kind.task for kind in known.values()]),
    ):
        if unknown := [name for name in wanted if name not in names]:
            raise UsageError(
                f"{option}: expected one of {', '.join(dict.fromkeys(names))}, found {unknown[0]!r}"
                f"{meant(unknown[0], list(names))}"
            )
    return {
        name: kind
        for name, kind in known.items()
        if name in (arguments.judge or known) and kind.task == (arguments.task or kind.task)
    }


def _measures(run: StoredRun, judges: Sequence[str], kind: Kind, wanted: Sequence[str]) -> list[Measure]:
    """Return the measures of verdicts of a kind: those wanted, else those that the run lists."""
    config = run.record["config"] or {}
    settings = [one for one in config.get("measures") or () if not isinstance(one, str)]
    own = open_measures(Experiment.model_validate(config).measures or ()) if settings else []
    known = {one.name: one for one in (*SHIPPED, *own) if isinstance(one, Measure) and one.judged_by == kind.task}
    there = [name for name in known if any(name in run.table.measures(judge) for judge in judges)]
    listed = {one["name"] for one in run.measures} | (set(MAIN) if kind is SUPPORT else set())
    return [known[name] for name in there if name in (wanted or listed)]


def _pairs(wanted: Sequence[str], known: Sequence[SystemName]) -> Pairs:
    """Return what chooses the pairs: those wanted, else all if they are few."""
    if not wanted:
        return _all_of_few
    named = [_pair(words, known) for words in wanted]
    return lambda _systems: named


def _all_of_few(systems: Sequence[SystemName]) -> list[tuple[SystemName, SystemName]]:
    found = list(combinations(systems, 2))
    return found if len(found) <= MOST_PAIRS else []


def _pair(words: str, known: Sequence[SystemName]) -> tuple[SystemName, SystemName]:
    one, other = named_pair(words, (known, known), "two systems of the run")
    if one == other:
        raise UsageError(f"--systems: expected two systems, found {one} twice")
    return one, other


# ---------------------------------------------------------------- labels


def _labels(place: LabelledPlace, named: Sequence[str], kinds: Mapping[str, Kind]) -> _Labels:
    """Return the labels of the sheets, runs and benchmarks named; none: those of the run and its benchmark."""
    folders = [one for one in named if _is_folder(one)]
    sheets = [one for one in named if one not in folders]
    beside = samples_beside(sheets)
    task = _task_of_sheets(beside, kinds) if sheets else None
    others = [LabelledPlace(one) for one in folders]
    if not named:
        others = [place, *([] if place.is_benchmark else [LabelledPlace(place.benchmark.folder.url)])]
    stored = [row for other in others for row in of_equal_texts(place, other, other.labels())]

    def rows(kind: Kind) -> list[LabelRow]:
        filled = read_sheets(SummarySubjects(place, kind), sheets) if kind.task == task else []
        return [*stored, *(label_row(one) for one in filled if one.answer is not None)]

    return _Labels(rows, [*beside, *(sample for other in others for sample in kept_samples(other.folder))])


def _task_of_sheets(samples: Sequence[Sample], kinds: Mapping[str, Kind]) -> str:
    """Return the task of sheets: the only one that is asked for, else the one that they were drawn for."""
    known = list(kinds) if len(kinds) == 1 else list(dict.fromkeys(one["task"] for one in samples))
    if len(known) != 1 or known[0] not in kinds:
        raise UsageError(f"--labels: expected --task {' or '.join(kinds)} beside these sheets")
    return known[0]


def _is_folder(url: str) -> bool:
    return any(Folder(url).has(name) for name in (MANIFEST, RECORD))


def _cautions(task: str, people: ByPeople) -> Iterator[str]:
    if people.n_partly:
        yield f"{people.n_partly:,} summaries are labelled for {task} in part, not whole, and do not count."
    if people.n_elsewhere:
        yield (
            f"{people.n_elsewhere:,} summaries with labels of {task} are not of this run, neither by id nor by query "
            "and text, and are left out."
        )


def _nothing(url: str, kinds: Mapping[str, Kind], told: Sequence[str], arguments: argparse.Namespace) -> str:
    by = f" by {' and '.join(arguments.annotator)}" if arguments.annotator else ""
    where = ", ".join(arguments.labels) if arguments.labels else f"{url} and its benchmark"
    first = next(iter(kinds))
    return (
        f"expected people's labels of {' or '.join(kinds)}{by} on summaries of {url}, found none in {where}. "
        f"{''.join(f'{one} ' for one in told)}longform annotate {url} --task {first} --sheets DIR --annotator NAME "
        "--summaries N draws summaries to label"
    )


# ---------------------------------------------------------------- command line


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    return answered(correction_answer(correct(arguments, now=time.time())), NAME, arguments.out)


if __name__ == "__main__":
    raise SystemExit(main())
