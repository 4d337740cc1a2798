"""Key points and scores over minutes as older results had them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.studies import curve, key_points
from longform.studies.schema_1.rows import Json, Rows, by_measure, rows_in
from longform.tables.table import Table


def key_points_before(tables: Mapping[str, Json]) -> dict[str, Rows]:
    judges = rows_in("key_points_judges")(tables)
    pairs = [{**row, "swapped": [pair.split(" with ") for pair in row["swapped"]]} for row in judges]
    return {"systems": rows_in("key_points")(tables), "judges": pairs}


def of_key_points(found: Mapping[str, Any]) -> list[Table]:
    judges = [{**row, "swapped": [" with ".join(pair) for pair in row["swapped"]]} for row in found["judges"]]
    return key_points.tables(found["systems"], judges)


def of_curve(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    return [curve.table(by_measure(rows, [column.name for column in curve.table([]).columns]))]
