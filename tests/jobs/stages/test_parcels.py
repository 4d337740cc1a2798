"""Parcels, which Arrow tables hold whole, and the operators that real configurations come to."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.command.calling import Calling
from jobs.configs import read_experiment
from jobs.runs.stage_order import stages_of
from jobs.stages import judge, pack, repair, rerank, retrieve, shipped, split, verdicts
from jobs.stages.items import Item, Source
from jobs.stages.operators import operators_of, streams_of
from jobs.stages.pack import Packed
from jobs.stages.parcels import Parcel, of_arrow, to_arrow
from jobs.stages.released import CopySummaries, ReadLabels, Released
from jobs.stages.repair import Twin
from jobs.stages.retrieve import Ranked
from jobs.stages.runner import PlainStage
from jobs.stages.score import Score, Scored
from jobs.stages.shipped import Shown
from jobs.stages.split import UnitsOf
from jobs.stages.stage import Site, Stage
from jobs.stages.summarize import Summarize, Summarized
from longform.schemas import SCHEMAS

Judged = verdicts.Judged
KEYS: dict[type[Stage[Any]], type] = {
    retrieve.Retrieve: Ranked,
    retrieve.RetrieveAsked: Ranked,
    rerank.Rerank: Ranked,
    pack.Pack: Packed,
    shipped.TakeContexts: Shown,
    shipped.TakeSummaries: Released,
    Summarize: Summarized,
    split.Split: UnitsOf,
    judge.AskJudge: Judged,
    verdicts.Mean: Judged,
    repair.Repair: Twin,
    repair.CopyVerdicts: Judged,
    repair.RepairByJudge: Twin,
    Score: Scored,
    CopySummaries: Released,
    ReadLabels: Judged,
    PlainStage: dict[str, str],
}
MADE = ("rankings", "contexts", "summaries", "units", "verdicts")
TEXT = st.text(max_size=6)
SOURCE = st.builds(Source, st.sampled_from(MADE), TEXT)


def every(of: type[Any]) -> Iterator[type[Any]]:
    """The classes of the project's stages that are no bases alone."""
    for one in of.__subclasses__():
        yield from every(one)
        is_base = inspect.isabstract(one) or one.__name__.startswith("_")
        if one.__module__.startswith("jobs.") and not is_base:
            yield one


def stage(of: type[Stage[Any]]) -> Stage[Any]:
    """A stage without settings, which what it does with keys needs not."""
    bare: Stage[Any] = object.__new__(type(of.__name__, (of,), {"name": of.__name__}))
    return bare


