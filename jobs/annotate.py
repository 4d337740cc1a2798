"""Write sheets for people to label, and read them back in."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from actors.judges.kinds import named_kind
from jobs.calibration.labelled import RELEASED
from jobs.calibration.place import LabelledPlace
from jobs.calibration.sheets import GUIDE, chosen, keep_labels, labels_of, pairs_of, read_sheets, write_sheets
from jobs.commands import Outcome, run_verb
from jobs.parsers.annotate import parser
from longform.errors import UsageError
from longform.judges.kind import Kind
from longform.judges.sheets import Filled, check_columns
from longform.judges.support_cards import with_interval
from longform.metrics.agreement import Between, BetweenColumns, Label, between_annotators
from longform.rows import LabelRow


class Sheets(TypedDict):
    """Sheets that were written."""

    sheets: list[str]
    task: str
    n_summaries: int
    n_pairs: int


def annotate(arguments: argparse.Namespace) -> Outcome:
    """Write sheets, or read filled ones and tell what is labelled and how far people agree."""
    kind, place = named_kind(arguments.task, folder="."), LabelledPlace(arguments.folder)
    check_columns(kind)
    if arguments.sheets:
        return _written(arguments, kind, place)
    if arguments.annotator or arguments.summaries is not None:
        raise UsageError("expected --sheets DIR beside --annotator and --summaries, found none")
    filled = read_sheets(place, kind, arguments.filled)
    keep_labels(place, kind, filled)
    return _told(arguments, kind, place, filled)


def _written(arguments: argparse.Namespace, kind: Kind, place: LabelledPlace) -> Outcome:
    annotators = list(dict.fromkeys(arguments.annotator))
    if not annotators or arguments.filled:
        raise UsageError("--sheets: expected --annotator NAME for each sheet, and no --filled beside it")
    summaries = chosen(place, kind, arguments.summaries, arguments.seed)
    files = write_sheets(place, kind, summaries, annotators, arguments.sheets)
    n_pairs = sum(1 for _ in pairs_of(place, kind, summaries))
    told: Sheets = {"sheets": files, "task": kind.task, "n_summaries": len(summaries), "n_pairs": n_pairs}
    words = [
        f"{kind.task}: {n_pairs} rows of {len(summaries)} summaries in each sheet: {', '.join(files)}",
        f"{arguments.sheets.rstrip('/')}/{GUIDE} says what to fill in; then",
        f"longform annotate {arguments.folder} --task {kind.task} --filled {' '.join(files)}",
    ]
    return Outcome({**told}, "\n".join(words))


class Told(TypedDict):
    """
    Labels that are there, and how far people agree.

    Attributes:
        sheets: Annotator -> `rows` of the sheets just read, and how many of them are `filled`.
        labels: Annotator -> labels.
        agreement: An entry for each two annotators who have labelled the same.
    """

    task: str
    sheets: dict[str, dict[str, int]]
    labels: dict[str, int]
    agreement: list[BetweenColumns]


def _told(arguments: argparse.Namespace, kind: Kind, place: LabelledPlace, filled: Sequence[Filled]) -> Outcome:
    labels = [_as_label(row) for row in labels_of(place, kind) if not row["annotator"].startswith(RELEASED)]
    if not labels:
        raise UsageError(f"{arguments.folder}: expected labels of {kind.task}, found none; --sheets writes sheets")
    found = between_annotators(
        labels, kind.counts, seed=arguments.seed, resamples=arguments.resamples, named=kind.labels
    )
    rows, done = Counter(one.annotator for one in filled), Counter(one.annotator for one in filled if one.answer)
    told: Told = {
        "task": kind.task,
        "sheets": {name: {"rows": n, "filled": done[name]} for name, n in rows.items()},
        "labels": dict(Counter(label.annotator for label in labels)),
        "agreement": [one.as_json() for one in found],
    }
    lines = [f"{name}: {done[name]:,} of {n:,} rows are filled" for name, n in rows.items()]
    lines.append(f"labels of {kind.task}: {', '.join(f'{n:,} by {name}' for name, n in told['labels'].items())}")
    lines += [_agreement_words(one) for one in found]
    return Outcome({**told}, "\n".join(lines))


def _as_label(row: LabelRow) -> Label:
    item = (row["summary_id"], row["target_id"], row["unit_index"])
    return Label(row["annotator"], row["summary_id"], item, row["answer"] or "", row["linked_unit"])


def _agreement_words(one: Between) -> str:
    figures = [
        f"kappa {with_interval(one.kappa.as_json(), 1, 2)}",
        f"same answer {with_interval(one.same.as_json(), 100, 1)} %",
        f"r {with_interval(one.pearson.as_json(), 1, 2)}",
    ]
    if one.links.n:
        figures.append(f"same line {with_interval(one.links.as_json(), 100, 1)} % where both link")
    figures += [f"kappa of {label} {with_interval(of.as_json(), 1, 2)}" for label, of in one.by_label.items()]
    return f"{' and '.join(one.annotators)}, {one.same.n:,} labels each: {', '.join(figures)}"


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), annotate, argv)


if __name__ == "__main__":
    raise SystemExit(main())
