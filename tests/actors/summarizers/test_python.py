"""A class of a user's own writes summaries, at once or by waiting, and what it may return is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.python_class import UserCodeError
from actors.storage.folder import Folder
from actors.summarizers.own import PythonSummarizer
from actors.summarizers.summarizer import AskedContext, Means
from longform.keys import content_key
from longform.schemas import SUMMARIES, conform
from longform.settings.chat import PythonSummarizerSettings
from longform.settings.python_class import FOLDER
from tests.actors.summarizers.contexts import asked_context
from tests.modules import Write

FIRST_LINES = """
from longform.protocols import Written

class FirstLines:
    version = 1

    def __init__(self, mark="-"):
        self.mark = mark

    def summarize(self, query, documents, n_requested):
        lines = [f"{self.mark} {d.text} [{d.number}]" for d in documents[:n_requested]]
        return Written("\\n".join(lines), cost_usd=0.25, model="mine-1")
"""
WAITS = """
import asyncio

class Waits:
    def __init__(self):
        self.arrived = 0

    async def summarize(self, query, documents, n_requested):
        self.arrived += 1
        while self.arrived < 2:  # the other row has to be there, too
            await asyncio.sleep(0)
        return documents[0].text
"""


@pytest.fixture
def bench(tmp_path: Path) -> str:
    folder = Folder(str(tmp_path / "bench"))
    documents = [
        {"doc_id": f"d{place}", "haystack_id": "h", "doc_index": place, "title": None, "text": f"text {place} is long"}
        for place in range(3)
    ]
    query = {"query_id": "q", "haystack_id": "h", "text": "What?"}
    for table, rows in {"documents": documents, "queries": [query]}.items():
        folder.commit(table, [folder.write_part(table, rows, work_ids=["h#0"])])
    folder.write_json("benchmark.json", {})
    return folder.url


def context(*doc_ids: str) -> AskedContext:
    return asked_context(list(doc_ids), doc_chars=[6] * len(doc_ids))


def summarizer(bench: str, folder: Path, path: str, **options: Any) -> PythonSummarizer:
    content = {"kind": "python", "class": path, "options": options}
    settings = PythonSummarizerSettings.model_validate(content, context={FOLDER: str(folder)})
    return PythonSummarizer(settings, Means(bench, "mine"))


async def test_a_summarizer_is_given_the_documents_as_they_are_packed(write: Write, tmp_path: Path, bench: str) -> None:
    write("their_writer", FIRST_LINES)

    (row,) = await summarizer(bench, tmp_path, "their_writer:FirstLines", mark="*").summarize([context("d2", "d0")])

    assert (row["text"], row["failure"]) == ("* text 2 [3]\n* text 0 [1]", None)
    assert (row["cost_usd"], row["model"]) == (0.25, "mine-1")
    assert row["prompt_version"] == "their_writer:FirstLines@version 1"
    assert row["summary_id"] == content_key("w")
    assert conform([row], SUMMARIES).num_rows == 1


async def test_summaries_of_a_coroutine_function_are_waited_for_together(
    write: Write, tmp_path: Path, bench: str
) -> None:
    write("their_writer", WAITS)

    rows = await summarizer(bench, tmp_path, "their_writer:Waits").summarize([context("d1"), context("d2")])

    assert [row["text"] for row in rows] == ["text 1", "text 2"]


async def test_a_context_without_documents_is_not_asked_about(write: Write, tmp_path: Path, bench: str) -> None:
    write("their_writer", FIRST_LINES)

    (row,) = await summarizer(bench, tmp_path, "their_writer:FirstLines").summarize([context()])

    assert (row["text"], row["failure"]) == (None, "no_documents")


@pytest.mark.parametrize(
    ("returned", "failure"),
    [("''", "no_text"), ("Written(None)", "no_text"), ("Written(None, failure='refused')", "refused")],
)
async def test_a_summary_without_text_has_a_reason(
    write: Write, tmp_path: Path, bench: str, returned: str, failure: str
) -> None:
    source = f"from longform.protocols import Written\nclass Mute:\n    def summarize(self, *_): return {returned}"
    write("their_writer", source)

    (row,) = await summarizer(bench, tmp_path, "their_writer:Mute").summarize([context("d1")])

    assert (row["text"], row["failure"], row["cause"]) == (None, failure, failure)


async def test_a_text_beside_a_failure_is_an_error(write: Write, tmp_path: Path, bench: str) -> None:
    source = "from longform.protocols import Written\nclass Odd:\n    def summarize(self, *_): return Written('a', 'b')"
    write("their_writer", source)

    with pytest.raises(UserCodeError, match=r"^their_writer:Odd: .* a failure .* for query 'q', found .*failure='b'"):
        await summarizer(bench, tmp_path, "their_writer:Odd").summarize([context("d1")])


@pytest.mark.parametrize("returned", ["None", "['a']", "7"])
async def test_what_is_no_summary_is_an_error(write: Write, tmp_path: Path, bench: str, returned: str) -> None:
    write("their_writer", f"class Odd:\n    def summarize(self, *_): return {returned}")

    with pytest.raises(UserCodeError, match=r"^their_writer:Odd: summarize: expected a text, or .*for query 'q'"):
        await summarizer(bench, tmp_path, "their_writer:Odd").summarize([context("d1")])
