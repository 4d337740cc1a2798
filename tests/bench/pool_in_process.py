"""
The cells of the pool from one worker in this process, with its governor and keeper: no Ray runs.

`LONGFORM_BENCH_CELLS=word` takes only the cells whose names hold the word.
"""

from __future__ import annotations

import os
from dataclasses import replace

from tests.bench.measure import Figure
from tests.bench.pool import cell_figures, cells
from tests.bench.pool_load import in_process


def figures() -> list[Figure]:
    wanted = os.environ.get("LONGFORM_BENCH_CELLS", "")
    return [
        figure
        for cell in cells()
        if wanted in cell.name
        for figure in cell_figures(cell._replace(load=replace(cell.load, jobs=(1,))), in_process)
    ]
