"""docs/operations.md speaks of alarms and places that exist."""

from __future__ import annotations

import pytest

from actors.chat import lease_queue
from jobs.stages import accounts
from tests.bench import capacity
from tests.places import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text()


@pytest.mark.parametrize(
    ("alarm", "file"),
    [
        ("cannot be", "actors/storage/errors.py"),
        ("failed; what others made is kept", "jobs/stages/accounts.py"),
        ("is not whole", "actors/local_models/checkpoint_files.py"),
        ("expected a folder", "actors/local_models/checkpoints.py"),
        ("unjudged_threshold", "longform/settings/experiment.py"),
        ("longform_requests", "serve/http/guard.py"),  # Prometheus counters end in _total
        ("longform_requests_in_flight", "serve/http/guard.py"),
        ("LONGFORM_LEDGER", "jobs/command/parser.py"),
        ("LONGFORM_MACHINE", "actors/chat/machine.py"),
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


def test_the_table_of_sizes_is_computed() -> None:
    assert capacity.table() in PAGE


def test_sizes_are_computed_with_the_constants_of_the_project() -> None:
    assert capacity.ASKS_APART_S == lease_queue._ROUND_S
    assert (capacity.RECEIPTS_A_COMMIT, capacity.MOST_COMMITS) == (accounts.RECEIPTS_A_COMMIT, accounts._MOST_COMMITS)


@pytest.mark.parametrize(
    ("words", "computed"),
    [
        ("at {:,.0f} calls a second on S3", capacity.on_s3(capacity.Run(1, 1, 100, 16))),
        ("a lease ({:,.0f} leases a second)", 1 / capacity.lease_s(capacity.Run(1, 1, 500, 16))),
        ("is one call: {:,.0f} tasks a second", 1 / (capacity.RECEIPT_S + capacity.RAY_RECEIPT_S)),
        ("ingress, at {:,.0f} requests a second of one item", capacity.ingress_most(1)),
        ("and one proxy at\n  {:,.0f}: less than", capacity.proxy_most(1)),
        ("requests of 64 carry {:,.0f}\n", 64 * capacity.ingress_most(64)),
        ("and {:,.0f} on a disk", capacity.on_disk(capacity.Run(1, 1, 100, 16))),
    ],
)
def test_sizes_in_the_words_of_the_page_are_computed(words: str, computed: float) -> None:
    assert words.format(computed) in PAGE
