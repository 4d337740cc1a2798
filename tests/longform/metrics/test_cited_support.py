"""Support of sentences and citations is counted by the answers of a judge, whatever its numbers are."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from longform.metrics.cited_support import elsewhere, precision, recall, share
from longform.metrics.measure import Facts, Verdict
from longform.text.citations import Bullet

HAYSTACK = SimpleNamespace(documents=lambda: [SimpleNamespace(number=n, doc_id=f"d{n}") for n in (1, 2)])
VERDICTS = [
    Verdict("d1", "supported", 0.3, unit_index=0),  # the judge's own cut is below it
    Verdict("d2", "unsure", 0.6, unit_index=0),
    Verdict("d1", "unsupported", 0.2, unit_index=1),
    Verdict("d2", None, None, unit_index=1),
]


def facts(*citations: list[int]) -> Facts:
    return Facts(units=[Bullet("x", list(one)) for one in citations], verdicts=VERDICTS, haystack=HAYSTACK)


def test_known_answers() -> None:
    both = facts([1, 2], [1])

    assert (precision(both).total, precision(both).n) == (1.0, 3)
    assert (recall(both).total, recall(both).n) == (1.0, 2)
    assert (share(both).total, share(both).n, share(both).n_unjudged) == (1.0, 1, 1)


def test_a_citation_of_no_document_is_wrong_and_an_unjudged_one_is_unknown() -> None:
    found = facts([1, 7], [2])

    assert (precision(found).value, precision(found).n_unjudged) == (0.5, 1)
    assert (recall(found).value, recall(found).n_unjudged) == (1.0, 1)


def test_a_summary_that_cites_nothing_has_no_precision_and_no_recall() -> None:
    found = facts([], [])

    assert (precision(found).value, precision(found).reason) == (None, "no citations")
    assert recall(found).value == 0.0
    assert elsewhere(found).value is None


@pytest.mark.parametrize(("cited", "told"), [([2], 1.0), ([1], 0.0), ([1, 2], 0.0), ([7], 1.0)])
def test_a_wrong_citation_of_what_another_document_says_is_told_apart(cited: list[int], told: float) -> None:
    assert elsewhere(facts(cited)).value == told
    assert elsewhere(facts([], [1])).n_unjudged == 1  # the other document is unjudged
