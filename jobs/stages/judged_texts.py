"""
The texts that a summary is judged against.

These are the targets of its query, or the documents of its prompt: the kind of a judge says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypedDict

import numpy as np

from actors.storage.benchmark import Benchmark
from longform.judges.kind import Kind
from longform.judges.matrix import JudgedText, TargetText, cited_first
from longform.records import Document
from longform.retrieval.bm25 import Bm25, stem_documents
from longform.rows import ContextRow
from longform.text.words import stems

SEPARATOR = "\n====\n"
"""Between the documents of a prompt that is judged as one text."""


_K1, _B = 1.5, 0.75  # as retriever bm25 has them by default


class SummaryToJudge(TypedDict):
    """A summary, but for its lines."""

    work_id: str  # the one of its verdicts
    summary_id: str
    query_id: str
    haystack_id: str
    failure: str | None  # why there is no summary; None: there is one


def judged_summary(
    kind: Kind,
    item: SummaryToJudge,
    units: Iterable[str],
    benchmark: Benchmark,
    asks_about: Callable[[int], bool] = lambda _: True,
) -> JudgedText:
    """Put a summary's lines beside those of its query's targets that the judge asks about, by their places."""
    of_query = [target for target in benchmark.targets.get(item["query_id"], []) if target.kind == kind.targets]
    targets = [target for target in of_query if asks_about(target.target_index)]
    others = benchmark.haystack_targets(item["haystack_id"])
    return JudgedText(
        work_id=item["work_id"],
        summary_id=item["summary_id"],
        units=tuple(map(kind.unit, units)),
        targets=tuple(TargetText(target.kind, target.target_id, target.text) for target in targets),
        background=tuple(target.text for target in others if target.kind == kind.targets),
        failure=item["failure"],
        query=benchmark.queries[item["query_id"]].text if kind.shows_query else "",
    )


def checked_summary(
    kind: Kind, item: SummaryToJudge, units: Iterable[str], texts: Sequence[TargetText], *, mode: str
) -> JudgedText:
    """Put a summary's lines beside the documents of its prompt."""
    return JudgedText(
        work_id=item["work_id"],
        summary_id=item["summary_id"],
        units=tuple(map(kind.unit, units)),
        targets=tuple(texts),
        mode=mode,
        failure=item["failure"],
    )


class CheckedHaystack:
    """The documents of a haystack, and an index that finds those nearest to a sentence; it is made when it is asked."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.texts = {document.doc_id: document.text for document in documents}
        self._rows = {document.doc_id: row for row, document in enumerate(documents)}
        self._ids = {document.number: document.doc_id for document in documents}

    @cached_property
    def _index(self) -> Bm25:
        return Bm25(stem_documents(self.texts.values()), k1=_K1, b=_B)

    def cited_first(self, judged: JudgedText, citations: Iterable[Sequence[int]]) -> JudgedText:
        """Let a summary be checked by what its units cite first; *citations* are the numbers of each."""
        places = {target.target_id: place for place, target in enumerate(judged.targets)}
        cited = [{places[one] for n in of if (one := self._ids.get(n)) in places} for of in citations]
        rows = [self._rows[target.target_id] for target in judged.targets]

        def nearest(sentence: str) -> Iterable[int]:
            order: list[int] = np.argsort(-self._index.scores(stems(sentence))[rows], kind="stable").tolist()
            return order

        return cited_first(judged, cited, nearest)


def texts_of(packed: ContextRow, documents: Mapping[str, str], mode: str) -> list[TargetText]:
    """
    Return what a summary of the context *packed* is checked against, in the order of the prompt.

    These are the documents, each as far as the prompt held it; in mode full one text, all of them joined. They have no
    place if it is not known in which order the prompt held them.
    """
    ordered = packed["order"] is not None
    in_prompt = zip(packed["doc_ids"], packed["doc_chars"], strict=True)
    shown = [
        TargetText("document", doc_id, documents[doc_id][:chars], place if ordered else None)
        for place, (doc_id, chars) in enumerate(in_prompt)
    ]
    if mode == "full":
        return [TargetText("context", packed["context_id"], SEPARATOR.join(one.text for one in shown), None)]
    return shown
