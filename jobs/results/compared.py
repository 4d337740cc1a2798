"""Compare two runs on the queries that both have, as a command and from Python: the numbers are the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from actors.surface.folders import Run
from jobs.results.stored_run import StoredRun, averaging_of, labels_of, read_stored, written_elsewhere
from jobs.results.two_runs import common_queries, compared_rankings, is_of_rankings, named_pair, same_judges
from longform.errors import UsageError, meant
from longform.evidence.scan import pl
from longform.evidence.summaries import clustered, clusters_of
from longform.measures import SHIPPED
from longform.metrics.measure import Description, described
from longform.metrics.statistics import Estimate
from longform.report.answers import answer_text
from longform.report.overview import clusters_told
from longform.results.aggregate import systems_in
from longform.results.comparison import comparison_answer, cost_table, setting_rows, setting_table
from longform.results.differences import OF, compare_runs, datasets_of, values_of
from longform.results.results import VerbAnswer
from longform.settings.experiment import Experiment
from longform.settings.systems import SystemName

NAME = "compare"
_SCORING = ("aggregate", "partial_score", "faithfulness", "units")
"""Settings that make other scores of the same verdicts."""
_UNKNOWN: Description = {"name": "", "title": "", "unit": "count", "better": None, "told": "", "judged_by": None}
"""A measure of a user's, of which the results of neither run tell."""


def two_runs(urls: Sequence[str], *, systems: Sequence[str] = (), measures: Sequence[str] = ()) -> VerbAnswer:
    """
    Return what can be said of two runs: of pairs `A=B` of their *systems*, by *measures*.

    Without pairs they are those of the same name, without measures all that the runs list.

    Raises:
        UsageError: They cannot be compared; the message says why.
    """
    first, second = runs = [read_stored(url, label) for url, label in zip(urls, labels_of(urls), strict=True)]
    (query_ids, of_queries), (same, of_judges) = common_queries(first, second), same_judges(first, second)
    asked = pl.col("query_id").cast(pl.String).is_in(list(query_ids))
    sides = clustered(*(run.summaries.filter(asked) for run in runs))
    shared = clusters_of(*sides).filter(pl.col("kind") == "query", pl.col("n_queries") > pl.col("n_haystacks"))
    labels, known = (first.label, second.label), (systems_in(sides[0]), systems_in(sides[1]))
    pairs, datasets, how = paired_systems(known, labels, systems), datasets_of(*sides), averaging_of(first)
    of_rankings = [name for name in measures if is_of_rankings(name)]
    of_summaries = [name for name in measures if name not in of_rankings]
    both = {judge: {*first.table.measures(judge)} & {*second.table.measures(judge)} for judge in same}
    compared = [] if of_rankings and not of_summaries else _measures(first, second, both, of_summaries)
    scores = pl.concat([run.scored(side) for run, side in zip(runs, sides, strict=True)], how="diagonal_relaxed")
    differences = compare_runs(
        values_of(scores, how.aggregate, "run", *OF, with_empty=True),
        labels,
        "differences",
        datasets=datasets,
        measures={judge: [one for one in compared if one["name"] in own] for judge, own in both.items()},
        pairs=pairs,
        seed=how.seed,
    )
    of_pairs = pairs if of_rankings or not measures else ()
    rankings = compared_rankings((first, second), sides, of_pairs, only=of_rankings)
    if not differences.rows and not rankings.rows:
        raise UsageError(_nothing(first, second, of_judges, measures))
    told = [*of_queries, *of_judges, *clusters_told(shared.to_dicts())]
    spent = [None if run.spend.missing else run.spend.sums for run in runs]
    return comparison_answer(
        [_run(run) for run in runs],
        differences,
        rankings,
        setting_table(_settings(first), _settings(second), labels),
        cost_table(spent[0], spent[1], labels),
        n_common=len(query_ids),
        cautions=[*_cautions(first, second, pairs), *told, *_left_out(known, runs, pairs)],
        measures=compared,
    )


# ---------------------------------------------------------------- which systems and measures


