"""
`run.json`: what a run was made from, and what its work cost in all the commands that did it.

    config, limit   what the folder is a run of; null as long as it has only been planned
    fidelity        the readings, by component, in which the run follows a release or a paper rather than us
    served          what the servers of served judges say of them: version, card
    prompts         version of each prompt that the configuration asks with, and of each class of a user
    stages          one entry a stage: what it wants, and `work`, what each command that did some of it took
    commands        the commands that did work: verb, git commit, versions, and when they began (seconds since 1970)
    jobs            those of them that called models: ledger, prices, and what each stage took
    last_call       what the last command did, stage by stage, though it be nothing
"""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from actors.chat.model import CallContext
from actors.storage.benchmark import MANIFEST, Benchmark
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from actors.storage.json_files import RECORD
from actors.terminal import say
from jobs.runs.heartbeat import check_alone
from jobs.stages.accounts import StageReport
from longform import __version__
from longform.errors import UsageError
from longform.settings.experiment import Experiment
from longform.settings.same_run import changes, changes_of_results, other_configuration

_PACKAGES = ("ray", "numpy", "scipy", "pyarrow", "torch", "sentence-transformers", "tiktoken", "nupunkt", "openai")
RECORD_FILE = RECORD
_FORMAT = 2
# While a stage runs; what a command that is killed did since is in the tables, without its seconds.
_NOTE_EVERY_S = 10.0
_SUMS = ("pieces", "rows", "seconds")
_HOW = ("workers", "operator", "actors", "began_at", "ended_at")
_TOLD = ("verb", "benchmark", "config", "limit", "jobs", "stages")
_NOT_NAMED = "a command before records named them"


class RunRecord:
    """
    The record of one run folder, written when the run begins, while stages run, and after each.

    Raises:
        UsageError: The folder holds a run of another benchmark, or of a format that this version does not know.
    """

    def __init__(
        self,
        run: Folder,
        *,
        command: str,  # the command's name, as its ledger has it
        verb: str,  # the verb that makes such runs
        benchmark: Benchmark,
        config: Mapping[str, Any],  # JSON values
        limit: int | None = None,  # the first queries; None: all
        # changes by the configuration's fidelity, by component
        fidelity: Mapping[str, Mapping[str, str]] | None = None,
        # version of each prompt that is asked with, and of each class of a user
        prompts: Mapping[str, str] | None = None,
        planning: bool = False,  # the command only plans: the folder is not bound to its configuration
        goes_on: bool = False,  # what the command did before is part of its call, as with a further order of documents
        served: Mapping[str, Any] | None = None,  # descriptions of served judges, by their names
    ) -> None:
        self._run, self._command = run, command
        before = stored_record(run)
        _check_dataset(run, before, benchmark)
        self._maker = {"verb": verb, "git_commit": _git_commit(), "versions": _versions(), "began_at": time.time()}
        bound = {"config": dict(config), "limit": limit, "prompts": dict(prompts or {})}
        if planning:
            bound = {key: before.get(key) for key in bound}
        if fidelity:
            bound["fidelity"] = dict(fidelity)
        if told := {**before.get("served", {}), **(served or {})}:
            bound["served"] = told
        self.content: dict[str, Any] = {
            "format": _FORMAT,
            "verb": verb,
            "benchmark": {"url": benchmark.folder.url, **benchmark.manifest},
            **bound,
            "commands": before.get("commands", {}),
            "jobs": before.get("jobs", []),
            "stages": before.get("stages", []),
            "last_call": {"command": command, **self._maker, "stages": []},
        }
        if goes_on:
            self.content["last_call"] = before["last_call"]
        self._begun: dict[str, dict[str, Any]] = {}
        self._written_at: float | None = None

    def begin(self) -> None:
        """Write it, if that is not done and no other command is at work. Who only reads the run never does."""
        if self._written_at is None:
            check_alone(self._run, self._command)
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
        """Note what the calls of one *stage* of a *job* took."""
        next(noted for noted in self.content["jobs"] if noted["job"] == job)["stages"].append(dict(stage))
        self._write()

    def seconds_of(self, stage: str) -> float:
        """Return how long the last command has worked on a stage."""
        did = _of_name(self.content["last_call"]["stages"], stage)
        return float(did["seconds"]) if did else 0.0

    def note(self, report: StageReport, *, final: bool) -> None:
        """Note what this command did for a stage so far; *final* if it does no more."""
        if report.name not in self._begun:
            self._begun[report.name] = self._before(report)
        begun = self._begun[report.name]
        self._note_work(report, begun["work"])
        self._note_last_call(report, begun["last_call"])
        if final:
            del self._begun[report.name]
        if final or self._written_at is None or time.monotonic() - self._written_at > _NOTE_EVERY_S:
            self._write()

    def _before(self, report: StageReport) -> dict[str, Any]:
        """Return what this command had done for the stage before, and note work that no command has told of."""
        stage = _of_name(self.content["stages"], report.name) or _stage(report.name, report.table)
        told = sum(work["pieces"] for work in stage["work"])
        stage["pieces_untold"] = max(stage["pieces_untold"], report.found - told)
        if stage not in self.content["stages"]:
            self.content["stages"].append(stage)
        last = _of_name(self.content["last_call"]["stages"], report.name) or {}
        work: dict[str, Any] = next((one for one in stage["work"] if one["command"] == self._command), {})
        return {"work": dict(work), "last_call": dict(last)}

    def _note_work(self, report: StageReport, before: Mapping[str, Any]) -> None:
        stage = _of_name(self.content["stages"], report.name)
        assert stage is not None
        stage["wanted"] = report.wanted
        if report.pieces:
            self.content["commands"].setdefault(self._command, self._maker)
            how = {name: getattr(report, name) for name in _HOW}
            work = {"command": self._command, **_added(before, report), **how}
            stage["work"] = [one for one in stage["work"] if one["command"] != self._command] + [work]
        stage.update({name: sum(work[name] for work in stage["work"]) for name in _SUMS})

    def _note_last_call(self, report: StageReport, before: Mapping[str, Any]) -> None:
        stages = self.content["last_call"]["stages"]
        did = {"name": report.name, "table": report.table, "wanted": report.wanted, "found": report.found}
        did |= _added(before, report)
        if (noted := _of_name(stages, report.name)) is None:
            stages.append(did)
        else:
            noted.update(did)

    @contextmanager
    def stays(self) -> Iterator[None]:
        """Say at the end of the `with` that the run was deleted meanwhile, whatever else that led to."""
        try:
            yield
        finally:
            self._check_there()

    def _check_there(self) -> None:
        if self._written_at is not None and not self._run.has(RECORD_FILE):
            raise StorageError(
                f"{self._run.url}: {RECORD_FILE} is gone: expected the run that this command works on, which somebody "
                "deleted or moved. Delete what is left there, or move the run back, and give the same command again: "
                "finished calls are in the ledger and not paid again",
                lasts=True,
            )

    def _write(self) -> None:
        self._check_there()
        self._run.write_json(RECORD_FILE, self.content, sealed=True)
        self._written_at = time.monotonic()


