"""The judges of a configuration, of any kind, as the jobs load them. A judge's unit has a list of verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pydantic import JsonValue

from actors.chat.model import CallContext
from actors.chat.opening import Asking, first_asked
from actors.judges.opening import Judge, make_judge
from actors.serving.messages import About
from longform.chat.call import Capabilities, ChatReply, ChatRequest, call_id
from longform.errors import UsageError
from longform.judges.kind import Group, Shared, Verdict, shared_of
from longform.judges.means import MEAN_VERSION, mean_verdict
from longform.judges.replies import QUERY, group_of, parts_of, read_verdict, served_verdict
from longform.keys import content_key
from longform.settings.strict import Strict, imported
from serve.chat_workers import LoopThread, local_pool
from serve.engine import JudgeItem, JudgeUnit, Texts, Work, Worker, tokens_of
from serve.judges.items import NO_CARD, JudgeWorker, common_item, item_of, reads_whole_items, served_card
from serve.settings import ServedJudge, ServedKind, ServedOther

_Pair = tuple[str | Sequence[str], str] | tuple[str | Sequence[str], str, str]
_WARM = ("A document is a text.", "It is a text.")
_NOBODY = CallContext(job="serve", stage="judge", ledger="")  # a local judge calls no one


class LocalAsker:
    """Asks a judge that computes its verdicts itself, from a thread without an event loop."""

    def __init__(self, judge: Judge, *, threads: int) -> None:
        self._backend = judge.open(_NOBODY, threads)

    def ask(self, groups: Sequence[Group]) -> list[list[Verdict]]:
        return asyncio.run(self._backend.ask(groups))

    def work(self, unit: JudgeUnit, verdict: Mapping[str, JsonValue]) -> Work:
        """Return the work that the *verdict* on a *unit* of the last call took."""
        return Work([verdict], estimated_tokens(unit))


class ChatAsker:
    """
    Asks a judge that asks a chat model, which it stands before as a `ChatModel`.

    Every call stands in the ledger, and is looked for there first; the replies to the calls of a batch are noted.

    Raises:
        UsageError: The model cannot be loaded.
    """

    def __init__(self, judge: Judge, *, ledger: str | None) -> None:
        settings = judge.settings.asked_model
        assert settings is not None, "a judge that asks"
        self._settings, self._loop = settings, LoopThread()
        self._chat = local_pool(settings, "judge", judge.name, ledger)
        self._backend = judge.asking(Asking(chat=self))
        # call -> the replies to all calls of its question, by their ids: a second one if the first could not be read
        self._replies: dict[str, dict[str, ChatReply]] = {}

    @property
    def accepted(self) -> Capabilities:
        return self._chat.accepted

    async def complete(self, request: ChatRequest) -> ChatReply:
        reply = await self._chat.complete(request)
        called = call_id(self._settings, request)
        of_question = self._replies.setdefault(call_id(self._settings, first_asked(request)), {})
        of_question[called] = reply
        self._replies[called] = of_question
        return reply

    async def close(self) -> None:
        await self._chat.close()

    def ask(self, groups: Sequence[Group]) -> list[list[Verdict]]:
        self._replies = {}
        return self._loop.run(self._backend.ask(groups))

    def work(self, unit: JudgeUnit, verdict: Mapping[str, JsonValue]) -> Work:  # noqa: ARG002  its calls say what it took
        called = verdict["call_id"]  # null: nothing was asked
        replies = self._replies.get(called, {}) if isinstance(called, str) else {}
        used = [reply.usage for reply in replies.values()]
        return Work(
            [verdict],
            sum((usage.input_tokens or 0) + (usage.cached_tokens or 0) for usage in used),
            output_tokens=sum((usage.output_tokens or 0) + (usage.reasoning_tokens or 0) for usage in used),
            from_ledger=bool(replies) and all(reply.from_ledger for reply in replies.values()),
            lasting=False,  # the ledger has the calls
            settled=called is None,
        )


class KindWorker:
    """
    A judge of one of our kinds. A unit is a pair of shared text and item; of a judge that reads all items together it
    is an item of the request.

    Raises:
        UsageError: The judge cannot be loaded, or its card is another's.
    """

    def __init__(self, name: str, settings: ServedKind, *, threads: int, ledger: str | None) -> None:
        judge = make_judge(name, {name: settings.judge})
        self.item = item_of(settings)
        self._kind, self._whole = judge.kind, reads_whole_items(settings)
        chat = settings.judge.asked_model
        self._asker = LocalAsker(judge, threads=threads) if chat is None else ChatAsker(judge, ledger=ledger)
        card, gives_numbers = served_card(settings, judge), chat is None or "probability" in settings.judge.stated
        self.about = About(
            name,
            "judge",
            version=content_key(settings.judge.stated, judge.version.work if chat else judge.version.prompt),
            task=judge.kind.task,
            score_kind="probability" if gives_numbers else None,
            card=card,
            card_reason=None if card else NO_CARD,
            estimated=chat is None,
        )
        if chat is None and not self._whole:
            with ThreadPoolExecutor(max_workers=1) as thread:  # this one may have a loop that runs, as a replica's has
                thread.submit(self.run, [_WARM]).result()

    def split(self, item: JudgeItem) -> list[JudgeUnit]:
        if self._whole:
            return [item]
        shared, of_item = self._kind.fields
        text, things = item[shared], item[f"{of_item}s"]
        if not self._kind.shows_query:
            return [(text, one) for one in things]
        query = str(item[QUERY])
        return [(text, one, query) for one in things]

    def run(self, units: list[JudgeUnit]) -> list[Work]:
        if self._whole:
            return self._read_whole([unit for unit in units if isinstance(unit, Mapping)])
        return self._read_pairs([unit for unit in units if not isinstance(unit, Mapping)])

    def _read_whole(self, items: Sequence[JudgeItem]) -> list[Work]:
        verdicts = self._asker.ask([group_of(self._kind, item) for item in items])
        return [
            Work([served_verdict(self._kind, verdict) for verdict in of], estimated_tokens(item))
            for item, of in zip(items, verdicts, strict=True)
        ]

    def _read_pairs(self, pairs: Sequence[_Pair]) -> list[Work]:
        groups = _groups(pairs)
        verdicts = self._asker.ask(groups)
        found = {
            (shared_of(group), item): served_verdict(self._kind, verdict)
            for group, row in zip(groups, verdicts, strict=True)
            for item, verdict in zip(group.items, row, strict=True)
        }
        return [self._asker.work(pair, found[_shared(pair), pair[1]]) for pair in pairs]


def _shared(pair: _Pair) -> Shared:
    """Return all that the item of a pair is judged with."""
    return parts_of(pair[0]), pair[2] if len(pair) == 3 else "", 0


def _groups(units: Sequence[_Pair]) -> list[Group]:
    """Put the items of one text together, and of one query."""
    found: dict[Shared, dict[str, None]] = {}
    for unit in units:
        found.setdefault(_shared(unit), {})[unit[1]] = None
    return [Group(content_key(of[0]), of[0], tuple(items), query=of[1]) for of, items in found.items()]


def estimated_tokens(unit: JudgeUnit) -> int:
    """Estimate the tokens of a unit: judges that count words have no tokenizer."""
    return tokens_of(Texts().n_bytes(unit))


# ---------------------------------------------------------------- of any kind, and the mean of several


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
    worker = load_other(name, settings, threads=threads)
    if not isinstance(worker, JudgeWorker):
        raise UsageError(f"judge {name!r}: expected {settings.make} to make a judge with item, about, split and run")
    return worker


def item_type(name: str, judges: Mapping[str, ServedJudge]) -> type[Strict]:
    """Return the type of one item of a judge's requests, without loading it; UsageError: it cannot be found."""
    settings = judges[name]
    if isinstance(settings, ServedKind):
        members = settings.judge.members
        return common_item(item_type(one, judges) for one in members) if members else item_of(settings)
    found = getattr(_imported(name, settings), "item", None)
    if not (isinstance(found, type) and issubclass(found, Strict)):
        raise UsageError(f"judge {name!r}: expected an attribute `item` of {settings.make}, the type of its items")
    return found


def load_other(name: str, settings: ServedOther, *, threads: int) -> Worker[Any, Any]:
    """Return what `make` makes; UsageError: it cannot be imported, or does not take the settings."""
    try:
        worker: Worker[Any, Any] = _imported(name, settings)(name, threads=threads, **settings.settings)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name!r}: {settings.make} does not take these settings: {error}") from error
    return worker


def _imported(name: str, settings: ServedOther) -> Any:
    try:
        return imported(settings.make)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{name!r}: cannot import {settings.make}: {error}") from error
