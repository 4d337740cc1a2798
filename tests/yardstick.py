"""
The numbers of the canonical runs at another commit beside those of this tree: what a redesign must not move.

    python -m tests.yardstick COMMIT [--only coverage ...] [--names NAMES.json] [--tolerance 1e-9]

Both trees make the runs of `tests/made/canonical.py` by their command lines, once for each state of their code. Every
number of the tables of every JSON document in a run's folder (`results.json`, what compare, gate, correct and calibrate
printed) is a name, a key, a column and a value; see `tests/compare_results.py`. NAMES maps names, or names and columns,
that a step moved: {"tables.cells": "tables.systems", "tables.cells.n": "tables.systems.n_summaries"}; null: gone, as
the step states.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.compare_results import Number, numbers, numbers_apart, tables_of
from tests.made.canonical import CANONICAL, RELEASED, Run
from tests.made.store import PRODUCT, made, store


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--only", nargs="*", choices=sorted(CANONICAL))
    parser.add_argument("--names", type=Path)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    given = parser.parse_args(argv)
    names = json.loads(given.names.read_text()) if given.names else {}
    trees = [_tree(given.commit), PRODUCT]
    n_apart = 0
    for name in given.only or possible():
        before, after = (dict(numbers_in(_made_by(tree, name))) for tree in trees)
        apart = list(numbers_apart(before, after, tolerance=given.tolerance, names=names))
        print(f"{name}: {len(before):,} numbers before, {len(after):,} after, {len(apart):,} apart", flush=True)
        print("".join(f"  {line}\n" for line in apart[:20]), end="")
        n_apart += len(apart)
    return int(bool(n_apart))


def possible() -> list[str]:
    """Return the names of the runs whose files are here."""
    return [name for name in CANONICAL if name != "msrs" or RELEASED in os.environ]


def _tree(commit: str) -> Path:
    """Return a checkout of *commit*."""
    git = ["git", "-C", str(PRODUCT)]
    full = subprocess.run([*git, "rev-parse", commit], check=True, capture_output=True, text=True).stdout.strip()
    tree = store(PRODUCT).parent / f"tree-{full[:16]}"
    if not tree.exists():
        subprocess.run([*git, "worktree", "add", "--detach", "--quiet", str(tree), full], check=True)
    return tree


def _made_by(tree: Path, name: str) -> Path:
    return made(f"yardstick-{name}", lambda folder: CANONICAL[name](folder, verbs(tree)), product=tree)


def verbs(tree: Path) -> Run:
    """Return what runs a verb by its command line with the code of *tree*."""

    def run(*words: str | Path, out: Path | None = None, ends: Sequence[int] = (0,)) -> None:
        command = [sys.executable, "-m", "longform", *map(str, words)]
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in ends:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
        if out:
            out.write_text(done.stdout)

    return run


def numbers_in(folder: Path) -> Iterator[tuple[Number, float]]:
    """Yield every number of the tables of JSON documents in *folder*."""
    for path in sorted([*folder.glob("*/results.json"), *folder.glob("*.json")]):
        for number, value in numbers(tables_of(json.loads(path.read_text()))).items():
            yield number._replace(document=str(path.relative_to(folder))), value


if __name__ == "__main__":
    sys.exit(main())
