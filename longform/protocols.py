"""
Say which methods a class of a user's own has to have; docs/extending.md has an example of each.

A class is loaded by its import path and made with the `options` of its configuration as keyword arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import NamedTuple, Protocol

from longform.formats.files import SourceFile
from longform.formats.rows import HaystackRows
from longform.given import Count, Dollars, Text
from longform.judges.kind import Group, Verdict
from longform.records import Document, Query

Judgement = float | str | Verdict | None


class Ranker(Protocol):
    """A retriever, or a reranker of the first documents of another's ranking."""

    def rank(self, query: Query, documents: Sequence[Document]) -> Sequence[float | None]:
        """
        Return a score for each document, in their order; the larger, the earlier. None: it is not ranked.

        `query.text` is what the experiment lets a retriever search with. A retriever is given all documents of a
        haystack, in the same order for all of its queries.
        """
        ...


class Written(NamedTuple):
    """A summary, and what is known of its making."""

    text: str | None  # a bullet or sentence a line, with citations as [3] or [1, 4]; None: there is none
    failure: Text | None = None  # why there is no text, as one word such as `refused`
    cost_usd: Dollars | None = None  # None: unknown
    model: Text | None = None  # the name by which its provider calls it
    input_tokens: Count | None = None
    output_tokens: Count | None = None


class Summarizer(Protocol):
    """Writes a summary of the documents of a prompt; its method may be a coroutine function."""

    def summarize(
        self, query: Query, documents: Sequence[Document], n_requested: int
    ) -> str | Written | Awaitable[str | Written]:
        """
        Return the summary of *documents*, which stand in the order of the prompt and are cut to its budget.

        `document.number` is what the summary cites a document by; *n_requested* bullets or sentences are asked for.
        """
        ...


class Judge(Protocol):
    """Judges items by a text: sentences by a document, or insights by a summary."""

    def judge(self, group: Group) -> Sequence[Judgement] | Awaitable[Sequence[Judgement]]:
        """
        Return a judgement for each of `group.items`, in their order.

        The text is `group.text`; `group.shared` are its lines, such as the bullets of a summary. A judgement is a
        number from 0 to 1, one of the answers of the judge's kind, a Verdict, or None: not judged.
        """
        ...


class Reader(Protocol):
    """Reads files of a format of one's own."""

    def read(self, files: Sequence[SourceFile]) -> Iterable[HaystackRows]:
        """
        Return the haystacks that *files* hold; a generator may read as it goes.

        Given are the files that the command line names, and all files of the folders that it names.
        """
        ...
