"""Every pair of systems by every measure as a page's script shows it, and the table of what could be shown at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from longform.report.parts import NO_DATASET, Judged, by_judge, has_datasets, judge_line
from longform.report.tables import Column, Table
from longform.results.pairwise import PairwiseFamily, TestedColumns
from longform.results.results import Results
from longform.tables.cells import Cell, count, number

_TOO_MANY = "more than anyone has"


def chooser_json(results: Results) -> str | None:
    """Return the data of the chooser of pairs; None: there is no pair."""
    families = [one for one in results.get("pairwise") or [] if one["pairs"] is not None]
    if not families:
        return None
    several = has_datasets(families)
    reference = {
        (one["judge"], one["dataset"]): one["reference"]
        for one in results.get("comparisons") or []
        if one.get("reference")
    }
    shown = sorted(families, key=lambda one: one["measure"] != "joint")
    systems = [
        [
            [system["system"], round(system["score"], 3), system["summarizer"], system["setting"]]
            for system in one["systems"]
        ]
        for one in shown
    ]
    return _json(
        _packed(one, of, [*_dataset_words(one, several), one["judge"] or "no judge"], reference.get(_judged(one)))
        for one, of in zip(shown, systems, strict=True)
    )


def ranker_chooser_json(results: Results) -> str | None:
    """Return the same of rankers."""
    families = [one for one in results.get("retrieval_pairs") or [] if one["pairs"] is not None]
    if not families:
        return None
    several = has_datasets(families)
    return _json(
        _packed(
            one,
            [[ranker["system"], round(ranker["score"], 3), None, None] for ranker in one["systems"]],
            _dataset_words(one, several),
            None,
        )
        for one in families
    )


def _json(packed: Iterable[dict[str, object]]) -> str:
    """Return what stands in a script of a page."""
    told = json.dumps(list(packed), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return told.replace("<", "\\u003c")


def _judged(one: TestedColumns) -> tuple[str | None, str | None]:
    return one["judge"], one["dataset"]


def _dataset_words(one: TestedColumns, several: bool) -> list[str]:
    return [one["dataset"] or NO_DATASET] if several else []


def _packed(
    one: TestedColumns, systems: Sequence[Sequence[object]], where: Sequence[str], reference: str | None
) -> dict[str, object]:
    pairs = one["pairs"]
    assert pairs is not None
    return {
        "title": one["title"] + (f" ({', '.join(where)})" if where else ""),
        "unit": one["unit"],
        "better": one["better"],
        "clusters": _clusters(one),
        "tests": one["n_tests"],
        "few": one["smallest_p"] > one["level"],
        "smallest": one["smallest_p"],
        "reference": reference,
        "measure": one["measure"],
        "judge": one["judge"],
        "dataset": one["dataset"],
        "systems": systems,
        "difference": pairs["difference"],
        "half": pairs["half"],
        "p": pairs["p"],
    }


def _clusters(one: TestedColumns) -> str:
    plural = "queries" if one["cluster"] == "query" else "haystacks"
    shared = (
        f", which share the documents of {one['n_haystacks']} haystacks and so are not independent"
        if one["cluster"] == "query" and 0 < one["n_haystacks"] < one["n_queries"]
        else ""
    )
    made = (
        f"all {one['n_sign_changes']:,} changes of sign (exact)"
        if one["exact"]
        else (f"{one['n_sign_changes']:,} drawn changes of sign")
    )
    return f"{one['n_clusters']} {plural}{shared}; {made}, smallest possible p {one['smallest_p']:.2g}"


def plan_tables(results: Results) -> Iterator[Table]:
    """Yield a table a judge and data set: the differences that so many queries can show, and those for smaller ones."""
    known = [one for one in results.get("pairwise") or [] if one["plan"] is not None and one["unit"] == "points"]
    for judged, families in by_judge(known):
        yield _plan_table(results, judged, families)


def _plan_table(results: Results, judged: Judged, families: Sequence[PairwiseFamily]) -> Table:
    plural = "queries" if families[0]["cluster"] == "query" else "haystacks"
    columns = [
        Column("measure", numeric=False),
        Column(plural),
        Column("spread"),
        Column("one test", group="smallest difference shown"),
        Column("all pairs", group="smallest difference shown"),
    ]
    columns += [Column(f"±{size:g}", group=f"{plural} for an interval of") for size in (2, 5)]
    columns += [Column(f"{size:g}", group=f"{plural} to show a lead of") for size in (2, 5)]
    body = []
    for one in families:
        plan = one["plan"]
        assert plan is not None
        row = [Cell(one["title"]), count(plan["n"]), number(plan["spread"])]
        few = f"too few {plural} to tell anything apart"
        row += [number(plan[name], reason=few) for name in ("detectable", "detectable_in_family")]
        row += [count(wanted["for_interval"], reason=_TOO_MANY) for wanted in plan["wanted"]]
        row += [count(wanted["for_difference"], reason=_TOO_MANY) for wanted in plan["wanted"]]
        body.append(row)
    caption = (
        f"What this run can show. {judge_line(results, judged)}. Spread: standard deviation of the difference of two "
        f"systems between {plural}, the median of all pairs, in points. Smallest difference shown: a smaller true "
        f"difference is not detected with 80 % power at 5 %, by a single test chosen beforehand and among all "
        f"{families[0]['n_tests']:,} pairs. An interval of ±2 points has that half width. A lead is shown by a single "
        f"test."
    )
    return Table(caption, columns, body)
