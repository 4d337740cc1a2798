import gc
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest

from actors.storage.folder import Folder
from actors.summarizers import offline
from actors.summarizers.offline import OfflineSummarizer
from actors.summarizers.summarizer import AskedContext, Means
from longform.keys import content_key
from longform.schemas import SUMMARIES, conform
from longform.settings.chat import OfflineSummarizerSettings
from longform.summaries.extractive import Extractor
from tests.actors.summarizers.contexts import asked_context

OFFLINE = OfflineSummarizerSettings(kind="offline")
PLANTED = "The library opens at seven on exam days this year."
TEXTS = {"d0": f"{PLANTED}\nTrains ran late.", "d1": "Bread got dearer in town again.", "d2": f"Rain fell.\n{PLANTED}"}


@pytest.fixture
def bench(tmp_path: Path) -> str:
    """A haystack of three documents, two of which tell of the library."""
    folder = Folder(str(tmp_path))
    folder.write_json("benchmark.json", {})
    documents = [
        {"doc_id": doc_id, "haystack_id": "h", "doc_index": i, "title": None, "text": text}
        for i, (doc_id, text) in enumerate(TEXTS.items())
    ]
    folder.commit("documents", [folder.write_part("documents", documents, work_ids=["h#0"])])
    query = {"query_id": "q", "haystack_id": "h", "text": "What of the library?", "subtopic": "opening hours"}
    folder.commit("queries", [folder.write_part("queries", [query], work_ids=["h"])])
    return str(tmp_path)


def context(*doc_ids: str, chars: int = 1000) -> AskedContext:
    return asked_context(list(doc_ids), doc_chars=[chars] * len(doc_ids), n_requested=1)


async def test_summary_quotes_what_is_repeated_and_cites_it(bench: str) -> None:
    rows = await OfflineSummarizer(OFFLINE, Means(bench, "offline")).summarize([context("d2", "d1", "d0")])
    assert rows[0]["text"] == f"- {PLANTED} [1][3]"
    assert rows[0]["summary_id"] == content_key("w")
    assert conform(rows, SUMMARIES).num_rows == 1
    assert set(rows[0]) == set(SUMMARIES.names)


async def test_prompt_order_changes_nothing_and_reads_nothing_twice(bench: str) -> None:
    summarizer = OfflineSummarizer(OFFLINE, Means(bench, "offline"))
    first, second = await summarizer.summarize([context("d0", "d1", "d2"), context("d2", "d0", "d1")])
    assert first == second
    assert summarizer._extractor.cache_info().misses == 1


async def test_indexes_of_earlier_contexts_are_let_go(bench: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of a hundred documents takes 60 MB, and a run has thousands of contexts."""
    alive = WeakSet[Extractor]()

    def noted(*told: Any, **more: Any) -> Extractor:
        alive.add(made := Extractor(*told, **more))
        return made

    monkeypatch.setattr(offline, "Extractor", noted)
    rows = [context("d0", "d1", "d2", chars=chars) for chars in range(60, 66)]
    summarizer = OfflineSummarizer(OFFLINE, Means(bench, "offline"))
    await summarizer.summarize(rows)
    gc.collect()

    assert summarizer._extractor.cache_info().misses == len(rows)
    assert 0 < len(alive) <= 2


async def test_what_was_cut_away_is_not_quoted(bench: str) -> None:
    """A summarizer sees a document as the context keeps it."""
    rows = await OfflineSummarizer(OFFLINE, Means(bench, "offline")).summarize([context("d0", "d2", chars=30)])
    assert PLANTED not in rows[0]["text"]
    assert rows[0]["text"].startswith("- The library opens at seven")


@pytest.mark.parametrize(
    ("row", "failure"),
    [
        pytest.param(context(), "no_documents", id="no-documents"),
        pytest.param(context("d0", chars=8), "no_sentence", id="no-sentence"),
    ],
)
async def test_nothing_to_quote_is_a_failure_with_its_reason(bench: str, row: AskedContext, failure: str) -> None:
    (summary,) = await OfflineSummarizer(OFFLINE, Means(bench, "offline")).summarize([row])
    assert (summary["text"], summary["failure"]) == (None, failure)
