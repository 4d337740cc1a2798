"""A small town, written by hand: 20 documents, 10 queries with two insights each, and 60 answers of six systems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jobs.ingest import main as ingest
from tests.made.store import made


class Topic(NamedTuple):
    """A query, the two statements that answer it, and a wrong one; a document states each of the first two."""

    query: str
    first: str
    second: str
    wrong: str


TOPICS = (
    Topic(
        "What happened to the old bridge?",
        "The old bridge was closed to lorries in March after cracks were found in its northern arch.",
        "A ferry carries cars across the river until the arch is rebuilt in 2027.",
        "The old bridge was sold to a hotel company from the coast.",
    ),
    Topic(
        "Why did the price of bread rise?",
        "Bread became dearer because the mill on the Elm raised the price of flour by a fifth.",
        "Two bakers now buy their flour from a cooperative in the next valley.",
        "Bread became cheaper after the summer harvest was exported.",
    ),
    Topic(
        "How did the school deal with the storm?",
        "The school was shut for nine days because the storm tore slates from its roof.",
        "Lessons were held in the fire station and in the parish hall.",
        "The school held a concert for the sailors of the harbour.",
    ),
    Topic(
        "What is known about the new library?",
        "The new library will stand in the former customs house and open next autumn.",
        "Forty volunteers have catalogued eleven thousand donated books.",
        "The library will charge visitors five coins an hour.",
    ),
    Topic(
        "What did the doctors say about the fever?",
        "Doctors traced the fever to a well behind the tannery that had not been tested for years.",
        "Every household near the tannery was given bottled water for a month.",
        "Doctors said the fever came from imported oranges.",
    ),
    Topic(
        "How did the football club save itself?",
        "The football club paid its debts by selling the car park beside its ground.",
        "Its players agreed to go without wages until the end of the season.",
        "The football club moved to the capital and changed its colours.",
    ),
    Topic(
        "What changed on the railway?",
        "Night trains stop at the junction again since the signal box was automated.",
        "A ticket to the coast costs half as much for passengers under twenty-five.",
        "The railway was torn up and became a path for cyclists.",
    ),
    Topic(
        "What came of the dispute over the forest?",
        "The court ruled that the forest belongs to the commune and may not be fenced.",
        "The timber firm was ordered to replant six hundred oaks.",
        "The forest was given to a film studio for three years.",
    ),
    Topic(
        "How is the town's water bath doing?",
        "The swimming bath is heated by the waste warmth of the dairy since January.",
        "The number of visitors doubled after the bath opened on Sundays.",
        "The swimming bath was filled with sand and turned into a market.",
    ),
    Topic(
        "What do we know of the museum theft?",
        "A silver clock was stolen from the museum while its alarm was being repaired.",
        "The thief was caught at the border with the clock in a violin case.",
        "The museum lost nothing but a broken window in the theft.",
    ),
)

OUT_OF_RANGE, EMPTY = 14, 27
"""Lines, from 1, of the answer that cites document 99 of 20, and of the empty one."""

N_ANSWERS = 60


def write_corpus(folder: Path) -> Path:
    """Write the town as a folder of plain JSON Lines."""
    folder.mkdir(parents=True, exist_ok=True)
    documents, queries, insights = [], [], []
    for place, topic in enumerate(TOPICS):
        queries.append({"query_id": f"q{place}", "text": topic.query})
        for part, statement in enumerate((topic.first, topic.second)):
            doc_id = f"town-{place}{'ab'[part]}"
            documents.append({"doc_id": doc_id, "text": f"The town's paper writes. {statement} Readers sent letters."})
            insight = {"insight_id": f"i{place}{part}", "query_id": f"q{place}", "text": statement, "doc_ids": [doc_id]}
            insights.append(insight)
    for name, rows in (("documents", documents), ("queries", queries), ("insights", insights)):
        _write(folder / f"{name}.jsonl", rows)
    return folder


def town() -> str:
    """Return the benchmark of it, to read and not to write to."""
    return str(made("town", _town))


def _town(folder: Path) -> None:
    assert ingest(["jsonl", str(write_corpus(folder / "corpus")), "--out", str(folder)]) == 0


def write_answers(path: Path) -> Path:
    """Write 60 answers: 30 that cite by number and 30 by id, some without citations, one empty, one out of range."""
    _write(path, list(answers()))
    return path


def answers() -> Iterator[dict[str, Any]]:
    """Yield the answers, those of a system together."""
    for place, topic in enumerate(TOPICS):
        first, second = 2 * place + 1, 2 * place + 2
        text = f"- {topic.first} [{first}]\n- {topic.second} [{second}]"
        yield {"query_id": f"q{place}", "system": "notes", "text": text}
    for place, topic in enumerate(TOPICS):
        cited = 99 if place == OUT_OF_RANGE - 11 else 2 * place + 1
        yield {"query_id": f"q{place}", "system": "terse", "text": f"{topic.first} [{cited}]"}
    for place, topic in enumerate(TOPICS):
        bullets = [f"{topic.wrong} [{2 * place + 1}]", topic.second]
        line = {"query_id": f"q{place}", "system": "rumours", "bullets": bullets}
        yield line if place != EMPTY - 21 else {"query_id": f"q{place}", "system": "rumours", "text": ""}
    for place, topic in enumerate(TOPICS):
        a, b = f"town-{place}a", f"town-{place}b"
        yield {
            "query_id": f"q{place}",
            "system": "agent",
            "text": f"{topic.first} [{a}]\n{topic.second} [{a}, {b}]",
            "documents": [b, a],
            "cost_usd": 0.002,
            "seconds": 3.5,
        }
    for place, topic in enumerate(TOPICS):
        bullets = [{"text": topic.second, "citations": [f"town-{place}b"]}]
        yield {"query_id": f"q{place}", "system": "agent-short", "bullets": bullets, "documents": [f"town-{place}b"]}
    for place, topic in enumerate(TOPICS):
        seen = [f"town-{place}a", f"town-{place}b"]
        line = {"query_id": f"q{place}", "system": "agent-wrong", "text": topic.wrong, "documents": seen}
        yield line | ({} if place % 5 == 0 else {"citations": [f"town-{place}a"]})


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
