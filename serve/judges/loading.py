"""Load the judge of a configuration's entry, of any kind, or the mean of several."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from actors.judges.opening import Judge, make_judge
from actors.serving.messages import About
from longform.errors import UsageError
from longform.judges.means import MEAN_VERSION, mean_verdict
from longform.judges.replies import read_verdict, served_verdict
from longform.keys import content_key
from longform.settings.strict import Strict
from serve.engine import JudgeItem, JudgeUnit, Work
from serve.judges.items import JudgeWorker, common_item, item_of, served_card
from serve.judges.workers import KindWorker
from serve.settings import ServedJudge, ServedKind, ServedOther

NO_CARD_OF_MEAN = "no card is named for this mean of judges; those of its members say what they are worth"


class MeanWorker:
    """
    A judge that is the mean of others of this configuration, each asked as it would be by itself.

    A unit is an item. Its members are loaded in this replica, too, in the order in which the mean names them.
    """

    def __init__(self, name: str, judge: Judge, members: Mapping[str, JudgeWorker], *, card: str | None = None) -> None:
        self._name, self._judge, self._members = name, judge, members
        self.item: type[Strict] = common_item(member.item for member in members.values())
        abouts = [member.about for member in members.values()]
        self.about = About(
            name,
            "judge",
            version=content_key(MEAN_VERSION, judge.settings.stated, [about.version for about in abouts]),
            task=abouts[0].task,
            score_kind="probability",
            card=card,
            card_reason=None if card else NO_CARD_OF_MEAN,
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


def mean_verdicts(judge: Judge, members: Mapping[str, Sequence[Mapping[str, JsonValue]]]) -> list[dict[str, JsonValue]]:
    """Return the means of members' verdicts on one item, as a judge answers them; `reply` has the members' numbers."""
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


def load_judge(name: str, judges: Mapping[str, ServedJudge], *, threads: int, ledger: str | None = None) -> JudgeWorker:
    """
    The judge of an entry, loaded; *judges* are all entries, those that a mean names among them.

    A judge of kind `chat` writes its calls to the *ledger*; others need none.

    Raises:
        UsageError: It cannot be found, loaded, or is no judge.
    """
    settings = judges[name]
    if isinstance(settings, ServedKind):
        if not settings.judge.members:
            return KindWorker(name, settings, threads=threads, ledger=ledger)
        loaded = {one: load_judge(one, judges, threads=threads, ledger=ledger) for one in settings.judge.members}
        ours = {one: entry.judge for one, entry in judges.items() if isinstance(entry, ServedKind)}
        mean, members = make_judge(name, ours), {one: make_judge(one, ours) for one in settings.judge.members}
        return MeanWorker(name, mean, loaded, card=served_card(settings, mean, members))
    make = _imported(name, settings)
    try:
        worker = make(name, threads=threads, **settings.settings)
    except (TypeError, ValueError) as error:
        raise UsageError(f"judge {name!r}: {settings.make} does not take these settings: {error}") from error
    if not isinstance(worker, JudgeWorker):
        raise UsageError(f"judge {name!r}: expected {settings.make} to make a judge with item, about, split and run")
    return worker


def item_type(name: str, judges: Mapping[str, ServedJudge]) -> type[Strict]:
    """
    The type of one item of a judge's requests, without loading it.

    Raises:
        UsageError: It cannot be found.
    """
    settings = judges[name]
    if isinstance(settings, ServedKind):
        members = settings.judge.members
        return common_item(item_type(one, judges) for one in members) if members else item_of(settings)
    found = getattr(_imported(name, settings), "item", None)
    if not (isinstance(found, type) and issubclass(found, Strict)):
        raise UsageError(f"judge {name!r}: expected an attribute `item` of {settings.make}, the type of its items")
    return found


def _imported(name: str, settings: ServedOther) -> Callable[..., JudgeWorker]:
    module, _, attribute = settings.make.partition(":")
    try:
        make: Callable[..., JudgeWorker] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"judge {name!r}: cannot import {settings.make}: {error}") from error
    return make
