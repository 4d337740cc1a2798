"""The judges of the replica's own models, as the jobs load them. A judge's unit has a list of verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from actors.chat.call_context import CallContext
from actors.judges.offline_coverage import PROMPT_VERSION
from actors.judges.opening_support import code_version, make_support_judge
from actors.serving.messages import About
from longform.judges.lexical_coverage import QueryInsights, Reading, StemWeights, shipped_judge
from longform.judges.support_prompts import SupportGroup, SupportVerdict
from longform.keys import content_key
from longform.settings.judges import ChatSupportJudgeSettings, MeanSupportJudgeSettings, OfflineJudgeSettings
from longform.settings.strict import Strict
from serve.engine import Texts, Work
from serve.judges.cards import card_fields, coverage_card, support_card
from serve.judges.items import CoverageItem, SupportItem, support_groups
from serve.settings import ServedCoverage, ServedSupport

_BYTES_A_TOKEN = 4


class SupportWorker:
    """
    A unit is a cell, (document, sentence).

    Raises:
        UsageError: The judge cannot be loaded, or its card is another's.
    """

    item: type[Strict] = SupportItem

    def __init__(self, name: str, settings: ServedSupport, *, threads: int) -> None:
        judge = settings.judge
        assert not isinstance(judge, ChatSupportJudgeSettings | MeanSupportJudgeSettings), (
            "they have workers of their own"
        )
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
        assert isinstance(settings.judge, OfflineJudgeSettings), "the others have workers of their own"
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
