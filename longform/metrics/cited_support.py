"""
Support of citations: whether the documents that a sentence cites support it, by a judge and without insights.

Liu et al., Evaluating Verifiability in Generative Search Engines (2023), section 3: citation precision is over
citations, citation recall over sentences. Here each pair of sentence and document is judged apart, so that a sentence
that needs two documents together has the support of the better one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from longform.metrics.faithfulness import JUDGED_BY, SUPPORTED
from longform.metrics.measure import Facts, Measure, Score
from longform.metrics.refusals import why_nothing

PRECISION, RECALL = "cited_support", "sentences_cited"


def _cited(facts: Facts) -> Iterator[list[bool | None]]:
    """Yield whether each citation of a sentence is supported; None: unjudged. A document that is not there is no."""
    documents = () if facts.haystack is None else facts.haystack.documents()
    ids = {document.number: document.doc_id for document in documents}
    numbers: Mapping[tuple[int | None, str | None], float | None] = {
        (verdict.unit_index, verdict.target_id): verdict.number for verdict in facts.verdicts
    }
    for index, unit in enumerate(facts.units):
        yield [
            False if number not in ids else _above(numbers.get((index, ids[number]))) for number in set(unit.citations)
        ]


def _above(number: float | None) -> bool | None:
    return None if number is None else number > SUPPORTED


def precision(facts: Facts) -> Score:
    """Return the share of a summary's citations whose document supports the sentence."""
    found = [one for sentence in _cited(facts) for one in sentence]
    decided = [one for one in found if one is not None]
    reason = None if decided else "no citation is judged" if found else why_nothing(facts, "no citations")
    return Score(PRECISION, float(sum(decided)), len(decided), len(found) - len(decided), reason)


def recall(facts: Facts) -> Score:
    """Return the share of a summary's sentences that cite a document which supports them."""
    found = [True if True in one else None if None in one else False for one in _cited(facts)]
    decided = [one for one in found if one is not None]
    reason = None if decided else "no sentence is judged" if found else why_nothing(facts, "no sentences")
    return Score(RECALL, float(sum(decided)), len(decided), len(found) - len(decided), reason)


MEASURES = tuple(
    Measure(
        name,
        function,
        judged_by=JUDGED_BY,
        needs=frozenset({"units", "documents"}),
        work="cited support",
        version="cited_support@1",
        unit="points",
        better="higher",
        title=title,
        told=told,
    )
    for name, function, title, told in (
        (PRECISION, precision, "citations supported", "share of the citations whose document supports the sentence"),
        (RECALL, recall, "sentences with support", "share of the sentences that cite a document which supports them"),
    )
)
