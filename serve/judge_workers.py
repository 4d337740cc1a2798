"""The judges, as the jobs load them. A judge's unit has a list of verdicts for its content, one mostly."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Protocol, runtime_checkable

from pydantic import Field

from actors.call_context import CallContext
from actors.offline_judge import PROMPT_VERSION
from actors.served import About
from actors.storage import Folder
from actors.support_judges import code_version, make_support_judge
from longform.errors import UsageError
from longform.judge_cards import describe, shipped_card_line, shipped_support_line
from longform.judge_settings import ChatJudge, ChatSupportJudge, MeanSupportJudge, OfflineJudge
from longform.keys import content_key
from longform.lexical_judge import QueryInsights, Reading, StemWeights, shipped_judge
from longform.strict import Strict
from longform.support_cards import KIND
from longform.support_judging import SupportGroup, SupportVerdict
from serve.engine import Texts, Work
from serve.settings import ServedCoverage, ServedJudge, ServedOther, ServedSupport, asks_a_chat, mean_of

NO_CARD = "this judge has not been measured against people: no card is shipped or named for it"

_BYTES_A_TOKEN = 4


@runtime_checkable
class JudgeWorker(Protocol):
    """
    A judge of any kind.

    Attributes:
        item: The type of one item of a request.
        about: Of kind `judge`.
    """

    item: type[Strict]
    about: About

    def split(self, item: Any) -> list[Any]:
        """The units of work in an item, as JSON values."""

    def run(self, units: list[Any]) -> list[Work]:
        """Each unit's verdicts, a list of mappings; one that has a `failure` has no answer."""


class SupportItem(Strict):
    """Sentences to be checked against one document; one verdict a sentence."""

    document: str
    sentences: tuple[str, ...] = Field(min_length=1)


class InsightsItem(Strict):
    """Insights to be looked for in one summary's bullets; one verdict an insight."""

    bullets: tuple[str, ...]
    insights: tuple[str, ...] = Field(min_length=1)


class CoverageItem(InsightsItem):
    """
    The same for a judge that counts words.

    Words weigh by how rare they are in `haystack_insights`, those of all queries to the same documents; null:
    `insights`.
    """

    haystack_insights: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


class SupportWorker:
    """
    A unit is a cell, (document, sentence).

    Raises:
        UsageError: The judge cannot be loaded, or its card is another's.
    """

    item: type[Strict] = SupportItem

    def __init__(self, name: str, settings: ServedSupport, *, threads: int) -> None:
        judge = settings.judge
        assert not isinstance(judge, ChatSupportJudge | MeanSupportJudge), "they have workers of their own"
        nobody = CallContext(job="serve", stage="judge", ledger="")  # a local judge calls no one
        self._ask = make_support_judge(name, judge, prompts=None, context=nobody, threads=threads)
        self.about = About(
            name,
            "judge",
            version=content_key(judge.model_dump(mode="json"), code_version(judge)),
            task="support",
            score_kind="probability",
            **card_fields(support_card(settings, code_version(judge))),
        )
        with ThreadPoolExecutor(max_workers=1) as thread:  # this one may have a loop that runs, as a replica's has
            thread.submit(self.run, [("A document is a text.", "It is a text.")]).result()

    def split(self, item: Mapping[str, Any]) -> list[Any]:
        return [(item["document"], sentence) for sentence in item["sentences"]]

    def run(self, units: list[Any]) -> list[Work]:
        asked = support_groups(units)
        found = asyncio.run(self._answers(asked))  # in the batch's thread, which has no loop of its own
        return [_support_work(unit, found[unit[0], unit[1]]) for unit in units]

    async def _answers(self, groups: list[SupportGroup]) -> dict[tuple[str, str], SupportVerdict]:
        judged = await self._ask(groups)
        return {
            (group.text, sentence): verdict
            for group, row in zip(groups, judged, strict=True)
            for sentence, verdict in zip(group.sentences, row, strict=True)
        }


class CoverageWorker:
    """
    A unit is an item.

    Raises:
        UsageError: No judge ships for the calibration, or the card is another's.
    """

    item: type[Strict] = CoverageItem

    def __init__(self, name: str, settings: ServedCoverage, *, threads: int) -> None:  # noqa: ARG002  it needs none
        assert isinstance(settings.judge, OfflineJudge), "the others have workers of their own"
        self._model = shipped_judge(settings.judge.calibration)
        self.about = About(
            name,
            "judge",
            version=content_key(settings.judge.model_dump(mode="json"), PROMPT_VERSION),
            task="coverage",
            score_kind="probability",
            **card_fields(coverage_card(settings, PROMPT_VERSION)),
        )

    def split(self, item: Mapping[str, Any]) -> list[Any]:
        return [item]

    def run(self, units: list[Any]) -> list[Work]:
        return [self._work(unit) for unit in units]

    def _work(self, item: Mapping[str, Any]) -> Work:
        insights = QueryInsights(item["insights"], StemWeights.of(item["haystack_insights"] or item["insights"]))
        readings = insights.readings(list(item["bullets"]), self._model)
        return Work([_coverage_verdict(reading) for reading in readings], _tokens(item))