def value(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Draw what a column of a type may hold."""
    if pa.types.is_list(kind):
        return st.none() | st.lists(value(kind.value_type), max_size=2)
    if pa.types.is_struct(kind):
        return st.fixed_dictionaries({one.name: value(one.type) for one in kind})
    plain = {
        "string": TEXT,
        "bool": st.booleans(),
        "int32": st.integers(-(2**31), 2**31 - 1),
        "int64": st.integers(-(2**63), 2**63 - 1),
        "float": st.floats(allow_nan=False, width=32),
        "double": st.floats(allow_nan=False),
    }
    return st.none() | plain[str(kind)]


def test_every_stage_has_keys_of_which_the_tests_here_know() -> None:
    assert {*every(Stage)} == KEYS.keys()


@pytest.mark.parametrize(("of", "key"), KEYS.items())
@given(data=st.data())
def test_what_is_wanted_is_the_same_on_the_other_side_of_a_table(of: Any, key: Any, data: st.DataObject) -> None:
    items = st.lists(st.builds(Item, TEXT, st.from_type(key), st.tuples(SOURCE)), min_size=1, max_size=2)
    sent = [Parcel(data.draw(TEXT), {of.__name__: data.draw(items)}, data.draw(st.dictionaries(SOURCE, TEXT)), {})]
    table = to_arrow(sent, [stage(of)], {})
    assert repr(of_arrow(table, [stage(of)])) == repr(sent)  # of the same classes, too
    assert "binary" not in str(table.schema.types)  # nothing is pickled


@pytest.mark.parametrize("table", MADE)
@given(data=st.data())
def test_rows_are_the_same_on_the_other_side_of_a_table(table: str, data: st.DataObject) -> None:
    row = st.fixed_dictionaries({one.name: value(one.type) for one in SCHEMAS[table]})
    made = {
        Source(table, work_id): [{**one, "work_id": work_id} for one in data.draw(st.lists(row, max_size=2))]
        for work_id in data.draw(st.sets(TEXT, max_size=3))
    }
    sent = [Parcel("q", {}, {}, made), Parcel("another", {}, {}, {})]
    carried = to_arrow(sent, [], {table: SCHEMAS[table].names})
    assert of_arrow(carried, []) == sent
    assert "binary" not in str(carried.schema.types)


def test_rows_travel_typed_as_their_tables_are_and_in_the_columns_that_are_read() -> None:
    row = {"work_id": "w", "summary_id": "s", "unit_index": 3, "text": "It is so.", "citations": [1, 2]}
    sent = Parcel("q", {}, {}, {Source("units", "w"): [row], Source("contexts", "c"): [{"work_id": "c"}]})
    table = to_arrow([sent], [], {"units": {"text", "unit_index"}})
    assert table.schema.field("units").type.value_type == pa.struct(
        [SCHEMAS["units"].field(name) for name in ("work_id", "unit_index", "text")]
    )
    assert "contexts" not in table.column_names
    (came,) = of_arrow(table, [])
    assert came.made[Source("units", "w")] == [{"work_id": "w", "unit_index": 3, "text": "It is so."}]


# ---------------------------------------------------------------- of real configurations


def stages(name: str, folder: Path, *changes: str) -> list[Stage[Any]]:
    site = Site(str(folder), str(folder), 1, Calling("test", ledger=str(folder / "ledger")))
    return stages_of(read_experiment(name, list(changes)), site)


def names(groups: Any) -> list[list[str]]:
    return [[one.name for one in group] for group in groups]


LAST = ["check support", "score"]


def test_what_asks_models_and_what_computes_stand_in_operators_of_their_own(
    tmp_path: Path,
) -> None:
    found = operators_of(stages("long2rag_chat", tmp_path))
    made = [["retrieve", "pack", "summarize model", "split"], ["judge entailment", "judge ways"], LAST]
    assert names(one.stages for one in found) == made
    assert [one.asynchronous for one in found] == [True, True, False]
    assert names(one.later for one in found) == [made[1] + made[2], made[2], []]


def test_the_demo_writes_with_a_model_between_operators_that_compute(tmp_path: Path) -> None:
    found = operators_of(stages("demo", tmp_path))
    judges = ["judge offline-people-vectors", "judge offline-gpt-4o", "check lexical", "score"]
    made = [["retrieve", "pack", "summarize offline"], ["summarize writer", "split"], judges]
    assert names(one.stages for one in found) == made


@pytest.mark.parametrize("preset", ["summhay", "msrs_story"])
def test_stages_that_compute_are_performed_by_the_same_actors(preset: str, tmp_path: Path) -> None:
    of = stages(preset, tmp_path)
    assert len(of) > 5
    assert names(one.stages for one in operators_of(of)) == names([of])


def test_a_judge_that_asks_for_a_gpu_stands_in_an_operator_of_its_own(tmp_path: Path) -> None:
    mine = "support_judges.mine={kind: checkpoint, model: shipped:checker, resources: {num_gpus: 0.5}}"
    found = operators_of(stages("positional_bias", tmp_path, mine))
    made = [["retrieve", "pack", "summarize offline", "split", "check lexical"], ["check mine", "score"]]
    assert names(one.stages for one in found) == made
    assert [one.resources.gpus for one in found] == [0, 0.5]


@pytest.mark.parametrize(
    ("batched", "first"), [([], ["retrieve"]), (["judges.ways.chat.batch=true"], ["retrieve", "judge ways"])]
)
def test_a_stage_whose_requests_are_one_batch_begins_a_stream(
    tmp_path: Path, batched: list[str], first: list[str]
) -> None:
    found = names(streams_of(stages("long2rag_chat", tmp_path, *batched)))
    assert [one[0] for one in found] == first
    assert found[-1][-2:] == LAST


def test_calls_of_this_process_are_no_part_of_a_stream_that_may_go_to_workers(tmp_path: Path) -> None:
    found = streams_of(stages("msrs_meet_chat", tmp_path), apart=True)
    called = ["rerank scored", "rerank best", "pack", "summarize model", "split", "judge geval"]
    assert names(found) == [["retrieve"], called, ["score"]]
