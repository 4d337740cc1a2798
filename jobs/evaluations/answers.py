"""Judge answers that were written elsewhere: an experiment of shipped texts and offline judges, made for them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from textwrap import indent
from typing import Any, NamedTuple

from actors.storage.benchmark import MANIFEST, Benchmark
from actors.storage.folder import Folder
from actors.terminal import say
from jobs.command import DONE, FAILURES_ABOVE_THRESHOLD
from jobs.command.calling import Calling, ledger_beside
from jobs.command.run import Outcome
from jobs.evaluations.evaluation import evaluate
from jobs.files.answer_paths import ENDINGS, AnswerFile, output_files
from jobs.files.outputs import BARE, OUTPUTS, Added, add_outputs
from jobs.results.gated import (
    NO_GATE,
    ComparedRun,
    Gate,
    check_against,
    check_known,
    compared_run,
    gate_of,
    gated,
    shortfall,
)
from jobs.runs.heartbeat import Heartbeat
from jobs.runs.record import RECORD_FILE
from jobs.runs.unscored import NO_INSIGHTS, NOBODY
from jobs.stages.cluster import Cluster, cluster_of
from jobs.stages.released import Released, shipped_summaries
from longform.errors import UsageError, meant
from longform.formats.files import SourceFile, last_part
from longform.formats.outputs import told_in_words
from longform.judges.kinds import KINDS
from longform.measures import SHIPPED, default_names
from longform.metrics.cited_support import MAIN
from longform.metrics.cited_support import MEASURES as CITED
from longform.metrics.counts import REFUSALS, refusals
from longform.metrics.measure import Description, described
from longform.metrics.rouge import MEASURES as ROUGE
from longform.report.overview import size_told
from longform.report.parts import by_judge, failures_told, judged_words
from longform.report.tables import best_first
from longform.results.cells import measures_in, systems_in
from longform.results.results import document
from longform.settings.chat import ShippedSummarizerSettings
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.settings.named_judges import SHIPPED_JUDGES
from longform.settings.systems import SystemGrid, SystemName, named_system
from longform.tables.files import aligned_text

WRITERS = "outputs"
"""The name of the only summarizer: all that wrote answers."""

_DEFAULTS = {"insight": "offline-people-vectors", "key_point": "offline-key-points"}
_SUPPORT = "offline"


class JudgeChoice(NamedTuple):
    """The judges of some answers."""

    judges: Mapping[str, JudgeSettings]  # by name
    measures: Sequence[str]  # those beside the judges'
    left_out: Sequence[str]  # sentences that say why something is not judged


def choose(benchmark: Benchmark, answers: Collection[Released], named: Sequence[str] | None) -> JudgeChoice:
    """
    Return the judges that a benchmark has targets for, or those that are *named*.

    Raises:
        UsageError: Nothing can be judged.
    """
    queries = dict.fromkeys(answer.query_id for answer in answers)
    kinds = {target.kind for query_id in queries for target in benchmark.targets.get(query_id, [])}
    measures = [measure.name for measure in ROUGE] if "reference" in kinds else []
    refusing = [REFUSALS.name] if _refuses(benchmark) else []
    if named is not None:
        return JudgeChoice({name: SHIPPED_JUDGES[name] for name in named}, [*measures, *refusing], [])
    names = [judge for kind, judge in _DEFAULTS.items() if kind in kinds]
    lacking = [kind for kind in _LACKING if kind not in kinds and (kind == "insight" or not kinds)]
    left_out = [f"{NOBODY} {_LACKING[kind]}." for kind in lacking]
    if benchmark.manifest["rows"]["documents"]:
        names.append(_SUPPORT)
    else:
        left_out.append("The benchmark ships no documents: support cannot be told.")
    if not names and not measures:
        raise UsageError(
            f"{benchmark.folder.url}: expected something to judge answers by, found no insights, key points, "
            "references or documents"
        )
    return JudgeChoice({name: SHIPPED_JUDGES[name] for name in names}, [*measures, *refusing], left_out)


def _refuses(benchmark: Benchmark) -> bool:
    """Return whether an answer has a sentence that refuses."""
    batches = benchmark.folder.batches("summaries", columns=["text"])
    return any(refusals(text)[0] for batch in batches for text in batch["text"].to_pylist())


_LACKING = {
    "insight": NO_INSIGHTS,
    "key_point": "key points: their recall cannot be told",
    "reference": "a reference text: ROUGE cannot be told",
}


def experiment_of(name: str, choice: JudgeChoice) -> Experiment:
    """Return the experiment whose systems are all answers of a benchmark."""
    tasks = list(dict.fromkeys(judge.task for judge in choice.judges.values()))
    more = _more_measures(choice)
    return Experiment(
        name=name,
        seed=1,
        retrievers={},
        summarizers={WRITERS: ShippedSummarizerSettings(kind="shipped")},
        judges=dict(choice.judges),
        systems=(SystemGrid(summarizer=(WRITERS,)),),
        measures=(*default_names(tasks), *more) if more else None,
    )


def _more_measures(choice: JudgeChoice) -> list[str]:
    """Return the measures beside those of the judges' tasks: citations by their support if no insight is judged."""
    tasks = {judge.task for judge in choice.judges.values()}
    cited = [one.name for one in CITED] if "support" in tasks and "coverage" not in tasks else []
    return [*choice.measures, *cited]


