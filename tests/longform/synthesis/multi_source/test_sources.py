"""Long documents in files, and the chapters that marks cut them into."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from longform.errors import InputError, LongformError, UsageError
from longform.synthesis.multi_source.settings import CutSettings, MultiSourceSynthesis
from longform.synthesis.multi_source.sources import cut_text, read_sources

HTML = """<html><head><title>Not read</title></head><body><h2>I</h2><p>The  ship
rose &amp; fell.</p><hr class="wide chap"/><hr class="chap"><p>It <b>landed</b>.<br>At last.</p>
<hr><pre>a
 b</pre></body></html>"""
QUERY = {"query_id": "q1", "query": "Who?", "answers": ["Ann."]}


def test_html_is_cut_at_tags_of_a_class_and_read_as_a_browser_shows_it() -> None:
    chapters = cut_text(HTML, CutSettings(tags=("hr.chap",)), html=True)

    assert chapters == ["I\n\nThe ship rose & fell.", "", "It landed.\nAt last.\n\na\nb"]


def test_a_tag_without_a_class_is_a_mark_whatever_its_class() -> None:
    assert len(cut_text(HTML, CutSettings(tags=("hr",)), html=True)) == 4


def test_plain_text_is_cut_at_lines_and_else_as_it_was() -> None:
    cut = CutSettings(lines=(r"\* \* \*", r"CHAPTER \d+"))
    text = "CHAPTER 1\nIt  began.\r\n\r\n  * * *  \nA CHAPTER 2 is no mark.\n* * *"

    assert cut_text(text, cut, html=False) == ["", "It  began.", "A CHAPTER 2 is no mark.", ""]
    assert cut_text(" as\nit is ", None, html=False) == ["as\nit is"]


def settings(**changes: Any) -> MultiSourceSynthesis:
    cut = CutSettings(lines=(r"\*",))
    return MultiSourceSynthesis(
        **{"kind": "multi_source", "name": "n", "seed": 1, "sources": "in", "cut": cut} | changes
    )


def read(files: dict[str, bytes], **changes: Any) -> Any:
    return read_sources(settings(**changes), files.__getitem__)


def lines(*rows: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def test_chapters_have_ids_and_empty_ones_are_dropped_and_counted() -> None:
    one = {"id": "s1", "file": "texts/s1.txt", "queries": [QUERY]}
    found = read({"in/sources.jsonl": lines(one, {"id": "s2", "text": "c"}), "in/texts/s1.txt": b"a\n*\n*\nb"})

    assert [[tuple(chapter) for chapter in source.chapters] for source in found] == [
        [("s1:001", "a"), ("s1:002", "b")],
        [("s2:001", "c")],
    ]
    assert [(source.n_empty, len(source.queries)) for source in found] == [(1, 1), (0, 0)]


def test_a_source_that_is_not_cut_keeps_its_id() -> None:
    packed = {"all.jsonl.gz": gzip.compress(lines({"id": "s1", "text": "a\n*\nb", "queries": [QUERY]}))}
    (source,) = read(packed, sources="all.jsonl.gz", cut=None)

    assert [tuple(chapter) for chapter in source.chapters] == [("s1", "a\n*\nb")]


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        pytest.param([{"id": "s", "text": "a"}], UsageError, "1 sources and no query", id="no-query"),
        pytest.param([{"id": "s"}], InputError, "text or file, and not both", id="no-text"),
        pytest.param([{"id": "s", "text": "*", "queries": [QUERY]}], InputError, "text outside its marks", id="empty"),
        pytest.param([{"id": "s", "text": "a", "queries": [QUERY]}] * 2, InputError, "no other source", id="twice"),
        pytest.param([{"id": "s", "text": "a", "queries": [QUERY] * 2}], InputError, "'q1' again", id="query-twice"),
        pytest.param(
            [{"id": "s", "text": "a", "queries": [QUERY | {"answers": []}]}], InputError, "at least one", id="no-answer"
        ),
    ],
)
def test_what_is_no_source_is_named(rows: list[dict[str, Any]], error: type[LongformError], message: str) -> None:
    with pytest.raises(error, match=message):
        read({"in/sources.jsonl": lines(*rows)})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"cut": {}}, "found neither", id="no-mark"),
        pytest.param({"cut": {"lines": ["("]}}, "expected regular expressions", id="no-expression"),
        pytest.param({"cut": {"tags": ["hr"]}}, "expected html: true", id="tags-of-plain-text"),
        pytest.param({"rewrite": {}}, "a writer and a verifier", id="no-writer"),
        pytest.param({"rewrite": {"variants": ["original"]}}, "stay as they are", id="nothing-rewritten"),
        pytest.param({"cluster": {"encoder": "e", "threshold": 1, "least": 9}}, "at most 6", id="sizes"),
        pytest.param({"rewrite": {}, "cluster": {"encoder": "e", "threshold": 1}}, "found both", id="both"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settings(**changes)