def _stage(name: str, table: str) -> dict[str, Any]:
    return {"name": name, "table": table, "wanted": 0, **dict.fromkeys(_SUMS, 0), "pieces_untold": 0, "work": []}


def _added(before: Mapping[str, Any], report: StageReport) -> dict[str, Any]:
    return {name: before.get(name, 0) + getattr(report, name) for name in _SUMS}


def _of_name(stages: Iterable[dict[str, Any]], name: str) -> dict[str, Any] | None:
    return next((stage for stage in stages if stage["name"] == name), None)


# ---------------------------------------------------------------- what stands there


def read_record(run: Folder) -> dict[str, Any]:
    """
    Return the record of a run that was made before.

    Raises:
        UsageError: No run stands there, or it has only been planned.
    """
    record = stored_record(run)
    if not record:
        raise UsageError(
            f"no run at {run.url!r}: expected a folder with {RECORD_FILE}; make one with `longform evaluate`"
        )
    if record["config"] is None:
        raise UsageError(f"{run.url}: this run has only been planned; do it with `longform evaluate` without --plan")
    return record


def check_no_benchmark(url: str) -> None:
    """Refuse a folder that holds a benchmark and no run: a run would write into it."""
    if (run := Folder(url)).has(MANIFEST) and not run.has(RECORD_FILE):
        raise UsageError(f"--out {url}: holds a benchmark, into which a run would write; name another folder")