# ---------------------------------------------------------------- judged, and held against a gate


def judge(arguments: argparse.Namespace) -> Outcome:
    """Judge the answers that a command line names, and hold them against its gate."""
    gate = gate_of(arguments)
    for name in arguments.judge or ():
        if name not in SHIPPED_JUDGES:
            raise UsageError(
                f"--judge: expected judges of {', '.join(SHIPPED_JUDGES)}, found {name}{meant(name, SHIPPED_JUDGES)}"
            )
    out = (arguments.out or default_out(arguments.outputs[0])).rstrip("/")
    baseline = _baseline(gate.against, out)
    answered = _answered(arguments, arguments.outputs, out)
    _check_thresholds(gate, answered)
    before = _answered(arguments, baseline.files, baseline.run) if baseline is not None and baseline.files else None
    if baseline is not None:
        there = compared_run(baseline.run) if before is None else _compared(before, str(gate.against))
        check_against(gate, _compared(answered, ", ".join(arguments.outputs)), there)
    with cluster_of(arguments) as cluster:
        if before is not None:
            _judged(before, cluster)
        return _judged(answered, cluster, gate, against=baseline.run if baseline else None)


class _Answered(NamedTuple):
    """Answers beside a copy of their benchmark, with the experiment that judges them."""

    out: str
    bench: str
    added: Added
    choice: JudgeChoice
    experiment: Experiment
    systems: Sequence[SystemName]
    query_ids: AbstractSet[str]


def _answered(arguments: argparse.Namespace, outputs: Sequence[str], out: str) -> _Answered:
    files = output_files(outputs)
    bench = f"{out}/benchmark"
    _check_same_files(Folder(bench), files)
    added = add_outputs(arguments.bench, files, out=bench, numbering=arguments.numbering, tables=BARE)
    for line in told_in_words(added.problems):
        say(line, file=sys.stderr)
    benchmark = Benchmark(bench)
    answers = list(shipped_summaries(benchmark))
    choice = choose(benchmark, answers, arguments.judge)
    experiment = experiment_of(f"Answers of {', '.join(_names(outputs, files))}", choice)
    systems = dict.fromkeys(SystemName(one.summarizer, one.setting) for one in answers)
    return _Answered(out, bench, added, choice, experiment, list(systems), {one.query_id for one in answers})


def _judged(answered: _Answered, cluster: Cluster, gate: Gate = NO_GATE, *, against: str | None = None) -> Outcome:
    added, choice, experiment, out = answered.added, answered.choice, answered.experiment, answered.out
    calling = Calling("judge", ledger=ledger_beside(out))
    with Heartbeat(calling.job, "judge") as heartbeat:
        results = evaluate(experiment, answered.bench, out, cluster=cluster, calling=calling, heartbeat=heartbeat)
        outcome = _outcome(results, added, choice, experiment, out)
        heartbeat.ends_with(outcome.exit_code)
    return gated(gate, out, results, outcome, against=against)


class _Baseline(NamedTuple):
    """The run of a baseline, and the files of answers that it is made of; no files: it is there."""

    run: str
    files: Sequence[str]


def _baseline(against: str | None, out: str) -> _Baseline | None:
    """
    Return the baseline that an option names: a run, or a file of answers that becomes one beside *out*.

    Raises:
        UsageError: It is neither.
    """
    if against is None:
        return None
    url = against.rstrip("/")
    if Folder(url).has(RECORD_FILE):
        return _Baseline(url, [])
    try:
        output_files([url])
    except UsageError as error:
        raise UsageError(
            f"--against {against}: expected the folder of a run, which has a {RECORD_FILE}, or answers; found neither: "
            f"{error}"
        ) from error
    return _Baseline(f"{out}-baseline", [url])


