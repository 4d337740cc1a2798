"""Access: tokens of callers, and limits on their requests."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from longform.errors import UsageError
from serve.settings import AccessSettings, Limits

OPEN_PATH = "/health"
"""Paths that ask for no token: load balancers have none."""

SHORTEST_TOKEN = 16
"""Characters; a shorter one could be guessed."""

_SCHEME = b"bearer "


class Tokens:
    """
    Bearer tokens by the name of who holds them; only their hashes are in memory.

    Raises:
        UsageError: One is too short, or two names have the same.
    """

    def __init__(self, named: Mapping[str, str]) -> None:
        self._digests = {name: _digest(token.encode()) for name, token in named.items()}
        if short := sorted(name for name, token in named.items() if len(token) < SHORTEST_TOKEN):
            raise UsageError(f"tokens of {short}: expected at least {SHORTEST_TOKEN} characters each")
        if len(set(self._digests.values())) < len(self._digests):
            raise UsageError(f"tokens of {sorted(named)}: expected a token of its own for each name")

    def __repr__(self) -> str:
        return f"Tokens({sorted(self._digests)})"

    def holder(self, authorization: bytes | None) -> str | None:
        """
        Return the name of the token in an `Authorization` header; None if it is nobody's. Takes as long for any header
        of one length.
        """
        header = authorization or b""
        given = _digest(header[len(_SCHEME) :])
        named_scheme = header[: len(_SCHEME)].lower() == _SCHEME
        # every token is compared, whichever fits
        found = [name for name, digest in self._digests.items() if hmac.compare_digest(digest, given)]
        return found[0] if found and named_scheme else None


@dataclass(frozen=True, kw_only=True)
class Access:
    """
    The application's rules for its callers.

    Raises:
        UsageError: Tokens are wanted, and there are none.
    """

    bind: str | None  # the address that is listened on; None if unknown, which is treated as not loopback
    tokens: Tokens | None = None  # the callers'
    on_loopback: bool = False  # want one there, too
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.wants_token and self.tokens is None:
            where = "an unknown address" if self.bind is None else self.bind
            raise UsageError(
                f"listening on {where} wants bearer tokens, and none are set: put NAME=TOKEN into the environment "
                f"variable that access.tokens_env names ({AccessSettings().tokens_env}), or into access.tokens_file"
            )

    @property
    def wants_token(self) -> bool:
        return self.on_loopback or not is_loopback(self.bind)


def read_tokens(settings: AccessSettings, environment: Mapping[str, str]) -> Tokens | None:
    """
    Return the tokens of the environment and the file; None if neither holds one.

    Raises:
        UsageError: A line cannot be read, or a name stands twice; the message shows no token.
    """
    named: dict[str, str] = {}
    for place, text in _sources(settings, environment):
        for number, line in enumerate(text.replace(",", "\n").splitlines(), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            name, separator, token = (part.strip() for part in line.partition("="))
            if not (name and separator and token):
                raise UsageError(f"{place}, entry {number}: expected NAME=TOKEN")
            if name in named:
                raise UsageError(f"{place}, entry {number}: the name {name!r} stands twice; expected each name once")
            named[name] = token
    return Tokens(named) if named else None


def is_loopback(host: str | None) -> bool:
    """Return whether only this machine can reach a server that listens on *host*."""
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _sources(settings: AccessSettings, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    found = [(settings.tokens_env, environment.get(settings.tokens_env, ""))]
    if settings.tokens_file is not None:
        try:
            found.append((settings.tokens_file, Path(settings.tokens_file).read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"access.tokens_file {settings.tokens_file!r} cannot be read: {error}") from error
    return found


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
