"""Small collections whose sentences tell where they are from, and a run of them that is ready to be checked."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs import ingest
from jobs.stages.items import Item, Source
from jobs.stages.verdicts import Judged

WORDS = [f"{first}{second}{last}" for first in "blmnrst" for second in "aeiou" for last in ("del", "gor", "min", "vax")]
N_DOCUMENTS = 5


def bench(folder: Path, *, n: int, seed: int = 1, n_sentences: int = 4) -> str:
    """Make a benchmark of such examples; see `write_examples`."""
    path, url = folder / "planted.jsonl", str(folder / "bench")
    write_examples(path, n=n, seed=seed, n_sentences=n_sentences)
    assert ingest.main(["longformfact", str(path), "--out", url]) == 0
    return url


def write_examples(path: Path, *, n: int, seed: int = 1, n_sentences: int = 4) -> None:
    """Write *n* examples of five documents of a few sentences, in words that no two share by more than chance."""
    draw = random.Random(seed)

    def sentence() -> str:
        return " ".join(draw.sample(WORDS, 9)).capitalize() + "."

    lines = [
        json.dumps(
            {
                "document": [" ".join(sentence() for _ in range(n_sentences)) for _ in range(N_DOCUMENTS)],
                "summary": sentence(),
                "ranking": draw.sample(range(N_DOCUMENTS), N_DOCUMENTS),
            }
        )
        for _ in range(n)
    ]
    path.write_text("\n".join(lines))


class Prepared(NamedTuple):
    """A run up to its units, and what the check stage is to do."""

    run: Folder
    items: list[Item[Judged]]

    @property
    def n_cells(self) -> int:
        return self.run.read("units").num_rows * N_DOCUMENTS


def prepared(run: Folder, benchmark: Benchmark, judge: str) -> Prepared:
    """One summary a query, of the first sentence of each document, with all documents in its prompt."""
    items = []
    for query_id, query in benchmark.queries.items():
        key = {"query_id": query_id, "haystack_id": query.haystack_id}
        documents = benchmark.documents(query.haystack_id)
        _write(run, "contexts", f"context-{query_id}", [_context(key, documents)])
        units = [
            {**key, "summary_id": f"summary-{query_id}", "unit_index": index, "text": document.text.split(".")[0] + "."}
            for index, document in enumerate(documents)
        ]
        _write(run, "units", f"units-{query_id}", units)
        _write(run, "summaries", query_id, [{**key, "summary_id": f"summary-{query_id}"}])
        sources = {"units": f"units-{query_id}", "contexts": f"context-{query_id}", "summaries": query_id}
        places = tuple(Source(*place) for place in sources.items())
        items.append(Item(f"check-{query_id}", Judged(query_id, judge, query_id, f"context-{query_id}"), places))
    return Prepared(run, items)


def _context(key: Mapping[str, str], documents: Any) -> dict[str, Any]:
    return {
        **key,
        "context_id": f"context-{key['query_id']}",
        "doc_ids": [document.doc_id for document in documents],
        "doc_chars": [len(document.text) for document in documents],
    }


def _write(run: Folder, table: str, work_id: str, rows: list[dict[str, Any]]) -> None:
    rows = [{**row, "work_id": work_id} for row in rows]
    run.commit(table, [run.write_part(table, rows, work_ids=[work_id])])