def _measures(choice: JudgeChoice) -> dict[str, Description]:
    """Return the measures that answers will have scores of."""
    names = [name for judge in choice.judges.values() for name in KINDS[judge.task].measures]
    names += [*_more_measures(choice), *(MAIN if "support" in {one.task for one in choice.judges.values()} else ())]
    return {one.name: described(one) for one in SHIPPED if one.name in names}


def _compared(answered: _Answered, label: str) -> ComparedRun:
    return ComparedRun(label, answered.systems, answered.query_ids, _measures(answered.choice))


def _check_thresholds(gate: Gate, answered: _Answered) -> None:
    """Refuse thresholds on measures and systems that no score will have, before anything is judged."""
    check_known(gate, _measures(answered.choice), lacking=answered.choice.left_out)
    for one in gate.thresholds:
        if one.system is not None:
            named_system(one.system, answered.systems, asked=f"--fail-{one.direction} {one.told}")


def _names(outputs: Sequence[str], files: Sequence[SourceFile]) -> list[str]:
    """Return the names of files of answers; of texts, an answer each, those of their folders."""
    if any(isinstance(file, AnswerFile) for file in files):
        return [last_part(url) for url in outputs]
    return [file.name for file in files]


def default_out(outputs: str) -> str:
    """Return the run of a file of answers, beside it."""
    plain = outputs.rstrip("/").removesuffix(".gz")
    plain = next((plain.removesuffix(ending) for ending in ENDINGS if plain.endswith(ending)), plain)
    return f"{plain}-judged"


def _check_same_files(copy: Folder, files: Sequence[SourceFile]) -> None:
    """Refuse a run of answers that are not among *files*, or not in these words."""
    if not copy.has(MANIFEST):
        return
    given = {file.identity()["sha256"] for file in files}
    held = [copy.read_json(f"{OUTPUTS}/{name}") for name in copy.names(OUTPUTS)]
    if older := sorted(one["name"] for one in held if "marks" not in one):
        raise UsageError(
            f"{last_part(copy.url.removesuffix('/benchmark'))}: answers of {', '.join(older)} stand here as an older "
            "version of longform read them; name another --out, or delete this one"
        )
    if other := sorted(one["name"] for one in held if one["sha256"] not in given):
        raise UsageError(
            f"{last_part(copy.url.removesuffix('/benchmark'))}: answers of {', '.join(other)} stand here, with other "
            "contents than the files named now; name another --out, or delete this one"
        )


def _outcome(results: dict[str, Any], added: Added, choice: JudgeChoice, experiment: Experiment, out: str) -> Outcome:
    report = f"{out}/report/index.html"
    unscored = dict.fromkeys([*choice.left_out, *results["unscored"]])
    told = [*results["read"], *unscored, *failures_told(systems_in(results))]
    above = shortfall(results, experiment.unjudged_threshold)
    told += [f"{above}."] if above else []
    words = "\n".join([*table(results), *told, f"{size_told(results['size'])}; report: {report}"])
    beside = {"outputs": added.document(), "left_out": list(choice.left_out), "report": report}
    return Outcome({**document(results), **beside}, words, FAILURES_ABOVE_THRESHOLD if above else DONE)


def table(results: Mapping[str, Any]) -> list[str]:
    """Return the main scores of each system as lines of a table, a block a judge."""
    titles = {one["name"]: one["title"] for one in measures_in(results)}
    found: list[str] = []
    for judge, dataset, cells in by_judge(systems_in(results)):
        own = {name: titles[name] for name in titles if any(name in cell for cell in cells)}
        found += _block(judged_words(judge, dataset), best_first(cells), own)
    return found


def _block(head: str, cells: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> Iterator[str]:
    rows = [["system", "setting", "answers", *titles.values()]]
    rows += [
        [
            str(cell["summarizer"]),
            str(cell["setting"]),
            str(cell["n_summaries"]),
            *("-" if cell.get(name) is None else f"{cell[name]:.1f}" for name in titles),
        ]
        for cell in cells
    ]
    yield head
    yield from indent(aligned_text(rows, left=range(len(rows[0]))), "  ").splitlines()
