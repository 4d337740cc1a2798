"""Reads logs of Inspect AI by its own reader, in an interpreter that has it, and prints what it found as JSON."""

import json
import sys

from inspect_ai.log import read_eval_log  # type: ignore[import-not-found]

logs = [read_eval_log(path) for path in sys.argv[1:]]
print(
    json.dumps(
        [
            {
                "status": log.status,
                "model": log.eval.model,
                "total": log.results.total_samples,
                "metrics": {
                    f"{score.scorer}/{score.name}": {name: metric.value for name, metric in score.metrics.items()}
                    for score in log.results.scores
                },
                "samples": [
                    {
                        "id": sample.id,
                        "epoch": sample.epoch,
                        "input": sample.input,
                        "target": sample.target,
                        "completion": sample.output.completion,
                        "scores": {name: score.value for name, score in (sample.scores or {}).items()},
                    }
                    for sample in log.samples or []
                ],
            }
            for log in logs
        ]
    )
)
