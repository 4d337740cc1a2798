"""
The secrets that this process was given in its environment, and the redaction that knows them.

A key is read by `secret` and nowhere else, so that nothing is read that is not taken out of replies, errors and logs.
"""

from __future__ import annotations

import logging
import os
import re
from functools import lru_cache

from longform.errors import UsageError
from longform.redaction import SHORTEST, Redaction
from longform.text.visible import visible

_USUAL = re.compile(
    r"\w*_API_KEY|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|HF_TOKEN|HUGGING_FACE_HUB_TOKEN|LONGFORM_SERVE_TOKENS"
)
"""Variables that hold secrets whether a configuration names them or not: libraries of ours read them."""
_ENTRY = re.compile(r"[^=\s,]+\s*=\s*(.+)")  # NAME=TOKEN, as a server's tokens are stated

_named: set[str] = set()

_log = logging.getLogger(__name__)


def secret(variable: str) -> str | None:
    """Return the secret in an environment variable, None if it is unset or empty; from now on it is redacted."""
    found = os.environ.get(variable) or None
    if found is not None and variable not in _named and len(found) < SHORTEST:
        _log.warning(
            "the key in %s has %d characters: one of fewer than %d is not taken out of replies, which would lose words",
            variable,
            len(found),
            SHORTEST,
        )
    _named.add(variable)
    return found


def redaction() -> Redaction:
    """Return what takes the secrets of this process's environment out of text."""
    variables = {name for name in os.environ if name in _named or _USUAL.fullmatch(name)}
    return _redaction(frozenset(value for name in variables for value in _values(os.environ[name])))


def redacted(text: str) -> str:
    """Return *text* without the secrets of this process's environment."""
    return redaction().text(text)


@lru_cache(maxsize=4)
def _redaction(secrets: frozenset[str]) -> Redaction:
    return Redaction(secrets)


def _values(stated: str) -> list[str]:
    """Return a variable's value, and of a list of NAME=TOKEN each token."""
    tokens = [entry[1].strip() for part in re.split(r"[,\n]", stated) if (entry := _ENTRY.fullmatch(part.strip()))]
    return [stated.strip(), *tokens]


class RedactingFormatter(logging.Formatter):
    """Formats as the standard formatter does, without secrets and with control characters shown."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(redacted(super().format(record)))


def token_in(variable: str | None, server: str) -> str | None:
    """
    Return the token of a *server* that stands in a variable of the environment; None if it needs none.

    Raises:
        UsageError: The variable is unset.
    """
    if variable is None:
        return None
    if not (token := secret(variable)):
        raise UsageError(f"{server}: expected its token in {variable}, which is unset")
    return token
