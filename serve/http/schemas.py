"""Requests and answers as they travel. An option that is not known here is refused, not ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Discriminator, Field, JsonValue, Tag, model_validator

from longform.settings.strict import Strict

DEEPEST = 64
"""Levels of a value that a request states; deeper ones are nobody's, and would use up the stack."""


class Text(Strict):
    """A document as an object."""

    text: str


def _document_form(value: JsonValue | Text) -> str | None:
    """Return the form of a document; None if it has neither."""
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict | Text) else None


Document = Annotated[
    Annotated[str, Tag("string")] | Annotated[Text, Tag("object")],
    Discriminator(
        _document_form,
        custom_error_type="document",
        custom_error_message="expected a text, or an object with `text`",
    ),
]
Texts = Annotated[tuple[str, ...], Field(min_length=1)]


def _content_form(value: JsonValue | tuple[JsonValue, ...]) -> str | None:
    """Return the form of a message's content; None if it has neither."""
    return "string" if isinstance(value, str) else "list" if isinstance(value, list | tuple) else None


def _listed(value: JsonValue) -> JsonValue:
    """Take one for a list of one."""
    return [value] if isinstance(value, str) else value


def _parts(value: JsonValue) -> list[JsonValue]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


class EmbeddingRequest(Strict):
    """A request of OpenAI's embeddings; texts only, no token ids."""

    input: Annotated[Texts, BeforeValidator(_listed)]
    model: str | None = None
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None  # the model's own, or none
    user: str | None = None  # not used


class RerankRequest(Strict):
    """A request of TEI's if it has `texts`, of Cohere's, Jina's and vLLM's if it has `documents`."""

    query: str
    texts: Texts | None = None
    documents: Annotated[tuple[Document, ...], Field(min_length=1)] | None = None
    model: str | None = None
    top_n: int | None = Field(None, ge=0)  # null and 0: all
    raw_scores: bool = False  # TEI: logits in place of probabilities
    return_text: bool = False  # TEI
    return_documents: bool = False
    truncate: bool = False  # TEI: cut what is too long; false: refuse it
    truncation_direction: Literal["right", "Right"] = "right"
    max_tokens_per_doc: int | None = Field(None, gt=0)  # Cohere: only what the model reads anyway
    user: str | None = None  # not used

    @model_validator(mode="after")
    def _one_dialect(self) -> RerankRequest:
        if (self.texts is None) == (self.documents is None):
            raise ValueError("expected either `texts` (TEI) or `documents` (Cohere, Jina, vLLM)")
        return self

    @property
    def all_texts(self) -> list[str]:
        found = self.texts if self.texts is not None else self.documents or ()
        return [one if isinstance(one, str) else one.text for one in found]


class ScoreRequest(Strict):
    """A request of vLLM's score: one text with each of many, or as many with as many, pair by pair."""

    text_1: Annotated[Texts, BeforeValidator(_listed)] = Field(validation_alias=AliasChoices("text_1", "queries"))
    text_2: Annotated[Texts, BeforeValidator(_listed)] = Field(validation_alias=AliasChoices("text_2", "documents"))
    model: str | None = None

    @model_validator(mode="after")
    def _can_be_paired(self) -> ScoreRequest:
        if len(self.text_1) not in (1, len(self.text_2)):
            n, m = len(self.text_1), len(self.text_2)
            raise ValueError(f"expected one text_1, or as many as text_2; found {n} and {m}")
        return self

    @property
    def pairs(self) -> list[tuple[str, str]]:
        firsts = self.text_1 * len(self.text_2) if len(self.text_1) == 1 else self.text_1
        return list(zip(firsts, self.text_2, strict=True))


class TextPart(Strict):
    """A piece of a message."""

    type: Literal["text"]
    text: str


