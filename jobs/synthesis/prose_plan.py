"""
`longform synthesize --plan`: how often a chat model will be asked for prose, at least and at most, and what that takes.

Nothing is asked. The grammar composes the haystacks as the command would, so each passage is known, with the prompt of
its next try. What the ledger answers is read as the command would read it, and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from actors.ledger.ledger import Ledger
from actors.synthesis.models import SynthesisModels
from jobs.command.calling import Calling
from jobs.spending.bounded_plan import BOUNDS, NOT_IN_IT, bounded_plan
from jobs.spending.call_count import CallCount, StageCalls, Unasked
from jobs.spending.plan import opened_ledger
from jobs.synthesis.haystack_workers import composed_haystack, offline_stating, prose_key
from longform.chat.call import ChatRequest, call_id
from longform.settings.chat import ChatSettings
from longform.spending import CountRange
from longform.synthesis.asking import Reply
from longform.synthesis.grammar.passages import WISHES, PassageJob, passage_ask, passage_jobs, read_passage
from longform.synthesis.grammar.settings import HaystackSettings

LOWEST = "lowest: every passage is accepted at its next try"
HIGHEST = "highest: no try is accepted"
NO_PROSE = "without `prose` the grammar writes every sentence"
ALL_THERE = "every passage is there already"
_LONGEST_WISH = max(WISHES.values(), key=len)


class _WaitingPassage(NamedTuple):
    """A passage that is not written: why its tries so far were rejected, and what is sent next."""

    job: PassageJob
    rejections: tuple[str, ...]
    request: ChatRequest


class _Passages(NamedTuple):
    """The passages that are left: those that wait for a reply, and how many the ledger's replies settle."""

    waiting: Sequence[_WaitingPassage]
    n_kept: int
    n_fallen_back: int
    n_paid: int  # calls


def prose_plan(config: HaystackSettings, numbers: Sequence[int], *, calling: Calling, workers: int) -> dict[str, Any]:
    """
    Return the document about the calls yet to be made for the haystacks of these *numbers*, from 0.

    Returns:
        As `bounded_plan` says; with `passages`, how many wait for a reply, and how many the ledger's replies settle; or
        with `reasons` why no model is asked.

    Raises:
        UsageError: The sizes of a haystack do not fit together.
    """
    if config.prose is None:
        return _nothing(NO_PROSE, calling, workers)
    chat, tries = config.prose.chat, config.prose.tries
    models, key = SynthesisModels(config, Unasked), prose_key(config.prose)
    jobs = chain.from_iterable(_jobs(config, number, key) for number in numbers)
    with opened_ledger(calling) as ledger:
        found = _passages(jobs, models, chat, tries, ledger)
        lowest = _lowest(found, CallCount(ledger), chat)
        highest = _highest(found, CallCount(ledger), chat, models, tries)
    counts = {"waiting": len(found.waiting), "kept": found.n_kept, "fallen_back": found.n_fallen_back}
    if not found.waiting:
        return _nothing(ALL_THERE, calling, workers) | {"passages": counts}
    step = {
        "stage": "synthesize",
        "step": "write passages",
        "role": "writer",
        "model": chat.model,
        "lowest": len(lowest.inputs),
        "highest": len(highest.inputs),
        "cap": f"{tries} tries a passage",
    }
    calls = {"lowest": [lowest], "highest": [highest]}
    notes = [LOWEST, HIGHEST, _told(found), NOT_IN_IT]
    return bounded_plan([step], calls, notes=notes, calling=calling, workers=workers) | {"passages": counts}


def _nothing(reason: str, calling: Calling, workers: int) -> dict[str, Any]:
    empty: dict[str, list[StageCalls]] = {bound: [] for bound in BOUNDS}
    return bounded_plan([], empty, notes=[], calling=calling, workers=workers) | {"reasons": [reason]}


def _told(found: _Passages) -> str:
    return (
        f"passages: {len(found.waiting):,} wait for a reply; by the ledger's replies {found.n_kept:,} are written, and "
        f"{found.n_fallen_back:,} stay the grammar's"
    )


# ---------------------------------------------------------------- passages


def _jobs(config: HaystackSettings, number: int, key: str) -> Iterator[PassageJob]:
    composed = composed_haystack(config, number, key)
    for index in range(len(composed.documents)):
        yield from (job for job in passage_jobs(composed, index) if job is not None)


def _passages(
    jobs: Iterable[PassageJob], models: SynthesisModels, chat: ChatSettings, tries: int, ledger: Ledger | None
) -> _Passages:
    """The passages after all replies that the ledger has, try by try, as `write_passages` reads them."""
    stating = offline_stating()
    open_ones: list[tuple[PassageJob, tuple[str, ...]]] = [(job, ()) for job in jobs]
    waiting: list[_WaitingPassage] = []
    paid: set[str] = set()
    n_kept = 0
    for _ in range(tries):
        asked = [_WaitingPassage(job, why, models.request(passage_ask(job, why))) for job, why in open_ones]
        keys = [call_id(chat, one.request) for one in asked]
        answers = {} if ledger is None else ledger.finished(keys)
        paid |= answers.keys()
        open_ones = []
        for one, key in zip(asked, keys, strict=True):
            if key not in answers:
                waiting.append(one)
                continue
            _, reason = read_passage(Reply(answers[key].text, answers[key].failure), one.job, stating)
            if reason is None:
                n_kept += 1
            else:
                open_ones.append((one.job, (*one.rejections, reason)))
    return _Passages(waiting, n_kept, len(open_ones), len(paid))


# ---------------------------------------------------------------- calls


def _lowest(found: _Passages, count: CallCount, chat: ChatSettings) -> StageCalls:
    """One call a passage; two passages that ask the same are one call."""
    calls = _stage(found, count, chat)
    for one in found.waiting:
        count.add(calls, one.request)
    return calls


def _highest(found: _Passages, count: CallCount, chat: ChatSettings, models: SynthesisModels, tries: int) -> StageCalls:
    """Every try that is left; what a later prompt says of earlier tries is between nothing and the longest wish."""
    calls = _stage(found, count, chat)
    for place, one in enumerate(found.waiting):
        for n_more in range(tries - len(one.rejections)):
            why = [[*one.rejections, *[wish] * n_more] for wish in ("", _LONGEST_WISH)]
            short, long = (models.request(passage_ask(one.job, rejections)) for rejections in why)
            low, high = count.counted(calls, short), count.counted(calls, long)
            tokens = CountRange(low, (low + high) / 2, high)
            count.add(calls, long, key=f"passage {place}, {n_more} more", tokens=tokens)
    return calls


def _stage(found: _Passages, count: CallCount, chat: ChatSettings) -> StageCalls:
    return replace(count.calls("synthesize", chat), n_paid=found.n_paid)
