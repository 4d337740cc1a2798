"""Texts that a page must show and never obey: documents, insights, questions, answers and names of systems."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

RAN = "window.hostileRan = true"
"""The deed of each text that is markup."""

_CONTROL = re.compile("[\x00-\x1f]")  # ids with such are refused

TEXTS: Sequence[str] = (
    f"</script><script>{RAN}</script>",
    f"</style><img src=x onerror='{RAN}'>",
    f'"><svg onload="{RAN}">',
    f"<!--<script>{RAN}",
    f"javascript:{RAN}//",
    f"]]></title><iframe srcdoc='<script>top.{RAN}</script>'>",
    "{{ 7 * 7 }}{% raw %} ${1} `x` <%= 1 %>",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u2067odd\u2069",
    "control \u0001\u0008\u001b[31m \u2028 \u2029 \ufeff \ufffe end",
    "W" * 3000,
    "%E0%A4%A #&=+?/\\ %00 %zz",
    "__proto__ constructor \U0001f469\u200d\U0001f469\u200d\U0001f467 \u0301\u0301\u0301",
)


def write_hostile(folder: Path) -> tuple[Path, Path]:
    """Write a benchmark as plain JSON Lines, and answers to it; a system, a document and an insight for each text."""
    folder.mkdir(parents=True, exist_ok=True)
    statements = [f"{text} The bridge number {place} was painted green in May." for place, text in enumerate(TEXTS)]
    ids = [f"d{place} {_CONTROL.sub('', text[:60])}" for place, text in enumerate(TEXTS)]
    documents = [
        {"doc_id": doc_id, "title": text, "haystack": TEXTS[0], "text": f"{said} It rained."}
        for doc_id, text, said in zip(ids, TEXTS, statements, strict=True)
    ]
    queries = [
        {"query_id": f"q{part}", "haystack": TEXTS[0], "topic": TEXTS[1], "text": f"What was painted? {TEXTS[part]}"}
        for part in range(2)
    ]
    insights = [
        {
            "insight_id": f"i{place}",
            "query_id": f"q{place % 2}",
            "name": TEXTS[place],
            "text": said,
            "doc_ids": [ids[place]],
        }
        for place, said in enumerate(statements)
    ]
    for name, rows in (("documents", documents), ("queries", queries), ("insights", insights)):
        _write(folder / "bench" / f"{name}.jsonl", rows)
    bullets = [{"text": said, "citations": [1 + (place % 5)]} for place, said in enumerate(statements)]
    answers = [
        {"query_id": query["query_id"], "system": text, "bullets": bullets[place:] + bullets[:1]}
        for place, text in enumerate(TEXTS)
        for query in queries
    ]
    _write(folder / "answers.jsonl", answers)
    return folder / "bench", folder / "answers.jsonl"


def _write(path: Path, rows: Iterable[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
