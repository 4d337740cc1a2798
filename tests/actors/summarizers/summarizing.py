"""A benchmark of three short documents, contexts of it, and models that keep what they are asked."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from actors.chat.matrix_executor import MatrixExecutor
from actors.chat.model import ChatModel
from actors.chat.opening import Asking, open_chat
from actors.rehearsal.scripted_chat import ScriptedChat
from actors.storage.benchmark import part_work_id
from actors.storage.folder import Folder
from actors.summarizers.chat import ChatSummarizer
from actors.summarizers.summarizer import AskedContext, Means
from longform.chat.call import ChatReply, ChatRequest, Usage, failed, refusal_reason
from longform.rows import SummaryRow
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from longform.settings.methods import SHIPPED_METHODS, MethodSettings
from tests.actors.summarizers.contexts import asked_context

TEXTS = [
    "The tram line opens in June this year. Nobody likes the new colour of it.",
    "Shops complain about noise from the tram. The tram line opens in June this year.",
    "A document that is cut HERE and its end says {{query}} is never shown.",
]
QUERIES = {"q-talk": "conversation", "q-news": "news", "q-any": None, "q-bare": "conversation"}


def query(query_id: str, domain: str | None) -> dict[str, Any]:
    bare = query_id == "q-bare"
    return {
        "query_id": query_id,
        "haystack_id": "h",
        "domain": domain,
        "topic": "A tram for the town",
        "subtopic_name": "Opening",
        "subtopic": "When the tram opens",
        "participants": None if bare else ["Ann", "Bo"],
        "text": "When does the tram line open?",
    }


def write_bench(tmp_path: Path) -> str:
    folder = Folder(str(tmp_path / "bench"))
    documents = [
        {"doc_id": f"d{i}", "haystack_id": "h", "doc_index": i, "title": None, "text": text}
        for i, text in enumerate(TEXTS)
    ]
    queries = [query(query_id, domain) for query_id, domain in QUERIES.items()]
    folder.commit("documents", [folder.write_part("documents", documents, work_ids=[part_work_id("h", 0)])])
    folder.commit("queries", [folder.write_part("queries", queries, work_ids=["q"])])
    folder.write_json("benchmark.json", {})
    return folder.url


def context(query_id: str = "q-talk", **changes: Any) -> AskedContext:
    ids = {"work_id": f"w-{query_id}", "context_id": f"c-{query_id}", "query_id": query_id}
    shown = {"doc_chars": [22, 1000, 1000], "cut_share": 0.25, "setting": "bm25"}
    return asked_context(**{"doc_ids": ["d2", "d0", "d1"], **ids, **shown, **changes})


class Writer:
    """A chat summarizer as its stage drives it: `chat` answers its plans."""

    def __init__(
        self,
        settings: ChatSummarizerSettings,
        bench: str,
        chat: ChatModel,
        folder: str | None = None,  # of prompts
        methods: Mapping[str, MethodSettings] = SHIPPED_METHODS,
    ) -> None:
        self.chat, self._settings = chat, settings.chat
        asking = Asking(chat=chat, prompts_folder=folder)
        self.made = ChatSummarizer(settings, Means(bench, "mine", methods, asking=asking))

    async def summarize(self, rows: Sequence[AskedContext]) -> list[SummaryRow]:
        """Return what is written for *rows*, in their order."""
        places = {row["work_id"]: place for place, row in enumerate(rows)}
        found = await MatrixExecutor(self.chat, self._settings).carry_out(self.made.plans(rows))
        return sorted(found, key=lambda row: places[row["work_id"]])


def summarizer(bench: str, *, prompt: str | None = None, folder: str | None = None, **chat: Any) -> Writer:
    settings = {"provider": "scripted", "model": "fake", "script": "obedient"} | chat
    chat = ChatSettings(**settings)
    return Writer(ChatSummarizerSettings(kind="chat", chat=chat, prompt=prompt), bench, open_chat(chat), folder)


class Recorder:
    """A model that keeps what it is asked and says the same to all."""

    def __init__(self, scripted: ScriptedChat, reply: ChatReply) -> None:
        self.accepted = scripted.accepted
        self.requests: list[ChatRequest] = []
        self._reply = reply

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return self._reply

    async def close(self) -> None: ...


def recorded(made: Writer, **reply: Any) -> Recorder:
    assert isinstance(made.chat, ScriptedChat)
    made.chat = Recorder(made.chat, ChatReply(**({"text": "- a [1]", "failure": None} | reply)))
    return made.chat


class Teller(Recorder):
    """Replies to each request by `tell(its text)`: a text, or a failure in angle brackets."""

    def __init__(self, scripted: ScriptedChat, tell: Callable[[str], str]) -> None:
        super().__init__(scripted, ChatReply(text="-", failure=None))
        self._tell = tell

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        if (reason := refusal_reason(request, self.accepted)) is not None:
            return failed(reason)
        said = self._tell(request.messages[0].text)
        if said.startswith("<"):
            return failed(said.strip("<>"))
        return ChatReply(text=said, failure=None, usage=Usage(input_tokens=len(self.requests)), cost_usd=0.5)


def telling(made: Writer, tell: Callable[[str], str]) -> Teller:
    assert isinstance(made.chat, ScriptedChat)
    made.chat = Teller(made.chat, tell)
    return made.chat


def sentences(bench: str, **settings: Any) -> Writer:
    return summarizer(bench, prompt="summarize_sentences", **settings)


def texts(chat: Recorder) -> list[str]:
    return [request.messages[0].text for request in chat.requests]


def first_requests(made: Writer, row: AskedContext) -> list[ChatRequest]:
    """List the requests for a row before any reply is there."""
    (plan,) = made.made.plans([row])
    return list(next(plan).values())
