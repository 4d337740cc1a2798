"""A collection in which one document states a claim in words that the claim does not use."""

from __future__ import annotations

import numpy as np

TOPICS = "bakery harbour orchard theatre stadium museum".split()
STATED = "The council postponed the bridge until spring because girders were missing, said the mayor."
IN_OTHER_WORDS = "Missing girders: the mayor now expects spring, and the council postponed everything."
CLAIM = "- Work on the bridge is postponed [3]"


def background(n: int) -> list[str]:
    """Documents on other things that also speak of a bridge or of work now and then."""
    drawn = np.random.default_rng(5)
    return [
        f"The {TOPICS[at % 6]} opened in {1900 + at}. "
        f"Visitors of the {TOPICS[(at + 2) % 6]} liked the {'bridge' if at % 9 == 0 else 'garden'} number {at}. "
        f"{'Work' if at % 7 == 0 else 'Rain'} went on, word{drawn.integers(999)} and word{drawn.integers(999)}."
        for at in range(n)
    ]


TOLD = [f"It is morning in town{at}. {STATED} Then word{at} followed." for at in range(6)]
COLLECTION = [*TOLD, f"A note from the hall. {IN_OTHER_WORDS}", *background(60)]

PARAPHRASE = len(TOLD)
"""The place of the document in other words."""
