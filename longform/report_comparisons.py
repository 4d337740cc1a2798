"""The section that holds every system against one reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from longform.comparisons import NOT_DISTINGUISHABLE
from longform.paired_differences import ALPHA, ENUMERATED, smallest_p
from longform.report_parts import Results, Section, judge_line
from longform.report_tables import Cell, Column, Row, Table, number

_NAMED = 8  # systems in a sentence
_PLURALS = {"query": "queries", "haystack": "haystacks"}
_UNBOUNDED = "so few clusters bound no difference"
_OLD = "These results were compared by an older rule; `longform aggregate RUN` compares them again."


def clusters_told(clusters: Row | None) -> str:
    """What intervals take as independent, and whether that is so; empty for results that do not say."""
    if not clusters:
        return ""
    n_queries, n_haystacks = clusters["n_queries"], clusters["n_haystacks"]
    queries = f"{n_queries} {'query' if n_queries == 1 else 'queries'}"
    haystacks = f"{n_haystacks} {'haystack' if n_haystacks == 1 else 'haystacks'}"
    if clusters["kind"] == "haystack":
        return f"Intervals and tests take {haystacks} as independent: the {queries} of a haystack share its documents."
    told = f"Intervals and tests take {queries} as independent."
    if n_haystacks == n_queries:
        return told
    return (
        f"{told} They are not: they share the documents of {haystacks}, too few to take these instead, so that "
        "differences are less certain than intervals and p-values say."
    )


def comparison_sections(results: Results) -> Iterator[Section]:
    """One section if systems were compared, else none."""
    families = results.get("comparisons") or []
    if not families:
        return
    if any("rows" not in family for family in families):
        yield Section("comparisons", "Comparisons", [_OLD], [])
        return
    paragraphs = [told for told in (clusters_told(results.get("clusters")),) if told]
    paragraphs += [line for family in families for line in _told(family)]
    tables = [_table(results, family) for family in families if family["rows"]]
    yield Section("comparisons", "Comparisons with one system", paragraphs, tables)


def _told(family: Row) -> Iterator[str]:
    """What was compared with what, and what was found, in sentences."""
    judge, reference = family["judge"], family["reference"]
    lead = f"Judge {judge}, {family['measure']} score"
    if reference is None:
        yield f"{lead}: no system has a score, so none was compared."
        return
    if not family["rows"] and reference in _without_score(family):
        yield f"{lead}: {reference}, which the configuration names, has no score, so nothing was compared with it."
        return
    yield f"{lead}: each system is compared with {_with_same(reference, family['reference_same'])}. {_why(family)}"
    found = Counter(row["finding"] for row in family["rows"])
    counted = "; ".join(f"{n} {words}" for words, n in found.most_common())
    n = len(family["rows"])
    yield f"{lead}: {n} {'comparison' if n == 1 else 'comparisons'}: {counted or 'none'}."
    alike = [row["system"] for row in family["rows"] if row["finding"] == NOT_DISTINGUISHABLE]
    if alike and len(found) > 1:
        yield f"{lead}: {NOT_DISTINGUISHABLE} from {reference}: {_list(alike)}."
    if missing := _without_score(family):
        yield f"{lead}: without a score, and not compared: {_list(missing)}."


def _without_score(family: Row) -> list[str]:
    return list(family["without_score"])


def _why(family: Row) -> str:
    if family["chosen"] == "named":
        return "The configuration names it (`compare_with`)."
    tied = family["tied"]
    equal = (
        f" {_list(tied)} {'has' if len(tied) == 1 else 'have'} the same score; the first in the configuration's order "
        "was taken."
        if tied
        else ""
    )
    return (
        "It has the best score on these same data, which flatters it: part of its lead is luck. Name a system under "
        f"`compare_with` to compare with one that was chosen beforehand.{equal}"
    )


def _list(names: Sequence[str]) -> str:
    more = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more


def _with_same(name: str, same: Sequence[str]) -> str:
    return f"{name} (the same summaries: {_list(same)})" if same else name


def _table(results: Results, family: Row) -> Table:
    cluster, n = family["cluster"], family["n_clusters"]
    made = (
        f"all {family['n_sign_changes']:,} changes of sign"
        if n <= ENUMERATED
        else f"{family['n_sign_changes']:,} drawn changes of sign"
    )
    members = len(family["rows"])
    together = f"all {members} differences of this table together" if members > 1 else "this difference"
    caption = (
        f"{judge_line(results, family['judge'])}. Difference: the system's {family['measure']} score less that of "
        f"{family['reference']}, in points, over the {_PLURALS[cluster]} that both have. Brackets: an interval that "
        f"holds {together} in {100 * (1 - ALPHA):.0f} of 100 cases. It excludes 0 exactly if p is at most {ALPHA:.2f}. "
        f"p: two-sided, by {made} of the {_PLURALS[cluster]}' differences, against the largest of the family (max-T of "
        f"Westfall and Young); with {n} {_PLURALS[cluster]} the smallest is {smallest_p(n):.2g}. Rows by score."
    )
    columns = [Column("system", numeric=False), Column("score"), Column("difference"), Column("p")]
    columns += [Column(_PLURALS[cluster]), Column("finding", numeric=False)]
    return Table(caption, columns, [_cells(row) for row in family["rows"]])


def _cells(row: Row) -> list[Cell]:
    same = f"the same summaries: {_list(row['same'])}" if row["same"] else None
    interval = (row["low"], row["high"])
    difference = number(row["difference"], sign=True, interval=interval, reason=row["finding"])
    if row["difference"] is not None and row["low"] is None:
        difference = difference._replace(detail=_UNBOUNDED)
    return [
        Cell(row["system"], detail=same),
        number(row["score"]),
        difference,
        number(row["p"], digits=4, reason=row["finding"]),
        Cell(str(row["n_clusters"]), order=float(row["n_clusters"])),
        Cell(row["finding"]),
    ]
