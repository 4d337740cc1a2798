"""Correct the scores of a run by summaries that people labelled."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from actors.judges.opening import named_kind
from actors.measures import open_measures
from actors.storage.benchmark import MANIFEST
from actors.storage.folder import Folder
from jobs.calibration.labelled import RELEASED
from jobs.calibration.place import RECORD, WITH_LABELS, LabelledPlace, samples_beside, samples_in
from jobs.calibration.subjects import SummarySubjects, label_key, label_row, read_sheets
from jobs.results.stored_run import StoredRun, averaging_of, read_stored
from jobs.results.two_runs import named_pair
from jobs.stages.released import labelled_tasks
from jobs.stages.score import ScoredHaystack, verdict_of
from longform.errors import UsageError, meant
from longform.evidence.scan import pl
from longform.judges.kind import Kind
from longform.judges.kinds.support import SUPPORT
from longform.keys import in_groups
from longform.measures import SHIPPED
from longform.metrics.cited_support import MAIN
from longform.metrics.measure import Description, Facts, Measure, Score, described
from longform.results.corrected import PeopleScores, Row, Sample, corrected_rows, correction_answer, sample_told
from longform.results.results import VerbAnswer
from longform.rows import LabelRow
from longform.settings.experiment import Experiment
from longform.settings.systems import SystemName
from longform.text.citations import bullets

NAME = "corrected"


def correct(arguments: argparse.Namespace) -> VerbAnswer:
    """
    Return what people's labels say of a run.

    Raises:
        UsageError: There is nothing to correct, or nothing to correct it by; the message says which.
    """
    url = str(arguments.run).rstrip("/")
    run = read_stored(url, url.rpartition("/")[2])
    if run.benchmark is None:
        raise UsageError(
            f"{url}: expected its benchmark at {run.record['benchmark']['url']}, as it was when the run was made "
            f"(data set hash {run.dataset_hash}); labels are of its targets"
        )
    pairs = [_pair(words, run.systems) for words in arguments.systems]
    judges, place = _judges(run, arguments), LabelledPlace(url)
    kinds = {kind.task: kind for kind in judges.values()}
    label_rows, drawn = _labels(place, arguments.labels, kinds)
    share = float(run.record["config"].get("partial_score", 0.5))
    cautions = [] if run.finished else [f"The run is not finished ({run.status['state']})."]
    annotators: dict[str, list[str]] = {}
    samples: list[str] = []
    listed: list[Description] = []
    people: list[tuple[str, list[Measure], PeopleScores]] = []
    for task, kind in kinds.items():
        names = [name for name, of in judges.items() if of.task == task]
        measures = _measures(run, names, kind, arguments.measure)
        own = people_scores(place, kind, labels_of_people(label_rows(kind), kind, arguments.annotator), measures, share)
        cautions.extend(_cautions(task, own))
        if own.scores:
            people.extend((name, measures, own.scores) for name in names)
            listed.extend(map(described, measures))
            annotators[task] = own.annotators
            written = run.summaries.filter(pl.col("failure").is_null())["summary_id"]
            words, minded = sample_told(task, own.scores, drawn, whole={*written} <= {*own.scores})
            samples.extend(words)
            cautions.extend(minded)
    if not people:
        raise UsageError(_nothing(url, kinds, cautions, arguments))
    systems, differences, without = _rows(run, people, pairs)
    if not systems:
        known = ", ".join(sorted({name for judge in run.table.judges for name in run.table.measures(judge)}))
        raise UsageError(f"--measure: expected some of {known}, found {', '.join(arguments.measure)}")
    cautions.extend(without)
    return correction_answer(
        url, annotators, samples, cautions, measures=listed, systems=systems, differences=differences
    )


def _rows(
    run: StoredRun,
    people: Sequence[tuple[str, list[Measure], PeopleScores]],
    pairs: Sequence[tuple[SystemName, SystemName]],
) -> tuple[list[Row], list[Row], list[str]]:
    """Return the rows of systems and of their differences, and sentences on systems without any."""
    how, systems, differences, told = averaging_of(run), list[Row](), list[Row](), list[str]()
    for judge, measures, scores in people:
        for own in run.scored(run.summaries, [judge]).partition_by("dataset", maintain_order=True):
            for measure in (one for one in measures if one.name in run.table.measures(judge)):
                rows, between, without = corrected_rows(own, scores, described(measure), how, pairs=pairs)
                systems.extend(rows)
                differences.extend(between)
                if without:
                    told.append(f"Without a labelled summary, and so without a row: {'; '.join(map(str, without))}.")
    return systems, differences, told


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


def _pair(words: str, known: Sequence[SystemName]) -> tuple[SystemName, SystemName]:
    one, other = named_pair(words, (known, known), "two systems of the run")
    if one == other:
        raise UsageError(f"--systems: expected two systems, found {one} twice")
    return one, other


# ---------------------------------------------------------------- labels


def _labels(
    place: LabelledPlace, named: Sequence[str], kinds: Mapping[str, Kind]
) -> tuple[Callable[[Kind], list[LabelRow]], list[Sample]]:
    """
    Return the labels of the sheets, runs and benchmarks named, and how their summaries were drawn.

    If none is named, they are those of the run and its benchmark.
    """
    folders = [one for one in named if any(Folder(one).has(name) for name in (MANIFEST, RECORD))]
    sheets = [one for one in named if one not in folders]
    beside = samples_beside(sheets)
    task = _task_of_sheets(beside, kinds) if sheets else None
    others = [LabelledPlace(one) for one in folders]
    if not named:
        others = [place, *([LabelledPlace(place.benchmark.folder.url)] if place.is_run else [])]
    stored = [row for other in others for row in of_equal_texts(place, other, other.labels())]

    def rows(kind: Kind) -> list[LabelRow]:
        filled = read_sheets(SummarySubjects(place, kind), sheets) if kind.task == task else []
        return [*stored, *(label_row(one) for one in filled if one.answer is not None)]

    return (rows, [*beside, *(sample for other in others for sample in samples_in(other.folder, WITH_LABELS))])


def _task_of_sheets(samples: Sequence[Sample], kinds: Mapping[str, Kind]) -> str:
    """Return the task of sheets: the only one that is asked for, else the one that they were drawn for."""
    known = list(kinds) if len(kinds) == 1 else list(dict.fromkeys(one["task"] for one in samples))
    if len(known) != 1 or known[0] not in kinds:
        raise UsageError(f"--labels: expected --task {' or '.join(kinds)} beside these sheets")
    return known[0]


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


# ---------------------------------------------------------------- scores by the labels of people


_HAYSTACKS_HELD = 4


class ByPeople(NamedTuple):
    """Scores by people's labels of one kind; those of several annotators are averaged."""

    scores: PeopleScores
    annotators: list[str]  # sorted
    n_partly: int  # summaries of the run of which somebody labelled a part, and nobody the whole; they do not count
    n_elsewhere: int  # labelled summaries that are not of the run


