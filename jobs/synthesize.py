"""
Make a benchmark whose contents are known exactly, without any call.

    longform synthesize demo --out BENCH
    longform synthesize demo --out BENCH --set haystacks=20 --set documents=100 --set words=750
    longform synthesize full --out BENCH --set documents=[50,100,200] --set distractors=[0,4]

Reads   a configuration, by its path or its name in jobs/configs/benchmarks
Writes  documents, queries, targets, qrels; haystacks/ (settings, what was planted); benchmark.json; then summhay/ and
        audit.json. The same configuration again writes what is missing
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field, field_validator

from actors.benchmark import MANIFEST
from actors.storage import Folder
from jobs.commands import Outcome, run_verb, verb_parser
from jobs.configs import read_yaml, validated
from jobs.synthesis_files import FACTS, export_summhay, write_audit, write_facts
from jobs.write_benchmark import HaystackRows, write_benchmark
from longform.haystack_writer import Haystack, topic_names, topic_version, write_haystack
from longform.haystack_writer.full_haystack import FullHaystack, full_topic_version, write_full_haystack
from longform.haystack_writer.full_settings import FullSettings
from longform.strict import Strict
from longform.synthesis_audit import HaystackFacts, Planted


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


Config = SynthesisConfig | FullSettings


def read_config(name: str, changes: Sequence[str] = ()) -> Config:
    """The configuration of a file, or of a preset by its name, with `key=value` changes applied."""
    content = read_yaml(name, folder="configs/benchmarks")
    if isinstance(content, dict) and "writer" in content:
        return validated(FullSettings, content, changes, where=name)
    return validated(SynthesisConfig, content, changes, where=name)


def make_benchmark(config: Config, out_url: str) -> dict[str, Any]:
    """
    The manifest of the benchmark now at *out_url*, with SummHay's files and the audit beside it.

    Raises:
        UsageError: As `synthesize`.
    """
    manifest = synthesize(config, out_url)
    export_summhay(out_url)
    write_audit(out_url)
    return manifest


def synthesize(config: Config, out_url: str) -> dict[str, Any]:
    """
    The manifest of the benchmark now at *out_url*: its tables, and what was planted.

    Raises:
        UsageError: The sizes do not fit together, or another benchmark stands there.
    """
    folder = Folder(out_url)
    try:
        return write_benchmark(out_url, _haystacks(config, folder), sources=_sources(config))
    except BaseException:
        if not folder.has(MANIFEST):
            folder.delete_table(FACTS)
            folder.delete_if_empty()
        raise


def _haystacks(config: Config, folder: Folder) -> Iterator[HaystackRows]:
    written = _full(config) if isinstance(config, FullSettings) else _small(config)
    for haystack, facts in written:
        write_facts(folder, facts)
        yield HaystackRows(
            haystack_id=haystack.haystack_id,
            documents=haystack.documents,
            queries=haystack.queries,
            targets=haystack.targets,
            qrels=haystack.qrels,
            rankings=[],
            summaries=[],
            labels=[],
        )


def _full(config: FullSettings) -> Iterator[tuple[FullHaystack, HaystackFacts]]:
    for topic, variant, size in config.planned():
        written = write_full_haystack(topic, variant=variant, size=size, seed=config.seed)
        yield written, written.facts


def _small(config: SynthesisConfig) -> Iterator[tuple[Haystack, HaystackFacts]]:
    for number in range(config.haystacks):
        variant, place = divmod(number, len(config.topics))
        sizes = {
            "documents": config.documents,
            "words": config.words,
            "subtopics_per_document": config.subtopics_per_document,
            "insights_per_document": config.insights_per_document,
        }
        written = write_haystack(config.topics[place], variant=variant, seed=config.seed, **sizes)
        settings = {"topic": config.topics[place], "variant": variant, "seed": config.seed, **sizes}
        planted = [Planted(plant.doc_id, plant.target_id, "insight", plant.text) for plant in written.plants]
        yield written, HaystackFacts(written.haystack_id, settings, planted)


def _sources(config: Config) -> list[dict[str, str]]:
    """The topics, each with a digest of its text and of all settings."""
    settings = config.model_dump_json()
    version = full_topic_version if isinstance(config, FullSettings) else topic_version
    return [
        {"name": f"topic {topic}", "sha256": hashlib.sha256(f"{version(topic)} {settings}".encode()).hexdigest()}
        for topic in config.topics
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("synthesize", __doc__)
    parser.add_argument("config", metavar="CONFIG", help="a .yaml file, or the name of a preset")
    parser.add_argument("--out", required=True, metavar="BENCH")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")

    def work(arguments: argparse.Namespace) -> Outcome:
        manifest = make_benchmark(read_config(arguments.config, arguments.changes), arguments.out)
        counts = ", ".join(f"{count:,} {table}" for table, count in manifest["rows"].items() if count)
        words = f"{arguments.out}: {manifest['n_haystacks']} haystacks, {counts}"
        return Outcome({"benchmark": arguments.out, **manifest}, words)

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
