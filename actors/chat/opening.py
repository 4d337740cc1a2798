"""
The door to chat models: how one is opened, plain or behind the pool, and the checks before the first call.

The models: `openai_chat` (any OpenAI-compatible server), `litellm_chat` (any provider that litellm knows), `llama_chat`
(a local GGUF file) and `scripted_chat` (no model: dry runs and tests).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from actors.chat.governor import LeaseSource, Unlimited, open_governor
from actors.chat.model import CallContext, ChatModel
from actors.chat.openai_client import api_key, servers
from actors.chat.pool import ChatPool
from actors.chat.posts import proxy_of
from actors.chat.price_list import PriceList
from actors.closing import close_later
from actors.ledger.keeper import open_keeper
from actors.secret_values import redaction, token_in
from actors.serving.endpoint import is_of_cluster
from actors.storage.folder import Folder
from longform import prompts
from longform.chat.call import Capabilities, ChatRequest, Message, capabilities, refusal_reason
from longform.chat.server_standing import Server
from longform.errors import UsageError
from longform.given import Json
from longform.keys import content_key
from longform.quota.leases import QuotaLimits
from longform.settings.chat import ChatSettings
from longform.settings.endpoints import OF_LLAMA_CPP, OF_SERVED
from longform.settings.strict import imported

CLIENTS: Mapping[str, str] = {
    "openai": "actors.chat.openai_client:OpenAIChat",
    "litellm": "actors.chat.litellm_client:LitellmChat",
    "llama_cpp": "actors.chat.llama_cpp_client:LlamaChat",
    "http": "actors.chat.own_system_client:HttpChat",
    "scripted": "actors.rehearsal.scripted_chat:ScriptedChat",
}
"""Provider -> its client; a class of a user's own is opened by what asks it."""


def open_chat(settings: ChatSettings) -> ChatModel:
    """
    Open the configured model for one event loop: one attempt a request, no limits, nothing recorded.

    Raises:
        UsageError: As `check_chat` says.
    """
    if settings.provider != "http":
        check_chat(settings)
    client: Callable[[ChatSettings], ChatModel] = imported(CLIENTS[settings.provider])
    return client(settings)


def open_pool(settings: ChatSettings, context: CallContext, model: ChatModel | None = None) -> ChatPool:
    """
    Open the configured model, or *model*, behind the pool: within its limits, recorded, never paid twice.

    Raises:
        UsageError: As `check_chat` says.
    """
    model = model or open_chat(settings)
    pool = ChatPool(
        model,
        settings,
        context,
        leases=leases_of(settings, context),
        keeper=open_keeper(context.ledger, context.job),
        price=PriceList.read(context.prices).price(settings.model_copy(update={"batch": False})),  # one by one
        server=_server(settings),
    )
    close_later(pool.close)
    return pool


def _server(settings: ChatSettings) -> Server | None:
    """Return the server that a model asks over a network; None if it is in this process."""
    if settings.provider in ("scripted", "llama_cpp", "python"):
        return None
    is_litellm = settings.provider == "litellm" and settings.base_url is None
    name = f"litellm ({settings.model.partition('/')[0]})" if is_litellm else ", ".join(servers(settings))
    return Server(name, settings.model, settings.api_key_env, settings.timeout_s, settings.patience_s)


def leases_of(settings: ChatSettings, context: CallContext) -> LeaseSource:
    told = QuotaLimits(settings.requests_per_minute, settings.tokens_per_minute, settings.in_flight)
    if settings.provider in ("scripted", "python") and told == QuotaLimits():
        return Unlimited()
    return open_governor(quota_domain(settings), told, memory=context.ledger)


def quota_domain(settings: ChatSettings) -> str:
    """Return the hash of a quota domain: provider, server, key and model, or the quota's name for models."""
    key = sha256(os.environ.get(settings.api_key_env, "").encode()).hexdigest()
    return content_key("quota", settings.provider, settings.base_url, settings.quota or settings.model, key)


def check_chat(settings: ChatSettings, *, logprobs: bool = False, with_key: bool = True) -> None:
    """
    Find, before the first call, faults that are certain; *logprobs* will be asked for.

    A key is looked for if *with_key*: counting calls needs none.

    Raises:
        UsageError: The model is known to lack a requested capability, its window is smaller than its output limit, the
            key's environment variable is not set, the base URL is not for it, the environment's proxy is none of HTTP,
            a field of `extra_body` is unknown to the server or holds a secret of the environment, or the script is
            missing, unknown or not wanted.
    """
    if settings.provider in ("http", "python"):
        raise UsageError(
            f"model {settings.model!r}: provider {settings.provider!r} is of summarizers and retrievers of `kind: "
            f"{settings.provider}`, which are configured without `chat`; name another provider"
        )
    _check_provider(settings, with_key=with_key)
    _check_extra_body(settings)
    accepted = capabilities(settings)
    probe = replace(_configured(settings, ""), top_logprobs=0 if logprobs else None, input_tokens=0)
    reason = refusal_reason(probe, accepted)
    if reason is None:
        return
    if reason.startswith("unsupported_"):
        lacks = reason.removeprefix("unsupported_")
        msg = f"model {settings.model!r} does not accept {lacks}; leave it out, or name another model"
        raise UsageError(msg)
    msg = f"model {settings.model!r}: max_tokens {settings.max_tokens} exceeds its window {accepted.context_window}"
    raise UsageError(msg)


