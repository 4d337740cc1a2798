"""
SummHay's human labels as labels of key points: an insight that people call fully covered is said, another is not.

    python -m tests.key_point_labels BENCH > labels.jsonl
    longform ingest key_points labels.jsonl --out points

The card of the key point checker that ships is measured on the conversations so (docs/reach.md).
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from actors.storage.benchmark import Benchmark

LABELS = {"full": "Supported", "partial": "Omitted", "none": "Omitted"}
_RELEASED = "released:"


def questions(bench_url: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of `ingest key_points` for a benchmark with labels of people."""
    benchmark = Benchmark(bench_url)
    summaries = {row["summary_id"]: row for row in benchmark.folder.read("summaries").to_pylist()}
    answers: defaultdict[str, dict[str, str]] = defaultdict(dict)  # summary -> insight -> label
    for row in benchmark.folder.read("labels").to_pylist():
        if not row["annotator"].startswith(_RELEASED) and row["answer"] is not None:
            answers[row["summary_id"]][row["target_id"]] = LABELS[row["answer"]]
    by_query: defaultdict[str, list[str]] = defaultdict(list)
    for summary_id in answers:
        by_query[summaries[summary_id]["query_id"]].append(summary_id)
    for query_id, summary_ids in by_query.items():
        targets = benchmark.targets[query_id]
        yield {
            "question_id": query_id,
            "question": benchmark.queries[query_id].text,
            "points": [target.text for target in targets],
            "answers": [
                {
                    "system": f"{row['summarizer']}, {row['setting']}",
                    "text": row["text"],
                    "labels": [answers[row["summary_id"]].get(target.target_id) for target in targets],
                }
                for row in map(summaries.__getitem__, summary_ids)
            ],
        }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.key_point_labels", description=__doc__)
    parser.add_argument("benchmark", help="a benchmark with labels of people")
    for line in questions(parser.parse_args(argv).benchmark):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
