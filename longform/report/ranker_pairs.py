"""The section of rankers by pairs, and of what measures of rankings differ by from published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.pair_chooser import ranker_chooser_json
from longform.report.parts import NO_DATASET, Section, has_datasets
from longform.report.tables import Column, Table
from longform.results.comparisons import NOT_DISTINGUISHABLE, TOO_FEW
from longform.results.pairwise import places_of
from longform.results.results import Results
from longform.results.retrieval_pairs import RankerFamily
from longform.tables.cells import Cell, count, number


def ranker_sections(results: Results) -> Iterator[Section]:
    """One section if rankers were held against each other, or if measures of rankings differ from published ones."""
    tables = list(_pair_tables(results))
    told = results.get("rankings_told") or []
    if tables or told:
        chooser = ranker_chooser_json(results)
        yield Section(
            "rankers",
            "Rankers by pairs" if tables else "Documents that were judged",
            told,
            tables,
            chooser=chooser,
            page="retrieval",
        )


_PAIRS_HOW = (
    "The tests are those of systems: all pairs of one measure are a family, and p is adjusted for them (max-T of "
    "Westfall and Young, by changes of sign of the differences of queries, or of haystacks if there are enough). The "
    "intervals of a family hold together in 95 of 100 cases. With fewer than six queries nothing can be told apart. "
    "results.json has all pairs under retrieval_pairs."
)


def _pair_tables(results: Results) -> Iterator[Table]:
    """Yield the table of the best ranker against each other one, by each measure at its largest cutoff."""
    families = _shown(results.get("retrieval_pairs") or [])
    if not families:
        return
    several = has_datasets(families)
    columns = [*([Column("data set", numeric=False)] if several else []), Column("measure", numeric=False)]
    columns += [Column("best", numeric=False), Column("other", numeric=False), Column("difference"), Column("p")]
    columns += [Column("queries"), Column("finding", numeric=False)]
    body = [row for one in families for row in _pair_rows(one, several)]
    caption = f"The best ranker of each measure against each other one, in points. {FAMILY_INTERVAL}"
    yield Table(caption, columns, body, _PAIRS_HOW)


FAMILY_INTERVAL = "Brackets: intervals that hold all differences of a measure together."


def _shown(families: Sequence[RankerFamily]) -> list[RankerFamily]:
    """Return the families with pairs, of each measure the one of the largest cutoff, which stands last."""
    last: dict[tuple[str | None, str], RankerFamily] = {}
    for one in families:
        if one["pairs"] is not None:
            last[one["dataset"], one["measure"].partition("@")[0]] = one
    return list(last.values())


def _pair_rows(one: RankerFamily, several: bool) -> Iterator[list[Cell]]:
    pairs = one["pairs"]
    assert pairs is not None
    scores, best = [ranker["score"] for ranker in one["systems"]], one["best"]
    named = None if best is None else [ranker["system"] for ranker in one["systems"]].index(best["leader"])
    leader = scores.index(max(scores)) if named is None else named
    few = one["smallest_p"] > one["level"]
    for place, ends in enumerate(places_of(len(scores))):
        if leader in ends:
            other = ends[ends[0] == leader]
            value, half = pairs["difference"][place], pairs["half"][place]
            signed = value if value is None or ends[0] == leader else -value
            bounds = (None, None) if signed is None or half is None else (signed - half, signed + half)
            told = _finding(signed, half, few)
            yield [
                *([Cell(one["dataset"] or NO_DATASET)] if several else []),
                Cell(one["title"]),
                Cell(one["systems"][leader]["system"]),
                Cell(one["systems"][other]["system"]),
                number(signed, sign=True, interval=bounds, reason=told),
                number(None if few else pairs["p"][place], digits=4, reason=told),
                count(one["n_queries"]),
                Cell(told),
            ]


def _finding(value: float | None, half: float | None, few: bool) -> str:
    if value is None:
        return "no query in common"
    if few:
        return TOO_FEW
    if half is None or abs(value) <= half:
        return NOT_DISTINGUISHABLE
    return "better" if value > 0 else "worse"
