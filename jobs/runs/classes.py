"""The versions of users' classes that the rows of a run depend on."""

from __future__ import annotations

from actors.python_class import class_version, version_of
from longform.settings.experiment import Experiment
from longform.settings.python_class import PythonClassSettings


def class_versions(experiment: Experiment) -> dict[str, str]:
    """
    Return the version of each class and kind of a user that rows are made with, by its import path.

    Measures are left out: scores are made anew from stored rows.
    """
    named = [
        *experiment.retrievers.values(),
        *experiment.rerankers.values(),
        *experiment.summarizers.values(),
        *experiment.judges.values(),
    ]
    found = {one.class_: class_version(one) for one in named if isinstance(one, PythonClassSettings)}
    own_kinds = [judge for judge in experiment.judges.values() if ":" in judge.task]
    return found | {judge.task: version_of(judge.task, folder=judge.folder) for judge in own_kinds}
