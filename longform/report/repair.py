"""The section that holds each system against itself with repaired citations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from longform.models import read_model
from longform.repair.by_judge import HOWS
from longform.report.elsewhere import elsewhere_mark
from longform.report.parts import INTERVAL, Judged, Section, by_judge, has_datasets, judge_line
from longform.report.plots import By, Plot, change_plot
from longform.report.tables import IN_SAMPLE, Column, Table, distinct, is_position_row, is_wide
from longform.results.before_after import ChangeColumns, RepairedRow
from longform.results.repair import Example, Repair
from longform.results.results import Results
from longform.tables.cells import Cell, number, words

WARNING = "Such citations say that supporting documents were found, not that they were used."
Side = Literal["before", "after"]
SIDES: dict[Side, str] = {"before": "As written", "after": "Supporting documents found"}
DocumentOf = Callable[[Example, Side, int], str | None]
"""Finds the address of a document of an example, by its number; None: it has none."""

_UNBOUNDED = "too few clusters: no interval"
_UNKNOWN = "no summary has this score"


def repair_sections(results: Results) -> Iterator[Section]:
    """One section if citations were repaired, else none."""
    repair = results.get("repair")
    if not repair or not repair["rows"]:
        return
    label = repair["label"]
    tables = [_table(rows, results, judge, label) for judge, rows in by_judge(repair["rows"])]
    about = (
        f"Each summary beside a twin whose bullets cite the documents that say the same, labelled “{label}”. {WARNING} "
        "A document is right where the benchmark planted the insight in it; another may state it too."
    )
    paragraphs = [about, _driver(results, repair)]
    if repair["examples"]:
        paragraphs.append(_told(repair))
    yield Section("repair", "Citations before and after repair", paragraphs, tables, examples=repair["examples"])


def _driver(results: Results, repair: Repair) -> str:
    """Say what chose the documents; in older results it was the matrix."""
    if (judge := repair.get("by", "matrix")) == "matrix":
        fitted = read_model("support_words")["fitted_on"]
        return (
            "Driven by matrix: the words that bullets and documents share. The support model that ships was fitted on "
            f"{fitted}. {_sampled(repair)}"
        )
    counted = "; ".join(f"{n} {HOWS[how]}" for how, n in repair["bullets"].items() if n)
    return (
        f"Driven by support judge {judge}: a bullet cites the documents that it calls supporting, else "
        f"the best one. {judge_line(results, judge)}. "
        f"Of {sum(repair['bullets'].values())} bullets{_of_all(repair)}: {counted}. "
        "Sentences quoted below are those that share most words with the bullet."
    )


def _of_all(repair: Repair) -> str:
    return " of all data sets" if has_datasets(repair["rows"]) else ""


def _sampled(repair: Repair) -> str:
    """Say whether the model saw the insights that citations are scored by; older results do not know."""
    if "in_sample" not in repair:
        return "There the figures are in sample."
    seen = repair["in_sample"]
    return f"The figures after repair are {seen}." if seen else "It saw none of the insights that are scored here."


def _table(rows: list[RepairedRow], results: Results, judge: Judged, label: str) -> Table:
    caption = f"{judge_line(results, judge)}. Before: as the summary cites. After: {label}. {INTERVAL}"
    how = (
        "Differences in points, paired by summary; their intervals hold for all rows of a measure together. Coverage "
        "is the same by construction, so is faithfulness if it stands beside: bullets and verdicts stay. Rows by joint "
        "score before repair."
    )
    columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
    for measure in ("citation", "joint"):
        mark = f" ({IN_SAMPLE})" if results["repair"].get("in_sample") else ""
        columns += [Column(name, group=measure) for name in ("before", f"after{mark}", f"difference{mark}")]
    columns += [Column(name, group="coverage") for name in ("before", "after")]
    judged = any("faithfulness" in row for row in rows)
    if judged:
        columns.append(Column("faithfulness"))
    ordered = sorted(rows, key=lambda row: -1.0 if (before := row["joint"]["before"]) is None else before, reverse=True)
    body = [
        [
            words(row["summarizer"])._replace(detail=elsewhere_mark(results, row)),
            words(row["setting"]),
            *_scores(row["citation"]),
            _difference(row["citation"]),
            *_scores(row["joint"]),
            _difference(row["joint"]),
            *_scores(row["coverage"]),
            *([_faithfulness(row)] if judged else []),
        ]
        for row in ordered
    ]
    return Table(caption, columns, body, how)


def _scores(change: ChangeColumns) -> list[Cell]:
    return [number(change["before"], reason=_UNKNOWN), number(change["after"], reason=_UNKNOWN)]


def _faithfulness(row: RepairedRow) -> Cell:
    """Show the faithfulness of the same bullets by the judge that drove the citations; citations do not move it."""
    found = row["faithfulness"]
    return number(found["value"], interval=(found["low"], found["high"]), reason=_UNKNOWN)


def _difference(change: ChangeColumns) -> Cell:
    low, high = change["low"], change["high"]
    cell = number(change["difference"], sign=True, interval=(low, high), reason=_UNKNOWN)
    return cell._replace(detail=_UNBOUNDED) if cell.text is not None and low is None else cell


def _told(repair: Repair) -> str:
    changes = repair["changes"]
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in changes.items())
    return (
        f"Of {sum(changes.values()):,} bullets{_of_all(repair)} that judge {repair['judge']} linked to a covered "
        f"insight, by their citation score: {kinds}. Some of each, drawn by a hash, stand below; a document is right "
        "where it is one of those that state the insight."
    )


def repair_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Draw a figure for each setting, or for each summarizer if these are fewer."""
    rows = [row for row in results["repair"]["rows"] if not is_position_row(row)]
    for judge_place, (judge, own) in enumerate(by_judge(rows)):
        wide = is_wide(own)
        by: By = "summarizer" if wide else "setting"
        for place, name in enumerate(distinct(own, "setting" if wide else "summarizer")):
            shown = [row for row in own if (row["setting"] if wide else row["summarizer"]) == name]
            plot = change_plot(shown, ("citation", "joint"), by=by, name=f"repair{judge_place}-{place}")
            yield plot, f"{name}: from what is cited to what supports. {judge_line(results, judge)}"


