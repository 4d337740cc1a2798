"""Systems whose texts were written elsewhere: what is known of their prompts, and which queries they left out."""

from __future__ import annotations

from typing import Literal, TypedDict

Documents = Literal["named", "all", "unknown"]
"""Documents that a writer saw: named one by one, all of the haystack, or not known."""


class ElsewhereRow(TypedDict):
    """A system of texts that a benchmark ships."""

    summarizer: str
    setting: str
    n_summaries: int
    n_failed: int  # without a text
    n_empty: int  # with an empty one
    n_queries: int  # with a summary
    unanswered: list[str]  # queries of the run without one
    documents: dict[Documents, int]  # number of summaries
