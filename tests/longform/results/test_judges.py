"""Tables of the worth of judges: cards or the reason for none, agreement with themselves, perturbed summaries."""

from __future__ import annotations

from typing import Any

from longform.report.result_tables import table_sections
from longform.results.judges import judges_tables
from longform.studies.schema_1 import with_tables
from longform.tables.table import checked

MISSING: Any = {"rows": [], "missing": {"pad": "no other text"}, "reason": None}
JUDGES: Any = [
    {"judge": "known", "scale": "1 to 5", "card": "r 0.62", "card_reason": None, "adversarial": MISSING},
    {"judge": "new", "scale": None, "card": None, "card_reason": "another prompt"},
]
SAME = {"value": 0.9, "low": None, "high": None, "n": 20}
AGREEMENT = {"same": SAME, "kappa": SAME, "r": SAME, "spread": 0.1}
AGAIN: Any = [{"judge": "new", "dataset": None, "n_repeats": 2, "n_pairs": 20, **AGREEMENT}]


def test_each_judge_stands_with_its_card_or_why_it_has_none() -> None:
    (section,) = table_sections(with_tables({"judges": JUDGES}))
    cards, perturbed = section.tables

    assert (section.title, section.page) == ("Judges", "judges")
    assert [column.head for column in cards.columns] == ["judge", "card"]
    assert [[cell.text for cell in row] for row in cards.cells] == [
        ["known", "r 0.62"],
        ["new", "no card: its agreement with people is not known (another prompt)"],
    ]
    assert cards.cells[0][0].detail == "1 to 5"
    assert [cell.text for cell in perturbed.cells[0]] == ["known", "pad", "not measured: no other text"]
    assert "before, after, drop, n, summaries (no other text)" in perturbed.how


def test_a_card_stands_in_parts_and_below_them_how_a_judge_agrees_with_itself() -> None:
    parted = {**JUDGES[0], "card": "r 0.62; label set 1", "card_parts": ["r 0.62", "label set 1"]}
    cards, _ = judges_tables([parted, JUDGES[1]], AGAIN)

    told = [(row["judge"], str(row["card"])) for row in checked(cards).rows]
    assert told[:2] == [("known", "r 0.62"), ("known", "label set 1")]
    assert told[2][1].startswith("no card")
    assert told[3][1].startswith("asked 2 times (20 questions): same answer again 90.0")
