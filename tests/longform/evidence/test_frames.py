"""Tables as lazy frames: what is read for a query, and which facts stand beside scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
import pyarrow as pa

from longform.axes import SystemAxes
from longform.evidence.frames import Frames
from longform.evidence.scan import scan
from longform.evidence.scores import in_order, rows_table, score_frame
from longform.schemas import SCHEMAS
from tests.frames import SummaryInfo, summary_frame
from tests.longform.evidence.test_scores import row

SCHEMA = pa.schema([("judge", pa.string()), ("answer", pa.string()), ("place", pa.int32())])
PARTS = [
    {"judge": ["a", "b"], "answer": ["full", None], "place": [0, 1]},
    {"judge": ["a"], "answer": ["none"], "place": [2]},
]


class Reader:
    """Two parts, and the columns that were asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.parts = 0

    def __call__(self, columns: list[str]) -> Iterator[pa.Table]:
        self.asked.append(columns)
        for part in PARTS:
            self.parts += 1
            yield pa.table(part, schema=SCHEMA).select(columns)


def test_a_query_reads_the_columns_that_it_asks_for() -> None:
    read = Reader()
    frame = scan(SCHEMA, read)

    assert read.asked == []
    assert frame.filter(pl.col("judge") == "a").select("place").collect()["place"].to_list() == [0, 2]
    assert sorted(read.asked[0]) == ["judge", "place"]


def test_a_query_of_few_rows_reads_few_parts_and_one_of_all_has_their_types() -> None:
    read = Reader()
    frame = scan(SCHEMA, read)

    assert frame.head(1).collect().height == 1
    assert read.parts == 1
    assert dict(frame.collect().schema) == {"judge": pl.Categorical(), "answer": pl.Categorical(), "place": pl.Int32()}
    assert frame.filter(pl.col("judge") == "nobody").collect().height == 0


def test_a_table_without_parts_has_no_rows() -> None:
    assert scan(SCHEMAS["rankings"], lambda _: []).collect().height == 0


def frames(**more: Any) -> Frames:
    infos = [
        SummaryInfo("b", "q2", "s", "bm25", "top", None, 0.5, "length", axes=SystemAxes("bm25", order="top"), repeat=1),
        SummaryInfo("a", "q1", "s", "bm25", "given", None, None, None, haystack_id="h", cluster_kind="haystack"),
    ]
    rows = [row("a", total=None, n=0, reason="none"), row("b"), row("elsewhere"), row("b", repeat=1, total=2.0)]
    scores = in_order(score_frame([rows_table(rows)], ["a", "b", "elsewhere"]))
    return Frames(lambda: summary_frame(infos), lambda: scores, lambda _: Reader(), **more)


def test_scores_have_the_facts_of_their_summaries_in_the_report_s_order() -> None:
    found = frames().scores.select("summary_id", "repeat", "value", "reason", "order", "summary_repeat", "cluster")

    assert list(found.collect().iter_rows()) == [
        ("b", 0, 0.5, None, "top", 1, "q2"),
        ("b", 1, 1.0, None, "top", 1, "q2"),
        ("a", 0, None, "none", "given", None, "h"),
    ]
    assert frames().scores.select("summary_id").collect_schema()["summary_id"] == pl.String


def test_scores_join_the_other_frames_by_summary() -> None:
    own = frames()

    found = own.summaries.join(own.scores.select("summary_id", "value"), on="summary_id").collect()
    assert found["failure"].to_list().count("length") == 2
    assert own.calls.collect().height == 0
    assert frames(
        calls=lambda: [{"stage": "judge j", "calls": 3, "planned": {"usd": 1}}]
    ).calls.collect().to_dicts() == [{"stage": "judge j", "calls": 3}]
