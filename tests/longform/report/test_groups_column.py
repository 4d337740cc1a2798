"""The column of groups: letters, and what may be said of the best."""

from __future__ import annotations

from typing import Any

from longform.report.scores import groups_column
from longform.studies.schema_1 import with_tables


def system(name: str, *, with_best: bool | None, letters: str | None, **more: Any) -> dict[str, Any]:
    summarizer, _, setting = name.partition(", ")
    return {
        "system": name,
        "summarizer": summarizer,
        "setting": setting,
        "same": [],
        "with_best": with_best,
        "letters": letters,
        "score": 0.0,
        **more,
    }


def family(*systems: dict[str, Any], best: dict[str, Any] | None, **more: Any) -> Any:
    one = {"judge": "j", "dataset": None, "measure": "joint", "title": "joint", "level": 0.05, "smallest_p": 0.01,
           "better": "higher", "unit": "points", "n_clusters": 9, "pairs": None}  # fmt: skip
    return with_tables({"pairwise": [{**one, "systems": list(systems), "best": best, **more}]})


def cells(*names: str) -> Any:
    return [
        {"summarizer": summarizer, "setting": setting, "judge": "j", "dataset": None}
        for summarizer, _, setting in (name.partition(", ") for name in names)
    ]


BEST = {"leader": "a, full", "named": False, "p": 0.3}


def test_letters_stand_with_what_is_said_of_the_best() -> None:
    systems = [
        system("a, full", with_best=True, letters="a", same=["twin, full"]),
        system("b, full", with_best=True, letters="ab"),
        system("c, full", with_best=False, letters="b"),
    ]
    found = groups_column(family(*systems, best=BEST), cells("a, full", "b, full", "c, full", "twin, full"), "joint")
    shown = {name: (cell.text, cell.detail) for name, cell in found.cells.items()}
    assert shown == {
        ("a", "full"): ("a", "perhaps best"),
        ("b", "full"): ("ab", "perhaps best"),
        ("c", "full"): ("b", None),
        ("twin", "full"): ("a", "perhaps best"),
    }
    assert "systems that share a letter cannot be told apart by joint" in found.told
    assert "perhaps best: no other is better" in found.told


def test_a_named_system_is_the_best_and_nothing_else_is_perhaps() -> None:
    systems = [system("a, full", with_best=True, letters="a"), system("b, full", with_best=False, letters="b")]
    found = groups_column(family(*systems, best={**BEST, "named": True}), cells("a, full", "b, full"), "joint")
    assert [cell.detail for cell in found.cells.values()] == ["best", None]


def test_results_that_chose_the_best_by_other_tests_show_letters_alone() -> None:
    systems = [system(f"{name}, full", with_best=name == "a", letters="a", p_best=0.04) for name in "ab"]
    found = groups_column(family(*systems, best={**BEST, "named": True}), cells("a, full", "b, full"), "joint")
    assert [(cell.text, cell.detail) for cell in found.cells.values()] == [("a", None), ("a", None)]
    assert "best" not in found.told


def test_without_letters_each_cell_says_whether_it_may_be_the_best() -> None:
    systems = [
        system("a, full", with_best=True, letters=None),
        system("b, full", with_best=False, letters=None),
        system("c, sorted", with_best=None, letters=None),
    ]
    found = groups_column(family(*systems, best=BEST), cells("a, full", "b, full", "c, sorted", "d, full"), "joint")
    assert [cell.text for cell in found.cells.values()] == ["perhaps best", "no", None, None]
    assert [cell.reason for cell in found.cells.values()][2:] == [
        "documents ordered on purpose: not sought among these",
        "not compared",
    ]
    assert "letter" not in found.told
    assert "no: some other is" in found.told


def test_no_column_if_nothing_was_compared_by_the_measure_or_nothing_could_be_shown() -> None:
    systems = [system("a, full", with_best=None, letters=None), system("b, full", with_best=None, letters=None)]
    assert groups_column(family(*systems, best=None), cells("a, full", "b, full"), "joint") is None
    assert groups_column(family(*systems, best=BEST), cells("a, full", "b, full"), "coverage") is None
    assert groups_column({}, cells("a, full"), "joint") is None
    other = family(*systems, best=BEST, judge="k")
    assert groups_column(other, cells("a, full", "b, full"), "joint") is None