def check_goes_on(
    run: Folder,  # one without a run takes any experiment
    experiment: Experiment,
    *,
    limit: int | None = None,  # the first queries; None: all
    n_queries: int | None = None,  # those of the benchmark; None: not known yet, so that the limit is not compared
    # version of each prompt that is asked with, and of each class of a user; None: not compared
    prompts: Mapping[str, str] | None = None,
) -> list[str]:
    """
    Make sure that *experiment* is what the folder holds a run of, or adds to it; return its other settings of results.

    Raises:
        UsageError: It changes what stored rows and results mean; each such key is named.
    """
    record = stored_record(run)
    if not record or record["config"] is None:
        return []
    _check_verb(run, record, "evaluate")
    try:
        before = Experiment.model_validate(record["config"])
    except ValidationError as error:
        key = ".".join(map(str, error.errors()[0]["loc"]))
        raise UsageError(
            f"{run.url}: the configuration of this run, made by another version of longform, cannot be read any more "
            f"({key}: {error.errors()[0]['msg']}); name another --out, or go on with the version that made it"
        ) from error
    told = other_configuration(before, experiment)
    if n_queries is not None:
        told += _smaller_limit(record["limit"], limit, n_queries)
    both = record.get("prompts", {}).keys() & (prompts or {}).keys()
    for name in sorted(both):
        told += changes(record["prompts"][name], (prompts or {})[name], f"the version of {name}")
    if told:
        lines = "\n".join(f"  {line}" for line in told)
        raise UsageError(
            f"{run.url}: holds a run of another configuration, and nothing has been done:\n{lines}\n"
            "A run takes further systems, judges and names, and more queries. For other changes name another --out "
            "(finished calls are not paid again), or write the old values"
        )
    return changes_of_results(before, experiment)


def check_replay_goes_on(run: Folder, settings: Mapping[str, Any]) -> None:
    """
    Make sure that the folder holds no run but one of `replay`, whose settings may all change, and say which do.

    Raises:
        UsageError: It holds another.
    """
    if record := stored_record(run):
        _check_verb(run, record, "replay")
        config = record["config"]
        say_changed(run, [line for key in settings for line in changes(config.get(key), settings[key], key)])


def say_changed(run: Folder, changed: Sequence[str]) -> None:
    """Say how results will be made otherwise than the folder's record holds, if there is anything."""
    if changed:
        say(f"{run.url}: results are made by other settings than before: {'; '.join(changed)}", file=sys.stderr)


def _check_verb(run: Folder, record: Mapping[str, Any], verb: str) -> None:
    if record["verb"] != verb:
        raise UsageError(
            f"{run.url}: holds a run of `longform {record['verb']}`, not of `longform {verb}`; name another --out"
        )


def _smaller_limit(before: int | None, now: int | None, n_queries: int) -> list[str]:
    old, new = (n_queries if limit is None else min(limit, n_queries) for limit in (before, now))
    return [] if new >= old else [f"--limit was {'not set' if before is None else before}, is {now}"]


def stored_record(run: Folder) -> dict[str, Any]:
    """Return the record of a run, also of one that has only been planned; nothing if no run stands there."""
    if not run.has(RECORD_FILE):
        return {}
    record: dict[str, Any] = run.read_json(RECORD_FILE, needs=_TOLD)
    found = record.get("format", 1)
    if not isinstance(found, int) or found > _FORMAT:
        raise UsageError(
            f"{run.url}: {RECORD_FILE} is of format {found}, and this version of longform reads up to {_FORMAT}; "
            "go on with the version that wrote it, or name another --out"
        )
    return record if found == _FORMAT else _from_first_format(record)


def _from_first_format(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record that told of its last call only, with that call as the one that did its work."""
    maker = {"verb": record["verb"], "git_commit": record["git_commit"], "versions": record["versions"]}
    stages: list[dict[str, Any]] = []
    for told in record["stages"]:
        stage = _stage(told["name"], told["table"]) | {"wanted": told["wanted"], "pieces_untold": told["found"]}
        if pieces := told["wanted"] - told["found"]:
            work = {"pieces": pieces, "rows": told["rows"], "seconds": told["seconds"]}
            stage |= work | {"work": [{"command": _NOT_NAMED, **work, "workers": None}]}
        stages.append(stage)
    commands = {_NOT_NAMED: maker} if any(stage["work"] for stage in stages) else {}
    kept = {key: record[key] for key in ("verb", "benchmark", "config", "limit", "jobs")}
    return {**kept, "prompts": {}, "commands": commands, "stages": stages}


def _check_dataset(run: Folder, before: Mapping[str, Any], benchmark: Benchmark) -> None:
    dataset = benchmark.manifest["dataset_hash"]
    if before and before["benchmark"]["dataset_hash"] != dataset:
        held = before["benchmark"]
        raise UsageError(
            f"{run.url}: holds a run of benchmark {held['url']} (dataset {held['dataset_hash']}), "
            f"not of {benchmark.folder.url} (dataset {dataset}); name another folder"
        )


def _versions() -> dict[str, str]:
    found = {"longform": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):  # what an extra brings is not there, and had no part in the run
            found[name] = version(name)
    return found


def _git_commit() -> str | None:
    """Return the commit of the code, wherever the command was typed; None outside a checkout."""
    here = Path(__file__).parent
    answer = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=False)  # noqa: S607
    return answer.stdout.strip() if answer.returncode == 0 else None
