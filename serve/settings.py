"""Settings under `args:` of serve/config.yaml; an unknown key is an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, JsonValue, Tag, ValidationError, model_validator

from longform.errors import UsageError
from longform.settings.chat import ChatSettings, MayAskSettings
from longform.settings.endpoints import Variable
from longform.settings.judge import Task
from longform.settings.judges import JudgeSettings
from longform.settings.named_judges import KNOWN_JUDGES, judges_of
from longform.settings.retrievers import ChatRerankerSettings, EndpointRerankerSettings, PythonRerankerSettings
from longform.settings.strict import Strict

FREE_PROVIDERS = ("llama_cpp", "scripted")
"""Providers of chat models that run inside a replica."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]


class Batching(Strict):
    """Rules by which one replica puts requests together, and refuses more."""

    batch_tokens: int = Field(16384, gt=0)  # of one batch; a token is counted for every four bytes of text
    wait_s: float = Field(0.002, ge=0, le=1)  # for company, when nothing is running
    queue_tokens: int = Field(2_000_000, gt=0)  # waiting; beyond, requests are refused with 429
    max_wait_s: float = Field(20.0, gt=0)  # for a request's turn; those that would wait longer are refused with 429
    cache_entries: int = Field(10_000, ge=0)  # answers kept by their content


class ServedEncoder(Strict):
    """Embeddings of a Sentence Transformers model."""

    worker: ClassVar = "serve.workers:EmbeddingWorker"  # the import path of what is loaded; so below

    model: str  # a hub name, a folder, package:NAME or s3://
    batching: Batching = Batching()


class ServedCrossEncoder(Strict):
    """A reranker that reads query and document together."""

    worker: ClassVar = "serve.workers:CrossEncoderWorker"

    kind: Literal["cross_encoder"]
    model: str  # as above
    scores: Literal["logit", "probability"]  # as Cohere's, Jina's and vLLM's callers get them; TEI's say for themselves
    batching: Batching = Batching()


class ServedCosine(Strict):
    """A reranker by the cosine of sentence vectors: needs no cross-encoder, and is worth less than one."""

    worker: ClassVar = "serve.workers:CosineWorker"

    kind: Literal["cosine"]
    model: str  # an encoder
    batching: Batching = Batching()


class _Free(MayAskSettings):
    """An entry of a kind that a job's configuration has, too; it may ask others, and pays nobody for it."""

    paid: bool = True  # false: nobody is paid for the calls to a `base_url` or `url`, a server of one's own
    batching: Batching = Batching()

    @model_validator(mode="after")
    def _spends_nothing(self) -> Self:
        chat, url = self.asked_model, getattr(self, "url", None)
        asked, place = (url, url) if chat is None else (chat.provider, chat.base_url)
        if asked is None or asked in FREE_PROVIDERS or (place is not None and not self.paid):
            return self
        raise ValueError(
            f"expected a chat model of provider {' or '.join(FREE_PROVIDERS)}, or one's own server, with "
            f"`{'base_url' if chat else 'url'}` and `paid: false`, found {asked}: what costs money is asked by a job, "
            "which has a budget"
        )


class RerankerOfAJob(_Free):
    """A reranker in the words of a job's configuration; of kind `chat` it wants a ledger."""

    worker: ClassVar = "serve.workers:RerankerWorker"

    depth: int = Field(2**31 - 1, gt=0)  # documents of a request that are scored; left out: all


class ServedEndpoint(RerankerOfAJob, EndpointRerankerSettings):
    """A server of one's own that reranks."""


class ServedPython(RerankerOfAJob, PythonRerankerSettings):
    """A class of one's own that ranks."""


class ServedChatReranker(RerankerOfAJob, ChatRerankerSettings):
    """A chat model that scores each text by itself."""


class ServedKind(_Free):
    """
    A judge of one of our kinds, as a configuration of a job defines it, or by a name that `evaluate` knows.

    Kind `chat` asks a model in its replica or on one's own server, and wants a ledger; `mean` names other entries.
    """

    task: Task
    judge: JudgeSettings
    card: str | None = None  # what `longform calibrate --out` wrote, a path or s3://; null: the one that ships, if any

    @model_validator(mode="before")
    @classmethod
    def _judge_has_the_task(cls, content: Any) -> Any:
        if not isinstance(content, Mapping):
            return content
        judge, task = content.get("judge"), content.get("task")
        if isinstance(judge, str):
            judge = _named(judge, task)
            return {**content, "task": judge.task, "judge": judge}
        return {**content, "judge": {**judge, "task": task}} if isinstance(judge, Mapping) else content

    @property
    def asked_model(self) -> ChatSettings | None:
        return self.judge.asked_model

    @model_validator(mode="after")
    def _asks_once(self) -> Self:
        if self.judge.times > 1:
            raise ValueError(
                f"expected a judge without `repeats`, found {self.judge.times}: a server gives one answer to one "
                "question; a judge that a job asks itself can have them"
            )
        return self


