"""Several labels in one answer: replies, sheets, agreement and shares."""

from __future__ import annotations

import csv
import io

import pytest

from actors.rehearsal.scripted_tasks import read_task
from longform.judges.kind import Group
from longform.judges.kinds.errors import ERRORS, LABELS, parse_errors
from longform.judges.sheets import SheetPair, read_sheet, sheet
from longform.metrics.agreement import Label, between_annotators
from longform.metrics.measure import Facts, Verdict
from longform.metrics.verdict_means import MEASURES, label_set, label_sets, labels_in
from longform.prompts import load_prompt


def test_every_set_of_labels_is_one_answer() -> None:
    answers = label_sets(LABELS)

    assert len(set(answers)) == 2 ** len(LABELS) == len(ERRORS.counts)
    assert all(label_set(sorted(labels_in(answer)), LABELS) == answer for answer in answers)


@pytest.mark.parametrize(
    ("reply", "answer", "failure"),
    [
        ('{"errors": []}', "none", None),
        (
            '```json\n{"errors": ["too_general", "minor_details", "too_general"]}\n```',
            "minor_details+too_general",
            None,
        ),
        ('{"errors": ["rude"]}', None, "unknown_label"),
        ('{"errors": ["none", "too_general"]}', None, "unknown_label"),
        ('{"errors": "too_general"}', None, "not_a_list_of_names"),
        ('{"labels": []}', None, "missing_field"),
        ("too_general", None, "no_json_object"),
    ],
)
def test_a_reply_is_the_set_of_its_labels(reply: str, answer: str | None, failure: str | None) -> None:
    found = parse_errors(reply)
    assert (found.answer, found.failure) == (answer, failure)


def test_the_prompt_shows_the_query() -> None:
    filled = ERRORS.filled(Group("k", ("The dam.",), ("It held.",), query="What held?"), "It held.")
    assert filled == {"summary": "The dam.", "reference": "It held.", "query": "What held?"}


def test_cells_have_labels_in_any_order() -> None:
    pair = SheetPair("s", "reference", "t", None, 1, {"summary": "A", "reference": "B"})
    rows = list(csv.reader(io.StringIO(sheet(ERRORS, [pair], "ann").decode("utf-8-sig"), newline="")))
    rows[1][rows[0].index("answer")] = "Too_General, minor_details"
    out = io.StringIO()
    csv.writer(out).writerows(rows)

    assert (
        read_sheet(ERRORS, out.getvalue().encode(), "ann.csv", {pair.key: pair})[0].answer
        == "minor_details+too_general"
    )


def test_agreement_is_told_of_each_label() -> None:
    """By hand: both find too_general in the same two of four; hallucination is ann's in one, bo's in two of four."""
    ann = ["too_general", "hallucination+too_general", "none", "none"]
    bo = ["too_general", "hallucination+too_general", "hallucination", "none"]
    labels = [Label(name, f"s{n}", n, one) for name, of in (("ann", ann), ("bo", bo)) for n, one in enumerate(of)]
    (both,) = between_annotators(labels, ERRORS.counts, seed=1, resamples=50, named=LABELS)

    assert both["by_label"]["too_general"]["value"] == 1.0
    assert both["by_label"]["hallucination"]["value"] == pytest.approx((0.75 - 0.5) / (1 - 0.5))
    assert both["by_label"]["major_details"]["value"] is None


def test_measures_are_shares_of_the_references() -> None:
    answers = ["none", "minor_details+too_general", "too_general", None]
    facts = Facts(verdicts=[Verdict("t", answer) for answer in answers])
    found = {measure.name: measure.per_summary(facts) for measure in MEASURES if measure.judged_by == "errors"}

    assert (found["error_free"].total, found["error_free"].n, found["error_free"].n_unjudged) == (1.0, 3, 1)
    assert (found["error_too_general"].total, found["error_hallucination"].total) == (2.0, 0.0)


def test_the_rehearsal_answers() -> None:
    text = load_prompt("judge_errors").render(query="What?", summary="Swans.", reference="The dam held in May.")
    task = read_task(text)

    assert task is not None
    assert parse_errors(task.reply).answer == "major_details"