# ---------------------------------------------------------------- examples


def example_head(example: Example) -> str:
    """Say in a line what an example shows."""
    before, after = (f"{100 * share:.0f}" for share in example["f1"])
    return f"{example['kind']}: citation score {before} to {after} · {example['summarizer']}, {example['setting']}"


class Chip(NamedTuple):
    """
    The documents of an example that are of one kind.

    Attributes:
        kind: `right`, `wrong` or `missing`.
        words: How many, and of which kind.
        numbers: Of the documents.
    """

    kind: str
    words: str
    numbers: Sequence[int]


def chips(example: Example, side: Side) -> list[Chip]:
    """The documents cited rightly, cited wrongly, and missing though they state the insight: each kind with words."""
    cited = {entry["number"] for entry in example[side]}
    numbers = {
        "right": [entry["number"] for entry in example[side] if entry["right"]],
        "wrong": [entry["number"] for entry in example[side] if not entry["right"]],
        "missing": [number for number in example["gold"] if number not in cited],
    }
    return [Chip(kind, _chip_words(kind, len(found)), found) for kind, found in numbers.items() if found]


_CHIPS = {
    "right": ("✓", "right citation", "right citations"),
    "wrong": ("✗", "wrong citation", "wrong citations"),
    "missing": ("○", "document not cited that states it", "documents not cited that state it"),
}


def _chip_words(kind: str, n: int) -> str:
    mark, one, several = _CHIPS[kind]
    return f"{mark} {n} {one if n == 1 else several}:"


def evidence_line(example: Example) -> str:
    """Name the document of the quoted sentences, or say why there are none."""
    evidence = example["evidence"]
    if evidence is None:
        return "No document supports this bullet, so it cites none."
    right = "states the insight" if evidence["right"] else "not among those that state the insight"
    return f"Document {evidence['number']} ({right}) supports it best:"


def markdown_examples(section: Section) -> list[tuple[str, list[str]]]:
    """Each example's head and its lines, not yet escaped."""
    return [(example_head(example), _lines(example)) for example in section.examples]


def _chip_line(chip: Chip) -> str:
    return f"{chip.words} {', '.join(map(str, chip.numbers))}"


def _lines(example: Example) -> list[str]:
    evidence = example["evidence"]
    return [
        f"Bullet: {example['bullet']}",
        f"Insight: {example['insight']}",
        *(f"{name}: {'; '.join(map(_chip_line, chips(example, side)))}" for side, name in SIDES.items()),
        evidence_line(example) if evidence is None else f"{evidence_line(example)} {evidence['text']}",
    ]
