"""Ask the served judges of a command who they are, before any work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actors.judges.opening import Described, Judge
from actors.python_class import actor_of
from actors.serving.endpoint import is_of_cluster
from actors.storage.folder import Folder
from jobs.runs.record import RECORD_FILE
from jobs.stages.cluster import Cluster
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings


def described(judges: Mapping[str, JudgeSettings], cluster: Cluster) -> dict[str, Described]:
    """
    Return the description of each served judge; the cluster is joined if it serves one.

    Raises:
        UsageError, LongformError: As of `Judge.about`.
    """
    urls = [judge.server_url for judge in judges.values() if judge.server_url is not None]
    if cluster.is_named and any(map(is_of_cluster, urls)):
        cluster.start()
    asked = {name: actor_of(judge, Judge).about(name, judge) for name, judge in judges.items()}
    return {name: about for name, about in asked.items() if about is not None}


def with_versions(judges: Mapping[str, JudgeSettings], about: Mapping[str, Described]) -> dict[str, JudgeSettings]:
    """Return *judges*, the served ones with the version that their server states, unless the settings state one."""
    return {
        name: judge.of_version(about[name]["version"]) if name in about else judge for name, judge in judges.items()
    }


def with_served(experiment: Experiment, cluster: Cluster, out_url: str) -> tuple[Experiment, dict[str, Described]]:
    """
    Return the experiment with the versions of its served judges, and their descriptions for the record of the run.

    A run that was begun before versions were asked for goes on without them.

    Raises:
        UsageError, LongformError: As of `described`.
    """
    about = described(experiment.judges, cluster)
    if not about:
        return experiment, {}
    before = _before(Folder(out_url))
    old = {name for name, judge in before.items() if judge.get("kind") == "served" and judge.get("version") is None}
    asked = {name: told for name, told in about.items() if name not in old}
    judges = with_versions(experiment.judges, asked)
    return experiment.model_copy(update={"judges": judges}), about


def _before(run: Folder) -> Mapping[str, Mapping[str, Any]]:
    """Return the judges of the run that the folder holds; none if it holds none."""
    config = run.read_json(RECORD_FILE).get("config") if run.has(RECORD_FILE) else None
    found: Mapping[str, Mapping[str, Any]] = (config or {}).get("judges") or {}
    return found
