"""
The findings of a run in a few sentences: which systems are best, by how much they lead, and the worth of the judge.

The leading judge, the first one, speaks alone; one sentence says whether the others agree with it. The sentences are
derived from the tables of comparisons alone, so that none says more than a test showed, nor other than another page.
Twins are no members of these. Systems whose documents were ordered on purpose are arms of an experiment, and left out.
If nothing can be said, the first sentence says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from longform.keys import in_groups
from longform.metrics.paired_differences import ALPHA, smallest_p
from longform.metrics.statistics import LEVEL
from longform.report.parts import NO_DATASET, brief_card, counted, judge_row, listed, main_cells
from longform.report.scores import estimate
from longform.report.shown_names import short_systems
from longform.report.tables import IN_SAMPLE, has_oracle, is_position_row, system_of
from longform.results.cells import MAIN, Row, compared_families, head_of, main_measure, number_in, systems_in
from longform.results.differences import NOT_DISTINGUISHABLE
from longform.results.results import Results
from longform.settings.systems import SystemName
from longform.tables.cells import value_cell
from longform.tables.table import Column

_NAMED = 4
"""Systems in a sentence."""
_MOST = 3
"""Data sets whose findings are told: those of further ones stand on the page of comparisons."""
_SAME = 1e-9  # of points that differ by rounding only
_ORACLE = "which is given the documents that hold the answers"


class Findings(NamedTuple):
    """Sentences on one data set, by its leading judge: the best systems, their lead, the judge's worth."""

    about: str | None  # the data set if there are several
    best: str
    lead: str | None  # None: `best` says why nothing can be said
    worth: str
    others: str | None = None  # whether other judges name the same system; None: there are none
    cost: str | None = None  # of a summary by the best; None: results do not say of any

    @property
    def told(self) -> list[str]:
        """All sentences, in reading order."""
        return [one for one in (self.best, self.lead, self.cost, self.worth, self.others) if one]


def findings(results: Results) -> list[Findings]:
    """Return the findings of each data set, by the first judge; never empty."""
    by_dataset = in_groups((family.get("dataset"), family) for family in _families(results))
    if not by_dataset:
        judges = [row["judge"] for row in results.get("judges") or []]
        return [Findings(None, _nothing(results), None, worth(results, judges[0] if judges else None))]
    several = len(by_dataset) > 1
    return [
        Findings(
            f"Data set {dataset or NO_DATASET}" if several else None,
            *_said(results, families[0]),
            worth(results, families[0]["judge"]),
            _others(results, *families),
            _cost(results, families[0]),
        )
        for dataset, families in list(by_dataset.items())[:_MOST]
    ]


def _families(results: Results) -> Iterator[Row]:
    """Yield the family of the main measure of each judge and data set, those with a judge first, in its short names."""
    names = short_systems(results)
    found: dict[tuple[str | None, str | None], Row] = {}
    for family in compared_families(results):
        found.setdefault((family["judge"], family.get("dataset")), _named(family, names))
    yield from sorted(found.values(), key=lambda family: family["judge"] is None)