def paired_systems(
    sides: tuple[Sequence[SystemName], Sequence[SystemName]], labels: tuple[str, str], wanted: Sequence[str]
) -> list[tuple[SystemName, SystemName]]:
    """
    Return the systems of two runs that are compared: those *wanted*, else those of one name, else the only two.

    Raises:
        UsageError: There are none.
    """
    if wanted:
        return [named_pair(one, sides, "a system of each run") for one in wanted]
    same = [(name, name) for name in sides[0] if name in sides[1]]
    if not same and len(sides[0]) == len(sides[1]) == 1:
        return [(sides[0][0], sides[1][0])]
    if not same:
        lists = ["; ".join(map(str, side)) for side in sides]
        raise UsageError(
            f"no system of {labels[0]} has the name of one of {labels[1]}; say which to compare with --systems "
            f"'A=B'. {labels[0]} has: {lists[0]}. {labels[1]} has: {lists[1]}"
        )
    return same


def _measures(
    first: StoredRun, second: StoredRun, both: Mapping[str | None, set[str]], wanted: Sequence[str]
) -> list[Description]:
    """Return the measures to compare: those wanted, else those that a run lists, with those of judges without any."""
    known = {one["name"]: one for one in [*map(described, SHIPPED), *first.measures, *second.measures]}
    every = {name for names in both.values() for name in names}
    if wanted:
        if unknown := [name for name in wanted if name not in every]:
            found = f"found {', '.join(unknown)}{meant(unknown[0], every)}"
            raise UsageError(f"--measure: expected some of {', '.join(sorted(every))}, {found}")
        return [known.get(name) or {**_UNKNOWN, "name": name, "title": name} for name in dict.fromkeys(wanted)]
    listed = {one["name"]: one for one in [*first.measures, *second.measures]}
    for names in both.values():
        if names and not names & listed.keys():
            listed |= {name: one for name, one in known.items() if name in names}
    return list(listed.values())


def _nothing(first: StoredRun, second: StoredRun, told: Sequence[str], measures: Sequence[str]) -> str:
    why = " ".join(told) or "no measure has scores in both."
    return f"{first.url} and {second.url}: nothing can be compared{' by these measures' if measures else ''}. {why}"


# ---------------------------------------------------------------- what stands beside the differences


def _run(run: StoredRun) -> dict[str, Any]:
    return {
        "run": run.url,
        "label": run.label,
        "verb": run.status["verb"],
        "title": run.status["title"],
        "state": run.status["state"],
        "finished": run.finished,
        "benchmark": run.record["benchmark"]["url"],
        "dataset_hash": run.dataset_hash,
        "n_queries": len(run.query_ids),
        "systems": [str(name) for name in run.systems],
    }


def _cautions(first: StoredRun, second: StoredRun, pairs: Sequence[tuple[SystemName, SystemName]]) -> list[str]:
    found = []
    if first.url.rstrip("/") == second.url.rstrip("/"):
        alike = all(one == other for one, other in pairs)
        chosen = ": its report tests all its systems together, and two that are chosen by their scores are no fair test"
        found.append(f"Both are the same run{', so every difference is 0' if alike else chosen}.")
    for run in (first, second):
        if not run.finished:
            words = "is still under way" if run.status["state"] == "running" else "is not finished"
            left = [stage for stage in run.status["stages"] if stage["done"] < stage["wanted"]]
            told = ", ".join(f"{stage['name']} {stage['done']:,} of {stage['wanted']:,}" for stage in left)
            found.append(f"{run.label} {words} ({told or 'its command is at work'}): compared is what it has so far.")
        if written := written_elsewhere(run):
            found.append(f"Written elsewhere, and taken by {run.label} as they were: {written}.")
    scoring, others = ({key: run.record["config"].get(key) for key in _SCORING} for run in (first, second))
    other = [*setting_rows(scoring, others)]
    if first.record["verb"] == second.record["verb"] and other:
        told = "; ".join(
            f"{row['key']} is {row['first']} in {first.label}, {row['second']} in {second.label}" for row in other
        )
        found.append(
            f"The runs score what was judged by other rules ({told}), so part of a difference may be theirs; "
            "longform aggregate RUN --set KEY=VALUE scores a run again."
        )
    return found


