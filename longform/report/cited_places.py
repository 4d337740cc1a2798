"""Addresses of the documents that examples of repaired citations name, each with its passage marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple
from urllib.parse import quote, urlencode

from longform.report.document_pages import DocumentFiles
from longform.report.repair import DocumentOf, Side
from longform.results.drilldown import QueryFacts, SummaryFacts, Unfolded
from longform.results.passages import Passage
from longform.results.repaired_examples import Example, examples_in
from longform.results.results import Results
from longform.text.citations import without_citations


class _Claim(NamedTuple):
    """
    A statement that a document is opened for.

    Attributes:
        what: `bullet` or `insight`.
        words: Of the statement.
        passages: Document -> the passage that shares most with it; None: none shares much.
    """

    what: str
    words: str
    passages: Mapping[int, Passage | None]


class CitedPlaces:
    """
    Summaries of the examples, kept while all summaries pass.

    Args:
        results: Of the run, with its examples.
    """

    def __init__(self, results: Results) -> None:
        examples = examples_in(results.get("tables") or {})
        self._wanted = {one[key] for one in examples for key in ("summary_id", "repaired_id")}
        self._found: dict[str, Unfolded] = {}

    def gathered(self, unfolded: Iterable[Unfolded]) -> Iterator[Unfolded]:
        """Yield the summaries as they came."""
        for one in unfolded:
            if one.summary["summary_id"] in self._wanted:
                self._found[one.summary["summary_id"]] = one
            yield one

    def addresses(self, files: DocumentFiles, file_of: Mapping[str, str]) -> DocumentOf:
        """
        Return the function that says where a document of an example stands; None: nowhere, or at no known passage.

        Its addresses have the form of `documentAddress` in `documents.js`.

        Args:
            files: Of the documents.
            file_of: Summary id -> the page that holds it.
        """
        return partial(self._address, files, file_of)

    def _address(
        self, files: DocumentFiles, file_of: Mapping[str, str], example: Example, side: Side, number: int
    ) -> str | None:
        summary_id = example["summary_id"] if side == "before" else example["repaired_id"]
        if (found := self._found.get(summary_id)) is None:
            return None
        summary, query = found
        claim = next((one for one in _claims(example, summary, query) if number in one.passages), None)
        spans = files.spans.get(query["haystack"], ())
        file = next((file for file, first, last in spans if first <= number <= last), None)
        if file is None or claim is None:
            return None
        named: dict[str, str | int] = {"haystack": query["haystack"], "document": number, claim.what: claim.words}
        if (passage := claim.passages[number]) is not None:
            named |= {"sentence": passage[0], "sentences": passage[1]}
        if summary_id in file_of:
            named |= {"page": file_of[summary_id], "summary": summary_id}
        return f"{file}#{urlencode(named, quote_via=quote)}"


def _claims(example: Example, summary: SummaryFacts, query: QueryFacts) -> Iterator[_Claim]:
    """Yield the bullet with the documents that it cites, then the insight with those that state it."""
    for bullet in summary["bullets"]:
        if without_citations(bullet["text"]) == example["bullet"] and "passages" in bullet:
            yield _Claim("bullet", bullet["text"], dict(zip(bullet["citations"], bullet["passages"], strict=True)))
    for target in query["targets"]:
        if target["text"] == example["insight"] and "passages" in target:
            yield _Claim("insight", target["text"], dict(zip(target["gold"], target["passages"], strict=True)))
