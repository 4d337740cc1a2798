"""
`longform synthesize-models --plan`: how often each step will ask, at least and at most, and what that takes.

Nothing is asked. The sizes of the prompts are those of a rehearsal by the scripted writer and verifier, with the
configuration's own topics and sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from actors.local_models.tokenizer import TokenCounter
from actors.rehearsal.scripted_synthesis import say
from actors.rehearsal.scripted_writer import THEMES
from jobs.calling import Calling
from jobs.spending.bounded_plan import BOUNDS, NOT_IN_IT, bounded_plan
from jobs.spending.call_count import CallCount, StageCalls
from jobs.spending.plan import opened_ledger
from longform.prompts import load_prompt
from longform.spending import Span
from longform.synthesis.written.asking import Ask, Log, Plan, Reply
from longform.synthesis.written.call_bounds import StepCalls, document_calls, outline_calls
from longform.synthesis.written.contamination import known_insights
from longform.synthesis.written.documents import Brief, write_document
from longform.synthesis.written.outline import OutlineJob, write_outline
from longform.synthesis.written.settings import ModelSynthesis, Role, Topic, assignment

Value = TypeVar("Value")

LOWEST = "lowest: every first attempt is accepted"
HIGHEST = "highest: every loop goes round to its cap, and every verdict has to be asked for up to its cap"
SIZES = "prompts: as long as those of a rehearsal, whose facts have some 14 words; at most twice as long (a guess)"
_VERIFIER = "scripted-verifier"
_WRITERS = ("scripted-writer", "scripted-writer:leaks=1,omissions=1")  # the second needs every edit


class Left(NamedTuple):
    """The remaining work of one haystack."""

    topic: Topic
    outline: bool
    documents: int


def synthesis_plan(config: ModelSynthesis, left: Sequence[Left], *, calling: Calling, workers: int) -> dict[str, Any]:
    """
    Return the document about the calls yet to be made.

    Args:
        config: Of the synthesis.
        left: Of each haystack.
        calling: Names the ledger and the prices.
        workers: Processes a stage may use.

    Returns:
        As `bounded_plan` says.
    """
    steps = [(stage, one.topic.domain, step) for one in left for stage, step in _steps(config, one)]
    tokens = {domain: _prompt_tokens(config, topic) for domain, topic in _a_topic_of_each(left).items()}
    with opened_ledger(calling) as ledger:
        calls = {bound: _stages(config, steps, tokens, bound, CallCount(ledger)) for bound in BOUNDS}
    notes = [LOWEST, HIGHEST, SIZES, NOT_IN_IT]
    return bounded_plan(_rows(config, steps), calls, notes=notes, calling=calling, workers=workers)


def _steps(config: ModelSynthesis, left: Left) -> Iterator[tuple[str, StepCalls]]:
    if left.outline:
        yield from (("outline", step) for step in outline_calls(config, left.topic))
    if left.documents:
        yield from (("write", step) for step in document_calls(config, left.topic, left.documents))


def _a_topic_of_each(left: Sequence[Left]) -> dict[str, Topic]:
    return {one.topic.domain: one.topic for one in left if one.outline or one.documents}


def _rows(config: ModelSynthesis, steps: Sequence[tuple[str, str, StepCalls]]) -> list[dict[str, Any]]:
    """One row a step, of all haystacks of a domain together."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for stage, _, step in steps:
        row = rows.setdefault(
            (step.step, step.cap),
            {
                "stage": f"synthesize {stage}",
                "step": step.step,
                "role": step.role,
                "model": config.chats[step.role].model,
                "lowest": 0,
                "highest": 0,
                "cap": step.cap,
            },
        )
        row["lowest"] += step.lowest
        row["highest"] += step.highest
    return list(rows.values())


def _stages(
    config: ModelSynthesis,
    steps: Sequence[tuple[str, str, StepCalls]],
    tokens: Mapping[str, Mapping[str, Span]],
    bound: str,
    count: CallCount,
) -> list[StageCalls]:
    """Count the calls of each stage to each role, every call with the tokens of its prompt."""
    found: dict[tuple[str, Role], StageCalls] = {}
    for number, (stage, domain, step) in enumerate(steps):
        calls = found.setdefault(
            (stage, step.role), count.calls(f"synthesize {stage} {step.role}", config.chats[step.role])
        )
        span = tokens[domain][step.prompt]
        calls.inputs.update({f"{number}-{call}": span for call in range(getattr(step, bound))})
    return list(found.values())


# ---------------------------------------------------------------- the rehearsal


def _prompt_tokens(config: ModelSynthesis, topic: Topic) -> dict[str, Span]:
    """Prompt -> its tokens: the bare text at least, a rehearsal's mean, and twice the longest of its fields at most."""
    prompts: dict[str, list[str]] = defaultdict(list)
    for writer in _WRITERS:
        for name, text in _rehearsed(config, topic, writer):
            prompts[name].append(text)
    counter = TokenCounter(threads=1)
    found = {}
    for name, texts in prompts.items():
        bare, counts = counter.count(load_prompt(name).text), counter.counts(texts)
        low = float(min(bare, *counts))
        found[name] = Span(low, float(np.mean(counts)), low + 2 * (max(counts) - low))
    return found


def _rehearsed(config: ModelSynthesis, topic: Topic, writer: str) -> list[tuple[str, str]]:
    """The prompts of one outline, which is right at once, and of one document, with their names."""
    asked: list[tuple[str, str]] = []
    log = Log()
    sizes = config.sizes.model_copy(update={"subtopics": min(config.sizes.subtopics, len(THEMES))})
    job = OutlineJob(topic=topic, sizes=sizes, caps=config.caps, withheld=config.withheld)
    outline = _carried_out(write_outline(job, log), _WRITERS[0], asked)
    _carried_out(known_insights(outline, topic, config.caps, log), _WRITERS[0], asked)
    n_insights = [len(subtopic.insights) for subtopic in outline.subtopics]
    starts = np.cumsum([0, *n_insights])
    dealt = assignment(sizes, n_insights, np.random.default_rng(config.seed))[0]
    brief = Brief(
        topic=topic,
        outline=outline,
        assigned=tuple(int(starts[subtopic]) + place for subtopic, place in dealt),
        doc_index=0,
        n_documents=config.sizes.documents,
        words=config.sizes.words,
        caps=config.caps,
        reread=True,
    )
    _carried_out(write_document(brief, log), writer, asked)
    return asked


def _carried_out(plan: Plan[Value], writer: str, asked: list[tuple[str, str]]) -> Value:
    try:
        asks = next(plan)
        while True:
            asks = plan.send([_reply(ask, writer, asked) for ask in asks])
    except StopIteration as ended:
        value: Value = ended.value
        return value


def _reply(ask: Ask, writer: str, asked: list[tuple[str, str]]) -> Reply:
    text = load_prompt(ask.prompt).render(**ask.fields)
    asked.append((ask.prompt, text))
    said = say(text, _VERIFIER if ask.role == "verifier" else writer)
    assert said is not None, f"the scripted models know no {ask.prompt}"
    return Reply(said.text, None)
