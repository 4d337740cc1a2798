"""Fields of a request's body that no setting of a chat model names: those that one server has and others do not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, JsonValue

_SAID_OTHERWISE = frozenset(
    {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "reasoning_effort"}
)
"""Fields that have a setting of their own."""

_OURS = frozenset({"n", "stream", "stream_options", "logprobs", "top_logprobs", "response_format"})
"""Fields by which a reply is read."""

_SECRET_NAME = re.compile(
    r"authorization|api[-_ ]?key|secret|passw(or)?d|credential|bearer|cookie|private[-_]?key|"
    r"(access|auth|session|id|refresh)[-_]?token|^(token|key)$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"\s*(Bearer\s|Basic\s|sk-)", re.IGNORECASE)

OF_LLAMA_CPP = frozenset(
    """
    top_k min_p typical_p top_n_sigma min_keep repeat_penalty repeat_last_n presence_penalty frequency_penalty
    dynatemp_range dynatemp_exponent dry_multiplier dry_base dry_allowed_length dry_penalty_last_n
    dry_sequence_breakers xtc_probability xtc_threshold mirostat mirostat_tau mirostat_eta samplers logit_bias
    ignore_eos stop chat_template_kwargs
    """.split()
)
"""Fields of llama.cpp's server that change what is sampled."""

OF_SERVED = frozenset({"stop"})
"""Fields that a model behind this project's own server takes beside those with a setting."""


def _checked(fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """
    Raises:
        ValueError: A field has a setting of its own, or decides how replies are read.
    """
    if twice := sorted(_SAID_OTHERWISE & fields.keys()):
        raise ValueError(f"{', '.join(twice)}: expected beside `extra_body`, as a setting of the model, not within")
    if ours := sorted(_OURS & fields.keys()):
        raise ValueError(f"{', '.join(ours)}: decides how a reply is read, and is set by what asks; leave it out")
    return fields


def _without_secrets(fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return the fields unless one seems to hold a secret, which is not repeated."""
    if secret := next(secrets(fields), None):
        raise ValueError(
            f"{secret} seems to hold a secret, which a run would store: expected the key in an environment variable "
            "that `api_key_env` names"
        )
    return fields


def secrets(value: JsonValue | Mapping[str, JsonValue], place: str = "") -> Iterator[str]:
    """Yield the places of what is named like a secret, or looks like one."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            here = f"{place}.{name}" if place else name
            yield from [here] if _SECRET_NAME.search(name) else secrets(inner, here)
    elif isinstance(value, list):
        for inner in value:
            yield from secrets(inner, place)
    elif isinstance(value, str) and _SECRET_VALUE.match(value):
        yield place


ExtraBody = Annotated[Mapping[str, JsonValue], AfterValidator(_checked), AfterValidator(_without_secrets)]

Options = Annotated[dict[str, JsonValue], AfterValidator(_without_secrets)]
"""Options of a part of a user's own, which a run stores."""
