"""Stories of MSRS are what they were when cut again, and the rules find in its rewritten queries what the page says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from longform.synthesis.multi_source import plans
from longform.synthesis.multi_source.settings import CutSettings
from longform.synthesis.multi_source.sources import cut_text
from longform.text.sentences import sentences


def lines(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as content:
        return [json.loads(line) for line in content]


def test_chapters_that_are_joined_and_cut_come_back(released: Path) -> None:
    stories: dict[str, dict[int, str]] = {}
    for document in lines(released / "msrs/story/documents.jsonl.gz"):
        story, _, number = document["id"].rpartition("_")
        stories.setdefault(story, {})[int(number)] = document["text"].strip()
    cut = CutSettings(lines=(r"\* \* \*",))
    joined = {story: [chapters[n] for n in sorted(chapters)] for story, chapters in stories.items()}

    assert sum(map(len, joined.values())) == 374
    assert all(cut_text("\n* * *\n".join(texts), cut, html=False) == texts for texts in joined.values())


def test_the_rules_are_stricter_than_the_people_who_looked_at_the_released_queries(released: Path) -> None:
    queries = [
        (row["query"], row["squality_query"], row["answer"]) for row in lines(released / "msrs/story/queries.jsonl.gz")
    ]

    assert len(queries) == 215
    assert sum(len(sentences(new)) == 1 for new, _, _ in queries) == 213
    assert sum(new.endswith("?") == old.endswith("?") for new, old, _ in queries) == 209
    assert sum(plans.lost_words(new, old) is None for new, old, _ in queries) == 164
    assert sum(plans.told_answer(new, old, answers, 3) is not None for new, old, answers in queries) == 8
