"""
Summaries written by a chat model: cited bullets (SummHay, section 5.2) or a number of sentences (Wan et al., section
4.1), in one prompt or by a method of several steps (Wan et al., section 5.1).

Table in: rows of `AskedContext`. Table out: `SUMMARIES`. For each row in, in order: one row for every intermediate step
of its method, then the summary itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial

from actors.chat.opening import check_chat, versions_of
from actors.storage.benchmark import Benchmark
from actors.summarizers.prompts import SummaryPrompts, check_prompts, prompts_of
from actors.summarizers.summarizer import AskedContext, Means, Summarizer, method_of, summary_row
from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest, Shared, failed
from longform.errors import UsageError
from longform.keys import content_key, stable_seed
from longform.rows import SummaryRow
from longform.settings.chat import ChatSummarizerSettings
from longform.settings.methods import MethodSettings
from longform.summaries.methods import EMPTY_SUMMARY, AskStep, Plan, summary_text
from longform.text.reasoning import set_aside


class ChatSummarizer(Summarizer[ChatSummarizerSettings]):
    """
    Asks the model for one summary a row, all rows of a call at once within the model's concurrency.

    Rows of one step whose prompts begin alike, as those of the first 1, 2, ... documents do, are a group: the longest
    is asked first, and the server has then read the beginning of the others.

    A row that cannot be summarised stays a row, with the reason in `failure`: that of the model's reply, `no_documents`
    if its context holds none and its prompt shows some, `missing_query`, `missing_document: ID`, `missing_FIELD` if the
    prompt shows a field that the benchmark does not state, `empty_summary` if nothing stands behind the requested
    label, `parent_failed: STEP: reason` if a step of its method failed, `unknown_method: NAME`, or `method_refused:
    MESSAGE`.

    `usage`, cost and seconds of a row are those of its own call. A row's `summary_id` is a hash of its work id, and of
    its step's name if it is not the summary itself.

    Raises:
        UsageError: A prompt cannot be used, before anything is asked.
    """

    def __init__(self, settings: ChatSummarizerSettings, means: Means) -> None:
        super().__init__(settings, means)
        assert means.asking is not None, "a chat model is asked with something"
        self._methods = {name: method_of(method) for name, method in means.methods.items()}
        self._prompts = SummaryPrompts(self._benchmark, means.name, settings, means.asking)

    @classmethod
    def check(cls, settings: ChatSummarizerSettings, _benchmark: Benchmark, with_keys: bool, /) -> None:
        check_prompts(settings)
        check_chat(settings.chat, with_key=with_keys)

    @classmethod
    def prompts(cls, settings: ChatSummarizerSettings, method: MethodSettings) -> list[str]:
        return prompts_of(settings, method)

    @classmethod
    def version(cls, settings: ChatSummarizerSettings, method: MethodSettings, prompts: str | None) -> str:
        return versions_of(prompts_of(settings, method), prompts)

    def plans(self, rows: Sequence[AskedContext]) -> list[Asks[list[SummaryRow]]]:
        """Return plans that ask for all rows: one for rows of one step that begin alike, one for each other row."""
        together: dict[Hashable, list[tuple[AskedContext, Plan | str]]] = {}
        for place, row in enumerate(rows):
            plan = self._plan(row)
            key = place if isinstance(plan, str) or len(plan) > 1 else (_beginning(row), row["method"])
            together.setdefault(key, []).append((row, plan))
        return [self._alike(of) if isinstance(key, tuple) else self._of_row(*of[0]) for key, of in together.items()]

    def _of_row(self, row: AskedContext, plan: Plan | str) -> Asks[list[SummaryRow]]:
        if isinstance(plan, str):
            return [summary_row(row, failed(plan), None)]
        request, read = partial(self._prompts.request, row), partial(self._read, row)
        plan, replies = yield from self._methods[row["method"]].asks(len(row["doc_ids"]), _seed(row), request, read)
        return [self._written(row, step, replies[step.name]) for step in plan]

    def _alike(self, together: Sequence[tuple[AskedContext, Plan | str]]) -> Asks[list[SummaryRow]]:
        """Ask for rows of one step at once."""
        asked = [(row, plan[0]) for row, plan in together if not isinstance(plan, str)]
        made = {place: self._prompts.request(row, step, []) for place, (row, step) in enumerate(asked)}
        shared = Shared(_beginning(asked[0][0]), grows=True)
        replies: dict[Name, ChatReply] = {place: failed(why) for place, why in made.items() if isinstance(why, str)}
        new: dict[Name, ChatRequest] = {
            place: replace(one, shared=shared) for place, one in made.items() if isinstance(one, ChatRequest)
        }
        while len(replies) < len(asked):
            replies |= yield new
            new = {}
        return [
            self._written(row, step, self._read(row, step, replies[place])) for place, (row, step) in enumerate(asked)
        ]

    def _written(self, row: AskedContext, step: AskStep, reply: ChatReply) -> SummaryRow:
        return summary_row(row, reply, self._prompts.version(row, step), step)

    def _read(self, row: AskedContext, step: AskStep, reply: ChatReply) -> ChatReply:
        return _unlabelled(reply) if self._prompts.labelled(row, step) else reply

    def _plan(self, row: AskedContext) -> Plan | str:
        """Return the row's plan, or the reason why it has none."""
        if not row["doc_ids"] and self._prompts.shows_documents(row):
            return "no_documents"
        name = row["method"]
        if name not in self._methods:
            return f"unknown_method: {name}"
        try:
            return self._methods[name].plan(len(row["doc_ids"]), seed=_seed(row))
        except UsageError as error:
            return f"method_refused: {error}"


def _seed(row: AskedContext) -> int:
    """Return the context's seed, and not the row's: all models see the same orders."""
    return stable_seed(row["context_id"])


def _beginning(row: AskedContext) -> str:
    """Return a key of the beginning of the row's prompt: the same for the first 1, 2, ... documents in one order."""
    return content_key(row["query_id"], row["doc_ids"][:1])


def _unlabelled(reply: ChatReply) -> ChatReply:
    """Return *reply* without thinking and label, or failed if nothing stands behind it."""
    if reply.text is None:
        return reply
    text = summary_text(set_aside(reply.text).answer)
    return replace(reply, text=text, failure=EMPTY_SUMMARY if text is None else None)
