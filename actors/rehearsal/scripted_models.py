"""The scripted models of annexes: the name of a model says which, and its module is known by its path alone."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from longform.chat.call import TokenLogprobs

_SYNTHESIS = "actors.synthesis.scripted"
_MODULES = dict.fromkeys(("scripted-writer", "scripted-verifier", "scripted-extractor"), _SYNTHESIS)
"""Name of a model up to its options -> the module whose `say` speaks for it."""


class Said(NamedTuple):
    """The reply of a scripted model."""

    text: str
    is_refusal: bool
    logprobs: tuple[TokenLogprobs, ...] | None = None


def say(prompt: str, model: str) -> Said | None:
    """
    Return the reply of *model* to *prompt*; None if no annex brings it, or it is asked for another task.

    Raises:
        UsageError: The name has options that the model does not know.
    """
    module = _MODULES.get(model.partition(":")[0])
    said: Said | None = None if module is None else import_module(module).say(prompt, model)
    return said
