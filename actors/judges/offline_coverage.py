"""The offline judge of coverage: words and a small fitted model, no language model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from actors.storage.benchmark import Benchmark
from longform.judges.coverage_model import Evidence
from longform.judges.lexical_coverage import VERSION, QueryInsights, Reading, StemWeights, shipped_judge
from longform.models import models_version
from longform.records import Target

PROMPT_VERSION = f"offline_judge@{VERSION}+{models_version('judge_people', 'judge_gpt4o')}"
_HAYSTACKS_HELD = 8
_QUERIES_HELD = 128  # 128 queries' stems are about 3 MB


class OfflineJudge:
    """
    Judge which targets of its query a summary covers, and by which bullet.

    Table in: summaries with their bullets (`work_id, summary_id, query_id, haystack_id, bullets`).
    Table out: `VERDICTS`, one row for each target of the summary's query, in order.

    Raises:
        UsageError: No benchmark stands at the URL, or no judge ships for the calibration.
    """

    def __init__(self, bench_url: str, name: str = "offline", *, calibration: str) -> None:
        self._benchmark = Benchmark(bench_url)
        self._name = name
        self._model = shipped_judge(calibration)
        self._weights = lru_cache(maxsize=_HAYSTACKS_HELD)(self._haystack_weights)
        self._insights = lru_cache(maxsize=_QUERIES_HELD)(self._query_insights)

    def judge(self, summary_rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Verdicts of all rows. A summary without bullets says nothing: each answer is none, with probability 0."""
        return [verdict for row in summary_rows for verdict in self._verdicts(row)]

    def _verdicts(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        targets = self._benchmark.targets.get(row["query_id"], [])
        if not targets:
            return []
        bullets: Sequence[str] = row["bullets"]
        readings = self._insights(row["query_id"], row["haystack_id"]).readings(list(bullets), self._model)
        return [self._verdict(row, target, reading) for target, reading in zip(targets, readings, strict=True)]

    def _verdict(self, row: Mapping[str, Any], target: Target, reading: Reading) -> dict[str, Any]:
        return {
            "work_id": row["work_id"],
            "judge": self._name,
            "summary_id": row["summary_id"],
            "unit_index": None,
            "target_kind": target.kind,
            "target_id": target.target_id,
            "mode": "full",
            "chunk_index": None,
            "repeat": 0,
            "answer": reading.answer,
            "probability": reading.score,
            "linked_unit": reading.linked,
            "failure": "target_without_words" if reading.answer is None else None,
            "reply": _reply(reading.evidence),
            "prompt_version": PROMPT_VERSION,
            "call_id": None,
        }

    def _haystack_weights(self, haystack_id: str) -> StemWeights:
        return StemWeights.of([target.text for target in self._benchmark.haystack_targets(haystack_id)])

    def _query_insights(self, query_id: str, haystack_id: str) -> QueryInsights:
        texts = [target.text for target in self._benchmark.targets[query_id]]
        return QueryInsights(texts, self._weights(haystack_id))


def _reply(evidence: Evidence) -> str:
    """What a reader needs to follow the score; `closest_bullet` is named also where it is not linked."""
    shares = evidence._asdict()
    closest = shares.pop("closest")
    del shares["has_words"]
    return json.dumps({"closest_bullet": closest, **shares})