class ChatMessage(Strict):
    """A message of one side."""

    role: Literal["system", "user", "assistant"]
    content: Annotated[
        Annotated[str, Tag("string")] | Annotated[tuple[TextPart, ...], Field(min_length=1), Tag("list")],
        Discriminator(
            _content_form,
            custom_error_type="content",
            custom_error_message="expected a text, or a list of parts of type text",
        ),
    ]

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


class NamedSchema(Strict):
    """OpenAI's `json_schema`; replies keep to it even if `strict` is false."""

    name: str
    description: str | None = None
    schema_: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None

    @model_validator(mode="after")
    def _is_flat_enough(self) -> NamedSchema:
        level: list[Any] = [self.schema_]
        for _ in range(DEEPEST):
            level = [part for value in level for part in _parts(value)]
            if not level:
                return self
        raise ValueError(f"expected a schema nested at most {DEEPEST} deep")


class ResponseFormat(Strict):
    """Free text, any JSON object, or one of a schema."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: NamedSchema | None = None

    @model_validator(mode="after")
    def _has_its_schema(self) -> ResponseFormat:
        if (self.type == "json_schema") != (self.json_schema is not None):
            raise ValueError("expected a `json_schema` with type json_schema, and with no other")
        return self


class CompletionRequest(Strict):
    """A request of OpenAI's chat completions: one whole reply in text, with log probabilities if asked for."""

    messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1)]
    model: str | None = None
    max_tokens: int | None = Field(None, gt=0, le=1_000_000)
    max_completion_tokens: int | None = Field(None, gt=0, le=1_000_000)  # the newer name of the same
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = Field(None, ge=0, lt=2**31)
    stop: Annotated[tuple[str, ...] | None, BeforeValidator(_listed)] = Field(None, max_length=4)
    logprobs: bool = False
    top_logprobs: int | None = Field(None, ge=0, le=20)
    response_format: ResponseFormat | None = None
    n: Literal[1] = 1
    stream: Literal[False] = False
    prompt_cache_key: str | None = None  # requests of one key go to one replica; null: those that begin alike
    user: str | None = None  # not used

    @model_validator(mode="after")
    def _asks_for_one_thing(self) -> CompletionRequest:
        if self.top_logprobs is not None and not self.logprobs:
            raise ValueError("expected `logprobs: true` with top_logprobs")
        if self.max_tokens is not None and self.max_completion_tokens is not None:
            raise ValueError("expected max_tokens or max_completion_tokens, found both")
        return self


class ErrorDetail(Strict):
    """An error's message (expected, came, and what to do); `code` is the status."""

    message: str
    type: str
    code: int


class ErrorAnswer(Strict):
    """An error in OpenAI's shape."""

    error: ErrorDetail


class Usage(Strict):
    """Tokens of a request; those of a judge without a tokenizer are `estimated`, a token for every four bytes."""

    prompt_tokens: int
    total_tokens: int
    cached_tokens: int  # part of `prompt_tokens` that earlier answers covered
    completion_tokens: int = 0  # written by a chat model
    estimated: bool = False


class JudgedItem(Strict):
    """
    The verdicts of one item: of `support` one a sentence, of `coverage` one an insight, in order.

    Each verdict has `answer` (null: unjudged, and `failure` says why), `probability` (null there, and if a judge
    answers in words only), `call_id`, `from_cache` and `from_ledger`.
    """

    verdicts: list[dict[str, Any]]


class JudgeAnswer(Strict):
    """
    The answer of a judge.

    Attributes:
        version: Changes with all that can change the judge's answers.
        score_kind: The meaning of `probability`.
        card: The judge's agreement with people, in one line; null, and `card_reason` says why.
        from_cache: True if every verdict that a model had to give was given before.
        from_ledger: True if every such verdict came from the ledger. For a mean of judges: if every call of its members
            did; members that ask no model compute again.
    """

    id: str
    judge: str
    task: str | None
    version: str
    score_kind: str | None
    card: str | None
    card_reason: str | None
    from_cache: bool
    from_ledger: bool
    results: list[JudgedItem]
    usage: Usage
