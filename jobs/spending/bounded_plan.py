"""Plans of commands that ask again for what was rejected: what they will ask at least and at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.command.calling import Calling
from jobs.spending.call_count import StageCalls
from jobs.spending.plan import plan_document, plan_words
from longform.tables.files import aligned_text

BOUNDS = ("lowest", "highest")
NOT_IN_IT = "not in it: calls that are tried again because they failed"
NOTHING = "no model is called"


def bounded_plan(
    # rows of `step`, `role`, `model`, `cap` (in words), `lowest` and `highest` (calls)
    steps: Sequence[Mapping[str, Any]],
    calls: Mapping[str, Sequence[StageCalls]],  # calls that each stage makes, for each of `BOUNDS`
    *,
    notes: Sequence[str],  # what the lowest number assumes, what the highest does, then what holds of both
    calling: Calling,
    workers: int,  # processes that a stage may use
) -> dict[str, Any]:
    """
    Return the document of a plan with two numbers of calls.

    Returns:
        `steps`, `lowest` and `highest` (plans as of other verbs), `notes`.
    """
    plans = {bound: plan_document(calls[bound], calling=calling, workers=workers, notes=[]) for bound in BOUNDS}
    return {"steps": list(steps), **plans, "notes": list(notes)}


def bounded_plan_words(document: Mapping[str, Any]) -> str:
    """Return the plan as three tables (steps, lowest, highest) with its notes; if nothing is asked, say so and why."""
    if not document["steps"]:
        return ": ".join([NOTHING, *document.get("reasons", [])])
    heads = ("step", "asked", "model", "cap", "at least", "at most")
    keys = ("step", "role", "model", "cap", *BOUNDS)
    rows = [
        tuple(f"{value:,}" if isinstance(value := row[key], int) else str(value) for key in keys)
        for row in document["steps"]
    ]
    parts = [aligned_text([heads, *rows], left=range(4))]
    for bound, told in zip(BOUNDS, document["notes"], strict=False):
        parts += ["", told, plan_words({**document[bound], "notes": []})]
    both = document["notes"][len(BOUNDS) :]
    notes = dict.fromkeys([*document["lowest"]["notes"], *document["highest"]["notes"], *both])
    return "\n".join([*parts, "", *notes])