def people_scores(
    place: LabelledPlace, kind: Kind, labels: Iterable[LabelRow], measures: Sequence[Measure], partial_score: float
) -> ByPeople:
    """Score the summaries of a run by labels of people; those of summaries of other runs are counted alone."""
    by_summary = in_groups((row["summary_id"], row) for row in labels)
    held = {name: in_groups((row["annotator"], row) for row in rows) for name, rows in by_summary.items()}
    subjects = SummarySubjects(place, kind)

    @lru_cache(maxsize=_HAYSTACKS_HELD)
    def haystack(haystack_id: str) -> ScoredHaystack:
        return ScoredHaystack(place.benchmark, haystack_id)

    scores: dict[str, Mapping[str, tuple[float, float]]] = {}
    n_partly = 0
    for summary_id, by_annotator in held.items():
        if (summary := place.summaries.get(summary_id)) is None:
            continue
        wanted = {pair.key for pair in subjects.pairs(summary_id)}
        whole = [rows for rows in by_annotator.values() if wanted and wanted <= {label_key(row) for row in rows}]
        n_partly += not whole
        facts = [
            Facts(
                query_id=summary["query_id"],
                text=summary["text"],
                units=bullets(summary["text"] or ""),
                verdicts=[verdict_of(row, kind) for row in rows],
                haystack=haystack(summary["haystack_id"]),
                partial_score=partial_score,
            )
            for rows in whole
        ]
        if facts:
            scores[summary_id] = {one.name: _mean([one.per_summary(fact) for fact in facts]) for one in measures}
    return ByPeople(
        scores,
        sorted({annotator for by_annotator in held.values() for annotator in by_annotator}),
        n_partly,
        sum(summary_id not in place.summaries for summary_id in held),
    )


def _mean(scores: Sequence[Score]) -> tuple[float, float]:
    """Return the mean total and count of several annotators."""
    return sum(one.total for one in scores) / len(scores), sum(one.n for one in scores) / len(scores)


def labels_of_people(labels: Iterable[LabelRow], kind: Kind, annotators: Sequence[str]) -> list[LabelRow]:
    """Return the labels of a kind by these annotators; none named: by all that are no models."""
    return [
        row
        for row in labels
        if row["target_kind"] == kind.targets
        and row["answer"] in kind.counts
        and (row["annotator"] in annotators if annotators else not row["annotator"].startswith(RELEASED))
    ]


def of_equal_texts(place: LabelledPlace, other: LabelledPlace, labels: Iterable[LabelRow]) -> list[LabelRow]:
    """
    Return labels of another run or benchmark as labels of *place*: of its summaries of the same query and text.

    A label of a text that several summaries have counts for each of them; one of no such text is as it was.
    """
    if other.folder.url == place.folder.url:
        return list(labels)
    own = in_groups(((row["query_id"], row["text"]), summary_id) for summary_id, row in place.summaries.items())
    found: list[LabelRow] = []
    for row in labels:
        theirs = other.summaries.get(row["summary_id"])
        same = own.get((theirs["query_id"], theirs["text"]), []) if theirs is not None and theirs["text"] else []
        kept = [row["summary_id"]] if not same or row["summary_id"] in same else same  # a replay keeps the ids
        found += [{**row, "summary_id": one} for one in kept]
    return found
