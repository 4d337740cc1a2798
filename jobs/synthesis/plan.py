"""
`--plan` of a synthesis: how often chat models will be asked, at least and at most, and what that takes.

Nothing is asked. Of a recipe, the sizes of the prompts are those of a rehearsal by scripted models, with the
configuration's own topics and sizes. The grammar's haystacks are composed as the command would, so each passage is
known, with the prompt of its next try; what the ledger answers is read as the command would read it, and left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from actors.ledger.ledger import Ledger
from actors.local_models.tokenizer import TokenCounter
from actors.synthesis.models import SynthesisModels, embed
from actors.synthesis.scripted import say
from jobs.command.calling import Calling
from jobs.spending.call_count import CallCount, StageCalls, Unasked
from jobs.spending.plan import BOUNDS, NOT_IN_IT, bounded_plan, opened_ledger
from jobs.synthesis.haystacks import composed_haystack, offline_stating, prose_key
from jobs.synthesis.model_synthesis import Synthesis
from longform.chat.call import call_id
from longform.prompts import load_prompt
from longform.settings.chat import ChatSettings
from longform.spending import CountRange
from longform.synthesis.asking import Ask, Log, Reply, Role, carried_out
from longform.synthesis.grammar.passages import PROMPT, WISHES, PassageJob, passage_ask, passage_jobs, write_passages
from longform.synthesis.grammar.settings import HaystackSettings
from longform.synthesis.recipe import Job, Piece, PlannedCalls, Recipe

LOWEST = "lowest: every first attempt is accepted"
HIGHEST = "highest: every loop goes round to its cap, and every verdict has to be asked for up to its cap"
SIZES = "prompts: as long as those of a rehearsal by scripted models; at most twice as long (a guess)"
_VERIFIER = "scripted-verifier"
Texts = Mapping[str, Mapping[str, Sequence[str]]]
"""Group -> prompt -> its texts in the rehearsal."""


def synthesis_plan(synthesis: Synthesis, *, calling: Calling, workers: int) -> dict[str, Any]:
    """
    Return the document about the calls yet to be made, as `bounded_plan` says.

    *calling* names the ledger and the prices, *workers* the processes that a stage may use.
    """
    steps = [step for step in synthesis.recipe.planned(synthesis.left()) if step.highest]
    wanted = _prompts_of(steps)
    tokens = _prompt_tokens(rehearse(synthesis.recipe, synthesis.kind.scripted, wanted)) if steps else {}
    with opened_ledger(calling) as ledger:
        calls = {bound: _stages(synthesis.recipe, steps, tokens, bound, CallCount(ledger)) for bound in BOUNDS}
    notes = [LOWEST, HIGHEST, SIZES, NOT_IN_IT]
    return bounded_plan(
        _rows(synthesis.recipe.settings.chats, steps), calls, notes=notes, calling=calling, workers=workers
    )


def _prompts_of(steps: Sequence[PlannedCalls]) -> dict[str, set[str]]:
    """Return the prompts that each group of works may be asked with."""
    found: dict[str, set[str]] = defaultdict(set)
    for step in steps:
        found[step.group].add(step.prompt)
    return found


def _rows(chats: Mapping[Role, ChatSettings], steps: Sequence[PlannedCalls]) -> list[dict[str, Any]]:
    """One row a step, of all works together."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for step in steps:
        row = rows.setdefault(
            (step.does, step.cap),
            {
                "stage": f"synthesize {step.step}".rstrip(),
                "step": step.does,
                "role": step.role,
                "model": chats[step.role].model,
                "lowest": 0,
                "highest": 0,
                "cap": step.cap,
            },
        )
        row["lowest"] += step.lowest
        row["highest"] += step.highest
    return list(rows.values())


def _stages(
    recipe: Recipe[Any],
    steps: Sequence[PlannedCalls],
    tokens: Mapping[str, Mapping[str, CountRange]],
    bound: str,
    count: CallCount,
) -> list[StageCalls]:
    """Count the calls of each stage to each role, every call with the tokens of its prompt."""
    chats = recipe.settings.chats
    found: dict[tuple[str, Role], StageCalls] = {}
    for number, step in enumerate(steps):
        name = f"synthesize {step.step} {step.role}"
        calls = found.setdefault((step.step, step.role), count.calls(name, chats[step.role]))
        span = tokens[step.group][step.prompt]
        calls.inputs.update({f"{number}-{call}": span for call in range(getattr(step, bound))})
    return list(found.values())


# ---------------------------------------------------------------- the rehearsal


def _prompt_tokens(rehearsed: Texts) -> dict[str, dict[str, CountRange]]:
    """Prompt -> its tokens: the bare text at least, a rehearsal's mean, and twice the longest of its fields at most."""
    counter = TokenCounter(threads=1)
    found: dict[str, dict[str, CountRange]] = defaultdict(dict)
    for group, prompts in rehearsed.items():
        for name, texts in prompts.items():
            bare, counts = counter.count(load_prompt(name).text), counter.counts(texts)
            low = float(min(bare, *counts))
            found[group][name] = CountRange(low, float(np.mean(counts)), low + 2 * (max(counts) - low))
    return found


