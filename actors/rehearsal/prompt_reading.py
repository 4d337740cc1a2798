"""
Prompts read back: which fields a text was rendered from. For scripted models, which answer by the
fields of a prompt.
"""

from __future__ import annotations

import re
from functools import cache

from longform import prompts

_FIELD = re.compile(r"\{\{(\w+)\}\}")


def rendered_fields(name: str, prompt: str) -> dict[str, str] | None:
    """Return the fields that *prompt* was rendered from if it is the prompt *name* as it ships, else None."""
    found = _pattern(name).fullmatch(prompt)
    return None if found is None else found.groupdict()


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """
    Return the prompt with a group in the place of each field; of the same field twice, the first place is read.

    A group takes all it can: a line of ==== between two summaries does not end them, the last one does.
    """
    parts = _FIELD.split(prompts.load_prompt(name).text)
    seen: set[str] = set()
    pattern = ""
    for index, part in enumerate(parts):
        if index % 2 == 0:
            pattern += re.escape(part)
        elif part in seen:
            pattern += f"(?P={part})"
        else:
            seen.add(part)
            pattern += rf"(?P<{part}>\d+)" if part.startswith("n_") else f"(?P<{part}>.*)"
    return re.compile(pattern, re.DOTALL)
