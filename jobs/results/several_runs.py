"""Read several runs for the page over all of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from jobs.results.stored_run import StoredRun, averaging_of, read_stored, written_elsewhere
from longform.evidence.scan import pl
from longform.keys import in_groups
from longform.measures import SHIPPED
from longform.metrics.cited_support import MAIN
from longform.metrics.measure import described
from longform.results.results import VerbAnswer
from longform.results.several_runs import SameJudge, several_tables
from longform.tables.table import Column, Table, Value


def several_runs(urls: Mapping[str, str], pages: Mapping[str, str]) -> VerbAnswer:
    """
    Return what the page over several runs shows, whose folders and pages stand by their names.

    The groups alone say which systems differ. What each run found of its own systems stands on its own page: other
    tests, of fewer systems and more queries.

    Raises:
        UsageError: One of them is no run, or has no scores.
    """
    runs = [read_stored(url, label) for label, url in urls.items()]
    same = _same_judges(runs)
    measures = {one["name"]: one for some in same for one in some.measures}
    return VerbAnswer(
        f"{len(runs)} runs side by side",
        _cautions(runs, same),
        [_runs([_facts(run, pages[run.label]) for run in runs]), *several_tables(same)],
        list(measures.values()),
        "What to mind",
    )


def _same_judges(runs: Sequence[StoredRun]) -> list[SameJudge]:
    """Return the runs that have the same judge on the same benchmark, for each judge; those without a judge last."""

    def key(run: StoredRun, judge: str | None) -> tuple[str, str, str]:
        return judge or "", "" if judge is None else json.dumps(run.judges[judge], sort_keys=True), run.dataset_hash

    found = in_groups((key(run, judge), (run, judge)) for run in runs for judge in run.table.judges)
    return [_same(*found[key]) for key in sorted(found, key=lambda one: one[0] == "")]


def _same(*having: tuple[StoredRun, str | None]) -> SameJudge:
    (first, judge), measures = having[0], {one["name"]: one for run, _ in having for one in run.measures}
    named = {name for run, own in having for name in run.table.measures(own)}
    # the lists of runs leave out what judges of support are measured by
    measures |= {name: described(one) for name in MAIN if name in named for one in SHIPPED if one.name == name}
    return SameJudge(
        judge,
        first.dataset_hash,
        pl.concat([run.summaries.with_columns(run=pl.lit(run.label)) for run, _ in having], how="diagonal_relaxed"),
        pl.concat([run.scored(run.summaries, [own]) for run, own in having], how="diagonal_relaxed"),
        {run.label: averaging_of(run) for run, _ in having},
        list(measures.values()),
    )


def _cautions(runs: Sequence[StoredRun], same: Sequence[SameJudge]) -> list[str]:
    told = []
    if len({run.dataset_hash for run in runs}) > 1:
        told.append("The runs are on several benchmarks; those of each stand in tables of their own.")
    of_judge = Counter((one.judge, one.dataset_hash) for one in same if one.judge is not None)
    told += [
        f"Judge {judge} is not the same in all runs (its settings, prompt, version or model): {n} tables stand "
        "apart, and their scores are not comparable; longform compare RUN RUN says what differs."
        for (judge, _), n in of_judge.items()
        if n > 1
    ]
    if elsewhere := [f"{run.label}: {names}" for run in runs if (names := written_elsewhere(run))]:
        told.append(f"Written elsewhere, and taken as they were. {'. '.join(elsewhere)}.")
    if unfinished := [run.label for run in runs if not run.finished]:
        told.append(f"Not finished, and shown as far as they are: {', '.join(unfinished)}.")
    return told


def _runs(rows: Sequence[Mapping[str, Value]]) -> Table:
    unknown = "its ledger is not there, the price of a call is not known, or a call is under way"
    columns = [
        Column("run", link="page"),
        Column("page", shown=False),
        Column("title", unknown="a run of this verb has no title"),
        Column("verb", title="made by"),
        Column("state"),
        Column("benchmark"),
        Column("dataset_hash", title="data set hash"),
        Column("judges"),
        Column("versions", title="longform"),
        Column("n_queries", "count", "queries"),
        Column("n_systems", "count", "systems"),
        Column("calls", "count", unknown=unknown),
        Column("dollars", "usd", unknown=unknown),
    ]
    told = "Each run has a page of its own, behind its name. Dollars: of the run's own calls."
    return Table("runs", columns, rows, "The runs", told, ["run"])


def _facts(run: StoredRun, page: str) -> dict[str, Value]:
    record = run.record
    versions = {maker["versions"].get("longform", "unknown") for maker in record["commands"].values()}
    spent = run.spend.sums or {"calls": None, "known_usd": None, "n_unknown_usd": 0, "open": 0}
    return {
        "run": run.label,
        "page": page,
        "title": run.status["title"],
        "verb": f"longform {run.status['verb']}",
        "state": "finished" if run.finished else f"not finished ({run.status['state']})",
        "benchmark": record["benchmark"]["url"],
        "dataset_hash": run.dataset_hash,
        "judges": [judge for judge in run.table.judges if judge is not None],
        "versions": ", ".join(sorted(versions)) or "unknown",
        "n_queries": len(run.query_ids),
        "n_systems": len(run.systems),
        "calls": spent["calls"],
        "dollars": None if spent["n_unknown_usd"] or spent["open"] else spent["known_usd"],
    }
