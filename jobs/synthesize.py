"""
Make a benchmark whose contents are known exactly, without any call.

    longform synthesize demo --out BENCH
    longform synthesize demo --out BENCH --set haystacks=20 --set documents=100 --set words=750

Reads   a configuration, by its path or its name in jobs/configs/benchmarks
Writes  documents, queries, targets, qrels; benchmark.json last. The same configuration again writes nothing
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field, field_validator

from jobs.commands import Outcome, run_verb, verb_parser
from jobs.configs import read_yaml, validated
from jobs.write_benchmark import HaystackRows, write_benchmark
from longform.haystack_writer import topic_names, topic_version, write_haystack
from longform.strict import Strict


class SynthesisConfig(Strict):
    """A file of jobs/configs/benchmarks."""

    topics: tuple[str, ...] = Field(min_length=1)  # in turn
    haystacks: int = Field(gt=0)
    documents: int = Field(gt=0)  # a haystack
    words: int = Field(gt=0)  # a document, about
    subtopics_per_document: int = Field(gt=0)
    insights_per_document: int = Field(gt=0)
    seed: int

    @field_validator("topics")
    @classmethod
    def _topics_exist(cls, topics: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [topic for topic in topics if topic not in topic_names()]:
            msg = f"expected topics of {list(topic_names())}, found {unknown}"
            raise ValueError(msg)
        if len(set(topics)) < len(topics):
            msg = f"expected each topic once, found {list(topics)}"
            raise ValueError(msg)
        return topics


def read_config(name: str, changes: Sequence[str] = ()) -> SynthesisConfig:
    """The configuration of a file, or of a preset by its name, with `key=value` changes applied."""
    return validated(SynthesisConfig, read_yaml(name, folder="configs/benchmarks"), changes, where=name)


def synthesize(config: SynthesisConfig, out_url: str) -> dict[str, Any]:
    """
    The manifest of the benchmark now at *out_url*.

    Raises:
        UsageError: The sizes do not fit together, or another benchmark stands there.
    """
    return write_benchmark(out_url, _haystacks(config), sources=_sources(config))


def _haystacks(config: SynthesisConfig) -> Iterator[HaystackRows]:
    for number in range(config.haystacks):
        variant, place = divmod(number, len(config.topics))
        written = write_haystack(
            config.topics[place],
            variant=variant,
            documents=config.documents,
            words=config.words,
            subtopics_per_document=config.subtopics_per_document,
            insights_per_document=config.insights_per_document,
            seed=config.seed,
        )
        yield HaystackRows(
            haystack_id=written.haystack_id,
            documents=written.documents,
            queries=written.queries,
            targets=written.targets,
            qrels=written.qrels,
            rankings=[],
            summaries=[],
            labels=[],
        )


def _sources(config: SynthesisConfig) -> list[dict[str, str]]:
    """The topics, each with a digest of its text and of all settings."""
    settings = config.model_dump_json()
    return [
        {"name": f"topic {topic}", "sha256": hashlib.sha256(f"{topic_version(topic)} {settings}".encode()).hexdigest()}
        for topic in config.topics
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("synthesize", __doc__)
    parser.add_argument("config", metavar="CONFIG", help="a .yaml file, or the name of a preset")
    parser.add_argument("--out", required=True, metavar="BENCH")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")

    def work(arguments: argparse.Namespace) -> Outcome:
        manifest = synthesize(read_config(arguments.config, arguments.changes), arguments.out)
        counts = ", ".join(f"{count:,} {table}" for table, count in manifest["rows"].items() if count)
        words = f"{arguments.out}: {manifest['n_haystacks']} haystacks, {counts}"
        return Outcome({"benchmark": arguments.out, **manifest}, words)

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