def load_judge(name: str, judges: Mapping[str, ServedJudge], *, threads: int, ledger: str | None = None) -> JudgeWorker:
    """
    The judge of an entry, loaded.

    Args:
        name: Of the entry.
        judges: All entries; those that a mean names are among them.
        threads: Of a local model.
        ledger: Where a chat model's calls are written; only a judge of kind `chat` needs it.

    Raises:
        UsageError: It cannot be found, loaded, or is no judge.
    """
    settings = judges[name]
    if mean := mean_of(settings):
        from serve.mean_judges import MeanWorker

        members = {member: load_judge(member, judges, threads=threads, ledger=ledger) for member in mean.of}
        return MeanWorker(name, mean, members)
    if asks_a_chat(settings):
        assert ledger is not None, "the settings saw to it"
        return _load_chat_judge(name, settings, ledger)
    if isinstance(settings, ServedSupport):
        return SupportWorker(name, settings, threads=threads)
    if isinstance(settings, ServedCoverage):
        return CoverageWorker(name, settings, threads=threads)
    make = _imported(name, settings)
    try:
        worker = make(name, threads=threads, **settings.settings)
    except (TypeError, ValueError) as error:
        raise UsageError(f"judge {name!r}: {settings.make} does not take these settings: {error}") from error
    if not isinstance(worker, JudgeWorker):
        raise UsageError(f"judge {name!r}: expected {settings.make} to make a judge with item, about, split and run")
    return worker


def _load_chat_judge(name: str, settings: ServedJudge, ledger: str) -> JudgeWorker:
    from serve.chat_judges import ChatCoverageWorker, ChatSupportWorker

    if isinstance(settings, ServedCoverage):
        assert isinstance(settings.judge, ChatJudge)
        return ChatCoverageWorker(name, settings, settings.judge, ledger=ledger)
    assert isinstance(settings, ServedSupport)
    assert isinstance(settings.judge, ChatSupportJudge)
    return ChatSupportWorker(name, settings, settings.judge, ledger=ledger)


def item_type(name: str, judges: Mapping[str, ServedJudge]) -> type[Strict]:
    """
    The type of one item of a judge's requests, without loading it.

    Raises:
        UsageError: It cannot be found.
    """
    settings = judges[name]
    if mean := mean_of(settings):
        return common_item([item_type(member, judges) for member in mean.of])
    if isinstance(settings, ServedSupport):
        return SupportItem
    if isinstance(settings, ServedCoverage):
        return InsightsItem if asks_a_chat(settings) else CoverageItem
    found = getattr(_imported(name, settings), "item", None)
    if not (isinstance(found, type) and issubclass(found, Strict)):
        raise UsageError(f"judge {name!r}: expected an attribute `item` of {settings.make}, the type of its items")
    return found


def common_item(types: Sequence[type[Strict]]) -> type[Strict]:
    """The type that has the fields of all, of judges of one task."""
    return max(types, key=lambda item: len(item.model_fields))


def _imported(name: str, settings: ServedOther) -> Any:
    module, _, attribute = settings.make.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"judge {name!r}: cannot import {settings.make}: {error}") from error


def support_groups(units: Sequence[Sequence[str]]) -> list[SupportGroup]:
    """(document, sentence) pairs, the sentences of one document together."""
    groups: dict[str, list[str]] = {}
    for document, sentence in units:
        groups.setdefault(document, []).append(sentence)
    return [SupportGroup(document, document, tuple(sentences)) for document, sentences in groups.items()]


def support_card(settings: ServedSupport, version: str) -> str | None:
    """
    The line of the card that the entry names, else of the one that ships; None: none.

    Args:
        settings: The entry.
        version: Of the judge's code and models, or prompts; a card that is named must be of it.

    Raises:
        UsageError: The file is no card, or is another judge's.
    """
    if settings.card is None:
        return shipped_support_line(settings.judge)
    card = _read_card(settings.card)
    if card.get("kind") != KIND or card.get("version") != version:
        raise UsageError(f"card {settings.card!r}: expected the card of this support judge as it is, found another's")
    return describe(card)


def coverage_card(settings: ServedCoverage, prompt_version: str) -> str | None:
    """
    The same of a coverage judge.

    Args:
        settings: The entry.
        prompt_version: Of the judge's prompt or code; a card that is named must be of it, and of its calibration.

    Raises:
        UsageError: The file is no card, or is another judge's.
    """
    judge = settings.judge
    if settings.card is None:
        return shipped_card_line(f"offline-{judge.calibration}") if isinstance(judge, OfflineJudge) else None
    card = _read_card(settings.card)
    made_of = (card.get("kind"), card.get("prompt_version"), card.get("scale"))
    if made_of != (None, prompt_version, judge.scale if isinstance(judge, OfflineJudge) else None):
        raise UsageError(f"card {settings.card!r}: expected the card of this coverage judge as it is, found another's")
    return describe(card)


def _read_card(url: str) -> Mapping[str, Any]:
    folder, slash, name = url.rpartition("/")
    try:
        return dict(json.loads(Folder(folder or slash or ".").read_bytes(name)))
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"card {url!r}: expected a file that `longform calibrate` wrote: {error}") from error


def card_fields(line: str | None) -> dict[str, Any]:
    """A card's line as `About` has it."""
    return {"card": line, "card_reason": None if line else NO_CARD}


def _support_work(unit: tuple[str, str], verdict: SupportVerdict) -> Work:
    return Work([verdict._asdict()], _tokens(unit))


def _coverage_verdict(reading: Reading) -> dict[str, Any]:
    return {
        "answer": reading.answer,
        "probability": reading.score,
        "linked_bullet": reading.linked,
        "failure": "insight_without_words" if reading.answer is None else None,
        "evidence": {key: value for key, value in reading.evidence._asdict().items() if key != "has_words"},
    }


def _tokens(unit: Any) -> int:
    """An estimate: the offline judges have no tokenizer."""
    return 1 + Texts().n_bytes(unit) // _BYTES_A_TOKEN
