"""Hold a run against thresholds and a baseline."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from actors.storage.folder import Folder, file_place
from actors.terminal import say
from jobs.command import DONE, FAILURES_ABOVE_THRESHOLD, WORSE
from jobs.command.run import Outcome
from jobs.results.compared import paired_systems, two_runs
from jobs.results.stored_run import labels_of, read_stored
from jobs.results.two_runs import is_of_rankings
from jobs.results.write import read_results
from longform.errors import UsageError, meant
from longform.formats.files import last_part
from longform.metrics.measure import Description
from longform.report.answers import answer_markdown
from longform.results.cells import systems_in
from longform.results.gate import (
    SUPPORT,
    SUPPORT_MEASURE,
    Check,
    Threshold,
    baseline_checks,
    cannot_tell,
    check_line,
    check_measures,
    check_table,
    conclusion,
    failed,
    junit_xml,
    measures_of,
    read_threshold,
    threshold_checks,
)
from longform.results.results import VerbAnswer
from longform.settings.experiment import Experiment
from longform.settings.systems import SystemName

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
_UNJUDGED_THRESHOLD: float = Experiment.model_fields["unjudged_threshold"].default


class Gate(NamedTuple):
    """The gate of a command line; no measures are all, and a file that is None is not written."""

    thresholds: Sequence[Threshold]
    against: str | None
    measures: Sequence[str]
    systems: Sequence[str]
    junit: str | None
    summary: str | None

    @property
    def wanted(self) -> bool:
        return bool(self.thresholds or self.against)


NO_GATE = Gate([], None, [], [], None, None)


def gate_of(arguments: argparse.Namespace) -> Gate:
    """
    Read the gate's options, and find before any work what cannot succeed.

    Raises:
        UsageError: A threshold cannot be read, an option needs another, or a file cannot be written.
    """
    thresholds = [
        *(read_threshold(words, "under") for words in arguments.fail_under),
        *(read_threshold(words, "above") for words in arguments.fail_above),
    ]
    gate = Gate(
        thresholds,
        arguments.against,
        [SUPPORT_MEASURE if name == SUPPORT else name for name in arguments.against_measure],
        arguments.systems,
        arguments.junit,
        _summary_file(arguments.github_summary),
    )
    for option, value in (("--against-measure", gate.measures), ("--systems", gate.systems)):
        if value and not gate.against:
            raise UsageError(f"{option} says what is compared with a baseline: expected --against BASELINE beside it")
    if gate.junit and not gate.wanted:
        raise UsageError("--junit writes checks: expected --fail-under MEASURE=NUMBER or --against BASELINE beside it")
    for option, file in (("--junit", gate.junit), ("--github-summary", gate.summary)):
        _check_writable(option, file)
    return gate


def _summary_file(named: str | None) -> str | None:
    if named != "":
        return named
    if not (found := os.environ.get(SUMMARY_VARIABLE)):
        raise UsageError(
            f"--github-summary: {SUMMARY_VARIABLE} is not set, as it is outside of GitHub's jobs; name a file: "
            "--github-summary FILE"
        )
    return found


def _check_writable(option: str, file: str | None) -> None:
    if file is None or "://" in file:
        return
    path = Path(file).absolute()
    if path.is_dir():
        raise UsageError(f"{option} {file}: expected a file, found a folder")
    place = path if path.exists() else next(parent for parent in path.parents if parent.exists())
    if not os.access(place, os.W_OK):
        raise UsageError(f"{option} {file}: {place} may not be written to; name another file")


def check_known(gate: Gate, known: Mapping[str, Description], *, lacking: Sequence[str] = ()) -> None:
    """Refuse thresholds on measures that a run does not have, with what it is *lacking*; print oddities of others."""
    try:
        warnings = check_measures(gate.thresholds, known, where="this run")
    except UsageError as error:
        if not lacking or all(one.measure in known for one in gate.thresholds):
            raise
        raise UsageError(f"{error}. {' '.join(lacking)}") from error
    for line in warnings:
        say(f"warning: {line}", file=sys.stderr)


class ComparedRun(NamedTuple):
    """A run as a gate compares it, or answers that become one."""

    label: str  # in errors
    systems: Sequence[SystemName]  # twins left out
    query_ids: Collection[str]  # that have a summary
    measures: Collection[str]  # that it has scores of, or will have


def compared_run(url: str) -> ComparedRun:
    """
    Return a run that is there.

    Raises:
        UsageError: It is not finished, or no run.
    """
    read_results(Folder(url))
    stored = read_stored(url, last_part(url))
    held = {name for judge in stored.table.judges for name in stored.table.measures(judge)}
    return ComparedRun(url, stored.systems, stored.query_ids, held)


def check_against(gate: Gate, own: ComparedRun, baseline: ComparedRun) -> None:
    """
    Refuse a baseline that cannot be compared with a run as the gate asks, before anything is judged.

    Raises:
        UsageError: They share no query, a system or a measure is not there, or nothing is left to compare.
    """
    if not set(own.query_ids) & set(baseline.query_ids):
        raise UsageError(
            f"--against {baseline.label}: expected a baseline on queries of {own.label}, found none of them in it"
        )
    paired_systems((baseline.systems, own.systems), (baseline.label, own.label), gate.systems)
    for one in (own, baseline):
        known = sorted(SUPPORT if name == SUPPORT_MEASURE else name for name in one.measures)
        for name in gate.measures:
            if name not in one.measures and not is_of_rankings(name):
                found = SUPPORT if name == SUPPORT_MEASURE else name
                raise UsageError(
                    f"--against-measure {found}: expected a measure of {one.label} ({', '.join(known)}), found "
                    f"{found!r}{meant(found, known)}"
                )
    if not set(own.measures) & set(baseline.measures):
        lists = [f"{one.label} has {', '.join(sorted(one.measures)) or 'none'}" for one in (baseline, own)]
        raise UsageError(f"--against {baseline.label}: expected a measure that both have; {'; '.join(lists)}")


# ---------------------------------------------------------------- the checks


def gated(gate: Gate, url: str, results: Mapping[str, Any], outcome: Outcome, *, against: str | None) -> Outcome:
    """
    Return the outcome of a finished run with its checks, which are written to the files that the gate names.

    The exit code 3 of *outcome*, which is without the gate, stays. A run *against* which it is held is its baseline.
    """
    checks, told = _checks(gate, url, results, against)
    missing = shortfall(results, threshold_of(results)) if outcome.exit_code == FAILURES_ABOVE_THRESHOLD else None
    unjudged = f"{missing}: the checks are no evidence (exit code 3)" if missing else None
    told += [unjudged] if unjudged else []
    code = WORSE if failed(checks) and outcome.exit_code == DONE else outcome.exit_code
    ended = f"{conclusion(checks, judged=not unjudged)}; exit code {code}" if checks else "No checks."
    tables, measures = [check_table(checks)] if checks else [], list(measures_of(results).values())
    answer = VerbAnswer(f"longform: {url}", [ended, *told], tables, measures, "Gate")
    _write(gate, url, checks, answer, unjudged)
    if not gate.wanted:
        return outcome
    lines = [*map(check_line, checks), *(f"note: {one}" for one in told), ended]
    own = {"told": told, "failed": len(failed(checks)), **answer.document}
    words = [outcome.words, *lines] if outcome.words else lines
    return Outcome({**outcome.document, "gate": own}, "\n".join(words), code)


def _checks(gate: Gate, url: str, results: Mapping[str, Any], against: str | None) -> tuple[list[Check], list[str]]:
    checks: list[Check] = []
    told: list[str] = []
    if gate.thresholds:
        known = measures_of(results)
        checks += threshold_checks(systems_in(results), gate.thresholds, known)
    if against is not None:
        names = gate.measures or _compared(results, Folder(against))
        comparison = two_runs([against, url], systems=gate.systems, measures=names)
        rows = [row for table in comparison.tables if table.name == "differences" for row in table.rows]
        checks += baseline_checks(rows, labels_of([against, url]))
        told += [*comparison.beside["cautions"], *cannot_tell(checks)]
    return checks, told


def _compared(results: Mapping[str, Any], baseline: Folder) -> list[str]:
    """Return the measures of a run's tables that have a better direction and that its baseline has, too."""
    own = measures_of(results)
    others = measures_of(read_results(baseline))
    return [name for name, one in own.items() if one["better"] and name in others]


