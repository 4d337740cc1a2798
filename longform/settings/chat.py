"""Chat models and summarizers, as a configuration names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from longform.settings.endpoints import ExtraBody, Options, Url, Variable
from longform.settings.python_class import PythonClassSettings
from longform.settings.strict import PartSettings, ResourcesSettings, Strict


class CallSettings(Strict):
    """Limits of the calls to a system of one's own, and what each costs at most."""

    timeout_s: float = Field(400.0, gt=0)  # the deadline of one attempt
    attempts: int = Field(6, gt=0)  # at what may pass: 5xx, resets, timeouts, bodies that are no answer; not 429
    patience_s: float = Field(300.0, gt=0)  # every call refused (429) for so long ends the command
    concurrency: int = Field(16, gt=0)  # calls in flight a worker
    in_flight: int | None = Field(None, gt=0)  # of all workers together; null: no limit but `concurrency`
    requests_per_minute: float | None = Field(None, gt=0)  # null: found out
    cost_usd_per_call: float | None = Field(None, ge=0)  # at most; an answer may state less. null: unknown

    def asked_as(self, provider: Literal["http", "python"], model: str, **more: str) -> ChatSettings:
        """Return the settings of the pool that carries the calls."""
        limits = self.model_dump(include=CallSettings.model_fields.keys() - {"cost_usd_per_call"})
        own = {"usd_per_call": self.cost_usd_per_call, "api_key_env": ""}
        return ChatSettings(provider=provider, model=model, **{**limits, **own, **more})


