"""
Methods of summarising as plans: the prompts, the documents each shows, and the replies each reads.

Wan et al., On Positional Bias of Faithfulness for Long-form Summarization, section 5.1. A plan is a value: it asks
nothing, and one executor runs them all. Documents are named by their places in the context, from 0; steps that belong
to one document, order or pair carry its number, from 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, permutations
from math import factorial
from typing import Literal, NamedTuple, assert_never

import numpy as np

from longform.errors import UsageError
from longform.keys import stable_seed
from longform.settings.methods import (
    CalibrationMethodSettings,
    CondensedMethodSettings,
    FocusMethodSettings,
    HierarchicalMethodSettings,
    IncrementalMethodSettings,
    MethodSettings,
    PlainMethodSettings,
)

Task = Literal["summarize", "merge", "update", "snippets", "summaries"]
Place = Literal["top", "middle", "bottom"]

FINAL = "final"
"""The name of the step whose text is the summary."""

PARENT_FAILED = "parent_failed"
"""Begins the failure of a step that would have read a failed one: `parent_failed: STEP: reason`."""

_WRITTEN_OUT = 20  # n above which n! is no readable number


class AskStep(NamedTuple):
    """
    One call.

    Attributes:
        name: Unique in its plan; `final` for the last one.
        task: A summary of documents, of summaries, or of a summary and a document; or one document condensed.
        documents: Places of the documents it shows, in prompt order; a merge shows none.
        parents: Names of the steps whose texts it reads, in prompt order; a summary of documents shows these in the
            place of the documents.
        focus: The place that the model is told to look at; None: not told.
    """

    name: str
    task: Task
    documents: tuple[int, ...] = ()
    parents: tuple[str, ...] = ()
    focus: Place | None = None


Plan = tuple[AskStep, ...]
"""Each step reads only steps before it; the last one is the summary."""

Order = tuple[int, ...]


def make_plan(settings: MethodSettings, n_documents: int, *, seed: int = 0, n_orders: int | None = None) -> Plan:
    """
    Return the steps of *settings* on a context; every document is shown at least once.

    A context of one document, or of none, is summarised in one step by every method; one document can be condensed.

    Args:
        settings: The method.
        n_documents: Of the context.
        seed: Of the context; with the method's own it draws the orders of `calibration: sampled`.
        n_orders: How many of them, the first of which are those of a smaller number; None: as many as the method says.

    Raises:
        UsageError: All orders are wanted, and there are more than the method allows.
    """
    everything = tuple(range(n_documents))
    focus = settings.at if isinstance(settings, FocusMethodSettings) else None
    least = 1 if isinstance(settings, CondensedMethodSettings) else 2  # documents for which there are steps
    if n_documents < least or isinstance(settings, PlainMethodSettings | FocusMethodSettings):
        return (AskStep(FINAL, "summarize", everything, focus=focus),)
    match settings:
        case CondensedMethodSettings():
            return _condensed(settings, n_documents)
        case HierarchicalMethodSettings(merge="pairwise"):
            return _pairwise(n_documents)
        case HierarchicalMethodSettings():
            return _merged(_one_a_document(n_documents))
        case IncrementalMethodSettings():
            return _incremental(n_documents)
        case CalibrationMethodSettings():
            orders = _orders(settings, n_documents, seed, n_orders)
            return _merged([AskStep(f"order-{k}", "summarize", order) for k, order in enumerate(orders, 1)])
        case _:
            assert_never(settings)


# ---------------------------------------------------------------- plans


def _one_a_document(n_documents: int) -> list[AskStep]:
    return [AskStep(f"document-{place + 1}", "summarize", (place,)) for place in range(n_documents)]


def _condensed(settings: CondensedMethodSettings, n_documents: int) -> Plan:
    steps = [AskStep(f"document-{place + 1}", settings.to, (place,)) for place in range(n_documents)]
    return (*steps, AskStep(FINAL, "summarize", tuple(range(n_documents)), tuple(step.name for step in steps)))


def _merged(steps: Sequence[AskStep]) -> Plan:
    return (*steps, AskStep(FINAL, "merge", parents=tuple(step.name for step in steps)))


def _pairwise(n_documents: int) -> Plan:
    steps = _one_a_document(n_documents)
    waiting = [step.name for step in steps]
    n_rounds = 0
    while len(waiting) > 1:
        n_rounds += 1
        pairs = [tuple(waiting[first : first + 2]) for first in range(0, len(waiting), 2)]
        waiting = []
        for number, pair in enumerate(pairs, 1):
            if len(pair) == 1:
                waiting.append(pair[0])
                continue
            waiting.append(FINAL if len(pairs) == 1 else f"merge-{n_rounds}-{number}")
            steps.append(AskStep(waiting[-1], "merge", parents=pair))
    return tuple(steps)


def _incremental(n_documents: int) -> Plan:
    names = ["document-1", *(f"update-{number}" for number in range(2, n_documents)), FINAL]
    updates = (AskStep(names[place], "update", (place,), (names[place - 1],)) for place in range(1, n_documents))
    return (AskStep(names[0], "summarize", (0,)), *updates)


# ---------------------------------------------------------------- orders


def most_orders(settings: CalibrationMethodSettings, n_documents: int) -> int:
    """Return the number of orders at which `calibration: sampled` ends, however much its summaries differ."""
    return min(settings.most, factorial(n_documents))


def _orders(settings: CalibrationMethodSettings, n: int, seed: int, wanted: int | None) -> list[Order]:
    """Return different orders of *n* documents; rotations and all orders begin with the given one."""
    n_orders = _n_orders(settings, n) if wanted is None else min(wanted, factorial(n))
    match settings.orders:
        case "rotations":
            return [tuple((start + place) % n for place in range(n)) for start in range(n)]
        case "all":
            return list(permutations(range(n)))
        case "sampled":
            return list(islice(_drawn(n, stable_seed(settings.seed, seed)), n_orders))


def _drawn(n: int, seed: int) -> Iterator[Order]:
    """Yield orders drawn uniformly, each once."""
    generator = np.random.default_rng(seed)
    found: set[Order] = set()
    while True:
        order = tuple(generator.permutation(n).tolist())
        if order not in found:
            found.add(order)
            yield order


def _n_orders(settings: CalibrationMethodSettings, n: int) -> int:
    if settings.orders == "rotations":
        return n
    if settings.orders == "sampled":
        assert settings.n_orders is not None, "CalibrationMethod checks this"
        return min(settings.n_orders, factorial(n))
    if factorial(n) > settings.most:
        found = f"{n}! = {factorial(n):,}" if n <= _WRITTEN_OUT else f"{n}!"
        msg = (
            f"calibration over all orders: expected at most {settings.most} orders (`most`), found {found} for {n} "
            "documents; use `orders: rotations` or `orders: sampled`, or raise `most`"
        )
        raise UsageError(msg)
    return factorial(n)