def threshold_of(results: Mapping[str, Any]) -> float:
    config = (results.get("run") or {}).get("config") or {}
    return float(config.get("unjudged_threshold", _UNJUDGED_THRESHOLD))


def _write(gate: Gate, url: str, checks: Sequence[Check], answer: VerbAnswer, unjudged: str | None) -> None:
    if gate.junit:
        folder, name = file_place(gate.junit)
        folder.write_bytes(name, junit_xml(checks, run=url, unjudged=unjudged))
    if gate.summary:
        files = f"[files of this job]({found})" if (found := _artefacts()) else "the files of this job"
        path = Path(gate.summary)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:  # steps of one job add to one file
            file.write(f"{answer_markdown(answer)}\nReport: `{url}/report/index.html`, among {files}.\n")


def _artefacts() -> str | None:
    """Return the address of the files of the GitHub job that this command runs in; None if it runs elsewhere."""
    parts = [os.environ.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    return "{}/{}/actions/runs/{}#artifacts".format(*parts) if all(parts) else None


def shortfall(results: Mapping[str, Any], threshold: float) -> str | None:
    """Say which share of judgements, or of a system's summaries, is missing above the threshold; None: none is."""
    cells = systems_in(results)
    told = []
    unjudged = max((cell.get("unjudged_share") or 0.0 for cell in cells), default=0.0)
    if unjudged > threshold:
        told.append(f"{unjudged:.1%} of what a cell asks its judge is unjudged")
    failed = {
        f"{cell['summarizer']}, {cell['setting']}": float(cell.get("n_failed") or 0) / (cell["n_summaries"] or 1)
        for cell in cells
        if cell["judge"] and not cell.get("twin_of")
    }
    worst = max(failed, key=lambda name: failed[name], default="")
    if worst and failed[worst] > threshold:
        told.append(f"{failed[worst]:.1%} of the summaries of {worst} failed, so that no judge was asked about them")
    return f"{'; '.join(told)} (more than {threshold:.0%})" if told else None
