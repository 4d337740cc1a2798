"""
Measure speed as ratios to the usual alternatives, in one run.

    python -m tests.bench [--only NAME] [--json]

Prints a table, or one JSON document; writes nothing. `--only pool_grid` measures every cell of the pool's limits, which
takes half an hour, `--only pool_in_process` some without Ray, `--only arena` how the pool's quota meets providers that
are drawn, `--only arena_sockets` twenty of them over real sockets in ten minutes, `--only checker_curve` what fewer
windows and bits do to the checker, `--only slow_keeper` how many calls go through a ledger on S3, `--only
capacity_check` what runs take beside what `tests.bench.capacity` computes, `--only streaming` what a run of two chat
models takes beside its slower one: no part of a run without `--only`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from tests.bench.measure import Figure

_BENCHMARKS = (
    "bm25",
    "bootstrap",
    "checker",
    "checker_workers",
    "commit_log",
    "control_plane",
    "dense",
    "embedding",
    "judge",
    "pool",
    "replay",
    "retrieval",
    "rouge_workers",
    "scale",
    "serve_batching",
    "serve_load",
    "served_evaluate",
    "served_pairs",
    "support",
    "synthesis_workers",
    "vectors",
    "whole_commands",
)
_ON_DEMAND = (
    "arena",
    "arena_sockets",
    "capacity_check",
    "checker_curve",
    "pool_grid",
    "pool_in_process",
    "slow_keeper",
    "streaming",
)
_PACKAGES = (
    "bm25s",
    "PyStemmer",
    "numpy",
    "scipy",
    "onnxruntime",
    "torch",
    "sentence-transformers",
    "ray",
    "pyarrow",
    "openai",
    "litellm",
)
_HEADER = ("figure", "ours", "reference", "unit", "ratio", "min-max", "target", "met", "note")
_CLOCKS = (
    "Rates are a second of one thread's processor time; times of commit logs, replay, workers, Ray, the pool, "
    "synthesis and Serve are wall time. Medians of paired runs."
)
_MET = {True: "met", False: "MISSED", None: "-"}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Speed, as ratios in one run.")
    parser.add_argument("--only", choices=[*_BENCHMARKS, *_ON_DEMAND], help="one benchmark")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    arguments = parser.parse_args(argv)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    started = time.monotonic()
    names = [arguments.only] if arguments.only else _BENCHMARKS
    figures = [figure for name in names for figure in importlib.import_module(f"tests.bench.{name}").figures()]
    machine = _machine() | {"seconds": round(time.monotonic() - started)}
    if arguments.json:
        print(
            json.dumps(
                {"machine": machine, "clocks": _CLOCKS, "figures": [_as_json(figure) for figure in figures]}, indent=1
            )
        )
    else:
        _print_table([_HEADER, *map(_cells, figures)])
        print(f"\n{_CLOCKS}")
        print(", ".join(f"{name} {value}" for name, value in machine.items()))
    return 0


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "system": platform.platform(),
        "python": platform.python_version(),
    } | {name: version(name) for name in _PACKAGES}


def _as_json(figure: Figure) -> dict[str, Any]:
    return figure._asdict() | {"ratio": figure.ratio and figure.ratio._asdict(), "met": figure.met}


def _cells(figure: Figure) -> tuple[str, ...]:
    spread = figure.ratio
    return (
        figure.name,
        _number(figure.ours),
        _number(figure.reference),
        figure.unit,
        f"{spread.median:.2f}" if spread else "-",
        f"{spread.low:.2f}-{spread.high:.2f}" if spread else "-",
        f"{'<=' if figure.at_most else '>='} {figure.target:,g}" if figure.target is not None else "-",
        _MET[figure.met],
        figure.note,
    )


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    raise SystemExit(main())