def rehearse(recipe: Recipe[Any], writers: Sequence[str], wanted: Mapping[str, Collection[str]]) -> Texts:
    """
    Return the prompts of a work of each group of each step, carried out by each of *writers*.

    More works of a group are carried out as long as it lacks one of the prompts that are *wanted* of it: an edit is
    asked for only if there is something to edit.
    """
    asked: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    pieces: dict[str, Piece] = {}
    small = recipe.rehearsed()
    for step in small.steps:
        seen: set[str] = set()
        for work in small.works(step.name, pieces):
            enough = work.group in seen and asked[work.group].keys() >= set(wanted.get(work.group, ()))
            if enough or not pieces.keys() >= set(work.needs):
                continue
            seen.add(work.group)
            needed = [pieces[key].content for key in work.needs]
            for writer in reversed(writers):  # the first is the one without a fault, whose pieces are kept
                plan = small.plan(Job(step.name, work.payload, needed, embed), Log())
                content = carried_out(plan, partial(_replies, writer, asked[work.group]))
                pieces[work.key] = Piece(work.haystack_id, work.doc_index, content, ())
    return asked


def _replies(writer: str, asked: dict[str, list[str]], asks: Sequence[Ask]) -> list[Reply]:
    replies = []
    for ask in asks:
        text = load_prompt(ask.prompt).render(**ask.fields)
        asked[ask.prompt].append(text)
        said = say(text, _VERIFIER if ask.role == "verifier" else writer)
        assert said is not None, f"the scripted models know no {ask.prompt}"
        replies.append(Reply(said.text, None))
    return replies


# ---------------------------------------------------------------- the grammar's haystacks with a model's prose


LOWEST_PROSE = "lowest: every passage is accepted at its next try"
HIGHEST_PROSE = "highest: no try is accepted"
NO_PROSE = "without `prose` the grammar writes every sentence"
ALL_THERE = "every passage is there already"
_LONGEST_WISH = max(WISHES.values(), key=len)
_WAITS = "no reply yet"
_NONE_YET = Reply(None, _WAITS)


class _Passages(NamedTuple):
    """The passages that are left."""

    waiting: Sequence[tuple[PassageJob, Sequence[str]]]  # each with why its tries so far were rejected
    counts: Mapping[str, int]  # those that wait for a reply, and those that the ledger's replies settle
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
        lowest = _lowest(found, CallCount(ledger), chat, models)
        highest = _highest(found, CallCount(ledger), chat, models, tries)
    if not found.waiting:
        return _nothing(ALL_THERE, calling, workers) | {"passages": found.counts}
    n_least, n_most, cap = len(lowest.inputs), len(highest.inputs), f"{tries} tries a passage"
    rows = _rows(config.chats, [PlannedCalls("", PROMPT, "write passages", "writer", n_least, n_most, cap)])
    calls, kept = {"lowest": [lowest], "highest": [highest]}, found.counts
    told = (
        f"passages: {kept['waiting']:,} wait for a reply; by the ledger's replies {kept['kept']:,} are written, and "
        f"{kept['fallen_back']:,} stay the grammar's"
    )
    notes = [LOWEST_PROSE, HIGHEST_PROSE, told, NOT_IN_IT]
    return bounded_plan(rows, calls, notes=notes, calling=calling, workers=workers) | {"passages": kept}


def _nothing(reason: str, calling: Calling, workers: int) -> dict[str, Any]:
    empty: dict[str, list[StageCalls]] = {bound: [] for bound in BOUNDS}
    return bounded_plan([], empty, notes=[], calling=calling, workers=workers) | {"reasons": [reason]}


def _jobs(config: HaystackSettings, number: int, key: str) -> Iterator[PassageJob]:
    composed = composed_haystack(config, number, key)
    for index in range(len(composed.documents)):
        yield from (job for job in passage_jobs(composed, index) if job is not None)


def _passages(
    jobs: Iterable[PassageJob], models: SynthesisModels, chat: ChatSettings, tries: int, ledger: Ledger | None
) -> _Passages:
    """The passages after all replies that the ledger has, try by try, as `write_passages` reads them."""
    jobs, paid = list(jobs), set[str]()

    def recorded(asks: Sequence[Ask]) -> list[Reply]:
        keys = [call_id(chat, models.request(ask)) for ask in asks]
        answers = {} if ledger is None else ledger.finished(keys)
        paid.update(answers.keys())
        return [Reply(answers[key].text, answers[key].failure) if key in answers else _NONE_YET for key in keys]

    outcomes = carried_out(write_passages(jobs, tries=tries, stating=offline_stating()), recorded)
    waiting = [
        (job, tried.rejections[: tried.rejections.index(_WAITS)])
        for job, tried in zip(jobs, outcomes, strict=True)
        if _WAITS in tried.rejections
    ]
    n_kept = sum(tried.text is not None for tried in outcomes)
    counts = {"waiting": len(waiting), "kept": n_kept, "fallen_back": len(jobs) - len(waiting) - n_kept}
    return _Passages(waiting, counts, len(paid))


def _lowest(found: _Passages, count: CallCount, chat: ChatSettings, models: SynthesisModels) -> StageCalls:
    """One call a passage; two passages that ask the same are one call."""
    calls = replace(count.calls("synthesize", chat), n_paid=found.n_paid)
    for job, rejections in found.waiting:
        count.add(calls, models.request(passage_ask(job, rejections)))
    return calls


def _highest(found: _Passages, count: CallCount, chat: ChatSettings, models: SynthesisModels, tries: int) -> StageCalls:
    """Every try that is left; what a later prompt says of earlier tries is between nothing and the longest wish."""
    calls = replace(count.calls("synthesize", chat), n_paid=found.n_paid)
    for place, (job, rejections) in enumerate(found.waiting):
        for n_more in range(tries - len(rejections)):
            why = [[*rejections, *[wish] * n_more] for wish in ("", _LONGEST_WISH)]
            short, long = (models.request(passage_ask(job, said)) for said in why)
            low, high = count.counted(calls, short), count.counted(calls, long)
            tokens = CountRange(low, (low + high) / 2, high)
            count.add(calls, long, key=f"passage {place}, {n_more} more", tokens=tokens)
    return calls
