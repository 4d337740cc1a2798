"""A judge and a reranker that answer once a file is there: what a test wants to see first has then happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actors.local_models.checkpoints import MINILM
from longform.settings.strict import Strict
from serve.engine import Work
from serve.judges.items import judge_item
from serve.judges.workers import KindWorker
from serve.settings import ServedCosine, ServedKind
from serve.workers import CosineWorker
from tests.jobs.killing import until

COVERAGE = {"kind": "offline", "calibration": "people"}


class _Gated:
    """Waits in each batch behind the first few *free* ones."""

    free = 0

    def __init__(self, worker: Any, gate: str) -> None:
        self._worker, self._gate, self._n = worker, Path(gate), 0
        self.about, self.split = worker.about, worker.split

    def run(self, units: list[Any]) -> list[Work]:
        self._n += 1
        if self._n > self.free:
            until(self._gate.exists, f"{self._gate} was put there")
        done: list[Work] = self._worker.run(units)
        return done


class GatedJudge(_Gated):
    """The offline judge of coverage."""

    item: type[Strict] = judge_item("coverage", weighs_words=True)

    def __init__(self, name: str, *, threads: int, gate: str) -> None:
        settings = ServedKind.model_validate({"task": "coverage", "judge": COVERAGE})
        super().__init__(KindWorker(name, settings, threads=threads, ledger=None), gate)


class GatedReranker(_Gated):
    """The reranker by cosines: a caller has one request a query, and states what it holds back with the second."""

    free = 1

    def __init__(self, name: str, *, threads: int, gate: str) -> None:
        super().__init__(CosineWorker(name, ServedCosine(kind="cosine", model=MINILM), threads=threads), gate)