class ServedChat(Strict):
    """A chat model in a GGUF file, behind /v1/chat/completions."""

    worker: ClassVar = "serve.chat_workers:ChatWorker"

    model: str  # the path of the file, or its s3:// URL
    context_window: int | None = Field(None, gt=0)  # tokens; null: the one it was trained with
    max_tokens: int = Field(1024, gt=0)  # of a reply, where the request states none
    timeout_s: float = Field(300.0, gt=0)  # of one reply
    batching: Batching = Batching()


class ServedOther(Strict):
    """Any other judge or reranker: `make` names what makes its worker (`JudgeWorker`, or `Worker` of pairs)."""

    make: str = Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")  # module:name
    settings: dict[str, Any] = Field(default_factory=dict)  # its keyword arguments
    batching: Batching = Batching()


def _named(name: str, task: str | None) -> JudgeSettings:
    """Return the judge that a command line knows by this name, of the *task* if the entry states one."""
    known = KNOWN_JUDGES if task is None else judges_of(task, KNOWN_JUDGES)
    if name not in known:
        raise ValueError(f"expected the settings of a judge, or a name among {', '.join(known)}, found {name!r}")
    return known[name]


def _form(entry: Any) -> str:
    """Return the form of *entry*, a judge's or a reranker's."""
    return "make" if "make" in (entry if isinstance(entry, Mapping) else vars(entry)) else "kind"


_Other = Annotated[ServedOther, Tag("make")]
_Scoring = Annotated[
    ServedCrossEncoder | ServedCosine | ServedEndpoint | ServedPython | ServedChatReranker,
    Field(discriminator="kind"),
    Tag("kind"),
]
ServedReranker = Annotated[_Scoring | _Other, Discriminator(_form)]
ServedJudge = Annotated[Annotated[ServedKind, Tag("kind")] | _Other, Discriminator(_form)]


class Limits(Strict):
    """Limits of one request; beyond each it is refused with the status beside it."""

    body_bytes: int = Field(16_000_000, gt=0)  # 413
    texts: int = Field(4096, gt=0)  # all texts of a request together, 413
    text_chars: int = Field(1_000_000, gt=0)  # of one text, 413
    headers: int = Field(100, gt=0)  # 431
    header_bytes: int = Field(32_768, gt=0)  # of all headers and the path together, 431
    body_s: float = Field(20.0, gt=0)  # from the end of the headers to the end of the body, 408
    unfinished: int = Field(100, gt=0)  # bodies of one client address under way; those beyond have a quarter, or 429


class AccessSettings(Strict):
    """Sources of tokens: `NAME=TOKEN`, by lines or commas. They stand in no configuration."""

    tokens_env: Variable = "LONGFORM_SERVE_TOKENS"
    tokens_file: str | None = None
    on_loopback: bool = False  # want a token there, too


class Settings(Strict):
    """A whole application; the first of several models of a kind answers requests that name none."""

    embeddings: dict[Name, ServedEncoder] = Field(default_factory=dict)
    rerankers: dict[Name, ServedReranker] = Field(default_factory=dict)
    judges: dict[Name, ServedJudge] = Field(default_factory=dict)
    chats: dict[Name, ServedChat] = Field(default_factory=dict)
    access: AccessSettings = AccessSettings()
    limits: Limits = Limits()
    ledger: str | None = None  # the folder or s3:// URL of a ledger that keeps judges' answers; null: each replica does
    threads: int = Field(1, gt=0)  # of each replica's model

    @model_validator(mode="after")
    def _serves_something(self) -> Settings:
        names = [*self.embeddings, *self.rerankers, *self.judges, *self.chats]
        if not names:
            raise ValueError("expected at least one entry under embeddings, rerankers, judges or chats")
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"expected every name once, found {twice} several times")
        asking = [name for name, one in {**self.judges, **self.rerankers}.items() if asks_a_chat(one)]
        if self.ledger is None and asking:
            raise ValueError(f"expected a `ledger` for the calls of {asking}, found none")
        for name, judge in self.judges.items():
            self._check_mean(name, judge)
        return self

    def _check_mean(self, name: str, judge: ServedJudge) -> None:
        if not isinstance(judge, ServedKind) or not judge.judge.members:
            return
        ours = {one: other for one, other in self.judges.items() if isinstance(other, ServedKind)}
        able = [one for one, other in ours.items() if other.task == judge.task and not other.judge.members]
        if wrong := sorted(set(judge.judge.members) - set(able)):
            raise ValueError(f"judges.{name}: expected a mean of some of {able}, which are of its task, found {wrong}")


def asks_a_chat(entry: ServedJudge | ServedReranker) -> bool:
    """Return true if the judge or the reranker is a prompted chat model."""
    return isinstance(entry, _Free) and entry.asked_model is not None


def parse_settings(arguments: Mapping[str, JsonValue]) -> Settings:
    """Return the settings; UsageError names each field that is not as expected, and no value."""
    try:
        return Settings.model_validate(dict(arguments))
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'args'}: {one['msg']}" for one in error.errors())
        raise UsageError(f"args of the serve configuration: {found}") from None
