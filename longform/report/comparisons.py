"""The section that holds every system against one reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from longform.metrics.paired_differences import ALPHA, ENUMERATED, smallest_p
from longform.report.elsewhere import elsewhere_words, written_elsewhere
from longform.report.measures import MAIN, all_heads, capitalized
from longform.report.pair_chooser import chooser_json, plan_tables
from longform.report.parts import Judged, Section, by_judge, dataset_words, has_datasets, judge_line
from longform.report.tables import ELSEWHERE, IN_SAMPLE, Column, Table
from longform.results.comparisons import NOT_DISTINGUISHABLE, ComparedFamily, ComparisonRow
from longform.results.groups import MOST_GROUPS
from longform.results.results import ClustersRow, Results
from longform.tables.cells import Cell, number

_NAMED = 8  # systems in a sentence
_PLURALS = {"query": "queries", "haystack": "haystacks"}
_UNBOUNDED = "so few clusters bound no difference"
_OLD = "These results were compared by an older rule; longform aggregate RUN compares them again."


def clusters_told(results: Results) -> list[str]:
    """Say what intervals take as independent, and whether it is: of each data set; nothing if results do not say."""
    found = results.get("clusters") or []
    rows = found if isinstance(found, Sequence) else [found]  # results of older versions have one for all
    several = has_datasets(rows)
    return [f"{f'{dataset_words(row)}: ' if several else ''}{_told_of(row)}" for row in rows]


def _told_of(clusters: ClustersRow) -> str:
    n_queries, n_haystacks = clusters["n_queries"], clusters["n_haystacks"]
    queries = f"{n_queries} {'query' if n_queries == 1 else 'queries'}"
    haystacks = f"{n_haystacks} {'haystack' if n_haystacks == 1 else 'haystacks'}"
    if n_queries == 1:
        return "There is one query: nothing can be said of how far its scores would hold for others."
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
    named = [(judged, family) for judged, own in by_judge(families) for family in own]
    paragraphs = [" ".join(_told(results, judged, family)) for judged, family in named]
    paragraphs += clusters_told(results)
    tables = [_table(results, judged, family) for judged, family in named if family["rows"]]
    tables += plan_tables(results)
    yield Section("comparisons", "Comparisons with one system", paragraphs, tables, chooser=chooser_json(results))


def _told(results: Results, judged: Judged, family: ComparedFamily) -> Iterator[str]:
    """Yield sentences on the comparisons and their findings."""
    reference = family["reference"]
    on = "" if judged.dataset is None else f"data set {judged.dataset}, "
    judge = "no judge" if judged.judge is None else f"judge {judged.judge}"
    lead = f"{capitalized(f'{on}{judge}')}, {_measure_words(results, family)}"
    if reference is None:
        yield f"{lead}: no system has a score, so none was compared."
        return
    if not family["rows"] and reference in _without_score(family):
        yield f"{lead}: {reference}, which the configuration names, has no score, so nothing was compared with it."
        return
    marks = [IN_SAMPLE] if family.get("reference_in_sample") else []
    marks += [ELSEWHERE] if reference in written_elsewhere(results) else []
    marked = f" ({', '.join(marks)})" if marks else ""
    named = _with_same(f"{reference}{marked}", family["reference_same"])
    score = f", which scores {family['reference_score']:.1f}" if family.get("reference_score") is not None else ""
    yield f"{lead}: each system is compared with {named}{score}. {_why(family)}"
    found = Counter((row["finding"], _too_few(row)) for row in family["rows"])
    counted = "; ".join(f"{n} {'with ' if few else ''}{words}" for (words, few), n in found.most_common())
    n = len(family["rows"])
    once = "; systems with the same summaries count once" if any(row["same"] for row in family["rows"]) else ""
    yield f"{n} {'comparison' if n == 1 else 'comparisons'}{once}: {counted or 'none'}."
    rows = [row for row in family["rows"] if row["finding"] == NOT_DISTINGUISHABLE]
    alike = [name for row in rows for name in (row["system"], *row["same"])]
    if alike and len(found) > 1:
        yield f"{NOT_DISTINGUISHABLE.capitalize()} from {reference}: {_list(alike)}."
    if told := _groups_told(family):
        yield told
    if missing := _without_score(family):
        yield f"Without a score, and not compared: {_list(missing)}."
    yield from elsewhere_words(results, [reference, *(row["system"] for row in family["rows"]), *missing])


def _measure_words(results: Results, family: ComparedFamily) -> str:
    titles = {head.name: head.title for head in all_heads(results)}
    return f"{MAIN} score" if family["measure"] == MAIN else titles.get(family["measure"], family["measure"])


def _groups_told(family: ComparedFamily) -> str | None:
    """Name the groups of systems that cannot be told apart; None if results have none, or nothing could be shown."""
    n = family["n_systems"] - len(_without_score(family))
    if "groups" not in family or n < 3 or smallest_p(family["n_clusters"]) > ALPHA:
        return None
    if family.get("n_tests", n * (n - 1) // 2) < n * (n - 1) // 2:
        return None
    tested = f"all {n * (n - 1) // 2} pairs tested together"
    if family["groups"] is None:
        return f"Systems that cannot be told apart, {tested}, make more than {MOST_GROUPS} groups: see the differences."
    several = "; a system may stand in several" if sum(map(len, family["groups"])) > n else ""
    same = {row["system"]: row["same"] for row in family["rows"]} | {family["reference"]: family["reference_same"]}
    groups = [[name for one in group for name in (one, *same.get(one, []))] for group in family["groups"]]
    lists = " ".join(f"{number}. {_list(group)}." for number, group in enumerate(groups[:_NAMED], start=1))
    left = len(family["groups"]) - _NAMED
    more = f" And {left} more, in results.json." if left > 0 else ""
    return f"Groups that cannot be told apart ({tested}, best first{several}): {lists}{more}"


def _too_few(row: ComparisonRow) -> bool:
    """Return whether no difference whatever could have been shown; False if the systems have no cluster in common."""
    return bool(row["n_clusters"]) and smallest_p(row["n_clusters"]) > ALPHA


def _without_score(family: ComparedFamily) -> list[str]:
    return list(family["without_score"])


def _why(family: ComparedFamily) -> str:
    if family["chosen"] == "named":
        return "The configuration names it (compare_with)."
    tied = family["tied"]
    equal = (
        f" {_list(tied)} {'has' if len(tied) == 1 else 'have'} the same score; the first in the configuration's order "
        "was taken."
        if tied
        else ""
    )
    of_whom = " of the systems whose documents were not ordered on purpose" if family.get("n_ordered") else ""
    return (
        f"It has the best score{of_whom} on these same data, which flatters it: part of its lead is luck. Name a "
        f"system under compare_with to compare with one that was chosen beforehand.{equal}"
    )


def _list(names: Sequence[str]) -> str:
    more = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more


def _with_same(name: str, same: Sequence[str]) -> str:
    return f"{name} (the same summaries: {_list(same)})" if same else name


def _table(results: Results, judged: Judged, family: ComparedFamily) -> Table:
    cluster, n = family["cluster"], family["n_clusters"]
    lead = (
        f"{judge_line(results, judged)}. Difference: the system's {_measure_words(results, family)} less that of "
        f"{family['reference']}, in points, over the {_PLURALS[cluster]} that both have."
    )
    columns = [Column("system", numeric=False), Column("score"), Column("difference"), Column("p")]
    columns += [Column(_PLURALS[cluster]), Column("finding", numeric=False)]
    elsewhere = written_elsewhere(results)
    rows = [_cells(row, elsewhere=row["system"] in elsewhere) for row in family["rows"]]
    if smallest_p(n) > ALPHA:
        told = (
            f"{lead} Too few {_PLURALS[cluster]} to tell anything apart: with {n} the smallest possible p is "
            f"{smallest_p(n):.2g}. An interval or a test needs six {_PLURALS[cluster]} or more. Rows by score."
        )
        return Table(told, columns, rows)
    made = (
        f"all {family['n_sign_changes']:,} changes of sign (the exact test)"
        if n <= ENUMERATED
        else f"{family['n_sign_changes']:,} drawn changes of sign"
    )
    members, tests = len(family["rows"]), family.get("n_tests", 0)
    together = f"all {members} differences of this table together" if members > 1 else "this difference"
    if tests > members:
        together = f"the differences of all {tests:,} pairs of systems together"
    caption = (
        f"{lead} Brackets: an interval that holds {together} in {100 * (1 - ALPHA):.0f} of 100 "
        f"cases. It excludes 0 exactly if p is at most {ALPHA:.2f}. "
        f"p: two-sided, by {made} of the {_PLURALS[cluster]}' differences, against the largest of the family (max-T of "
        f"Westfall and Young); with {n} {_PLURALS[cluster]} the smallest is {smallest_p(n):.2g}. Rows by score."
    )
    return Table(caption, columns, rows)


def _cells(row: ComparisonRow, *, elsewhere: bool) -> list[Cell]:
    marks = [f"({IN_SAMPLE})"] if row.get("in_sample") else []
    marks += [f"({ELSEWHERE})"] if elsewhere else []
    marks += [f"the same summaries: {_list(row['same'])}"] if row["same"] else []
    interval = (row["low"], row["high"])
    difference = number(row["difference"], sign=True, interval=interval, reason=row["finding"])
    few = _too_few(row)
    if row["difference"] is not None and row["low"] is None and not few:
        difference = difference._replace(detail=_UNBOUNDED)
    return [
        Cell(row["system"], detail="; ".join(marks) or None),
        number(row["score"]),
        difference,
        number(None if few else row["p"], digits=4, reason=row["finding"]),
        Cell(str(row["n_clusters"]), order=float(row["n_clusters"])),
        Cell(row["finding"]),
    ]
