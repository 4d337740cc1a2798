"""Requests that Schemathesis makes from the published schema, right ones and wrong ones: no answer is a failure."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.serve.served import local_app

N_REQUESTS = 4000 if "LONGFORM_SOAK" in os.environ else 1000
"""Beside the 6,000 bodies of `test_fuzz.py`; `make soak` sends them all."""


@pytest.mark.slow
def test_requests_from_the_published_schema_are_no_failure_of_ours() -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis, of the extra `test`, is not installed")
    schema = schemathesis.openapi.from_asgi("/openapi.json", local_app())
    operations = [found.ok() for found in schema.get_all_operations()]
    posts = [operation for operation in operations if operation.method == "post"]
    each = -(-N_REQUESTS // (2 * len(posts)))
    statuses: Counter[int] = Counter()
    for operation in posts:
        for mode in schemathesis.GenerationMode:

            @settings(
                max_examples=each,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def send(case: Any) -> None:
                response = case.call()
                statuses[response.status_code] += 1
                assert response.status_code < 500, (case.path, case.body, response.content)

            send()
    assert {200, 422} <= set(statuses)
    assert statuses.total() >= N_REQUESTS * 0.9, statuses  # Hypothesis may know a small space to be exhausted