def _left_out(
    known: Sequence[Sequence[SystemName]], runs: Sequence[StoredRun], pairs: Sequence[tuple[SystemName, SystemName]]
) -> list[str]:
    told = []
    for place, (systems, run) in enumerate(zip(known, runs, strict=True)):
        named = {pair[place] for pair in pairs}
        if left := [str(name) for name in systems if name not in named]:
            told.append(f"Systems of {run.label} without a partner are not compared: {'; '.join(left)}.")
    return told


def _settings(run: StoredRun) -> dict[str, object]:
    """Return the configuration with the values of keys that it is older than, and what else made the run."""
    record = run.record
    config: Mapping[str, Any] = record["config"]
    if record["verb"] == "evaluate":
        with suppress(ValidationError):
            config = Experiment.model_validate(config).model_dump(mode="json")
    makers = record["commands"].values()
    versions = sorted({maker["versions"].get("longform", "unknown") for maker in makers})
    commits = sorted({str(maker["git_commit"]) for maker in makers})
    return {
        **config,
        "verb": record["verb"],
        "limit": record.get("limit"),
        "benchmark dataset": run.dataset_hash,
        "prompt versions": record.get("prompts") or {},
        "longform version": ", ".join(versions),
        "git commit": ", ".join(commits),
    }


# ---------------------------------------------------------------- from Python


@dataclass(frozen=True)
class ComparedRuns:
    """Two runs on the queries that both have; differences are the second run's less the first run's."""

    answer: VerbAnswer  # as `longform compare` says it

    @property
    def document(self) -> dict[str, Any]:
        """All of it, as `longform compare --out DIR` writes it to `compare.json`."""
        return self.answer.document

    @property
    def n_queries(self) -> int:
        """Queries that both have."""
        return int(self.document["n_common"])

    @property
    def conclusion(self) -> list[str]:
        """Three sentences."""
        return list(self.document["conclusion"])

    @property
    def cautions(self) -> list[str]:
        """Sentences on what weakens the comparison."""
        return list(self.document["cautions"])

    @property
    def differences(self) -> pa.Table:
        """
        A row for each judge, measure and pair of systems: both means, difference, interval, p and finding.

        Measures that are shares stand in points from 0 to 100; p is adjusted for all rows together.
        """
        return self._table("differences")

    @property
    def retrieval(self) -> pa.Table:
        """The same of rankings, by measures such as nDCG@10; p is adjusted for these rows together."""
        return self._table("retrieval")

    @property
    def settings(self) -> pa.Table:
        """Settings that differ."""
        return self._table("settings")

    def _table(self, name: str) -> pa.Table:
        rows = [row for table in self.answer.tables if table.name == name for row in table.rows]
        return pa.Table.from_pylist([dict(_plain(row)) for row in rows])

    def __str__(self) -> str:
        return answer_text(self.answer)


def compare(
    first: Run | str | PathLike[str],
    second: Run | str | PathLike[str],
    *,
    systems: Mapping[str, str] | None = None,
    measures: Sequence[str] = (),
) -> ComparedRuns:
    """
    Compare two runs, or their folders, on the queries that both have; nothing is written.

    *systems* of the first stand before those of the second, as `longform compare --systems` names them; None: those of
    the same name. Without *measures* they are all that the runs list.

    Raises:
        UsageError: They cannot be compared; the message says why.
    """
    if isinstance(measures, str):
        raise UsageError(f"measures: expected a list of names, found the text {measures!r}")
    urls = [_url("first", first), _url("second", second)]
    pairs = [f"{one}={other}" for one, other in (systems or {}).items()]
    return ComparedRuns(two_runs(urls, systems=pairs, measures=measures))


def _url(argument: str, run: object) -> str:
    if isinstance(run, Run):
        return run.folder.url
    if isinstance(run, str | PathLike):
        return Run(fspath(run)).folder.url
    raise UsageError(f"{argument}: expected a run or its folder, found a value of type {type(run).__name__}")


def _plain(row: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the columns of a row, the ends of a difference beside it; what only shows the table is left out."""
    for name, value in row.items():
        if name == "difference":
            yield from zip((name, "low", "high"), value if isinstance(value, Estimate) else [None] * 3, strict=False)
        elif name != "aside":
            yield name, value
