"""Write sheets for people to label, and read them back in."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import NotRequired, TypedDict

from actors.judges.opening import named_kind
from jobs.calibration.labelled import RELEASED
from jobs.calibration.place import BESIDE_SHEETS, LabelledPlace, keep_samples, kept_samples, note_sample, samples_beside
from jobs.calibration.sheets import GUIDE, dealt, keep_labels, labels_of, write_sheets
from jobs.calibration.subjects import QuerySubjects, Subjects, SummarySubjects, TargetSubjects, read_sheets
from jobs.calibration.targets_checked import CheckedColumns, checked, write_accepted
from jobs.command.run import Outcome
from longform.errors import UsageError
from longform.judges.card_figures import with_interval
from longform.judges.kind import SheetKind
from longform.judges.rubrics import CHECKS, RUBRICS, Rated, Rubric, TargetCheck, rated
from longform.judges.sheets import Filled, check_columns
from longform.keys import in_groups
from longform.metrics.agreement import Between, Label, between_annotators
from longform.results.corrected import Sample
from longform.rows import LabelRow


def annotate(arguments: argparse.Namespace) -> Outcome:
    """Write sheets, or read filled ones and tell what is labelled and how far people agree."""
    kind = _kind_of(arguments.task)
    subjects = _subjects_of(LabelledPlace(arguments.folder), kind, arguments.system)
    check_columns(kind)
    if arguments.sheets:
        return _written(arguments, subjects)
    if arguments.annotator or arguments.system or arguments.summaries is not None or arguments.queries is not None:
        raise UsageError("expected --sheets DIR beside --annotator, --system, --summaries and --queries, found none")
    if arguments.accepted and not isinstance(kind, TargetCheck):
        raise UsageError(f"--accepted: expected --task {' or '.join(CHECKS)}, found {kind.task}")
    filled = read_sheets(subjects, arguments.filled)
    keep_labels(subjects.place, kind, filled)
    keep_samples(subjects.place.folder, samples_beside(arguments.filled))
    told = _told(arguments, kind, subjects.place, filled)
    return _with_undrawn(told, subjects, filled) if isinstance(subjects, SummarySubjects) else told


def _with_undrawn(told: Outcome, subjects: SummarySubjects, filled: Sequence[Filled]) -> Outcome:
    """Add the number of summaries on the sheets of which no sample is known, and what to do about it."""
    samples = [sample for sample in kept_samples(subjects.place.folder) if sample["task"] == subjects.kind.task]
    drawn = {subject for sample in samples for subject in sample["subjects"]}
    undrawn = len({one.pair.summary_id for one in filled} - drawn)
    words = (
        f"nothing says how {undrawn:,} of these summaries were chosen: expected {BESIDE_SHEETS}, from the folder where "
        "`annotate` wrote the sheets, beside the filled ones; put it there and read them again, or `correct` warns"
    )
    return Outcome({**told.document, "n_undrawn": undrawn}, "\n".join([told.words, *([words] if undrawn else [])]))


def _kind_of(task: str) -> SheetKind:
    if task in RUBRICS:
        return RUBRICS[task]
    if task in CHECKS:
        return CHECKS[task]
    try:
        return named_kind(task, folder=".")
    except UsageError as error:
        raise UsageError(f"{error}; of queries, {' or '.join((*RUBRICS, *CHECKS))}") from error


def _subjects_of(place: LabelledPlace, kind: SheetKind, systems: Sequence[str]) -> Subjects:
    if not isinstance(kind, TargetCheck | Rubric):
        return SummarySubjects(place, kind, systems)
    if systems:
        raise UsageError(f"--system: {kind.task} labels no summaries of systems")
    return TargetSubjects(place, kind) if isinstance(kind, TargetCheck) else QuerySubjects(place, kind)


def _written(arguments: argparse.Namespace, subjects: Subjects) -> Outcome:
    annotators = list(dict.fromkeys(arguments.annotator))
    if not annotators or arguments.filled:
        raise UsageError("--sheets: expected --annotator NAME for each sheet, and no --filled beside it")
    numbers = {"summaries": arguments.summaries, "queries": arguments.queries}
    if other := [unit for unit, n in numbers.items() if n is not None and unit != subjects.unit]:
        raise UsageError(f"--{other[0]}: {subjects.kind.task} labels {subjects.unit}: expected --{subjects.unit}")
    chosen = subjects.chosen(numbers[subjects.unit], arguments.seed)
    task, n = subjects.kind.task, len(chosen)
    if arguments.overlap is not None and not 0 <= arguments.overlap <= 1:
        raise UsageError(f"--overlap: expected a share from 0 to 1, found {arguments.overlap:g}")
    everything = dict.fromkeys(annotators, chosen)
    deal = everything if arguments.overlap is None else dealt(chosen, annotators, arguments.overlap, arguments.seed)
    files = write_sheets(subjects, deal, arguments.sheets, form=arguments.form)
    if isinstance(subjects, SummarySubjects):
        _note_sample(arguments, subjects, chosen)
    n_pairs = sum(1 for _ in subjects.all_pairs(chosen))
    where = "in each sheet" if arguments.overlap is None else f"dealt out, {100 * arguments.overlap:g} % to all"
    filled = [f"{file.removesuffix('.html')}.csv" if arguments.form == "html" else file for file in files]
    how = "; each page gives its sheet as a download, to be saved beside it" if filled != files else ""
    words = [
        f"{task}: {n_pairs} rows of {n} {subjects.unit} {where}: {', '.join(files)}",
        f"{arguments.sheets.rstrip('/')}/{GUIDE} says what to fill in{how}; then",
        f"longform annotate {arguments.folder} --task {task} --filled {' '.join(filled)}",
    ]
    told = {"sheets": files, "task": task, f"n_{subjects.unit}": n, "n_pairs": n_pairs}
    return Outcome(told, "\n".join(words))


def _note_sample(arguments: argparse.Namespace, subjects: SummarySubjects, chosen: Sequence[str]) -> None:
    """Keep beside the sheets how their summaries were drawn."""
    sample: Sample = {
        "task": subjects.kind.task,
        "n": len(chosen),
        "of": sum(map(len, subjects.there.values())),
        "seed": None if arguments.summaries is None else arguments.seed,
        "subjects": list(chosen),
    }
    note_sample(arguments.sheets, sample)


class Agreed(Between):
    """The agreement of two annotators; `criterion` is null if there is no rubric."""

    criterion: str | None


class LabelsTold(TypedDict):
    """
    Labels that are there, and how far people agree.

    Attributes:
        sheets: Annotator -> `rows` of the sheets just read, and how many of them are `filled`.
        labels: Annotator -> labels.
        rated: Means of each criterion of a rubric.
        checked: Targets that people accept or reject, if targets are checked.
        n_undrawn: Summaries on the sheets of which no sample is known, if summaries are labelled.
        agreement: An entry for each two annotators who have labelled the same, by each criterion of a rubric.
    """

    task: str
    sheets: dict[str, dict[str, int]]
    labels: dict[str, int]
    rated: list[Rated]
    agreement: list[Agreed]
    checked: NotRequired[CheckedColumns]
    n_undrawn: NotRequired[int]


def _told(arguments: argparse.Namespace, kind: SheetKind, place: LabelledPlace, filled: Sequence[Filled]) -> Outcome:
    there = [row for row in labels_of(place, kind) if not row["annotator"].startswith(RELEASED)]
    if not there:
        raise UsageError(f"{arguments.folder}: expected labels of {kind.task}, found none; --sheets writes sheets")
    groups = in_groups((row["target_id"] if isinstance(kind, Rubric) else "", _as_label(row)) for row in there)
    sized = {"seed": arguments.seed, "resamples": arguments.resamples}
    found = [
        (name, one)
        for name, labels in groups.items()
        for one in between_annotators(labels, kind.counts, named=kind.labels, **sized)
    ]
    rows, done = Counter(one.annotator for one in filled), Counter(one.annotator for one in filled if one.answer)
    told: LabelsTold = {
        "task": kind.task,
        "sheets": {name: {"rows": n, "filled": done[name]} for name, n in rows.items()},
        "labels": dict(Counter(row["annotator"] for row in there)),
        "rated": list(rated(kind, groups, **sized)) if isinstance(kind, Rubric) else [],
        "agreement": [{**one, "criterion": name or None} for name, one in found],
    }
    lines = [f"{name}: {done[name]:,} of {n:,} rows are filled" for name, n in rows.items()]
    lines.append(f"labels of {kind.task}: {', '.join(f'{n:,} by {name}' for name, n in told['labels'].items())}")
    if isinstance(kind, TargetCheck):
        told["checked"] = checked(place, kind)
        lines += _checked_words(told["checked"])
        if arguments.accepted:
            n = write_accepted(place, kind, arguments.accepted)
            lines.append(f"{arguments.accepted}: {n:,} queries with {told['checked']['accepted']:,} accepted targets")
    lines += [_rated_words(one) for one in told["rated"]]
    lines += [f"{f'{name}: ' if name else ''}{_agreement_words(one)}" for name, one in found]
    return Outcome({**told}, "\n".join(lines))


def _rated_words(one: Rated) -> str:
    mean, best = with_interval(one["mean"], 1, 2), with_interval(one["best"], 100, 1)
    return f"{one['criterion']}: mean {mean}, highest score {best} %, {one['mean']['n']:,} ratings"


def _checked_words(one: CheckedColumns) -> list[str]:
    answers = ", ".join(f"{answer} {n:,}" for answer, n in one["answers"].items())
    lines = [
        f"accepted {one['accepted']:,}, rejected {one['rejected']:,}, not labelled {one['unlabelled']:,}; {answers}"
    ]
    shares = [
        f"{row['low']:.1f} to {row['high']:.1f}: {100 * row['right']:.0f} % of {row['n']:,}" for row in one["bins"]
    ]
    wrong = [
        f"{row['score']:g}: {100 * row['wrong']:.1f} % of {row['n']:,}"
        for row in one["bounds"]
        if row["wrong"] is not None
    ]
    lines += [f"accepted, by score: {'; '.join(shares)}"] if shares else []
    return lines + ([f"rejected among those with a score of at least {'; '.join(wrong)}"] if wrong else [])


def _as_label(row: LabelRow) -> Label:
    item = (row["summary_id"], row["target_id"], row["unit_index"])
    return Label(row["annotator"], row["summary_id"], item, row["answer"] or "", row["linked_unit"])


def _agreement_words(one: Between) -> str:
    figures = [
        f"kappa {with_interval(one['kappa'], 1, 2)}",
        f"free-marginal kappa {with_interval(one['free_kappa'], 1, 2)}",
        f"same answer {with_interval(one['same'], 100, 1)} %",
        f"r {with_interval(one['pearson'], 1, 2)}",
    ]
    if one["links"]["n"]:
        figures.append(f"same line {with_interval(one['links'], 100, 1)} % where both link")
    figures += [f"kappa of {label} {with_interval(of, 1, 2)}" for label, of in one["by_label"].items()]
    return f"{' and '.join(one['annotators'])}, {one['same']['n']:,} labels each: {', '.join(figures)}"
