"""docs/operations.md speaks of alarms, options and places that exist."""

from __future__ import annotations

import re

import pytest

from tests.places import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text()


@pytest.mark.parametrize(
    ("alarm", "file"),
    [
        ("cannot be", "actors/storage/errors.py"),
        ("tasks failed", "jobs/stages/runner.py"),
        ("is not whole", "actors/local_models/checkpoint_files.py"),
        ("expected a folder", "actors/local_models/encoder.py"),
        ("unjudged_threshold", "longform/settings/experiment.py"),
        ("longform_requests_total", "serve/http/guard.py"),
        ("longform_requests_in_flight", "serve/http/guard.py"),
        ("LONGFORM_LEDGER", "jobs/calling.py"),
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


def test_options_of_the_page_are_options(capsys: pytest.CaptureFixture[str]) -> None:
    """Of `evaluate` and of Ray's submission."""
    from click.testing import CliRunner
    from ray.dashboard.modules.job.cli import submit

    from jobs.evaluate import main

    of_ray = CliRunner().invoke(submit, ["--help"]).output
    with pytest.raises(SystemExit):
        main(["--help"])
    ours = capsys.readouterr().out
    blocks = re.findall(r"^```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (command,) = [block for block in blocks if "ray job submit" in block]
    before, _, after = command.partition(" -- python")
    for shown, known in ((before, of_ray), (after, ours)):
        options = re.findall(r"(?<=\s)--[a-z-]+", shown)
        assert len(options) >= 4
        assert all(option in known for option in options)


def test_links_of_the_page_lead_somewhere() -> None:
    for page in ("operations.md", "serving.md"):
        text = (ROOT / "docs" / page).read_text()
        for place in re.findall(r"\]\(([^)#]+)\)", text):
            assert (ROOT / "docs" / place).exists(), f"{page}: {place}"
