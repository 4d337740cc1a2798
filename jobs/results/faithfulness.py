"""Verdicts of support judges as a frame, for the study of faithfulness: read from a run a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from actors.storage.folder import Folder
from jobs.stages.items import Item, Row
from jobs.stages.judge import Judged, with_repeats
from longform.evidence.scan import as_frame, pl
from longform.judges.kinds import KINDS
from longform.judges.means import merged_repeats
from longform.keys import in_groups
from longform.metrics.faithfulness import place_of, support_cells
from longform.metrics.measure import Verdict
from longform.metrics.position_bias import summary_places
from longform.results.cells import table_rows
from longform.settings.experiment import Experiment

_CELL_COLUMNS = ["work_id", "doc_position", "text_index", "unit_index", "answer", "probability"]
_OF_REPEATS = ["summary_id", "mode", "target_id", "repeat", "reply", "linked_unit"]
_SUMMARIES_AT_ONCE = 64


def checked_summaries(run: Folder, checks: Sequence[Item[Judged]], *, all_cells: bool) -> pl.DataFrame:
    """
    Return a row for each support judge and summary, in the order of *checks*.

    `work_id` is that of the summary. Beside it stand what its prompt held (`is_ordered`, `n_given`), the cells of its
    verdicts (`n_cells`), and the columns of `SummaryPlaces`; those are null unless *all_cells* have a verdict.
    """
    repeats = {first.work_id: [one.work_id for one in (first, *more)] for first, *more in with_repeats(checks)}
    keys = {one.work_id: one.key for one in checks}
    asked = pl.DataFrame(
        [(name, keys[name].judge, keys[name].summary, keys[name].context) for name in repeats],
        schema=dict.fromkeys(["verdicts", "judge", "work_id", "context"], pl.String),
        orient="row",
    )
    contexts = run.read("contexts", work_ids=asked["context"].unique(), columns=["work_id", "order", "doc_ids"])
    prompts = as_frame(contexts).select(
        context="work_id", is_ordered=pl.col("order").is_not_null(), n_given=pl.col("doc_ids").list.len()
    )
    found = pl.concat([pl.DataFrame(schema=_FOUND), *_found(run, repeats, all_cells=all_cells)])
    joined = asked.join(prompts, on="context", how="left", maintain_order="left")
    joined = joined.join(found, on="verdicts", how="left", maintain_order="left")
    return joined.drop("verdicts", "context").with_columns(pl.col("n_cells").fill_null(0))


_FOUND: Mapping[str, Any] = {
    "verdicts": str,
    "n_cells": int,
    "numbers": list[float],
    "best": list[list[int]],
    "covered": list[float],
    "n_covered": list[float],
}


def _found(run: Folder, repeats: Mapping[str, Sequence[str]], *, all_cells: bool) -> Iterator[pl.DataFrame]:
    """Yield the cells of summaries part by part; *repeats* has the work ids of their verdicts by the first of them."""
    columns = _CELL_COLUMNS if all_cells else ["work_id"]
    for batch, first in _batches(run, repeats, columns):
        rows = in_groups((first[row["work_id"]], row) for row in batch.to_pylist())
        found: list[tuple[Any, ...]] = []
        for work_id, own in rows.items():
            if all_cells:
                merged = merged_repeats(KINDS["support"], own) if len(repeats[work_id]) > 1 else own
                cells = support_cells(map(_verdict, merged))
                found.append((work_id, cells.size, *(list(part) for part in summary_places(cells))))
            else:
                found.append((work_id, sum(row["work_id"] == work_id for row in own), *[None] * 4))
        yield pl.DataFrame(found, schema=_FOUND, orient="row")


def _batches(
    run: Folder, repeats: Mapping[str, Sequence[str]], columns: list[str]
) -> Iterator[tuple[pa.Table, Mapping[str, str]]]:
    """Yield verdicts part by part, or those of a few summaries at a time if these have repeats."""
    first = {one: name for name, work_ids in repeats.items() for one in work_ids}
    verdicts = run.snapshot("verdicts")
    if len(first) == len(repeats):
        yield from ((batch, first) for batch in verdicts.batches(work_ids=first, columns=columns))
        return
    names = list(repeats)
    for start in range(0, len(names), _SUMMARIES_AT_ONCE):
        some = [one for name in names[start : start + _SUMMARIES_AT_ONCE] for one in repeats[name]]
        yield verdicts.read(work_ids=some, columns=[*columns, *_OF_REPEATS]), first


def _verdict(row: Row) -> Verdict:
    number = KINDS["support"].number(row["answer"], row["probability"])
    place = place_of(row["doc_position"], row["text_index"])
    return Verdict(None, row["answer"], number, unit_index=row["unit_index"], doc_position=place)


def with_another_order(experiment: Experiment, results: Mapping[str, Any]) -> Experiment | None:
    """Return the experiment with one more drawn order, if the interval of a mean over orders is to be narrower."""
    settings = experiment.permutations
    rows = table_rows(results, "faithfulness_permutations")
    if settings.half_width is None or settings.n_orders >= settings.most or all(row["narrow"] for row in rows):
        return None
    more = settings.model_copy(update={"n_orders": settings.n_orders + 1})
    return experiment.model_copy(update={"permutations": more})
