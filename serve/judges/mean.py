"""A judge that is the mean of others of this configuration; each is asked as it would be by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.judges.opening import Judge
from actors.serving.messages import About
from longform.judges.merged import MEAN_VERSION, mean_verdict
from longform.judges.served import read_verdict, served_verdict
from longform.keys import content_key
from longform.settings.strict import Strict
from serve.engine import Work
from serve.items import JudgeItem, JudgeUnit, Verdicts
from serve.judges.items import JudgeWorker, card_fields, common_item

NO_CARD_OF_MEAN = "no card is named for this mean of judges; those of its members say what they are worth"


class MeanWorker:
    """
    A unit is an item. Its members are loaded in this replica, too.

    Args:
        name: Of the entry.
        judge: The mean.
        members: Name -> member, in the order in which the mean names them.
        card: The line of its card; None: it has none.
    """

    def __init__(self, name: str, judge: Judge, members: Mapping[str, JudgeWorker], *, card: str | None = None) -> None:
        self._name, self._judge, self._members = name, judge, members
        self.item: type[Strict] = common_item([member.item for member in members.values()])
        abouts = [member.about for member in members.values()]
        self.about = About(
            name,
            "judge",
            version=content_key(MEAN_VERSION, judge.settings.stated, [about.version for about in abouts]),
            task=abouts[0].task,
            score_kind="probability",
            **card_fields(card, none=NO_CARD_OF_MEAN),
            estimated=any(about.estimated for about in abouts),
        )

    def split(self, item: JudgeItem) -> list[JudgeUnit]:
        return [item]

    def run(self, units: list[JudgeUnit]) -> list[Work]:
        items = [unit for unit in units if isinstance(unit, Mapping)]
        works = {name: _works(member, items) for name, member in self._members.items()}
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


def mean_verdicts(judge: Judge, members: Mapping[str, Verdicts]) -> Verdicts:
    """
    Return the means as a judge answers them, one an item; `reply` has the members' numbers.

    Args:
        judge: The mean.
        members: Judge -> its verdicts on one item, as it would answer them.
    """
    found = {name: [read_verdict(one) for one in verdicts] for name, verdicts in members.items()}
    means = (
        mean_verdict(judge.kind, dict(zip(found, of_pair, strict=True)), judge.settings.bounds)
        for of_pair in zip(*found.values(), strict=True)
    )
    return [served_verdict(judge.kind, mean) for mean in means]


def _works(worker: JudgeWorker, items: Sequence[JudgeItem]) -> list[list[Work]]:
    """Shape (items, units of the worker)."""
    split = [worker.split(item) for item in items]
    done = iter(worker.run([unit for units in split for unit in units]))
    return [[next(done) for _ in units] for units in split]