class ChatSettings(Strict):
    """A chat model: of an OpenAI-compatible server, of `litellm`, in a local GGUF file, or the scripted one."""

    how_it_is_asked = frozenset(
        {
            *CallSettings.model_fields,
            "replicas",
            "api_key_env",
            "tokens_per_minute",
            "quota",
            "prefix_cache",
            "batch",
            "usd_per_call",
            "resources",
        }
    )
    newer = frozenset({"top_p", "seed", "reasoning_effort", "extra_body"})

    provider: Literal["openai", "litellm", "llama_cpp", "scripted", "http", "python"] = "openai"
    """The one who is asked. `http` and `python` are a system of one's own, which summarizers and retrievers of these
    kinds make of their settings."""
    model: str  # llama_cpp: the path or s3:// URL of a GGUF file
    base_url: Url | None = None  # null: the provider's own; serve://APPLICATION/v1: one that this cluster serves
    replicas: tuple[Url, ...] = ()  # base URLs of equal servers of the model; calls that share a text go to one
    api_key_env: Variable = "OPENAI_API_KEY"  # the name of the variable; the key itself is never in a file
    context_window: int | None = Field(None, gt=0)  # tokens; overrides the capability table
    max_tokens: int = Field(1000, gt=0)  # of a reply
    temperature: float | None = Field(None, ge=0)  # null: not sent; so are the next four
    top_p: float | None = Field(None, gt=0, le=1)  # of sampling; null: not sent
    seed: int | None = Field(None, ge=0)  # of sampling; repeat r (from 0) is asked with seed + r
    reasoning_effort: str | None = Field(None, min_length=1)  # low, medium, high, or what the provider has besides
    extra_body: ExtraBody | None = None  # further fields of the body, which this server has
    json_schema: bool | None = None  # null: as the capability table says
    script: str | None = None  # scripted only: the name of its behaviour
    timeout_s: float = Field(400.0, gt=0)  # the deadline of one attempt
    attempts: int = Field(6, gt=0)  # at what may pass: 5xx, resets, timeouts, bodies that are no reply; not 429
    patience_s: float = Field(300.0, gt=0)  # every call refused (429) for so long ends the command
    concurrency: int = Field(16, gt=0)  # calls in flight a worker
    requests_per_minute: float | None = Field(None, gt=0)  # null: found out
    tokens_per_minute: float | None = Field(None, gt=0)  # null: found out
    in_flight: int | None = Field(None, gt=0)  # of all workers together; null: no limit but `concurrency`
    quota: str | None = None  # models that name one quota share one limit upstream
    prefix_cache: Literal["shared", "slot"] = "shared"  # slot: a server that keeps one prefix a slot (llama.cpp)
    batch: bool = False  # through the provider's batch API: cheaper, within a day
    usd_per_call: float | None = Field(None, ge=0)  # of a system of one's own: the most that a call costs
    resources: ResourcesSettings | None = None  # llama_cpp: what each worker that holds it asks of the cluster

    @model_validator(mode="after")
    def _holds_what_it_asks_for(self) -> ChatSettings:
        if self.resources is not None and self.provider != "llama_cpp":
            raise ValueError(f"`resources` are for provider llama_cpp, which runs here; found provider {self.provider}")
        return self

    @model_serializer(mode="wrap")
    def _as_before(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:  # read by pydantic
        """Leave out what older files have not, unless it is set."""
        return {
            name: value
            for name, value in handler(self).items()
            if value is not None or name not in ("usd_per_call", "resources")
        }

    @property
    def is_own_system(self) -> bool:
        """Return whether a system of one's own answers, whose price no list of models has."""
        return self.provider in ("http", "python")


class MayAskSettings(PartSettings):
    """Settings of a component that asks a chat model in some of its kinds."""

    fitted_models: ClassVar[frozenset[str]] = frozenset()  # shipped ones, by which it chooses documents or sentences

    @property
    def asked_model(self) -> ChatSettings | None:
        """The chat model that it asks, its `chat` unless a kind says otherwise; None: it asks none."""
        return getattr(self, "chat", None)

    @property
    def requests_at_once(self) -> int | None:
        """The requests that a worker has in flight to a server of models; None: it asks none."""
        return getattr(self, "in_flight", getattr(self, "concurrency", None))

    @property
    def prompt_name(self) -> str | None:
        """The prompt that it asks with; None: it has none, or several."""
        return getattr(self, "prompt", None)

    @property
    def asked_resources(self) -> ResourcesSettings | None:
        """Resources that each worker that holds it asks of the cluster; None: none."""
        own: ResourcesSettings | None = getattr(self, "resources", None)
        return own if own or self.asked_model is None else self.asked_model.resources


class HttpSettings(CallSettings):
    """A server of one's own that speaks the protocol of docs/own-systems.md."""

    how_it_is_asked = frozenset({*CallSettings.model_fields, "api_key_env"})

    kind: Literal["http"]
    url: Url  # whole; serve://APPLICATION/PATH: of this cluster
    model: str = Field(min_length=1)  # what answers there, and its version: another's answers are others
    api_key_env: Variable | None = None  # the name of the variable with the bearer token; null: none is sent
    options: Options = Field(default_factory=dict)  # sent with every request

    def __hash__(self) -> int:
        return hash(self.model_dump_json())  # options may be lists and mappings

    @property
    def asked_model(self) -> ChatSettings:
        """The pool's settings for its calls."""
        return self.asked_as("http", self.model, base_url=self.url, api_key_env=self.api_key_env or "")


class OwnClassSettings(PythonClassSettings):
    """A class of one's own that writes or ranks, by itself or through the ledger."""

    how_it_is_asked = PythonClassSettings.how_it_is_asked | {"calls"}

    calls: CallSettings | None = None  # through the ledger, within these limits; null: its calls are its own

    @property
    def asked_model(self) -> ChatSettings | None:
        """The pool's settings for its calls; None: they are its own."""
        return None if self.calls is None else self.calls.asked_as("python", self.class_)


class _Summarizer(MayAskSettings):
    """
    The facts of a kind of summarizer.

    Attributes:
        from_documents: True if it writes, from documents that a retriever gives.
        takes_methods: True if it can be asked by other methods than the plain one.
        writer: The one of the benchmark whose texts it takes; None: it writes itself, or it takes all texts.
        named_retrievers: Retrievers that its settings name.
        is_free: True if the number of bullets is withheld (SummHay, section 6).
    """

    from_documents: ClassVar[bool] = True
    takes_methods: ClassVar[bool] = False

    @property
    def writer(self) -> str | None:
        return None

    @property
    def named_retrievers(self) -> Iterable[str]:
        return ()

    @property
    def is_free(self) -> bool:
        return getattr(self, "bullets", None) == "free"

    def prompt_of(self, _retriever: str | None, /) -> str | None:
        """Return the prompt in systems with this retriever; None: by the query's domain, or it has no prompt."""
        return None


class OfflineSummarizerSettings(_Summarizer):
    """Quotes of the documents, chosen without any language model."""

    actor = "actors.summarizers.offline:OfflineSummarizer"
    newer = frozenset({"bullets"})
    ignores_order: ClassVar[bool] = True  # it writes the same for every order of documents
    deterministic: ClassVar[bool] = True  # it writes the same text every time it is asked
    fitted_models = frozenset({"support", "ranker"})

    kind: Literal["offline"]
    max_words: int = Field(300, gt=0)  # of a summary
    bullets: Literal["free"] | None = None  # free: not told how many, it writes the usual 7; null: the experiment's


FROM_MEMORY = "answer_from_memory"
"""The prompt that shows no documents."""


class ChatSummarizerSettings(_Summarizer):
    """A prompted chat model."""

    actor = "actors.summarizers.chat:ChatSummarizer"
    newer = frozenset({"prompt_with", "collection", "bullets"})
    ignores_order: ClassVar[bool] = False
    deterministic: ClassVar[bool] = False
    takes_methods = True

    kind: Literal["chat"]
    chat: ChatSettings  # the model that writes
    prompt: str | None = None  # null: by the query's domain
    prompt_with: Mapping[str, str] | None = None  # retriever -> the prompt in its systems, in place of `prompt`
    bullets: Literal["free"] | None = None  # free: it is not told how many are wanted; null: the experiment's
    collection: str | None = Field(None, min_length=1)  # the texts that an answer from memory is about, in words

    @model_validator(mode="after")
    def _shows_its_collection(self) -> ChatSummarizerSettings:
        if self.collection is not None and FROM_MEMORY not in {self.prompt, *(self.prompt_with or {}).values()}:
            raise ValueError(
                f"`collection` is for the prompt {FROM_MEMORY}: expected it as `prompt` or in `prompt_with`"
            )
        return self

    @property
    def named_retrievers(self) -> Iterable[str]:
        return self.prompt_with or ()

    def prompt_of(self, retriever: str | None, /) -> str | None:
        return (self.prompt_with or {}).get(retriever or "", self.prompt)


class ShippedSummarizerSettings(_Summarizer):
    """
    Summaries that the benchmark ships, of one who wrote them elsewhere.

    Systems that name a retriever take the one summary of each query whose setting has the ranking's name. Systems
    without a retriever are all that the benchmark ships of the writer, in every setting and at every minute.
    """

    actor = "actors.summarizers.shipped:ShippedSummarizer"
    how_it_is_asked = frozenset({"ignores_order"})
    deterministic: ClassVar[bool] = True
    from_documents = False

    kind: Literal["shipped", "released"]  # released: the name that older files have for it
    name: str | None = None  # of the summarizer in the benchmark; null: all that it ships
    ignores_order: bool = True  # false: it read the documents in an order, so that places and orders can be compared

    @property
    def writer(self) -> str | None:
        return self.name


class PythonSummarizerSettings(OwnClassSettings, _Summarizer):
    """A class of one's own that writes."""

    actor = "actors.summarizers.own:PythonSummarizer"
    ignores_order: bool = False  # whether it writes the same for every order of documents
    deterministic: bool = False  # whether it writes the same text however often it is asked


class HttpSummarizerSettings(HttpSettings, _Summarizer):
    """A server of one's own that writes."""

    actor = "actors.summarizers.own:HttpSummarizer"
    ignores_order: bool = False  # as above
    deterministic: bool = False  # as above


OwnSummarizerSettings = PythonSummarizerSettings | HttpSummarizerSettings

SummarizerSettings = Annotated[
    OfflineSummarizerSettings
    | ChatSummarizerSettings
    | ShippedSummarizerSettings
    | PythonSummarizerSettings
    | HttpSummarizerSettings,
    Field(discriminator="kind"),
]
