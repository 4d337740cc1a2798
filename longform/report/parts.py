"""Parts that sections of a report share: their form, the cells that head the report, names of judges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from longform.keys import in_groups
from longform.metrics.statistics import LEVEL
from longform.report.tables import IN_SAMPLE, ShownTable, is_position_row, mark_of, reason, summarizer_cell, system_of
from longform.results.cells import CellRow, Columns, systems_in, text_in
from longform.results.judges import card_words
from longform.results.repaired_examples import Example
from longform.results.results import JudgeRow, Results
from longform.tables.cells import TextCell, words

_ELSEWHERE = "its card stands under Judges"
_MOST_SHOWN = 200
"""Characters of a caption, about two lines; what is longer is told to those who ask."""
NO_DATASET = "not stated"
INTERVAL = f"Brackets: {100 * LEVEL:.0f} % interval."
NO_INTERVAL = "No interval: that takes two or more independent queries."


def split_caption(text: str) -> tuple[str, str]:
    """Return the first sentences of a caption, about two lines, and the rest; both make up the whole."""
    shown, *more = sentences_in(text)
    for place, sentence in enumerate(more):
        if len(shown) + len(sentence) >= _MOST_SHOWN:
            return shown, " ".join(more[place:])
        shown = f"{shown} {sentence}"
    return shown, ""


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text that a page tells."""
    return re.split(r"(?<=[.!?]) (?=[A-Z“$])", text)


class Section(NamedTuple):
    anchor: str
    title: str
    paragraphs: list[str]
    tables: list[ShownTable]
    listing: str | None = None  # shown as it is, in a fixed-width face
    examples: Sequence[Example] = ()  # bullets before and after repair
    chooser: str | None = None  # data of the chooser of pairs, safe within a script; None: there is none
    page: str = ""  # that it asks to stand on; empty: the site knows


def main_cells(results: Results) -> list[CellRow]:
    """Return the cells that head the report: those whose documents were not ordered on purpose."""
    return [cell for cell in systems_in(results) if not is_position_row(cell)]


JudgedRow = TypeVar("JudgedRow", bound=Mapping[str, Any])


def by_judge(rows: Sequence[JudgedRow]) -> Iterator[tuple[str | None, str | None, list[JudgedRow]]]:
    """
    Yield each judge, and a data set if there are several, with its rows, in order of appearance.

    No judge: the measures need none.
    """
    several = has_datasets(rows)
    for judge, own in in_groups((row["judge"], row) for row in rows).items():
        for dataset, found in in_groups((text_in(row, "dataset"), row) for row in own).items():
            yield judge, (dataset or NO_DATASET) if several else None, found


def has_datasets(rows: Sequence[Columns]) -> bool:
    """Return whether *rows* are of more than one data set."""
    return len({text_in(row, "dataset") for row in rows}) > 1


def repeats_told(rows: Sequence[CellRow]) -> list[str]:
    """Say which systems of *rows* summarised a context several times, which judges were asked so, and how it counts."""
    systems = [f"{system_of(row)} ({row['n_repeats']})" for row in rows if row.get("n_repeats", 1) > 1]
    judges = [f"{row.get('judge')} ({n})" for row in rows if (n := row.get("n_judge_repeats", 1)) > 1]
    told = []
    if systems:
        names = "; ".join(dict.fromkeys(systems))
        words = f"Summarised several times from the same documents: {names}. The repeats of a query are averaged within"
        told.append(f"{words} it and count as one summary; counts of summaries are of all.")
    if judges:
        names = "; ".join(dict.fromkeys(judges))
        words = f"Judges asked several times about each pair: {names}. A score is the mean of their repeats within the"
        told.append(f"{words} summary, which count as one judgement.")
    return told


def failures_told(rows: Sequence[CellRow]) -> list[str]:
    """Say of which systems of *rows* summaries failed, and why."""
    found = {
        str(system_of(row)): f"{row['n_failed']} of {row['n_summaries']} ({', '.join(reasons)})"
        for row in rows
        if (reasons := [f"{reason} {n}" for reason, n in (row.get("failures") or {}).items()])
    }
    if not found:
        return []
    told = "; ".join(f"{name}: {failed}" for name, failed in found.items())
    return [f"Summaries that failed stand in no mean. {told}."]


