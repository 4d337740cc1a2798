"""
Support of sentences and of their citations, by the answers of a judge and without insights.

Liu et al., Evaluating Verifiability in Generative Search Engines (2023), section 3: citation precision is over
citations, citation recall over sentences. Here each pair of sentence and document is judged apart, so that a sentence
that needs two documents together has the support of the better one. A sentence is supported if the judge's answer says
so of any document that it is checked against: the cut is the judge's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from longform.metrics.counts import why_nothing
from longform.metrics.faithfulness import JUDGED_BY, RECOMMENDED
from longform.metrics.measure import Facts, Measure, Score

SHARE, PRECISION, RECALL, ELSEWHERE = "sentences_supported", "cited_support", "sentences_cited", "supported_elsewhere"
MAIN = (SHARE, RECOMMENDED.name)
"""The measures that every judge of support is told by: a share by its answers, then the mean of its numbers."""
YES = "supported"
"""The answer of a judge of support that counts; no other does."""


def _any(answers: Iterable[bool | None]) -> bool | None:
    """Return whether any is True; None if none is, and an unknown one could be."""
    held = list(answers)
    return True if True in held else None if None in held or not held else False


def _of_documents(facts: Facts) -> list[list[bool | None]]:
    """Return whether each document that a sentence was checked against supports it; None: unjudged."""
    found: list[list[bool | None]] = [[] for _ in facts.units]
    for verdict in facts.verdicts:
        if verdict.unit_index is not None and verdict.unit_index < len(found):
            found[verdict.unit_index].append(None if verdict.answer is None else verdict.answer == YES)
    return found


def _of_citations(facts: Facts) -> list[list[bool | None]]:
    """Return whether each citation of a sentence is supported; None: unjudged. A document that is not there is no."""
    documents = () if facts.haystack is None else facts.haystack.documents()
    ids = {document.number: document.doc_id for document in documents}
    answers = {(verdict.unit_index, verdict.target_id): verdict.answer for verdict in facts.verdicts}

    def supported(unit: int, number: int) -> bool | None:
        if number not in ids:
            return False
        answer = answers.get((unit, ids[number]))
        return None if answer is None else answer == YES

    return [[supported(index, number) for number in set(unit.citations)] for index, unit in enumerate(facts.units)]


def _share(name: str, found: Sequence[bool | None], facts: Facts, what: str) -> Score:
    decided = [one for one in found if one is not None]
    reason = None if decided else f"no {what} is judged" if found else why_nothing(facts, f"no {what}s")
    if facts.failure:
        reason = f"summary_failed: {facts.failure}"
    return Score(name, float(sum(decided)), len(decided), len(found) - len(decided), reason)


def share(facts: Facts) -> Score:
    """Return the share of a summary's sentences that a document supports."""
    return _share(SHARE, [_any(answers) for answers in _of_documents(facts)], facts, "sentence")


def precision(facts: Facts) -> Score:
    """Return the share of a summary's citations whose document supports the sentence."""
    return _share(PRECISION, [one for sentence in _of_citations(facts) for one in sentence], facts, "citation")


def recall(facts: Facts) -> Score:
    """Return the share of a summary's sentences that cite a document which supports them."""
    found = [_any(answers) if answers else False for answers in _of_citations(facts)]
    return _share(RECALL, found, facts, "sentence")


def elsewhere(facts: Facts) -> Score:
    """Return the share of a summary's citing sentences that no cited document supports, but another does."""
    found: list[bool | None] = []
    for cited, checked in zip(_of_citations(facts), _of_documents(facts), strict=True):
        if cited:
            by_cited = _any(cited)
            found.append(_any(checked) if by_cited is False else None if by_cited is None else False)
    return _share(ELSEWHERE, found, facts, "citing sentence")


_TOLD: tuple[tuple[str, Callable[[Facts], Score], str, str], ...] = (
    (SHARE, share, "sentences supported",
     "share of the sentences that the judge calls supported by a document that they are checked against"),
    (PRECISION, precision, "citations supported", "share of the citations whose document supports the sentence"),
    (RECALL, recall, "sentences cited rightly",
     "share of the sentences that cite a document which supports them"),
    (ELSEWHERE, elsewhere, "supported elsewhere",
     "share of the sentences with citations that no cited document supports, but another document does"),
)  # fmt: skip
MEASURES = tuple(
    Measure(
        name,
        function,
        judged_by=JUDGED_BY,
        needs=frozenset({"units", "documents"}),
        work="cited support",
        version="cited_support@2",
        better="lower" if name == ELSEWHERE else "higher",
        title=title,
        told=told,
    )
    for name, function, title, told in _TOLD
)
