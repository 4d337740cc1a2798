"""
Inputs of the benchmarks: released files if LONGFORM_RELEASED_DATA names them, else the haystack writer's texts.

The writer's texts have a small vocabulary, so that ratios on them favour caches of words.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jobs.files.write_benchmark import HaystackRows, write_benchmark
from jobs.ingest import ingest
from longform.keys import content_key, stable_seed
from longform.synthesis.grammar.assignment import Bounds
from longform.synthesis.grammar.haystack import HaystackSize, Woven, write_haystack
from longform.synthesis.grammar.topic import topic_names

_PASSAGE_WORDS = 300
_SIZE = HaystackSize(100, _PASSAGE_WORDS, Bounds(4, 4), Bounds(5, 12), distractors=0, contradictions=0)
_WORD = re.compile(r"\S+\s*")
_TOPICS = ("topic_news3.json.gz", "topic_news5.json.gz")  # with documents, summaries and labels
_HAYSTACKS = 20
_SUMMARIES_A_QUERY = 40
_BULLETS = 9


class Passages(NamedTuple):
    """Texts of about 300 words, and queries to search them with."""

    source: str
    texts: list[str]
    queries: list[str]

    def spread(self, size: int) -> list[str]:
        """*size* of the texts, from the first to the last."""
        assert size <= len(self.texts), f"{self.source} has {len(self.texts)} passages, {size} were asked for"
        return [self.texts[index] for index in np.linspace(0, len(self.texts) - 1, size).astype(int)]


def released_folder() -> Path | None:
    place = os.environ.get("LONGFORM_RELEASED_DATA")
    return Path(place) if place else None


def passages() -> Passages:
    """At least 2,000 texts."""
    folder = released_folder()
    return _made_passages() if folder is None else _released_passages(folder)


def make_benchmark(url: str) -> str:
    """Writes a benchmark with summaries and labels; where they are from."""
    folder = released_folder()
    if folder is None:
        return make_small_benchmark(url, haystacks=4)
    ingest("summhay", [str(folder / "summhay" / name) for name in _TOPICS], url)
    return "released SummHay, news3 and news5"


def make_small_benchmark(url: str, *, haystacks: int) -> str:
    """The same from the haystack writer."""
    rows = (_with_summaries(haystack) for haystack in islice(_made_haystacks(), haystacks))
    write_benchmark(url, rows, sources=[{"name": "haystack writer", "sha256": str(haystacks)}])
    return f"haystack writer, {haystacks} haystacks"


# ---------------------------------------------------------------- released


def _released_passages(folder: Path) -> Passages:
    topics = [json.loads(_unpacked(folder / "summhay" / name)) for name in _TOPICS]
    corpora = [folder / "msrs" / name for name in ("story", "meeting")]
    texts = chain(
        (document["document_text"] for topic in topics for document in topic["documents"]),
        (document["text"] for corpus in corpora for document in _json_lines(corpus / "documents.jsonl.gz")),
    )
    queries = chain(
        (subtopic["query"] for topic in topics for subtopic in topic["subtopics"]),
        (query["query"] for corpus in corpora for query in _json_lines(corpus / "queries.jsonl.gz")),
    )
    cut = [passage for text in texts for passage in _cut(text)]
    return Passages("released SummHay and MSRS documents, cut at 300 words", cut, list(dict.fromkeys(queries)))


def _cut(text: str) -> list[str]:
    """Passages with the text's own spaces and line breaks; the last one is shorter."""
    words = _WORD.findall(text)
    return ["".join(words[start : start + _PASSAGE_WORDS]) for start in range(0, len(words), _PASSAGE_WORDS)]


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, _unpacked(path).splitlines())


# ---------------------------------------------------------------- made


def _made_haystacks() -> Iterator[Woven]:
    for variant in range(_HAYSTACKS // len(topic_names())):
        for topic in topic_names():
            yield write_haystack(topic, variant=variant, size=_SIZE, seed=1)


def _made_passages() -> Passages:
    haystacks = list(_made_haystacks())
    texts = [document.text for haystack in haystacks for document in haystack.documents]
    queries = [query.text for haystack in haystacks for query in haystack.queries]
    return Passages("haystack writer", texts, queries)


def _with_summaries(haystack: Woven) -> HaystackRows:
    """Summaries of planted sentences, each cited to its document, labelled by the insight that it states."""
    summaries, labels = [], []
    for query in haystack.queries:
        for number in range(_SUMMARIES_A_QUERY):
            summary, found = _made_summary(haystack, query.query_id, number)
            summaries.append(summary)
            labels += found
    return HaystackRows(
        haystack.haystack_id,
        haystack.documents,
        haystack.queries,
        haystack.targets,
        haystack.qrels,
        rankings=[],
        summaries=summaries,
        labels=labels,
    )


def _made_summary(haystack: Woven, query_id: str, number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    summary_id = content_key("made", query_id, number)
    rng = np.random.default_rng(stable_seed(summary_id))
    doc_number = {document.doc_id: document.number for document in haystack.documents}
    planted = haystack.facts.planted  # insights alone
    chosen = [planted[i] for i in rng.choice(len(planted), size=_BULLETS, replace=False)]
    lines = [f"- {plant.text} [{doc_number[plant.doc_id]}]" for plant in chosen]
    stated = {plant.target_id: line for line, plant in enumerate(chosen) if plant.target_id}
    summary = {
        "summary_id": summary_id,
        "query_id": query_id,
        "haystack_id": haystack.haystack_id,
        "summarizer": f"writer-{number % 10}",
        "setting": f"setting-{number // 10}",
        "method": "plain",
        "text": "\n".join(lines),
    }
    targets = [target for target in haystack.targets if target.query_id == query_id]
    return summary, [_label(summary_id, target.target_id, stated) for target in targets]


def _label(summary_id: str, target_id: str, stated: Mapping[str, int]) -> dict[str, Any]:
    return {
        "annotator": "made",
        "summary_id": summary_id,
        "target_kind": "insight",
        "target_id": target_id,
        "mode": "full",
        "repeat": 0,
        "answer": "full" if target_id in stated else "none",
        "linked_unit": stated.get(target_id),
    }
