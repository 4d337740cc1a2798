"""
`longform synthesize-models --plan`: how often each step will ask, at least and at most, and what that takes.

Nothing is asked. The sizes of the prompts are those of a rehearsal by scripted models, with the configuration's own
topics and sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from actors.local_models.tokenizer import TokenCounter
from actors.synthesis.models import embed
from actors.synthesis.scripted import say
from jobs.command.calling import Calling
from jobs.spending.bounded_plan import BOUNDS, NOT_IN_IT, bounded_plan
from jobs.spending.call_count import CallCount, StageCalls
from jobs.spending.plan import opened_ledger
from jobs.synthesis.model_synthesis import Synthesis
from longform.prompts import load_prompt
from longform.spending import CountRange
from longform.synthesis.asking import Ask, Log, Plan, Reply, Role
from longform.synthesis.recipe import Job, Piece, PlannedCalls, Recipe

Value = TypeVar("Value")

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
    tokens = _prompt_tokens(rehearse(synthesis.recipe, synthesis.opened.kind.scripted, wanted)) if steps else {}
    with opened_ledger(calling) as ledger:
        calls = {bound: _stages(synthesis.recipe, steps, tokens, bound, CallCount(ledger)) for bound in BOUNDS}
    notes = [LOWEST, HIGHEST, SIZES, NOT_IN_IT]
    return bounded_plan(_rows(synthesis.recipe, steps), calls, notes=notes, calling=calling, workers=workers)


def _prompts_of(steps: Sequence[PlannedCalls]) -> dict[str, set[str]]:
    """Return the prompts that each group of works may be asked with."""
    found: dict[str, set[str]] = defaultdict(set)
    for step in steps:
        found[step.group].add(step.prompt)
    return found


def _rows(recipe: Recipe[Any], steps: Sequence[PlannedCalls]) -> list[dict[str, Any]]:
    """One row a step, of all works together."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for step in steps:
        row = rows.setdefault(
            (step.does, step.cap),
            {
                "stage": f"synthesize {step.step}",
                "step": step.does,
                "role": step.role,
                "model": recipe.settings.chats[step.role].model,
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
                content = _carried_out(plan, writer, asked[work.group])
                pieces[work.key] = Piece(work.haystack_id, work.doc_index, content, ())
    return asked


def _carried_out(plan: Plan[Value], writer: str, asked: dict[str, list[str]]) -> Value:
    try:
        asks = next(plan)
        while True:
            asks = plan.send([_reply(ask, writer, asked) for ask in asks])
    except StopIteration as ended:
        value: Value = ended.value
        return value


def _reply(ask: Ask, writer: str, asked: dict[str, list[str]]) -> Reply:
    text = load_prompt(ask.prompt).render(**ask.fields)
    asked[ask.prompt].append(text)
    said = say(text, _VERIFIER if ask.role == "verifier" else writer)
    assert said is not None, f"the scripted models know no {ask.prompt}"
    return Reply(said.text, None)
