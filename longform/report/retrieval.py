"""The section of retrieval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.pair_chooser import ranker_chooser_json
from longform.report.parts import INTERVAL, NO_DATASET, Section, has_datasets
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import CUT, Column, Table, reason, scored
from longform.results.comparisons import NOT_DISTINGUISHABLE, TOO_FEW
from longform.results.pairwise import places_of
from longform.results.results import Results
from longform.results.retrieval_pairs import RankerFamily
from longform.results.retrieval_tables import RetrievalRow
from longform.tables.cells import Cell, count, number, percent

_HOW = (
    "Recall at budget: share of an insight's documents that reach the prompt, mean over insights. Share cut: of the "
    "retrieved tokens, what the limit took away. P@K: share of the first K documents that state an insight of the "
    "query. R@K: share of the documents that do which stand among the first K. nDCG@K: their discounted gain over that "
    "of the best possible list. MAP@K: mean precision at each of them."
)


def retrieval_sections(results: Results) -> Iterator[Section]:
    """One section if the benchmark judges documents."""
    rows = results.get("retrieval") or []
    if not rows:
        return
    listed = {*RetrievalRow.__annotations__, "reasons"}
    cutoffs = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in listed]
    caption = f"The documents that each ranking puts first, held against those that state an insight. {INTERVAL}"
    names = with_dataset(rows, "system")
    columns = [*name_columns(names), Column("budget in tokens"), Column("recall at budget"), Column(CUT)]
    columns += [Column(name) for name in cutoffs]
    body = [
        [
            *named(results, row, names),
            Cell("no limit") if row.get("budget_tokens") is None else count(row["budget_tokens"]),
            scored(row, "recall_at_budget", factor=100),
            percent(row.get("cut_share"), reason=reason(row, "cut_share")),
            *(scored(row, name, factor=100) for name in cutoffs),
        ]
        for row in rows
    ]
    tables = [Table(caption, columns, body, _HOW), *_pair_tables(results)]
    yield Section(
        "retrieval", "Retrieval", results.get("rankings_told") or [], tables, chooser=ranker_chooser_json(results)
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
