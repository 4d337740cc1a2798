"""A sentence is checked against what it cites, then against the nearest others, and nothing twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from longform.judges.kinds.support import SUPPORT
from longform.judges.matrix import BEST, JudgedText, TargetText, cited_first, groups_of, rows_of

N = 8


def summary(n_units: int, *, failure: str | None = None) -> JudgedText:
    targets = tuple(TargetText("document", f"d{at}", f"text {at}", at) for at in range(N))
    return JudgedText("w", "s", tuple(f"unit {at}" for at in range(n_units)), targets, "cited", failure=failure)


def pairs(judged: JudgedText) -> list[tuple[int | None, str]]:
    groups = groups_of(SUPPORT, judged)
    verdicts = [[SUPPORT.by_number(0.9, (0.5,)) for _ in group.items] for group in groups]
    rows = rows_of(SUPPORT, "j", judged, verdicts, version="v")
    texts = [(item, group.text) for group in groups for item in group.items]
    assert texts == [(judged.units[row["unit_index"] or 0], f"text {row['doc_position']}") for row in rows]
    return [(row["unit_index"], row["target_id"]) for row in rows]


@given(st.lists(st.sets(st.integers(0, N - 1)), min_size=1, max_size=5), st.data())
def test_cited_documents_come_first_and_the_best_others_of_what_they_do_not_support(
    cited: list[set[int]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(N)))
    first = cited_first(summary(len(cited)), cited, lambda _: order)

    asked = pairs(first)
    assert sorted(asked) == sorted((unit, f"d{place}") for unit, places in enumerate(cited) for place in places)
    supported = data.draw(st.sets(st.integers(0, len(cited) - 1)))
    assert first.further is not None
    then = pairs(first.further(supported))
    assert not set(then) & set(asked)
    for unit, places in enumerate(cited):
        others = [f"d{place}" for place in order if place not in places][:BEST]
        own = {target for of, target in then if of == unit}
        assert own == (set() if unit in supported else set(others))


def test_a_summary_that_failed_is_asked_about_nothing() -> None:
    first = cited_first(summary(1, failure="timeout"), [{0}], lambda _: range(N))
    assert (groups_of(SUPPORT, first), first.further) == ([], None)
