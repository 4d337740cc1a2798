"""Tables that storage reads part by part, as lazy frames: a query reads the columns that it asks for, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import polars as pl
else:

    class _Later:
        """polars, imported when it is first used: who studies nothing neither waits for it nor holds it."""

        def __getattr__(self, name: str) -> object:
            import polars as pl

            return getattr(pl, name)

    pl = _Later()

__all__ = ["NAMES", "Read", "as_frame", "pl", "scan"]

Read = Callable[[list[str]], Iterable[pa.Table]]
"""Columns -> the rows of a table with these columns, a part at a time."""

NAMES = frozenset(
    "judge measure reason summarizer setting twin_of cited_by model dataset retriever reranker order method step system"
    " mode target_kind answer prompt_version stage provider query_id haystack_id cluster".split()
)
"""Columns whose texts repeat: categories in every frame, so that a row holds four bytes of each."""


def as_frame(part: pa.Table) -> pl.DataFrame:
    """Return rows of Arrow as a frame, with the NAMES among its columns as categories."""
    found = pl.from_arrow(part)
    assert isinstance(found, pl.DataFrame), "a table has columns"
    return found.with_columns(pl.col(name).cast(pl.Categorical) for name in found.columns if name in NAMES)


def scan(schema: pa.Schema, read: Read) -> pl.LazyFrame:
    """Return the table of a *schema* whose rows come from *read*; each query reads them anew."""
    from polars.io.plugins import register_io_source

    def parts(
        columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        for part in read(columns or schema.names):
            found = as_frame(part)
            if n_rows is not None:
                found, n_rows = found.head(n_rows), max(0, n_rows - found.height)
            yield found if predicate is None else found.filter(predicate)
            if n_rows == 0:
                return

    of_types: Any = as_frame(schema.empty_table()).schema
    return register_io_source(parts, schema=of_types)
