"""
Systems before and after their citations were repaired: what it moved, and bullets to see it by.

Every difference is paired: a summary and its twin share insights, bullets and verdicts, and differ in citations only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.evidence.scan import pl
from longform.evidence.scores import final, means, samples, under, with_facts
from longform.keys import stable_seed
from longform.models import read_model
from longform.repair.twins import HOWS, MATRIX, twin_label
from longform.results.aggregate import Aggregate, axes_in
from longform.results.differences import differences, finding_words, interval
from longform.results.evidence import Evidence, summaries_under
from longform.results.faithfulness_tables import groups, merging_of, score, scored_summaries
from longform.results.in_sample import SUPPORT, in_sample
from longform.results.repaired_examples import drawn
from longform.tables.table import AXES, DATASET, JUDGE, SYSTEM, Axes, Column, Table

MEASURES = ("citation", "joint", "coverage")
WARNING = "Such citations say that supporting documents were found, not that they were used."
NAME = "repair"
CHANGES, CITATIONS, EXAMPLES = (f"{NAME}_{part}" for part in ("changes", "citations", "examples"))
_DRAWN = ("citation", "joint")
_ON_PURPOSE = ("top", "middle", "bottom", "random")  # orders of documents
_UNKNOWN = "no summary has this score"

Row = Mapping[str, Any]


class Repair:
    """Systems whose citations were repaired, before and after."""

    name = NAME
    needs = ("scores", "summaries", "units", "verdicts", "documents")
    measures = MEASURES

    def result(self, evidence: Evidence) -> list[Table] | None:
        """
        Return the rows of every judge, and what became of bullets by the first judge's links, with examples.

        If a support judge drove the citations, its `faithfulness` of the same bullets stands in each row. None: the run
        has no twins, or no judge scored them.
        """
        twins = twins_in(evidence.frames.summaries.collect())
        if twins.is_empty():
            return None
        table = evidence.score_table
        judges = [judge for judge in table.judges if {*MEASURES}.intersection(table.measures(judge))]
        aggregate, seed, _ = evidence.averaging
        how: Any = {"aggregate": aggregate, "seed": seed}
        rows = [
            row
            for judge in judges
            for row in before_after(
                means(under(table.frame, judge)), summaries_under(evidence, judge), judge=judge, **how
            )
        ]
        judge = next(iter(judges), None)
        counts, examples = drawn(evidence, twins, judge)
        return tables(
            {
                **evidence.driver,
                "rows": _with_faithfulness(rows, evidence),
                "judge": judge,
                "changes": counts,
                "examples": examples,
                "in_sample": _in_sample(evidence),
            }
        )


def tables(found: Mapping[str, Any]) -> list[Table] | None:
    """Return the tables of what was found, which older results have as it is; None: no system has scores."""
    if not found["rows"]:
        return None
    lower = [_changes_table(found), _citations_table(found), _examples_table(found)]
    return [_systems(found), *(table for table in lower if table.rows)]


def _systems(found: Mapping[str, Any]) -> Table:
    by, fitted = found.get("by", MATRIX), found.get("in_sample")
    mark = " (in sample)" if fitted else ""
    judged = any("faithfulness" in row for row in found["rows"])
    places = {part: place for place, part in enumerate(dict.fromkeys(map(_part_of, found["rows"])))}
    ordered = sorted(found["rows"], key=lambda row: (places[_part_of(row)], -_joint_before(row)))
    bands, apart = ("summarizer", "setting") if _has_more_summarizers(ordered) else ("setting", "summarizer")
    return Table(
        NAME,
        [
            DATASET,
            *SYSTEM[:5],
            JUDGE,
            *AXES,
            Column("order", shown=False),
            Column("n_summaries", "count", "summaries", shown=False),
            Column("fitted", told="what the model that chose citations saw of these data", shown=False),
            Column("measure"),
            Column("before", "points", told="what the summary cites", unknown=_UNKNOWN),
            Column("after", "points", f"after{mark}", twin_label(by), unknown=_UNKNOWN),
            Column(
                "difference",
                "difference",
                f"difference{mark}",
                "paired by summary; the intervals hold for all rows of a measure together",
                unknown=_UNKNOWN,
            ),
            Column("p", "p", shown=False),
            Column("p_alone", "p", told="not adjusted for the other systems", shown=False),
            Column("finding", shown=False),
            Column("not_drawn", told="why no figure has the row", shown=False),
            Column(
                "faithfulness",
                "points",
                told="of the same bullets, by the judge that chose the citations",
                shown=judged,
                unknown=_UNKNOWN,
            ),
        ],
        (),
        title="Citations before and after repair",
        told=" ".join(_told(found, by, fitted)),
        key=["dataset", "judge", "summarizer", "setting", "measure"],
        plot=Axes(
            "change", "before", bands, by="measure", apart=[apart, "judge", "dataset"], to="after", but="not_drawn"
        ),
        apart=["judge", "dataset"],
        across="measure",
        under=["before", "after", "difference"],
        page="citations",
    ).having(row for system in ordered for row in _rows(system, by, fitted))


def _part_of(row: Row) -> tuple[str | None, str | None]:
    return row["judge"], row.get("dataset")


def _joint_before(row: Row) -> float:
    before = row["joint"]["before"]
    return -1.0 if before is None else float(before)


def _rows(system: Row, by: str, fitted: str | None) -> Iterator[Row]:
    """Yield a row for each measure of a system."""
    kept = {name: system[name] for name in ("setting", "summarizer", "judge", "n_summaries")}
    axes = system.get("axes") or {}
    more = {name: system[name] for name in ("faithfulness", "elsewhere") if name in system}
    on_purpose = "ordered on purpose" if axes.get("order") in _ON_PURPOSE else None
    for measure in MEASURES:
        change = system[measure]
        difference = {"value": change["difference"], "low": change["low"], "high": change["high"]}
        yield {
            "dataset": system.get("dataset"),
            **kept,
            "cited_by": by,
            **axes,
            "fitted": fitted,
            "measure": measure,
            "before": change["before"],
            "after": change["after"],
            "difference": {**difference, "n": system["n_summaries"]},
            **{name: change[name] for name in ("p", "p_alone", "finding") if name in change},
            "not_drawn": None if measure in _DRAWN and not on_purpose else on_purpose or "the same by construction",
            **more,
        }


def _has_more_summarizers(rows: Sequence[Row]) -> bool:
    """Return whether a figure of each setting has more to show than one of each summarizer."""
    own = [row for row in rows if (row.get("axes") or {}).get("order") not in _ON_PURPOSE]
    n_settings, n_summarizers = (len({row[name] for row in own}) for name in ("setting", "summarizer"))
    return n_settings <= n_summarizers and n_summarizers > 1


def _told(found: Mapping[str, Any], by: str, fitted: str | None) -> Iterator[str]:
    yield (
        f"Each summary beside a twin whose bullets cite the documents that say the same, labelled “{twin_label(by)}”. "
        f"{WARNING} A document is right where the benchmark planted the insight in it; another may state it too."
    )
    if by == MATRIX:
        seen = read_model("support_words")["fitted_on"]
        yield "Driven by matrix: the words that bullets and documents share."
        yield f"The support model that ships was fitted on {seen}."
        if "in_sample" not in found:
            yield "There the figures are in sample."  # older results do not know
        elif fitted:
            yield f"The figures after repair are {fitted}."
        else:
            yield "It saw none of the insights that are scored here."
    else:
        yield (
            f"Driven by support judge {by}: a bullet cites the documents that it calls supporting, else the best one. "
            "Sentences quoted below are those that share most words with the bullet."
        )
    yield (
        "Coverage is the same by construction, so is faithfulness if it stands beside: bullets and verdicts stay. Rows "
        "by joint score before repair."
    )


def _changes_table(found: Mapping[str, Any]) -> Table:
    n = sum(found["changes"].values())
    return Table(
        CHANGES,
        [
            JUDGE,
            Column("kind", title="by citation score"),
            Column("n_bullets", "count", "bullets", of="n_all"),
            Column("n_all", "count", shown=False),
        ],
        [
            {"judge": found["judge"], "kind": kind, "n_bullets": count, "n_all": n}
            for kind, count in found["changes"].items()
        ],
        told=f"Of {n:,} bullets{_of_all(found)} that the judge linked to a covered insight: what became of them.",
        key=["judge", "kind"],
        section=NAME,
        page="citations",
    )


def _of_all(found: Mapping[str, Any]) -> str:
    return " of all data sets" if len({row.get("dataset") for row in found["rows"]}) > 1 else ""


def _citations_table(found: Mapping[str, Any]) -> Table:
    bullets = found.get("bullets") or {}
    n = sum(bullets.values())
    return Table(
        CITATIONS,
        [
            JUDGE,
            Column("how", shown=False),
            Column("told", title="bullets that"),
            Column("n_bullets", "count", "bullets", of="n_all"),
            Column("n_all", "count", shown=False),
        ],
        [
            {"judge": found["by"], "how": how, "told": HOWS[how], "n_bullets": bullets[how], "n_all": n}
            for how in HOWS
            if how in bullets
        ],
        told=f"Of {n:,} bullets{_of_all(found)}: how they came by their citations.",
        key=["judge", "how"],
        section=NAME,
        page="citations",
    )


def _examples_table(found: Mapping[str, Any]) -> Table:
    """Return the examples, which a report unfolds and shows in no table."""
    texts = ("kind", "summarizer", "setting", "summary_id", "repaired_id", "bullet", "insight")
    return Table(
        EXAMPLES,
        [
            *(Column(name, shown=False) for name in texts),
            *(Column(name, "share", told="citation score", shown=False) for name in ("f1_before", "f1_after")),
            *(Column(name, told="numbers of documents", shown=False) for name in ("before", "after", "gold")),
            Column("evidence_document", "count", shown=False),
            Column("evidence", told="sentences that support the bullet best", shown=False),
        ],
        found["examples"],
        title="Bullets before and after repair",
        key=["summary_id", "bullet", "insight"],
        section=NAME,
        page="citations",
    )


def _in_sample(evidence: Evidence) -> str | None:
    """Say how far the model that drove the citations saw the insights that they are scored by; None: not at all."""
    if evidence.driver["by"] != MATRIX:
        return None
    queries = evidence.frames.summaries.select(pl.col("query_id").unique(maintain_order=True)).collect()["query_id"]
    return in_sample(SUPPORT, [target["text"] for query in queries for target in evidence.query(query)["targets"]])


def _with_faithfulness(rows: Sequence[Row], evidence: Evidence) -> list[Row]:
    checked, experiment = evidence.checked, evidence.experiment
    if checked is None or experiment is None:
        return list(rows)
    how = evidence.averaging._replace(aggregate="pooled")
    own = scored_summaries(evidence, checked.filter(judge=evidence.driver["by"]), merging_of(experiment))
    found = {
        (key.dataset, key.system.setting, key.system.summarizer): score(group, how, key).as_json()
        for key, group in groups(own)
    }
    if not found:
        return list(rows)
    return [{**row, "faithfulness": found[row["dataset"], row["setting"], row["summarizer"]]} for row in rows]


def twins_in(summaries: pl.DataFrame) -> pl.DataFrame:
    """Return the twins of *summaries* whose originals are among these."""
    there = summaries.select(original=pl.col("summary_id").cast(pl.String))
    return summaries.join(there, on="original", how="semi", maintain_order="left")


def before_after(
    scores: pl.DataFrame,
    summaries: pl.DataFrame,
    *,
    judge: str | None,
    aggregate: Aggregate,
    seed: int,
) -> list[dict[str, Any]]:
    """
    Return a row for each (data set, setting, summarizer) that has repaired twins, sorted by these; scores in points.

    The differences of one measure on one data set are a family. *scores* are means over the repeats of one judge, of
    *summaries*, twins included.
    """
    final_ = final(summaries)
    after = twins_in(final_)
    originals = after.select(summary_id=pl.col("original").cast(final_.schema["summary_id"]))
    before = originals.join(final_, on="summary_id", maintain_order="left")
    own = [facts for _, facts in sorted(_by_name(before).items())]
    rows = [_row(facts, judge) for facts in own]
    system = before.select(pl.col(_SYSTEM).cast(pl.String))  # a twin is one of its original's system
    sides = pl.concat(
        one.select("summary_id", "query_id", "cluster", "summary_repeat", side=pl.lit(side)).with_columns(system)
        for side, one in (("before", before), ("after", after))
    )
    for measure in MEASURES:
        valued = with_facts(scores.filter(pl.col("measure") == measure), sides)
        values = samples(valued, aggregate, "side", *_SYSTEM).with_columns(pl.col("cluster").cast(pl.String))
        changes = _changes(values.sort("cluster", maintain_order=True), rows, stable_seed(seed, judge, measure))
        for row, change in zip(rows, changes, strict=True):
            row[measure] = change
    return rows


_SYSTEM = ["dataset", "setting", "summarizer"]


def _by_name(facts: pl.DataFrame) -> dict[tuple[str, ...], pl.DataFrame]:
    found = facts.partition_by(_SYSTEM, as_dict=True, maintain_order=True)
    return {tuple(str(part or "") for part in name): own for name, own in found.items()}


def _row(facts: pl.DataFrame, judge: str | None) -> dict[str, Any]:
    """Return the columns that name a system, and count its twins."""
    first = facts.row(0, named=True)
    return {
        **{name: first[name] for name in ("dataset", "setting", "summarizer")},
        "judge": judge,
        "n_summaries": len(facts),
        "axes": axes_in(facts) or None,
        **({"elsewhere": True} if first["elsewhere"] else {}),
    }


def _changes(values: pl.DataFrame, rows: Sequence[Row], seed: int) -> Iterator[Row]:
    """Yield the change of each system, in points; its scores are over all that it has a value of."""
    named = [[row[name] for name in _SYSTEM] for row in rows]
    pairs = pl.DataFrame(named, schema=dict.fromkeys(_SYSTEM, pl.String), orient="row")
    asked = pairs.with_columns(first_side=pl.lit("after"), second_side=pl.lit("before"))
    mean = 100 * pl.col("total").sum() / pl.col("n").sum()
    scores = {tuple(name): score for *name, score in values.group_by("side", *_SYSTEM).agg(mean=mean).iter_rows()}
    for test in differences(values, asked, ["dataset"], seed=seed).iter_rows(named=True):
        first, last = (scores.get((side, *(test[name] for name in _SYSTEM))) for side in ("before", "after"))
        known = first is not None and last is not None
        found = interval(test, 0, 100)
        yield {
            "difference": last - first if first is not None and last is not None else None,
            "low": found.low,
            "high": found.high,
            "p": test["p"],
            "p_alone": test["p_alone"],
            "before": first if known else None,
            "after": last if known else None,
            "finding": finding_words(test) if known else None,
        }
