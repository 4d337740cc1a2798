"""The results of a run: the content of `results.json`, and with the drill-down that of its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from pydantic import JsonValue

from longform.judges.card_columns import Adversarial
from longform.metrics.measure import Description
from longform.results.aggregate import Aggregate, ClusterKind, ModelsRow
from longform.results.calls import CallsRow
from longform.results.cells import CellRow
from longform.results.drilldown import Drilldown
from longform.results.elsewhere import ElsewhereRow
from longform.results.faithfulness_rows import Faithfulness
from longform.results.so_far import SoFar
from longform.results.work import RunFacts


class JudgeRow(TypedDict):
    judge: str
    scale: str | None  # null: it has one scale alone
    card: str | None  # its line; null: it has none
    worth: NotRequired[str | None]  # a phrase with a verb; null: it has no card; missing: older results
    card_brief: NotRequired[str | None]  # figures in place of `worth`, in older results alone
    card_reason: str | None  # why it has none, if that needs a reason
    adversarial: NotRequired[Adversarial]  # its card's section on perturbed summaries; missing: the card has none
    in_sample: NotRequired[str | None]


class ClustersRow(TypedDict):
    """The units of a data set that intervals and tests take as independent."""

    dataset: NotRequired[str | None]  # older results have one row for all
    kind: ClusterKind
    n_queries: int
    n_haystacks: int


class Size(TypedDict):
    """The systems of a run, the queries that it has summaries of, and what these are made from."""

    n_queries: int
    unscored_queries: NotRequired[dict[str, int] | None]  # why, of those without a main score; null: nothing is scored
    haystacks: list[str]  # ids
    n_documents: int  # of these haystacks
    n_systems: NotRequired[int]  # without twins
    n_summaries: int  # of these systems
    n_repeating: NotRequired[int]  # further summaries, which repeat these in other orders of documents


class Results(TypedDict, total=False):
    """An empty or missing part leaves its section of a report out; results of older versions lack some."""

    title: str
    so_far: SoFar  # absent: the run was done
    pooled_datasets: list[str]  # taken as one in all tables and figures; absent: each stands apart
    aggregate: Aggregate  # of `cells`
    benchmark: dict[str, JsonValue]
    size: Size
    haystack_topics: dict[str, str | None]  # haystack id -> topic; null: not stated
    clusters: Sequence[ClustersRow] | ClustersRow
    several_models: list[ModelsRow]
    judges: list[JudgeRow]
    measures: list[Description]
    cells: list[CellRow]
    per_summary_cells: list[CellRow]
    rankings_told: list[str]  # why measures of rankings differ from published ones
    faithfulness: Faithfulness
    cost: dict[str, Any]  # what stands in `tables`, as versions before 0.7 wrote it
    calls: list[CallsRow]
    own_studies: dict[str, dict[str, Any]]  # what stands in `tables`, as versions before 0.7 wrote it
    tables: dict[str, dict[str, Any]]  # name -> `longform.tables.table.Table.as_json`
    read: list[str]  # how texts were read as units and citations, in sentences
    unscored: list[str]
    elsewhere: list[ElsewhereRow]
    missing_ledgers: list[str]
    audit: dict[str, Any]  # this and the next as their annex wrote them beside the benchmark
    synthesis: dict[str, Any]
    benchmark_tables: dict[str, Any]  # `title`, `told` and `tables`, likewise; absent: the benchmark keeps none
    run: RunFacts
    drilldown: Drilldown