def _named(value: Any, names: Mapping[str, str]) -> Any:
    """Return a family with its systems under other names."""
    if isinstance(value, Mapping):
        return {key: _named(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_named(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def _others(results: Results, leading: Row, *others: Row) -> str | None:
    """Say in one sentence whether the other judges name the system that the leading one does."""
    if not others:
        return None
    first, agree, told = _first(results, leading), [], []
    for family in others:
        who = "the measures without a judge" if family["judge"] is None else str(family["judge"])
        best = _first(results, family)
        if best is None or first is None:
            told.append(f"{who} cannot tell")
        elif best[0] == first[0]:
            agree.append(who)
        else:
            told.append(f"{who} has another first, {best[0]} ({best[1]:.1f})")
    names = f"{' and '.join(agree)} {'agrees' if len(agree) == 1 else 'agree'}"
    agreed = [f"{names} on which system is best"] if agree else []
    return f"{'Another judge' if len(others) == 1 else 'Other judges'}: {'; '.join([*agreed, *told])}."


def _first(results: Results, family: Row) -> tuple[str, float] | None:
    """Return the system that stands first by a judge, with its score; None if nothing is known of it."""
    reference, score = family.get("reference"), family.get("reference_score")
    if reference is None or score is None:
        return None
    if family["chosen"] == "best":
        return reference, score
    scores = {reference: score, **{row["system"]: row["score"] for row in family["rows"]}}
    first = (min if _lower(results, family["measure"]) else max)(scores, key=lambda system: scores[system])
    return first, scores[first]


# ---------------------------------------------------------------- nothing to compare


def _nothing(results: Results) -> str:
    """Say why no systems were compared."""
    cells = [cell for cell in main_cells(results) if not cell.get("twin_of")]
    known = [cell for cell in cells if number_in(cell, main_measure(cell)) is not None]
    systems = {system_of(cell) for cell in cells}
    if known and len(systems) == 1:
        measure = main_measure(known[0])
        cell = value_cell(estimate(known[0], measure), head_of(results, measure))
        told = f"{cell.text} {cell.detail} ({100 * LEVEL:.0f} % interval)" if cell.detail else cell.text
        name = _measure_words(results, measure)
        return f"There is one system, {system_of(known[0])}, so none is compared. Its {name}: {told}."
    if known:
        return "The systems of this run were not compared with each other."
    reasons = dict.fromkeys(reason for cell in cells for reason in cell.get("reasons", {}).values())
    unread = "every summary failed, or no judgement of it could be read" if cells else "no summary was scored"
    why = "; ".join(results.get("unscored") or reasons) or unread
    return f"Nothing can be said of the systems: {why.rstrip('.')}."


# ---------------------------------------------------------------- compared


def _said(results: Results, family: Row) -> tuple[str, str | None]:
    """Return the sentences on the best and their lead."""
    if family.get("left_out"):
        return str(family["left_out"]), None
    if family["reference"] is None or family.get("reference_score") is None:
        named = "" if family["chosen"] == "best" else f", and {family['reference']}, which is named, has none"
        return f"Nothing can be said of the systems: no difference of scores is known{named}.", None
    ordered = _ordered(results, family)
    rows = [row for row in family["rows"] if system_of(row) not in ordered]
    if family["chosen"] == "named":
        return _against_named(results, family, rows)
    best = _leads(results, family, rows)
    if not rows:
        arms = ", but those whose documents were ordered on purpose" if family["rows"] else ""
        return f"{best}; no other system has a score{arms}.", None
    if smallest_p(family["n_clusters"]) > ALPHA:
        n = family["n_clusters"]
        units = counted(n, family["cluster"])
        return f"{best}, but {units} {'is' if n == 1 else 'are'} too few to tell any system from another.", None
    return f"{best}; {_standing_words(rows, family['cluster'])}", _lead(family, rows)


def _leads(results: Results, family: Row, rows: Sequence[Row]) -> str:
    """Name the reference and its score, and what scores more on other queries than it has."""
    score = _measure_words(results, family["measure"])
    sign = -1.0 if _lower(results, family["measure"]) else 1.0
    ahead = [row for row in rows if sign * (row["score"] - (family.get("reference_score") or 0.0)) > _SAME]
    if not ahead:
        return f"{_reference(family)} has the best {score}, {_score(family)}"
    more = "; ".join(map(_marked, ahead[:_NAMED]))
    return (
        f"{_reference(family)} comes first by {score}, {_score(family)} (not {more}: of other queries, and some other "
        "system is better on those that both have)"
    )


def _ordered(results: Results, family: Row) -> set[SystemName]:
    """Return the systems whose documents were ordered on purpose; none if the reference is one of them."""
    found = {system_of(cell) for cell in systems_in(results) if is_position_row(cell)}
    reference = family.get("reference_system")
    return set() if reference is not None and system_of(reference) in found else found


def _standing_words(rows: Sequence[Row], cluster: str) -> str:
    """Say what is shown of the reference beside each other system: every one is counted once."""
    n = _n_systems(rows)
    worse, alike, better = (_found(rows, finding) for finding in ("worse", NOT_DISTINGUISHABLE, "better"))
    unknown = [row for row in rows if row not in (*worse, *alike, *better)]
    if worse == rows:
        return f"it is better than {'the other system' if n == 1 else f'each of the {n} others'}."
    if alike == rows:
        return f"it cannot be told from {'the other one' if n == 1 else f'any of the {n} others'}: {_names(alike)}."
    few = f"{'has' if _n_systems(unknown) == 1 else 'have'} too few {counted(2, cluster)[2:]} in common with it"
    groups = [(alike, "cannot be told apart from it"), (unknown, few)]
    groups.append((better, f"{'is' if _n_systems(better) == 1 else 'are'} better on the queries that both have"))
    told = [f"{_n_systems(own)} of the {n} others {words}: {_names(own)}" for own, words in groups if own]
    return "; ".join(told) + "."


def _n_systems(rows: Sequence[Row]) -> int:
    """Count the systems of rows, of which one stands for all with the same summaries."""
    return sum(1 + len(row["same"]) for row in rows)


def _found(rows: Sequence[Row], finding: str) -> list[Row]:
    return [row for row in rows if row["finding"] == finding]


def _lead(family: Row, rows: Sequence[Row]) -> str:
    """Return the difference to the first system that can be told apart, and to the best one that is no oracle."""
    worse = _found(rows, "worse")
    if worse and worse[0] == rows[0]:
        told = [f"It leads {_marked(rows[0])}, the next, by {_difference(rows[0])}."]
    elif worse:
        told = [f"It leads {_marked(worse[0])}, the first that can be told apart, by {_difference(worse[0])}."]
    else:
        told = [f"No lead is more than chance would give: the next is {_marked(rows[0])}, {_behind(rows[0])}."]
    reference = family.get("reference_system")
    others = [row for row in rows if not has_oracle([row])]
    if reference is not None and has_oracle([{**reference}]) and others and others[0] not in worse[:1]:
        found = others[0]
        told.append(f"The best that has to find its documents is {_marked(found)}: {_behind(found)}.")
    return " ".join(told)


def _behind(row: Row) -> str:
    if row["difference"] is None:
        return str(row["finding"])
    shown = "more than chance" if row["finding"] in ("better", "worse") else row["finding"]
    return f"{_difference(row)} behind, {shown}"


def _against_named(results: Results, family: Row, rows: Sequence[Row]) -> tuple[str, str]:
    """Return the sentences on a reference that the configuration names."""
    better, worse = (_found(rows, finding) for finding in ("better", "worse"))
    n, n_better, n_worse = (_n_systems(own) for own in (rows, better, worse))
    measure = _measure_words(results, family["measure"])
    first = (
        f"Of {counted(n, 'other system')}, {n_better} {'has' if n_better == 1 else 'have'} a better "
        f"{measure} than {_reference(family)} ({_score(family)}), which the configuration names; "
        f"{n_worse} {'is' if n_worse == 1 else 'are'} worse, and {n - n_better - n_worse} cannot be told from it."
    )
    if better:
        return first, f"{_marked(better[0])} leads it by {_difference(better[0])}."
    if worse:
        return first, f"It leads {_marked(worse[0])}, the first that can be told apart, by {_difference(worse[0])}."
    return first, "No lead is more than chance would give."


def _reference(family: Row) -> str:
    """Name the reference, its equals, and what flatters it."""
    marks = [IN_SAMPLE] if family.get("in_sample") else []
    reference = family["reference_system"]
    if reference is not None and has_oracle([{**reference}]):
        marks.append(_ORACLE)
    equal = [*family["reference_same"], *family["tied"]]
    also = f" (level with {listed(equal, most=_NAMED)})" if equal else ""
    marked = f" ({'; '.join(marks)})" if marks else ""
    return f"{family['reference']}{marked}{also}"


def _marked(row: Row) -> str:
    return f"{row['system']} ({row['score']:.1f}{f'; {IN_SAMPLE}' if row.get('in_sample') else ''})"


def _score(family: Row) -> str:
    return f"{family['reference_score']:.1f} of 100"


def _difference(row: Row) -> str:
    """Return the size of a difference with its interval, whichever of the two is ahead."""
    if row["difference"] is None:
        return "a difference that is not known"
    sign = -1.0 if row["difference"] < 0 else 1.0
    points = f"{sign * row['difference']:.1f} points"
    if row["low"] is None or row["high"] is None:
        return points
    low, high = sorted((sign * row["low"], sign * row["high"]))
    return f"{points} [{low:.1f}, {high:.1f}]"


def _names(rows: Sequence[Row]) -> str:
    marked = [(name, row.get("in_sample")) for row in rows for name in (row["system"], *row["same"])]
    return listed([f"{name}{f' ({IN_SAMPLE})' if in_sample else ''}" for name, in_sample in marked], most=_NAMED)


def _measure_words(results: Results, measure: str) -> str:
    return "joint score" if measure == MAIN else head_of(results, measure).head


def _lower(results: Results, measure: str) -> bool:
    return head_of(results, measure).better == "lower"


# ---------------------------------------------------------------- the cost


def _cost(results: Results, family: Row) -> str | None:
    """Say what a summary by the reference costs, and by the cheapest system that cannot be told from it."""
    of = (family["judge"], family.get("dataset"))
    cells = {system_of(cell): cell for cell in main_cells(results) if (cell["judge"], cell.get("dataset")) == of}
    costs = {key: cost for key, cell in cells.items() if (cost := number_in(cell, "usd_a_summary")) is not None}
    reference = family.get("reference_system")
    if not reference or not any("usd_a_summary" in cell for cell in cells.values()):
        return None
    own = costs.get(system_of(reference))
    if own is None:
        why = cells.get(system_of(reference), {}).get("reasons", {}).get("usd_a_summary")
        return f"What a summary by {family['reference']} costs is not known{f': {why}' if why else ''}."
    alike = [row for row in _found(family["rows"], NOT_DISTINGUISHABLE) if system_of(row) in costs]
    cheapest = min(alike, key=lambda row: costs[system_of(row)], default=None)
    also = ""
    if cheapest is not None and costs[system_of(cheapest)] < own:
        also = f"; by {cheapest['system']}, which cannot be told from it, {_dollars(costs[system_of(cheapest)])}"
    return f"A summary by {family['reference']} costs {_dollars(own)}{also}."


def _dollars(amount: float) -> str:
    return str(value_cell(amount, Column("usd", "usd")).text)


# ---------------------------------------------------------------- the judge


def worth(results: Results, judge: str | None) -> str:
    """Say in one sentence what a judge is worth, in words; the figures of its card stand on the page of judges."""
    if judge is None:
        return "No judge gave these scores: they are computed from the texts."
    row = judge_row(results, judge)
    mark = f" ({row['in_sample']})" if row.get("in_sample") else ""
    if row.get("worth"):
        return f"Judge {judge}{mark} {row['worth']}."
    if row.get("card"):
        return f"Judge {judge}{mark}: {brief_card(row)}."
    why = f" ({row['card_reason']})" if row.get("card_reason") else ""
    return f"Nobody has measured judge {judge}{mark} against people: how far to trust its scores is not known{why}."
