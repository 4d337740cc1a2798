"""Control characters are shown and not obeyed."""

from __future__ import annotations

import json

import pytest

from longform.text.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\\u001b[2Jb"),
        ("a\rb\x00\x7f", "a\\u000db\\u0000\\u007f"),
        ("\x9b31m", "\\u009b31m"),
        ("abc \u202ecba\u2069", "abc \\u202ecba\\u2069"),
        ("two\nlines\tand ünï 漢字 🙂", "two\nlines\tand ünï 漢字 🙂"),
    ],
)
def test_what_moves_a_cursor_or_turns_a_line_is_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_json_document_stays_the_same_document() -> None:
    document = {"name": "a\x1b\x9b\u202e", "more": ["\n\t\r"]}

    assert json.loads(visible(json.dumps(document, ensure_ascii=False))) == document
