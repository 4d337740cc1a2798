"""Two runs compared: three sentences that conclude, then tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from longform.report.measures import capitalized
from longform.report.parts import NO_DATASET, Section, as_shown, has_datasets
from longform.report.plain_tables import plain_lines
from longform.report.tables import Column, Table
from longform.results.compared_runs import Family, GroupsRow, PairedRow
from longform.results.comparison import Comparison
from longform.results.comparisons import NOT_DISTINGUISHABLE
from longform.results.groups import MOST_GROUPS
from longform.tables.cells import Cell, number, words

_SHOWN = 4  # findings in a sentence
_NAMED = 12  # systems in a group, settings in a sentence
_DIGITS = {"points": 1, "words": 1, "count": 2}
_SIDES = {"first better": 0, "first higher": 0, "second better": 1, "second higher": 1}


# ---------------------------------------------------------------- the sentences


def conclusion(comparison: Comparison, main: Mapping[str | None, str]) -> list[str]:
    """
    Return three sentences: on the main measure, on all tests, and on what else differs.

    Args:
        comparison: But for its conclusion.
        main: Judge -> the measure that heads; a judge without one is left out.
    """
    heading = [row for row in comparison["tests"] if main.get(row["judge"]) == row["measure"] and row["judge"]]
    heading = heading or _tests(comparison)
    return [_on_the_main_measure(comparison, heading), _on_all(comparison), _on_the_rest(comparison)]


def _tests(comparison: Comparison) -> list[PairedRow]:
    """Return the tests of summaries, of rankings if these alone were asked for."""
    return comparison["tests"] or comparison["retrieval"]


def _on_the_main_measure(comparison: Comparison, rows: Sequence[PairedRow]) -> str:
    n = comparison["n_common"]
    lead = f"On the {n:,} {'query' if n == 1 else 'queries'} that both runs have"
    told = "; ".join(_one(comparison, row, rows) for row in rows[:_SHOWN])
    more = f"; and {len(rows) - _SHOWN} more comparisons, below" if len(rows) > _SHOWN else ""
    return f"{lead}, {told}{more}."


def _one(comparison: Comparison, row: PairedRow, beside: Sequence[PairedRow]) -> str:
    labels = [run["label"] for run in comparison["runs"]]
    by = f"by judge {row['judge']}" if row["judge"] else "without a judge"
    on = f" on data set {row['dataset'] or NO_DATASET}" if has_datasets(beside) else ""
    if row["first"] is None or row["second"] is None or row["difference"] is None:
        return f"{_system(row)} has no query with {row['title']} {by}{on} in both"
    both = f"{_n(row, row['first'])} in {labels[0]} and {_n(row, row['second'])} in {labels[1]}"
    scores = f"{row['title']} of {_system(row)} is {both}"
    interval = f", {_interval(row)}" if row["low"] is not None else ""
    found = f"{row['told']} ({_n(row, row['difference'], sign=True)}{interval})"
    return f"{scores} ({by}{on}): {found}"


def _system(row: PairedRow) -> str:
    if row["first_system"] == row["second_system"]:
        return row["first_system"]
    return f"{row['first_system']} against {row['second_system']}"


def _n(row: PairedRow, value: float, *, sign: bool = False) -> str:
    return f"{value:{'+' if sign else ''}.{_digits(row)}f}"


def _interval(row: PairedRow) -> str:
    bounds = [_n(row, bound, sign=True) for bound in (row["low"], row["high"]) if bound is not None]
    return f"[{', '.join(bounds)}]"


def _digits(row: PairedRow) -> int:
    return _DIGITS.get(row["unit"], 2)


def _on_all(comparison: Comparison) -> str:
    counted: Counter[str] = Counter(row["finding"] for row in _tests(comparison))
    labels = [run["label"] for run in comparison["runs"]]
    parts = [
        f"{counted[f'{side} better']} find {label} better"
        for side, label in zip(("first", "second"), labels, strict=True)
    ]
    if moved := counted["first higher"] + counted["second higher"]:
        parts.append(f"{moved} find another amount, which is neither better nor worse")
    parts.append(f"{counted['not distinguishable']} cannot tell the runs apart ({NOT_DISTINGUISHABLE})")
    if few := counted["too few"] + counted["none"]:
        parts.append(f"{few} have too few queries or haystacks to show anything")
    n = len(_tests(comparison))
    lead = f"Of all {n} comparisons together" if n > 1 else "Of this one comparison"
    return f"{lead}, {', '.join(parts)}."


def _on_the_rest(comparison: Comparison) -> str:
    settings = [row["key"] for row in comparison["settings"] if row["key"] not in ("name", "git commit")]
    n = len(settings)
    shown = ", ".join(settings[:_SHOWN]) + (f" and {n - _SHOWN} more" if n > _SHOWN else "")
    told = (
        f"The runs differ in {n} {'setting' if n == 1 else 'settings'} ({shown})"
        if n
        else "The runs have the same settings"
    )
    return f"{told}, and {_cost(comparison)}."


def _cost(comparison: Comparison) -> str:
    labels = [run["label"] for run in comparison["runs"]]
    found = {row["quantity"]: row for row in comparison["costs"]}
    dollars, calls = found["dollars"], found["calls"]
    if not calls["first"] and not calls["second"] and calls["difference"] is not None:
        return "neither called a model"
    if dollars["first"] is None or dollars["second"] is None:
        unknown = [
            label for label, usd in zip(labels, (dollars["first"], dollars["second"]), strict=True) if usd is None
        ]
        return f"it is not known what {' and '.join(unknown)} cost"
    return f"{labels[0]} cost ${dollars['first']:,.4f} and {labels[1]} ${dollars['second']:,.4f}"


# ---------------------------------------------------------------- the page


def compared_sections(comparison: Comparison) -> list[Section]:
    """Return the sections of the page of a comparison."""
    sections = [
        Section("conclusion", "What to conclude", [*comparison["conclusion"], *comparison["cautions"]], []),
        Section("runs", "The runs", [], [_runs(comparison)]),
        *_differences(comparison),
        *_settings(comparison),
        Section("costs", "What they cost", [], [_costs(comparison)]),
    ]
    return [section._replace(tables=[as_shown(table) for table in section.tables]) for section in sections]


def _runs(comparison: Comparison) -> Table:
    columns = [
        Column(name, numeric=False) for name in ("run", "folder", "made by", "state", "benchmark", "data set hash")
    ]
    columns += [Column("queries"), Column("systems")]
    rows = [
        [
            Cell(run["label"]),
            Cell(run["run"]),
            Cell(f"longform {run['verb']}", detail=run["title"]),
            Cell("finished" if run["finished"] else f"not finished ({run['state']})"),
            Cell(run["benchmark"]),
            Cell(run["dataset_hash"]),
            Cell(f"{run['n_queries']:,}", order=float(run["n_queries"])),
            Cell(str(len(run["systems"])), order=float(len(run["systems"]))),
        ]
        for run in comparison["runs"]
    ]
    return Table("The two runs; every difference is the second run's number less the first run's.", columns, rows)


def _differences(comparison: Comparison) -> Iterator[Section]:
    for rows, family, anchor, title in (
        (comparison["tests"], comparison["family"], "differences", "Differences"),
        (comparison["retrieval"], comparison["retrieval_family"], "retrieval", "Retrieval"),
    ):
        if rows:
            yield _difference_section(comparison, rows, family, Section(anchor, title, [], []))


def _difference_section(comparison: Comparison, rows: Sequence[PairedRow], family: Family, section: Section) -> Section:
    labels = [run["label"] for run in comparison["runs"]]
    percent = f"{100 * family['level']:.0f}"
    told = (
        f"All {family['n_tests']} comparisons that could show anything are one family. Brackets: intervals that hold "
        f"all their differences together in {percent} of 100 cases. p is adjusted for all of them (max-T of Westfall "
        f"and Young, by {family['n_sign_changes']:,} changes of sign of {family['n_clusters']} independent queries or "
        f"haystacks). An interval excludes 0 exactly if p is at most {1 - family['level']:.2f}; else the two are "
        f"{NOT_DISTINGUISHABLE}, which does not mean that they are the same."
    )
    tables = [_table(judge, dataset, own, labels, several) for judge, dataset, own, several in _by_family(rows)]
    return section._replace(paragraphs=[told], tables=tables)


def _by_family(rows: Sequence[PairedRow]) -> Iterator[tuple[str | None, str | None, list[PairedRow], bool]]:
    several = has_datasets(rows)
    for dataset, judge in dict.fromkeys((row["dataset"], row["judge"]) for row in rows):
        yield judge, dataset, [row for row in rows if (row["dataset"], row["judge"]) == (dataset, judge)], several


def _table(
    judge: str | None, dataset: str | None, rows: Sequence[PairedRow], labels: Sequence[str], several: bool
) -> Table:
    lead = capitalized(f"judge {judge}" if judge else "without a judge")
    on = f"Data set {dataset or NO_DATASET}. " if several else ""
    caption = f"{on}{lead}: {labels[1]} less {labels[0]}, on queries that have a score of both."
    columns = [Column("measure", numeric=False), Column("system", numeric=False), Column(labels[0]), Column(labels[1])]
    columns += [
        Column("difference"),
        Column("p"),
        Column("queries"),
        Column("left out"),
        Column("finding", numeric=False),
    ]
    return Table(caption, columns, [_cells(row) for row in rows])


def _cells(row: PairedRow) -> list[Cell]:
    digits, why = _digits(row), row["told"]
    return [
        Cell(row["title"]),
        Cell(_system(row)),
        number(row["first"], digits=digits, reason=why),
        number(row["second"], digits=digits, reason=why),
        number(row["difference"], digits=digits, sign=True, interval=(row["low"], row["high"]), reason=why),
        number(row["p"], digits=4, reason=why),
        Cell(f"{row['n_queries']:,}", order=float(row["n_queries"])),
        Cell(f"{row['n_left_out']:,}", order=float(row["n_left_out"])),
        Cell(row["told"]),
    ]


def group_sections(rows: Sequence[GroupsRow]) -> Iterator[Section]:
    """Yield the section on groups of systems of all runs; none if there are no systems to group."""
    if rows:
        several = has_datasets(rows)
        told = (
            "A group holds systems of which no pair can be told apart, with all pairs of all runs tested together; "
            "best first. A system may stand in several groups. The report of one run tests its own systems alone."
        )
        yield Section(
            "groups", "Systems that cannot be told apart", [told, *(_groups(row, several) for row in rows)], []
        )


def _groups(row: GroupsRow, several: bool) -> str:
    on = f"Data set {row['dataset'] or NO_DATASET}, " if several else ""
    lead = capitalized(f"{on}judge {row['judge']}, {row['title']}")
    if row["groups"] is None and len(row["systems"]) and row["n_clusters"] < _ENOUGH:
        return (
            f"{lead}: {row['n_clusters']} independent queries or haystacks are too few to tell any two systems apart."
        )
    if row["groups"] is None:
        return f"{lead}: more than {MOST_GROUPS} groups; see the differences."
    lists = " ".join(f"{place}. {_list(group)}." for place, group in enumerate(row["groups"], start=1))
    return f"{lead}: {lists}"


_ENOUGH = 6  # clusters: fewer have no p of 0.05 or less


def _list(names: Sequence[str]) -> str:
    more = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more


def _settings(comparison: Comparison) -> Iterator[Section]:
    rows = comparison["settings"]
    if not rows:
        yield Section("settings", "Settings that differ", ["None: the configurations are the same."], [])
        return
    labels = [run["label"] for run in comparison["runs"]]
    absent = "the run has no such key"
    body = [[Cell(row["key"]), words(row["first"], reason=absent), words(row["second"], reason=absent)] for row in rows]
    columns = [Column("key", numeric=False), *(Column(label, numeric=False) for label in labels)]
    yield Section("settings", "Settings that differ", [], [Table("Key by key.", columns, body)])


def _costs(comparison: Comparison) -> Table:
    labels = [run["label"] for run in comparison["runs"]]
    unknown = "not stated by the provider, no ledger, or calls under way or of unknown price"
    rows = [
        [
            Cell(row["quantity"]),
            *(
                number(spent, digits=_cost_digits(row["quantity"]), reason=unknown)
                for spent in (row["first"], row["second"])
            ),
            number(row["difference"], digits=_cost_digits(row["quantity"]), sign=True, reason=unknown),
        ]
        for row in comparison["costs"]
    ]
    columns = [Column("quantity", numeric=False), *(Column(label) for label in labels), Column("difference")]
    caption = (
        "Calls of the commands of each run, from its ledgers; replies that an earlier command had paid cost nothing."
    )
    return Table(caption, columns, rows)


def _cost_digits(quantity: str) -> int:
    return 4 if quantity == "dollars" else 0


# ---------------------------------------------------------------- on a terminal


def compared_words(comparison: Comparison) -> str:
    """Return the conclusion, what to mind, and the main numbers, for a terminal."""
    return "\n".join(_lines(comparison))


def _lines(comparison: Comparison) -> Iterator[str]:
    yield from comparison["conclusion"]
    for caution in comparison["cautions"]:
        yield f"Mind: {caution}"
    labels = [run["label"] for run in comparison["runs"]]
    found = [*_by_family(comparison["tests"]), *_by_family(comparison["retrieval"])]
    for judge, dataset, rows, several in found:
        table = _table(judge, dataset, rows, labels, several)
        yield ""
        yield from plain_lines(table)
    yield ""
    yield from _setting_lines(comparison)
    yield (
        "Costs: "
        + "; ".join(
            f"{row['quantity']} {_amount(row['first'], row['quantity'])} and {_amount(row['second'], row['quantity'])}"
            for row in comparison["costs"]
            if row["first"] or row["second"]
        )
        if any(row["first"] or row["second"] for row in comparison["costs"])
        else "Costs: no model was called."
    )


def _amount(value: float | None, quantity: str) -> str:
    return "unknown" if value is None else f"{value:,.{_cost_digits(quantity)}f}"


def _setting_lines(comparison: Comparison) -> Iterator[str]:
    yield "Settings that differ:" if comparison["settings"] else "Settings: the same."
    for row in comparison["settings"][:_NAMED]:
        absent = "(no such key)"
        yield f"  {row['key']}: {row['first'] or absent} | {row['second'] or absent}"
    if (left := len(comparison["settings"]) - _NAMED) > 0:
        yield f"  and {left} more, with --out or --json"
