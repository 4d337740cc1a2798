"""
The audit's label noise against what is truly wrong in the gold maps that an erring verifier leaves behind.

What is truly wrong is found by a search for the writer's sentences; the audit knows neither writer nor verifier.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import pytest

from longform.synthesis.audit.audit import audit_haystack, audit_report
from longform.synthesis.written.account import haystack_rows
from tests.longform.synthesis.written.test_planted import FAULTY, made

SEEDS = range(4)


class Noise(NamedTuple):
    """Shares of the gold map that are wrong, and the audit's estimates of them."""

    wrongly_listed: float
    missed: float
    audit: dict[str, Any]


@cache
def noise(domain: str, *, errors: float, seed: int) -> Noise:
    rows = haystack_rows(made(domain, FAULTY, f"scripted-verifier:seed={seed},errors={errors}").written)
    documents, targets = list(rows.documents), list(rows.targets)
    stated = {(one.doc_id, fact.target_id) for one in documents for fact in targets if fact.text in one.text}
    listed = {(qrel.doc_id, qrel.target_id) for qrel in rows.qrels}
    left_out = len(documents) * len(targets) - len(listed)
    return Noise(
        len(listed - stated) / len(listed),
        len(stated - listed) / left_out,
        audit_report([audit_haystack(documents, targets, list(rows.qrels))], seed=0),
    )


@pytest.mark.parametrize("domain", ["news", "conversation"])
@pytest.mark.parametrize("errors", [0.05, 0.3])
def test_the_intervals_cover_what_an_erring_verifier_got_wrong(domain: str, errors: float) -> None:
    for seed in SEEDS:
        found = noise(domain, errors=errors, seed=seed)
        for name, share in (("false_positives", found.wrongly_listed), ("missed", found.missed)):
            estimate = found.audit[name]
            assert estimate["low"] <= share <= estimate["high"], (seed, name)
            assert estimate["high"] < share + 0.06, (seed, name)


@pytest.mark.parametrize("domain", ["news", "conversation"])
def test_a_right_verifier_leaves_no_noise_and_the_audit_finds_none(domain: str) -> None:
    found = noise(domain, errors=0.0, seed=1)

    assert (found.wrongly_listed, found.missed) == (0, 0)
    assert found.audit["false_positives"]["value"] == found.audit["missed"]["value"] == 0
    assert found.audit["joint_ceiling"]["value"] == 100


def test_enough_errors_are_told_from_none() -> None:
    """At 30 % of replies the interval leaves 0 out; so that to cover what is wrong is no matter of its width."""
    assert all(noise("news", errors=0.3, seed=seed).audit["false_positives"]["low"] > 0 for seed in SEEDS)
