"""polars as `pl`, imported when it is first used: a process that studies nothing neither waits for it nor holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl
else:

    class _Later:
        def __getattr__(self, name: str) -> object:
            import polars as pl

            return getattr(pl, name)

    pl = _Later()

__all__ = ["pl"]
