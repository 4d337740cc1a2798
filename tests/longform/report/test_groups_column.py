"""The column of groups: letters, and what may be said of the best."""

from __future__ import annotations

from typing import Any

from longform.report.scores import groups_column
from longform.report.tables import system_of
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


def column(results: Any, *names: str) -> tuple[list[str | None], str]:
    """Return the texts of systems in the column, and how it is read."""
    found = groups_column(results, cells(*names), "joint")
    assert found is not None
    return [found[1].get(system_of(cell)) for cell in cells(*names)], found[0].told


BEST = {"leader": "a, full", "named": False, "p": 0.3}


def test_letters_stand_with_what_is_said_of_the_best() -> None:
    systems = [
        system("a, full", with_best=True, letters="a", same=["twin, full"]),
        system("b, full", with_best=True, letters="ab"),
        system("c, full", with_best=False, letters="b"),
    ]
    shown, told = column(family(*systems, best=BEST), "a, full", "b, full", "c, full", "twin, full")
    assert shown == ["a perhaps best", "ab perhaps best", "b", "a perhaps best"]
    assert "systems that share a letter cannot be told apart by joint" in told
    assert "perhaps best: no other is better" in told


def test_a_named_system_is_the_best_and_nothing_else_is_perhaps() -> None:
    systems = [system("a, full", with_best=True, letters="a"), system("b, full", with_best=False, letters="b")]
    shown, _ = column(family(*systems, best={**BEST, "named": True}), "a, full", "b, full")
    assert shown == ["a best", "b"]


def test_results_that_chose_the_best_by_other_tests_show_letters_alone() -> None:
    systems = [system(f"{name}, full", with_best=name == "a", letters="a", p_best=0.04) for name in "ab"]
    shown, told = column(family(*systems, best={**BEST, "named": True}), "a, full", "b, full")
    assert shown == ["a", "a"]
    assert "best" not in told


def test_without_letters_each_cell_says_whether_it_may_be_the_best() -> None:
    systems = [
        system("a, full", with_best=True, letters=None),
        system("b, full", with_best=False, letters=None),
        system("c, sorted", with_best=None, letters=None),
    ]
    shown, told = column(family(*systems, best=BEST), "a, full", "b, full", "c, sorted", "d, full")
    assert shown == ["perhaps best", "no", None, None]
    assert "letter" not in told
    assert "no: some other is" in told


def test_no_column_if_nothing_was_compared_by_the_measure_or_nothing_could_be_shown() -> None:
    systems = [system("a, full", with_best=None, letters=None), system("b, full", with_best=None, letters=None)]
    assert groups_column(family(*systems, best=None), cells("a, full", "b, full"), "joint") is None
    assert groups_column(family(*systems, best=BEST), cells("a, full", "b, full"), "coverage") is None
    assert groups_column({}, cells("a, full"), "joint") is None
    other = family(*systems, best=BEST, judge="k")
    assert groups_column(other, cells("a, full", "b, full"), "joint") is None
