"""The page over several runs: what each is, and all their systems in one table a data set and judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.compared_runs import group_sections
from longform.report.measures import capitalized
from longform.report.parts import INTERVAL, NO_DATASET, Section, as_shown, has_datasets
from longform.report.tables import Column, Table, below_original
from longform.results.several_runs import RunFactsRow, RunLine, RunTable, SeveralRuns
from longform.tables.cells import NOT_RECORDED, Cell, number, words
from longform.tables.layout import below_originals

_NOT_SCORED = "not scored in this run"
_DIGITS = {"points": 1, "words": 1}


def several_sections(several: SeveralRuns) -> list[Section]:
    """
    Return the sections of the page over several runs.

    The groups alone say which systems differ. What each run found of its own systems stands on its own page: other
    tests, of fewer systems and more queries.
    """
    made = [
        Section("runs", "The runs", several["cautions"], [_runs(several["runs"])]),
        *_scores(several["tables"]),
        *_groups(several["tables"]),
    ]
    return [section._replace(tables=[as_shown(table) for table in section.tables]) for section in made]


def _runs(rows: Sequence[RunFactsRow]) -> Table:
    names = ("run", "title", "made by", "state", "benchmark", "data set hash", "judges", "longform")
    columns = [*(Column(name, numeric=False) for name in names), Column("queries"), Column("systems")]
    columns += [Column("calls"), Column("dollars")]
    body = [
        [
            Cell(row["label"], link=row["page"]),
            words(row["title"], reason="a run of this verb has no title"),
            Cell(f"longform {row['verb']}"),
            Cell("finished" if row["finished"] else f"not finished ({row['state']})"),
            Cell(row["benchmark"]),
            Cell(row["dataset_hash"]),
            Cell(", ".join(row["judges"]) or "none"),
            Cell(row["versions"]),
            Cell(f"{row['n_queries']:,}", order=float(row["n_queries"])),
            Cell(f"{row['n_systems']:,}", order=float(row["n_systems"])),
            *_spent(row),
        ]
        for row in rows
    ]
    return Table("Each run has a page of its own, behind its name. Dollars: of the run's own calls.", columns, body)


def _spent(row: RunFactsRow) -> list[Cell]:
    spend = row["spend"]
    if spend is None and not row["called"]:
        return [Cell("0", order=0.0), Cell("0", order=0.0)]
    if spend is None:
        return [Cell(None, reason="its ledger is not there") for _ in range(2)]
    unknown = bool(spend["n_unknown_usd"] or spend["open"])
    dollars = None if unknown else spend["known_usd"]
    calls = Cell(f"{spend['calls']:,}", order=float(spend["calls"]))
    return [calls, number(dollars, digits=4, reason="the price of a call is not known, or a call is under way")]


def _scores(tables: Sequence[RunTable]) -> Iterator[Section]:
    if tables:
        several = has_datasets(tables)
        told = (
            "Scores of one table are of the same judge on the same benchmark. Queries: those with a score. Intervals "
            "are those of each system by itself: two that overlap may differ all the same, see the groups, or "
            "longform compare RUN RUN."
        )
        yield Section("scores", "All systems", [told], [_table(table, tables, several) for table in tables])


def _lead(table: RunTable, several: bool) -> str:
    on = f"Data set {table['dataset'] or NO_DATASET}. " if several else ""
    judge = f"judge {table['judge']}" if table["judge"] else "without a judge"
    return f"{on}{capitalized(judge)}, runs {', '.join(table['runs'])}"


def _table(table: RunTable, tables: Sequence[RunTable], several: bool) -> Table:
    benches = {one["dataset_hash"] for one in tables}
    bench = f" Benchmark {table['dataset_hash']}." if len(benches) > 1 else ""
    columns = [Column("run", numeric=False), Column("system", numeric=False)]
    columns += [Column(measure["title"]) for measure in table["measures"]] + [Column("queries")]
    ordered = sorted(table["rows"], key=lambda row: -_rank(row, table))
    rows = below_originals(ordered, "run", "setting")
    return Table(f"{_lead(table, several)}.{bench} {INTERVAL}", columns, [_cells(row, table) for row in rows])


def _rank(row: RunLine, table: RunTable) -> float:
    """Return the value by which rows are ordered: the first measure with a direction, joint if there is one."""
    directed = [one for one in table["measures"] if one["better"]]
    named = [one for one in directed if one["name"] == "joint"] or directed or table["measures"]
    if not named or named[0]["name"] not in row["values"]:
        return float("-inf")
    value = row["values"][named[0]["name"]]["value"]
    sign = -1.0 if named[0]["better"] == "lower" else 1.0
    return float("-inf") if value is None else sign * value


def _cells(row: RunLine, table: RunTable) -> list[Cell]:
    scores = []
    for measure in table["measures"]:
        found = row["values"].get(measure["name"])
        if found is None:
            scores.append(Cell(None, reason=_NOT_SCORED))
            continue
        interval, digits = (found["low"], found["high"]), _DIGITS.get(measure["unit"], 2)
        scores.append(
            number(
                found["value"],
                digits=digits,
                interval=interval,
                reason=row["reasons"].get(measure["name"], NOT_RECORDED),
            )
        )
    n = row["n_queries"]
    system = Cell(below_original(row), beside=True) if row["twin_of"] else Cell(row["system"])
    return [Cell(row["run"]), system, *scores, Cell(f"{n:,}", order=float(n))]


def _groups(tables: Sequence[RunTable]) -> Iterator[Section]:
    rows = [row for table in tables for row in table["groups"]]
    several = has_datasets(tables)
    for section in group_sections(rows):
        counted = [
            f"{_lead(table, several)}: on the {table['n_common']:,} queries that all these runs have."
            for table in tables
            if table["groups"]
        ]
        yield section._replace(paragraphs=[section.paragraphs[0], *counted, *section.paragraphs[1:]])
