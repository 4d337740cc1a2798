"""`run.json`: what a run was made from and by, and what each stage counted."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from actors.benchmark import Benchmark
from actors.call_context import CallContext
from actors.storage import Folder
from jobs.stage import StageReport
from longform import __version__
from longform.errors import UsageError

_PACKAGES = ("ray", "numpy", "scipy", "pyarrow", "torch", "sentence-transformers", "tiktoken", "nupunkt", "openai")
_FILE = "run.json"


class RunRecord:
    """
    The record of one run folder, written at the start and after each stage.

    Raises:
        UsageError: The folder holds a run of another benchmark.
    """

    def __init__(
        self,
        run: Folder,
        *,
        verb: str,
        benchmark: Benchmark,
        config: Mapping[str, Any],
        limit: int | None = None,
    ) -> None:
        self._run = run
        dataset = benchmark.manifest["dataset_hash"]
        before = run.read_json(_FILE) if run.has(_FILE) else None
        if before and before["benchmark"]["dataset_hash"] != dataset:
            held = before["benchmark"]
            raise UsageError(
                f"{run.url}: holds a run of benchmark {held['url']} (dataset {held['dataset_hash']}), "
                f"not of {benchmark.folder.url} (dataset {dataset}); name another folder"
            )
        self.content: dict[str, Any] = {
            "verb": verb,
            "benchmark": {"url": benchmark.folder.url, **benchmark.manifest},
            "config": dict(config),
            "limit": limit,  # queries; null: all
            "git_commit": _git_commit(),
            "versions": {"longform": __version__, "python": platform.python_version()}
            | {name: version(name) for name in _PACKAGES},
            "jobs": before.get("jobs", []) if before else [],
            "stages": [],
        }
        self._write()

    @property
    def jobs(self) -> list[str]:
        """The names, in their ledgers, of all commands that called models for this run."""
        return [job["job"] for job in self.content["jobs"]]

    def add_job(self, context: CallContext) -> None:
        """Note, before it calls, a command that will call models for this run, its ledger and its prices."""
        if context.job not in self.jobs:
            job: dict[str, Any] = {"job": context.job, "ledger": context.ledger, "prices": context.prices, "stages": []}
            self.content["jobs"].append(job)
            self._write()

    def add_called(self, job: str, stage: Mapping[str, Any]) -> None:
        """Note what one *stage* of a *job* took."""
        next(noted for noted in self.content["jobs"] if noted["job"] == job)["stages"].append(dict(stage))
        self._write()

    def add(self, report: StageReport) -> None:
        """Note a stage's counts."""
        self.content["stages"].append(asdict(report))
        self._write()

    def _write(self) -> None:
        self._run.write_json(_FILE, self.content)


def read_record(run: Folder) -> dict[str, Any]:
    """
    The record of a run that was made before.

    Raises:
        UsageError: No run stands there.
    """
    if not run.has(_FILE):
        raise UsageError(f"no run at {run.url!r}: expected a folder with {_FILE}; make one with `longform evaluate`")
    return dict(run.read_json(_FILE))


def _git_commit() -> str | None:
    """The commit of the code, wherever the command was typed; None outside a checkout."""
    here = Path(__file__).parent
    answer = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=False)  # noqa: S607
    return answer.stdout.strip() if answer.returncode == 0 else None
