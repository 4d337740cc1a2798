"""The workflow files of docs/ci.md are YAML, and their commands are commands of this program."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import yaml

from jobs.command_line import VERBS
from tests.pages import blocks

PAGE = "docs/ci.md"


def workflows() -> list[Any]:
    return [yaml.safe_load(block.text) for block in blocks(PAGE) if block.language == "yaml"]


def scripts(document: Any) -> Iterator[str]:
    """Yield the commands of a job of GitHub or GitLab."""
    for job in document.get("jobs", document).values():
        if isinstance(job, dict):
            yield from job.get("script", [])
            yield from (step["run"] for step in job.get("steps", []) if "run" in step)


def test_both_files_are_yaml_of_their_kind() -> None:
    github, gitlab = workflows()
    steps = github["jobs"]["judge"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert steps[-1]["if"] == "always()"
    assert gitlab["judge"]["artifacts"]["reports"]["junit"] == "gate.xml"


def test_their_commands_are_read_by_their_verbs() -> None:
    found = [shlex.split(line) for document in workflows() for line in scripts(document)]
    ours = [words for words in found if words[0] == "longform"]
    assert len(ours) == 3
    for _, verb, *rest in ours:
        assert verb in VERBS
        import_module(f"jobs.{verb}").parser().parse_args(rest)