def _check_provider(settings: ChatSettings, *, with_key: bool) -> None:
    if settings.provider == "scripted":
        from actors.rehearsal.scripted_chat import SCRIPTS

        if settings.script not in SCRIPTS:
            msg = f"a scripted model needs `script`, one of {sorted(SCRIPTS)}; found {settings.script!r}"
            raise UsageError(msg)
        return
    if settings.replicas and settings.provider != "openai":
        msg = f"`replicas` are OpenAI-compatible servers; model {settings.model!r} has provider {settings.provider!r}"
        raise UsageError(msg)
    if settings.script is not None:
        msg = f"`script: {settings.script}` is for `provider: scripted`; model {settings.model!r} has another provider"
        raise UsageError(msg)
    if settings.provider != "openai" and settings.base_url is not None and is_of_cluster(settings.base_url):
        msg = f"base_url of model {settings.model!r}: expected http:// or https://, found {settings.base_url!r}"
        raise UsageError(msg)
    if settings.provider == "openai" and with_key:
        api_key(settings)
        for url in servers(settings):
            proxy_of(url)


def check_endpoint(settings: ChatSettings, *, with_key: bool) -> None:
    """
    Check that a server of one's own can be asked; look for its key if *with_key*.

    Raises:
        UsageError: The variable of the key is not set, or the environment's proxy is none of HTTP.
    """
    if with_key and settings.provider == "http":
        token_in(settings.api_key_env or None, f"{settings.model!r} at {settings.base_url}")
        proxy_of(settings.base_url or "")


def _check_extra_body(settings: ChatSettings) -> None:
    fields = settings.extra_body or {}
    served = settings.base_url is not None and is_of_cluster(settings.base_url)
    known = OF_LLAMA_CPP if settings.provider == "llama_cpp" else OF_SERVED if served else fields.keys()
    if unknown := sorted(fields.keys() - known):
        server = "a model that this cluster serves" if served else "llama.cpp"
        msg = f"model {settings.model!r}: extra_body: {server} takes {', '.join(sorted(known))}, found {unknown}"
        raise UsageError(msg)
    if redaction().value(dict(fields)) != fields:
        msg = (
            f"model {settings.model!r}: extra_body holds a secret of the environment, which a run would store; leave "
            f"it out: the key is read from the environment variable {settings.api_key_env}"
        )
        raise UsageError(msg)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """The client, limits and counters with which a judge or a summarizer asks."""

    chat: ChatModel
    prompts_folder: str | None = None  # its files replace our prompts of the same name
    # tokens of a text, for the check against the model's window; None: cl100k
    count_tokens: Callable[[str], int] | None = None

    @property
    def counter(self) -> Callable[[str], int] | None:
        """Return `token_counter` of this model."""
        return token_counter(self.chat.accepted, self.count_tokens)

    def prompt(self, name: str) -> prompts.Prompt:
        """Return `load_prompt` from this folder."""
        return load_prompt(name, self.prompts_folder)


def token_counter(accepted: Capabilities, count_tokens: Callable[[str], int] | None) -> Callable[[str], int] | None:
    """
    Return the counter of a prompt's tokens before it is sent: *count_tokens*, else cl100k; None if no window is known
    to check.
    """
    if accepted.context_window is None or count_tokens is not None:
        return count_tokens
    from actors.local_models.tokenizer import TokenCounter

    return TokenCounter(threads=1).count


def prompt_request(
    settings: ChatSettings,
    text: str,
    *,
    count_tokens: Callable[[str], int] | None,
    json_schema: Mapping[str, Json] | None = None,
) -> ChatRequest:
    """Return one user message with the configured limit and sampling."""
    return replace(
        _configured(settings, text),
        json_schema=json_schema,
        input_tokens=None if count_tokens is None else count_tokens(text),
    )


def _configured(settings: ChatSettings, text: str) -> ChatRequest:
    return ChatRequest(
        messages=(Message("user", text),),
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
        seed=settings.seed,
        reasoning_effort=settings.reasoning_effort,
        extra_body=settings.extra_body,
    )


REPAIR_PROMPT = "repair_reply"


def asked_again(request: ChatRequest, unreadable: str, wish: str) -> ChatRequest:
    """Return *request* again, with the *unreadable* reply and the *wish* for a readable one."""
    longer = (*request.messages, Message("assistant", unreadable), Message("user", wish))
    return replace(request, messages=longer, input_tokens=None, shared=None)


def first_asked(request: ChatRequest) -> ChatRequest:
    """Return the request that `asked_again` began with; *request* itself if it is the first."""
    n_before = next((place for place, said in enumerate(request.messages) if said.role == "assistant"), None)
    return replace(request, messages=request.messages[:n_before])


def versions_of(names: Sequence[str], folder: str | None) -> str:
    """Return a key that changes with the text of any prompt of these *names*; the *folder* may have its own."""
    return content_key([load_prompt(name, folder).version for name in names])


def load_prompt(name: str, folder: str | None) -> prompts.Prompt:
    """
    Return the prompt called *name*: ours, or `NAME.md` of the *folder* (a path or URL) if it is there.

    Raises:
        UsageError: The folder is not there, its file is no prompt with our fields, or no prompt has the name.
    """
    if folder is None:
        return prompts.load_prompt(name)
    files, file = Folder(folder), f"{name}.md"
    if not files.exists():
        msg = f"the prompts folder {folder!r} does not exist"
        raise UsageError(msg)
    if not files.has(file):
        return prompts.load_prompt(name)
    try:
        return prompts.load_prompt(name, files.read_bytes(file).decode())
    except UnicodeDecodeError as error:
        msg = f"prompt file {file} in {folder!r} is not UTF-8: {error}"
        raise UsageError(msg) from error
