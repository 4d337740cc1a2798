"""
Take configured secrets out of foreign text, before it is stored or logged.

An endpoint may repeat the key it was sent: in a reply, as its model's name, in an error. A secret is found as it is and
in the forms that programs give to text: JSON and URL escapes, base64 at any offset, and hexadecimal digits. An endpoint
that hides the key on purpose is not found out.
"""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import ceil
from urllib.parse import quote, quote_plus

from pydantic import JsonValue

from longform.chat.call import ChatReply, TokenLogprobs

MARK = "[REDACTED]"

SHORTEST = 8
"""Characters of the shortest secret that is taken out: a shorter one may stand in any text by chance."""


class Redaction:
    """Knows a set of secrets. Those shorter than `SHORTEST` are passed over."""

    def __init__(self, secrets: Iterable[str]) -> None:
        usable = {secret for secret in secrets if len(secret) >= SHORTEST}
        forms = {form for secret in usable for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._escaped = [re.compile(_escaped(secret), re.IGNORECASE) for secret in sorted(usable)]

    def text(self, text: str) -> str:
        """Return *text* with a mark in the place of each secret."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MARK)
        if "\\" in text:
            for pattern in self._escaped:
                text = pattern.sub(MARK, text)
        return text

    def value(self, value: JsonValue) -> JsonValue:
        """Return a JSON value with all its strings redacted, the names of fields included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self.value(inner) for name, inner in value.items()}
        return [self.value(inner) for inner in value] if isinstance(value, list) else value

    def reply(self, reply: ChatReply) -> ChatReply:
        """Return *reply* with all its text redacted, its tokens included."""
        if not self._forms:
            return reply
        return replace(
            reply,
            text=self._optional(reply.text),
            failure=self._optional(reply.failure),
            finish_reason=self._optional(reply.finish_reason),
            model=self._optional(reply.model),
            logprobs=None if reply.logprobs is None else self._tokens(reply.logprobs),
        )

    def _optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def _tokens(self, tokens: tuple[TokenLogprobs, ...]) -> tuple[TokenLogprobs, ...]:
        """Mark the tokens that a secret goes through, since it may be cut into several."""
        spans = list(self._spans("".join(token.token for token in tokens)))
        others = "\n".join(other for token in tokens for other, _ in token.top)
        if not spans and self.text(others) == others:
            return tokens
        kept, start = [], 0
        for token in tokens:
            end = start + len(token.token)
            if any(start < stop and begin < end for begin, stop in spans):
                kept.append(TokenLogprobs(MARK, token.logprob, ()))
            else:
                kept.append(token._replace(top=tuple((self.text(other), value) for other, value in token.top)))
            start = end
        return tuple(kept)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for form in self._forms:
            start = text.find(form)
            while start >= 0:
                yield start, start + len(form)
                start = text.find(form, start + 1)


def _forms(secret: str) -> Iterator[str]:
    """Yield the forms of a secret in text; a form that is too short to be the secret's alone is left out."""
    content = secret.encode("utf-8", "surrogatepass")
    forms = [secret, quote(content), quote(content, safe=""), quote_plus(content), content.hex(), content.hex().upper()]
    forms += [inner for encode in (b64encode, urlsafe_b64encode) for inner in _base64(content, encode)]
    yield from (form for form in forms if len(form) >= SHORTEST)


def _base64(content: bytes, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    """Yield the characters that *content* alone decides, wherever it stands in the encoded text."""
    for before in range(3):
        encoded = encode(bytes(before) + content).decode()
        yield encoded[ceil(before * 8 / 6) : (before + len(content)) * 8 // 6]


def _escaped(secret: str) -> str:
    """Return a pattern of the secret with any of its characters escaped as JSON may escape them."""
    return "".join(rf"(?:\\?{re.escape(character)}|\\u{ord(character):04x})" for character in secret)
