"""A judge that is the mean of others of this configuration; each is asked as it would be by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from actors.serving.messages import About
from longform.judges import mean_coverage as mean_judge
from longform.judges import mean_support
from longform.judges.support_prompts import SupportVerdict
from longform.keys import content_key
from longform.settings.judges import MeanJudgeSettings, MeanSupportJudgeSettings
from longform.settings.strict import Strict
from serve.engine import Work
from serve.judges.items import JudgeWorker, common_item

NO_CARD_OF_MEAN = "no card is read for a mean of judges; those of its members say what they are worth"

Members = Mapping[str, Sequence[Mapping[str, Any]]]
"""Judge -> its verdicts on one item, as it would answer them."""


class MeanWorker:
    """
    A unit is an item. Its members are loaded in this replica, too.

    Args:
        name: Of the entry.
        judge: The mean.
        members: Name -> member, in the order in which the mean names them.
    """

    def __init__(
        self, name: str, judge: MeanJudgeSettings | MeanSupportJudgeSettings, members: Mapping[str, JudgeWorker]
    ) -> None:
        self._name, self._judge, self._members = name, judge, members
        self.item: type[Strict] = common_item([member.item for member in members.values()])
        abouts = [member.about for member in members.values()]
        code = mean_judge.VERSION if isinstance(judge, MeanJudgeSettings) else mean_support.VERSION
        self.about = About(
            name,
            "judge",
            version=content_key(code, judge.model_dump(mode="json"), [about.version for about in abouts]),
            task=abouts[0].task,
            score_kind="probability",
            card_reason=NO_CARD_OF_MEAN,
            estimated=any(about.estimated for about in abouts),
        )

    def split(self, item: Mapping[str, Any]) -> list[Any]:
        return [item]

    def run(self, units: list[Any]) -> list[Work]:
        works = {name: _works(member, units) for name, member in self._members.items()}
        return [self._mean({name: of[place] for name, of in works.items()}) for place in range(len(units))]

    def _mean(self, works: Mapping[str, Sequence[Work]]) -> Work:
        """
        Return the mean of one item's answers by each member.

        It is from the ledger if every call is, and there is one: a local member's answer costs nothing, and is computed
        again.
        """
        every = [work for of in works.values() for work in of]
        called = [work for work in every if any(verdict.get("call_id") for verdict in work.content)]
        return Work(
            mean_verdicts(
                self._judge, {name: [one for work in of for one in work.content] for name, of in works.items()}
            ),
            sum(work.tokens for work in every),
            truncated=any(work.truncated for work in every),
            lasting=all(work.lasting for work in every),
            from_ledger=bool(called) and all(work.from_ledger for work in called),
            output_tokens=sum(work.output_tokens for work in every),
            settled=not called and any(work.settled for work in every),
        )


def mean_verdicts(judge: MeanJudgeSettings | MeanSupportJudgeSettings, members: Members) -> list[dict[str, Any]]:
    """The means as a judge answers them, one for each insight or sentence; `reply` has the members' numbers."""
    if isinstance(judge, MeanJudgeSettings):
        rows = {name: [_coverage_row(*one) for one in enumerate(verdicts)] for name, verdicts in members.items()}
        means = mean_judge.mean_verdicts(rows, judge="", cuts=judge.cuts)
        names = ("answer", "probability", "failure", "reply", "call_id")
        return [{name: mean[name] for name in names} | {"linked_bullet": mean["linked_unit"]} for mean in means]
    rows = {name: [_support_row(*one) for one in enumerate(verdicts)] for name, verdicts in members.items()}
    means = mean_support.mean_support_verdicts(rows, judge="", threshold=judge.threshold)
    return [
        SupportVerdict(mean["answer"], mean["probability"], mean["failure"], reply=mean["reply"])._asdict()
        for mean in means
    ]


def _coverage_row(place: int, verdict: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict on the insight at *place*, as a job's table has it."""
    return {**verdict, **_IN_NO_SUMMARY, "target_id": str(place), "linked_unit": verdict["linked_bullet"]}


def _support_row(place: int, verdict: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict on the sentence at *place*, as a job's table has it."""
    return {**verdict, **_IN_NO_SUMMARY, "target_id": "", "unit_index": place, "doc_position": None}


_IN_NO_SUMMARY = {"summary_id": "", "target_kind": "", "mode": "full"}


def _works(worker: JudgeWorker, items: Sequence[Any]) -> list[list[Work]]:
    """Shape (items, units of the worker)."""
    split = [worker.split(item) for item in items]
    done = iter(worker.run([unit for units in split for unit in units]))
    return [[next(done) for _ in units] for units in split]