def dataset_words(row: Columns) -> str:
    """Name the data set of a row."""
    return f"Data set {text_in(row, 'dataset') or NO_DATASET}"


def judged_words(judge: str | None, dataset: str | None) -> str:
    """Name a judge and a data set within a sentence."""
    return ", ".join([f"judge {judge}" if judge else "without a judge", *([f"data set {dataset}"] if dataset else [])])


def judge_line(results: Results, name: str | None, dataset: str | None = None) -> str:
    """The data set, the judge's name, its scale, and its card in a few words, or plainly that it has none."""
    if name is None:
        return "Without a judge" if dataset is None else f"Data set {dataset}, without a judge"
    named = f"{'' if dataset is None else f'Data set {dataset}. '}Judge {name}"
    if results.get("judges") == []:  # an answer about runs, whose own pages say what their judges are worth
        return named
    row = judge_row(results, name)
    in_brackets = "; ".join(part for part in (row.get("in_sample"), row.get("scale"), brief_card(row)) if part)
    return f"{named} ({in_brackets})"


def brief_card(row: JudgeRow) -> str:
    """Return what a judge is worth in a few words; results of earlier versions have figures, or the card alone."""
    return row.get("worth") or row.get("card_brief") or (_ELSEWHERE if row.get("card") else card_words(row))


def in_sample_told(results: Results) -> str | None:
    """Explain the mark in the tables; return None if nothing bears it."""
    rows: list[Columns] = [*systems_in(results)]
    rows += [row for table in (results.get("tables") or {}).values() for row in table["rows"]]
    judges = [row for row in results.get("judges") or [] if row.get("in_sample")]
    if not judges and not any(row.get("in_sample") for row in rows):
        return None
    return (
        f"{IN_SAMPLE.capitalize()}: a model that ships made the figure (citations of a twin, summaries, a ranking or "
        "verdicts), and was fitted on insights of these very data. Such figures are higher than on other data."
    )


def is_judge(results: Results, judge: object) -> bool:
    """Return whether the page on judges has a row of a judge."""
    return any(row["judge"] == judge for row in results.get("judges") or [])


def judge_row(results: Results, judge: object) -> JudgeRow:
    """Return the row of a judge on the page on judges; one without a word if it has none."""
    unknown: JudgeRow = {"judge": str(judge), "scale": None, "card": None, "card_reason": None}
    return next((row for row in results.get("judges") or [] if row["judge"] == judge), unknown)


NAMES = ("judge", "dataset", "support_judge", "setting", "summarizer", "system")
"""Columns whose cells say what a row is about, with marks beside a name."""


def name_cell(results: Results, row: Columns, name: str) -> TextCell:
    """Return the text that says what a row is about; of a judge with the scale of its scores, as two do not compare."""
    if name == "judge":
        judge = judge_row(results, row.get(name))
        marks = [part for part in (IN_SAMPLE if judge.get("in_sample") else None, judge.get("scale")) if part]
        cell = words(row.get(name), reason="the measure needs none")
        return cell._replace(detail="; ".join(marks) or mark_of(row, name))
    if name == "summarizer":
        return summarizer_cell(row)
    if name in ("setting", "system"):
        return words(row.get(name), reason=reason(row, name))._replace(detail=mark_of(row, "setting"))
    return words(row.get(name), reason=NO_DATASET if name == "dataset" else reason(row, name))


def haystack_name(results: Results, haystack_id: str) -> str:
    """
    Name a haystack by its topic.

    Its id stands behind a topic that several haystacks have, and alone if the topic is not known.
    """
    topics = results.get("haystack_topics") or {}
    topic = topics.get(haystack_id)
    if not topic:
        return haystack_id
    return topic if Counter(topics.values())[topic] == 1 else f"{topic} ({haystack_id})"


def counted(n: int, noun: str) -> str:
    """Return a number with a noun in its form."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def listed(names: Sequence[str], *, most: int, between: str = "; ") -> str:
    """Return the first names in a line, and how many more there are."""
    more = f"{between.strip()} and {len(names) - most:,} more" if len(names) > most else ""
    return between.join(names[:most]) + more
