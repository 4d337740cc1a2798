"""
Write sheets for people to label, and read them back in.

Of targets that people check it tells numbers, and it writes a copy of the benchmark with those that they accept.
Reads   targets, qrels, documents, labels; synthesis.json, if the benchmark has one, for passages and scores
Writes  documents, queries, targets, qrels of the copy
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from actors.judges.opening import named_kind
from actors.storage.folder import Folder
from jobs.calibration.labelled import RELEASED
from jobs.calibration.place import BESIDE_SHEETS, WITH_LABELS, LabelledPlace, add_samples, samples_beside, samples_in
from jobs.calibration.sheets import GUIDE, dealt, keep_labels, labels_of, write_sheets
from jobs.calibration.subjects import (
    QuerySubjects,
    Subjects,
    SummarySubjects,
    TargetSubjects,
    known_targets,
    read_sheets,
)
from jobs.command.run import Outcome
from jobs.files.write_benchmark import write_benchmark
from longform.errors import UsageError
from longform.formats.rows import HaystackRows
from longform.judges.card_figures import with_interval
from longform.judges.kind import SheetKind
from longform.judges.rubrics import (
    CHECKS,
    RUBRICS,
    Rubric,
    TargetCheck,
    decided,
    rated,
    score_bins,
    score_bounds,
)
from longform.judges.sheets import Filled, check_columns
from longform.keys import content_key, in_groups
from longform.metrics.agreement import Between, Label, between_annotators
from longform.records import Qrel
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
    add_samples(subjects.place.folder, WITH_LABELS, samples_beside(arguments.filled))
    told = _told(arguments, kind, subjects.place, filled)
    return _with_undrawn(told, subjects, filled) if isinstance(subjects, SummarySubjects) else told


def _with_undrawn(told: Outcome, subjects: SummarySubjects, filled: Sequence[Filled]) -> Outcome:
    """Add the number of summaries on the sheets of which no sample is known, and what to do about it."""
    samples = samples_in(subjects.place.folder, WITH_LABELS)
    drawn = {one for sample in samples if sample["task"] == subjects.kind.task for one in sample["subjects"]}
    undrawn = len({one.pair.summary_id for one in filled} - drawn)
    words = (
        f"nothing says how {undrawn:,} of these summaries were chosen: expected {BESIDE_SHEETS}, from the folder where "
        "`annotate` wrote the sheets, beside the filled ones; put it there and read them again, or `correct` warns"
    )
    return Outcome({**told.document, "n_undrawn": undrawn}, "\n".join([told.words, *([words] if undrawn else [])]))


def _kind_of(task: str) -> SheetKind:
    of_queries: dict[str, SheetKind] = {**RUBRICS, **CHECKS}
    try:
        return of_queries.get(task) or named_kind(task, folder=".")
    except UsageError as error:
        raise UsageError(f"{error}; of queries, {' or '.join(of_queries)}") from error


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
    everything = dict.fromkeys(annotators, chosen)
    deal = everything if arguments.overlap is None else dealt(chosen, annotators, arguments.overlap, arguments.seed)
    files = write_sheets(subjects, deal, arguments.sheets, form=arguments.form)
    if isinstance(subjects, SummarySubjects):
        sample: Sample = {
            "task": task,
            "n": n,
            "of": sum(map(len, subjects.there.values())),
            "seed": None if arguments.summaries is None else arguments.seed,
            "subjects": list(chosen),
        }
        add_samples(Folder(arguments.sheets), BESIDE_SHEETS, [sample])
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


def _told(arguments: argparse.Namespace, kind: SheetKind, place: LabelledPlace, filled: Sequence[Filled]) -> Outcome:
    """
    Tell of labels that are there, and how far people agree.

    The document has by annotator `sheets`, the `rows` of the sheets just read and how many of them are `filled`, and
    `labels`; `rated`, the means of each criterion of a rubric; `checked`, if targets are checked; and `agreement`, an
    entry for each two annotators who have labelled the same, by each criterion of a rubric (null: there is none).
    """
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
    told: dict[str, Any] = {
        "task": kind.task,
        "sheets": {name: {"rows": n, "filled": done[name]} for name, n in rows.items()},
        "labels": dict(Counter(row["annotator"] for row in there)),
        "rated": list(rated(kind, groups, **sized)) if isinstance(kind, Rubric) else [],
        "agreement": [{**one, "criterion": name or None} for name, one in found],
    }
    lines = [f"{name}: {done[name]:,} of {n:,} rows are filled" for name, n in rows.items()]
    lines.append(f"labels of {kind.task}: {', '.join(f'{n:,} by {name}' for name, n in told['labels'].items())}")
    if isinstance(kind, TargetCheck):
        told["checked"] = _checked(place, kind)
        lines += _checked_words(told["checked"])
        if arguments.accepted:
            n = _write_accepted(place, kind, arguments.accepted)
            lines.append(f"{arguments.accepted}: {n:,} queries with {told['checked']['accepted']:,} accepted targets")
    lines += [_rated_words(one) for one in told["rated"]]
    lines += [f"{f'{name}: ' if name else ''}{_agreement_words(one)}" for name, one in found]
    return Outcome(told, "\n".join(lines))


def _rated_words(one: Mapping[str, Any]) -> str:
    mean, best = with_interval(one["mean"], 1, 2), with_interval(one["best"], 100, 1)
    return f"{one['criterion']}: mean {mean}, highest score {best} %, {one['mean']['n']:,} ratings"


def _checked_words(one: Mapping[str, Any]) -> list[str]:
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


# ---------------------------------------------------------------- targets that people check


_BOUNDS = (0.5, 0.6, 0.7, 0.8, 0.9)


def _checked(place: LabelledPlace, check: TargetCheck) -> dict[str, Any]:
    """Return what people make of the targets of a benchmark; bins and bounds are empty without scores."""
    labels = labels_of(place, check)
    accepted = decided(labels, check)
    targets = [one for query in place.benchmark.queries for one in place.benchmark.targets.get(query, [])]
    n_accepted, n_targets = sum(accepted.values()), sum(target.kind == check.checks for target in targets)
    known = known_targets(place.benchmark.folder)
    scores = {target: point["score"] for target, point in known.items() if point["score"] is not None}
    return {
        "accepted": n_accepted,
        "rejected": len(accepted) - n_accepted,
        "unlabelled": n_targets - len(accepted),
        "answers": dict(Counter(row["answer"] for row in labels if row["answer"] is not None)),
        "bins": score_bins(scores, accepted),
        "bounds": list(score_bounds(scores, accepted, _BOUNDS)) if scores else [],
    }


def _write_accepted(place: LabelledPlace, check: TargetCheck, out_url: str) -> int:
    """
    Write a copy of a benchmark with the accepted targets alone; queries without one are left out.

    Returns:
        The queries of the copy.

    Raises:
        UsageError: People accepted none, or another benchmark stands there.
    """
    accepted = [target for target, is_accepted in decided(labels_of(place, check), check).items() if is_accepted]
    if not accepted:
        raise UsageError(f"--accepted: expected {check.checks}s that people accept, found none")
    benchmark = place.benchmark
    kept = content_key(benchmark.manifest["dataset_hash"], sorted(accepted))
    source = {"name": f"{check.task} of {benchmark.manifest['dataset_hash']}", "sha256": kept}
    manifest = write_benchmark(out_url, _haystacks(place, check, frozenset(accepted)), sources=[source])
    return manifest["rows"]["queries"]


def _haystacks(place: LabelledPlace, check: TargetCheck, accepted: Collection[str]) -> Iterator[HaystackRows]:
    benchmark = place.benchmark
    for haystack_id in benchmark.haystack_ids:
        targets = [
            target
            for target in benchmark.haystack_targets(haystack_id)
            if target.kind != check.checks or target.target_id in accepted
        ]
        left = {target.query_id for target in targets if target.kind == check.checks}
        queries = [one for one in benchmark.queries.values() if one.haystack_id == haystack_id and one.query_id in left]
        if queries:
            targets = [target for target in targets if target.query_id in left]
            ids = {target.target_id for target in targets}
            qrels = [Qrel(**row) for row in benchmark.rows("qrels", haystack_id).to_pylist()]
            stays = [one for one in qrels if one.query_id in left and (one.target_id is None or one.target_id in ids)]
            yield HaystackRows(haystack_id, benchmark.documents(haystack_id), queries, targets, stays)
