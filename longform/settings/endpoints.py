"""
Servers that a configuration names by their whole URL, encoders that are here or behind one, and fields of requests.

The fields are those of a body that no setting of a chat model names: one server has them and others do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue, model_validator

from longform.settings.strict import Strict

_URL = re.compile(r"(https?|serve)://(\[[0-9A-Fa-f:.]+\]|[^\s/?#@%:\\\[\]]+)(:[0-9]{1,5})?(/[^\s?#\\]*)?")
_VARIABLE = re.compile(r"([A-Z_][A-Z0-9_]*)?")


def _plain(url: str) -> str:
    """Return the URL of a server if no secret can stand in it: runs keep it, and no error repeats it."""
    try:
        if _URL.fullmatch(url) and urlsplit(url).port != 0:
            return url
    except ValueError:  # a port above 65535, an address that is none
        pass
    raise ValueError(
        "expected http://HOST[:PORT]/PATH, https:// or serve://APPLICATION/PATH, without user, password, query and "
        "fragment (a run would store them; keys are read from environment variables), found another form"
    )


def _variable(name: str) -> str:
    """Return the name of an environment variable; a key in its place is refused, and not repeated."""
    if _VARIABLE.fullmatch(name):
        return name
    raise ValueError(
        "expected the NAME of an environment variable (capital letters, digits, underscores) that holds the key, and "
        "never the key itself, found something else"
    )


Url = Annotated[str, AfterValidator(_plain)]
"""The URL of a server; `serve://` names an application of the job's cluster."""

Variable = Annotated[str, AfterValidator(_variable)]
"""The name of the environment variable with a key or a token; empty: none is sent."""

_HOW_ASKED = frozenset({"api_key_env", "in_flight", "attempts", "timeout_s"})


class EndpointSettings(Strict):
    """A server that is asked over HTTP, or by the handle of an application in the cluster."""

    how_it_is_asked = _HOW_ASKED

    url: Url  # whole: http://HOST:8000/v1/rerank, or serve://APPLICATION/v1/rerank
    model: str  # as the server calls it; say a version where there is one: another's answers are others
    api_key_env: Variable | None = None  # the name of the variable with the bearer token; null: none is sent
    in_flight: int = Field(8, gt=0)  # requests of a worker
    attempts: int = Field(8, gt=0)  # of a request, at what may pass: 5xx, nobody there; 429 is waited out
    timeout_s: float = Field(300.0, gt=0)  # of one attempt


class EmbeddingsEndpointSettings(EndpointSettings):
    """A server that speaks OpenAI's dialect of embeddings, `serve/` among them."""

    how_it_is_asked = _HOW_ASKED | {"batch_texts"}

    batch_texts: int = Field(64, gt=0)  # of one request


class EncoderSettings(Strict):
    """
    An encoder of texts: a model of this machine, or one behind an endpoint if there is a URL.

    Without a URL its identity is the model's alone, so that what was stored before there were endpoints is found.
    """

    how_it_is_asked = _HOW_ASKED | {"batch_texts"}
    newer = frozenset({"url"})
    _of_endpoint: ClassVar[tuple[str, ...]] = ("api_key_env", "in_flight", "attempts", "timeout_s", "batch_texts")

    model: str  # a hub name, a folder, s3:// or package:NAME; with a URL as the server calls it
    url: Url | None = None  # the endpoint's, whole; null: the model is of this machine
    api_key_env: Variable | None = None  # as of every endpoint; null: none is sent
    in_flight: int | None = Field(None, gt=0)  # null: as of every endpoint; so below
    attempts: int | None = Field(None, gt=0)  # of a request
    timeout_s: float | None = Field(None, gt=0)  # of one attempt
    batch_texts: int | None = Field(None, gt=0)  # of one request

    @model_validator(mode="after")
    def _asks_what_has_a_url(self) -> Self:
        stated = [name for name in self._of_endpoint if getattr(self, name) is not None]
        if self.url is None and stated:
            raise ValueError(f"expected a `url` with {' and '.join(stated)}, which are of an endpoint; found none")
        return self

    @property
    def endpoint(self) -> EmbeddingsEndpointSettings | None:
        """The endpoint; None: the model is of this machine."""
        if self.url is None:
            return None
        stated = {name: found for name in self._of_endpoint if (found := getattr(self, name)) is not None}
        return EmbeddingsEndpointSettings(url=self.url, model=self.model, **stated)


# ---------------------------------------------------------------- fields of requests

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
