"""
The audit of a made benchmark, and other files beside its tables.

Reads   documents, queries, targets, qrels; haystacks/ (the planted statements), audit.json, synthesis.json if there
Writes  audit.json, one haystack a task, whose findings stand in the table `audits` until all are there;
        summhay/topic_<haystack_id>.json, where existing files are not written again; tables.json
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial

from pydantic import JsonValue

from actors.storage.benchmark import ACCOUNT, AUDIT, TABLES, Benchmark
from actors.storage.folder import Folder
from jobs.stages.cluster import Cluster
from jobs.stages.runner import PlainStage, Task, run_stage
from longform.formats.summhay_export import topic_file
from longform.keys import content_key
from longform.rows import AuditRow
from longform.synthesis.audit.audit import VERSION, HaystackAudit, audit_haystack, audit_report
from longform.synthesis.audit.planted import HaystackFacts
from longform.synthesis.tables import benchmark_tables

FACTS = "haystacks"
_SUMMHAY = "summhay"


def write_facts(folder: Folder, facts: HaystackFacts) -> None:
    """Keep the settings of a haystack, and its planted statements."""
    folder.write_json(_facts_name(facts.haystack_id), facts.model_dump(mode="json"))


def read_facts(folder: Folder, haystack_id: str) -> HaystackFacts | None:
    """Return the facts that the maker of a haystack wrote down; None if it wrote none."""
    name = _facts_name(haystack_id)
    return HaystackFacts.model_validate(folder.read_json(name)) if folder.has(name) else None


def write_tables(folder: Folder) -> None:
    """Keep a benchmark's audit and account as tables, of whichever of the two it has."""
    audit, account = (folder.read_json(name) if folder.has(name) else None for name in (AUDIT, ACCOUNT))
    if (described := benchmark_tables(audit, account)) is not None:
        folder.write_json(TABLES, described, sealed=True)


def export_summhay(url: str) -> None:
    """Write the SummHay files of the benchmark at *url*, one a haystack, that are missing."""
    benchmark = Benchmark(url)
    for haystack_id in benchmark.haystack_ids:
        name = f"{_SUMMHAY}/topic_{haystack_id}.json"
        if not benchmark.folder.has(name):
            facts = read_facts(benchmark.folder, haystack_id)
            metadata = {"settings": dict(facts.settings)} if facts else {}
            benchmark.folder.write_json(name, topic_file(*benchmark.haystack_tables(haystack_id), metadata=metadata))


def _facts_name(haystack_id: str) -> str:
    return f"{FACTS}/{haystack_id}.json"


_TABLE = "audits"
_WORK = "synthesis"


def write_audit(url: str, *, seed: int = 0, cluster: Cluster | None = None) -> Mapping[str, JsonValue]:
    """
    Return the audit of the benchmark with documents at *url*, made and written if this version's is not there.

    *cluster* looks at haystacks if there are several; None: this process does, one after the other.

    Raises:
        StageError: A haystack could not be looked at.
    """
    benchmark = Benchmark(url)
    made_of = {"dataset_hash": benchmark.manifest["dataset_hash"], "version": VERSION}
    if benchmark.folder.has(AUDIT):
        stands: dict[str, JsonValue] = benchmark.folder.read_json(AUDIT)
        if made_of.items() <= stands.items():
            return stands
    if cluster is None or len(benchmark.haystack_ids) == 1:
        parts = [_audited(benchmark, haystack_id) for haystack_id in benchmark.haystack_ids]
    else:
        parts = _on_cluster(benchmark, url, cluster)
    audit = made_of | audit_report(parts, seed=seed)
    benchmark.folder.write_json(AUDIT, audit, sealed=True)
    work = benchmark.folder.child(_WORK)
    work.delete_table(_TABLE)
    work.delete_if_empty()
    return audit


def _audited(benchmark: Benchmark, haystack_id: str) -> HaystackAudit:
    documents, _, targets, qrels = benchmark.haystack_tables(haystack_id)
    return audit_haystack(documents, targets, qrels, read_facts(benchmark.folder, haystack_id))


def _on_cluster(benchmark: Benchmark, url: str, cluster: Cluster) -> list[HaystackAudit]:
    """The same by workers, in the benchmark's order of haystacks."""
    work, identity = benchmark.folder.child(_WORK), content_key(url, benchmark.manifest["dataset_hash"], VERSION)
    ids = {content_key(identity, haystack_id): haystack_id for haystack_id in benchmark.haystack_ids}
    tasks = [Task(work_ids=(work_id,), payload={"work_id": work_id, "haystack_id": ids[work_id]}) for work_id in ids]
    done = work.locate(_TABLE)
    todo = [task for task in tasks if task.work_ids[0] not in done]
    worker = partial(_audit_worker, url)
    stage = PlainStage(name="audit", table=_TABLE, make_worker=worker, unit="haystacks")
    run_stage(work, stage, len(tasks), todo, cluster=cluster)
    audits = work.snapshot(_TABLE)
    rows = [audits.read(work_ids=task.work_ids).to_pylist()[0] for task in tasks]
    return [HaystackAudit.from_json(json.loads(row["audit"])) for row in rows]


def _audit_worker(url: str) -> Callable[[Mapping[str, str]], list[AuditRow]]:
    """Make the worker of the table `audits`: a payload names a haystack."""
    benchmark = Benchmark(url)

    def audit(payload: Mapping[str, str]) -> list[AuditRow]:
        work_id, haystack_id = payload["work_id"], payload["haystack_id"]
        found = _audited(benchmark, haystack_id)
        return [{"work_id": work_id, "haystack_id": haystack_id, "audit": json.dumps(found.as_json())}]

    return audit
