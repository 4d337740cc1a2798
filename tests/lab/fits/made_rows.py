"""Made rows of labelled summaries, for fits of judges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np


class MadeRow(NamedTuple):
    """A row whose label follows recall."""

    key: tuple[str, str, str]  # haystack, query, summary
    recall: float
    share: float
    missing: float
    step: int  # 0 none, 1 partial, 2 full


def made_rows(*, haystacks: int = 2, queries: int = 3, rows: int = 40) -> Iterator[MadeRow]:
    """Yield rows in an order that is always the same."""
    rng = np.random.default_rng(5)
    for haystack, query, row in product(range(haystacks), range(queries), range(rows)):
        recall, share, missing = np.round(rng.random(3), 6).tolist()
        step = int(np.digitize(recall + 0.2 * rng.normal(), [0.3, 0.6]))
        yield MadeRow((f"h{haystack}", f"h{haystack}-q{query}", f"s{row}"), recall, share, missing, step)
