"""The judges of a run: who the served ones are, asked before any work; scales and cards of all, for its report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from actors.judges.opening import Described, Judge, card_of_file, make_judge
from actors.python_class import actor_of
from actors.serving.endpoint import is_of_cluster
from actors.storage.folder import Folder
from jobs.runs.record import stored_record
from jobs.stages.cluster import Cluster
from longform.judges.card_columns import Adversarial, Card
from longform.judges.cards import (
    describe,
    described_parts,
    judged_by,
    other_judge,
    shipped_card,
    shipped_card_of,
    worth,
)
from longform.results.results import JudgeRow
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.settings.named_judges import judge_scale


class _CardLine(NamedTuple):
    card: str | None
    reason: str | None = None
    worth: str | None = None
    adversarial: Adversarial | None = None
    parts: list[str] | None = None


def judge_rows(experiment: Experiment, served: Mapping[str, Mapping[str, Any]] | None = None) -> list[JudgeRow]:
    """
    A row of each judge; *served* is what servers say of judges that they serve.

    The card is the configuration's, else the one that ships or that the server states, else None; a card of another
    judge is None, with the reason.

    Raises:
        UsageError: A card that the configuration names cannot be read, or is of another kind than its judge.
    """
    return [
        _row(name, judge_scale(name, experiment.judges), _card_line(experiment, name, (served or {}).get(name, {})))
        for name in experiment.judges
    ]


def _row(name: str, scale: str | None, line: _CardLine) -> JudgeRow:
    row: JudgeRow = {"judge": name, "scale": scale, "card": line.card, "worth": line.worth, "card_reason": line.reason}
    if line.adversarial is not None:
        row["adversarial"] = line.adversarial
    return row | {"card_parts": line.parts} if line.parts else row


def released_judge_row(name: str) -> JudgeRow:
    """The same for labels that a release ships."""
    return _row(name, None, _line_of(shipped_card(name)))


def _card_line(experiment: Experiment, name: str, served: Mapping[str, Any]) -> _CardLine:
    """Return the line of a judge's card, or why it has none; None and None without a card."""
    path, judge = experiment.cards.get(name), experiment.judges[name]
    if path is None:
        shipped = _line_of(shipped_card_of(judge))
        return shipped if shipped.card else _CardLine(served.get("card"))
    card = card_of_file(path, judge.task, expected=f"the card of judge {name!r}")
    judges = experiment.judges
    versions = {one: make_judge(one, judges, prompts=experiment.prompts).version for one in judges}
    if reason := other_judge(card, judged_by(name, experiment.judges, versions)):
        return _CardLine(None, f"{path} is {reason}")
    return _line_of(card)


def _line_of(card: Card | None) -> _CardLine:
    if card is None:
        return _CardLine(None)
    return _CardLine(describe(card), None, worth(card), card.get("adversarial"), described_parts(card))


# ---------------------------------------------------------------- served ones


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
    config: Mapping[str, Any] = stored_record(Folder(out_url)).get("config") or {}
    before = (config.get("judges") or {}).items()
    old = {name for name, judge in before if judge.get("kind") == "served" and judge.get("version") is None}
    asked = {name: told for name, told in about.items() if name not in old}
    judges = with_versions(experiment.judges, asked)
    return experiment.model_copy(update={"judges": judges}), about
