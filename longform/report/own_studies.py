"""The sections of users' studies: a table each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from longform.report.parts import INTERVAL, Section
from longform.report.tables import Cell, Column, Table, number, words
from longform.results.own_study import OwnStudy, OwnValue
from longform.results.results import Results


def own_sections(results: Results) -> Iterator[Section]:
    """Yield one section for each study of a user that has rows."""
    for name, study in (results.get("own_studies") or {}).items():
        if study["rows"]:
            yield Section(f"own-{name}", study["title"], [], [_table(study)])


def _table(study: OwnStudy) -> Table:
    names = list(dict.fromkeys(name for row in study["rows"] for name in row))
    columns = [Column(name, numeric=not any(isinstance(row.get(name), str) for row in study["rows"])) for name in names]
    body = [[_cell(row.get(name)) for name in names] for row in study["rows"]]
    with_interval = any(isinstance(value, Mapping) for row in study["rows"] for value in row.values())
    return Table(
        " ".join([*([study["told"]] if study["told"] else []), *([INTERVAL] if with_interval else [])]), columns, body
    )


def _cell(value: OwnValue) -> Cell:
    if isinstance(value, Mapping):
        return number(value["value"], interval=(value["low"], value["high"]))
    if isinstance(value, int):
        return Cell(str(value), order=float(value))
    return number(value) if isinstance(value, float) else words(value)
