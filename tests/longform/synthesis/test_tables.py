"""The audit and the account of a benchmark as tables that describe themselves."""

from __future__ import annotations

import json
from typing import Any

from longform.synthesis.tables import benchmark_tables
from longform.tables.table import Table, checked
from tests.longform.report.test_audit import AUDIT, FACTS, SYNTHESIS


def tables_of(audit: Any, account: Any) -> dict[str, Table]:
    described = json.loads(json.dumps(benchmark_tables(audit, account)))
    return {name: checked(Table.from_json(name, content)) for name, content in described["tables"].items()}


def test_each_table_describes_itself_and_holds_every_haystack() -> None:
    prose = {"model": "m", "by_model": 1, "in_part": 2, "by_template": 3, "kept": 7, "fallen_back": 11, "replies": 30}
    haystacks = [FACTS | {"haystack_id": f"town-{at}", "prose": {**prose, "rejected": {}}} for at in range(43)]
    given_up = [{"haystack_id": "town-0", "check": "leaks", "subject": "document 3", "attempt": 6, "reason": None}]
    found = tables_of(AUDIT | {"haystacks": haystacks}, SYNTHESIS | {"exhausted": given_up})

    assert list(found) == ["label_noise", "haystacks", "places", "prose", "made", "checks", "given_up"]
    assert len(found["haystacks"].rows) == len(found["places"].rows) == len(found["prose"].rows) == 43
    assert found["prose"].rows[0]["reasons"] == "none"
    assert found["made"].reason(0, "known") == "nobody was asked the queries without documents"


def test_a_benchmark_without_audit_and_account_says_nothing() -> None:
    assert benchmark_tables(None, None) is None


def test_the_scores_of_points_are_a_table_with_a_figure() -> None:
    steps = [{"score": 0.5, "share": 0.8}, {"score": 1.0, "share": 1.0}]
    found = tables_of(None, {"haystacks": [{"haystack_id": "all", "scores": steps}]})

    assert list(found) == ["scores_all"]
    assert found["scores_all"].plot is not None
    assert found["scores_all"].rows[0] == {"series": "points", "score": 50.0, "share": 80.0}
