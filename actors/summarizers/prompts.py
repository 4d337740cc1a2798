"""Requests of a chat summarizer in each step of a method: the prompt, and the texts in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from actors.chat.opening import Asking, prompt_request
from actors.storage.benchmark import Benchmark
from actors.summarizers.summarizer import AskedContext, method_of
from longform.chat.call import ChatRequest
from longform.errors import UsageError
from longform.prompts import Prompt
from longform.records import Query
from longform.settings.chat import FROM_MEMORY, ChatSummarizerSettings
from longform.settings.methods import MethodSettings
from longform.summaries.methods import AskStep

SEPARATOR = "\n====\n"
"""Between the documents, or the summaries, of one prompt (Wan et al., section 2.2)."""

_PROMPT_OF_DOMAIN = {"conversation": "summarize_conversation", "news": "summarize_news"}
_PROMPT_OF_ANY = "summarize_documents"
_HEADING_OF = {"summarize_conversation": "Conversation", "summarize_news": "Article", _PROMPT_OF_ANY: "Document"}
"""Headings of documents in the prompts for cited bullets."""

_ANSWERS = ("summarize_story", "summarize_story_oracle", "summarize_meeting", "answer_question")
"""Prompts for answers in running text, without citations; their documents are headed as any."""

_FREE = "_free"
"""Ends the name of a prompt that withholds the number of bullets."""

_DIVERSE = "summarize_diverse"
_SENTENCES = ("summarize_sentences", "summarize_sections", "summarize_articles", "summarize_abstracts", _DIVERSE)
"""Prompts for sentences of running text about documents without numbers and headings, in answer to no question."""

_PROMPT_OF_TASK = {
    "merge": "merge_summaries",
    "update": "update_summary",
    "snippets": "condense_to_snippets",
    "summaries": "condense_to_summary",
}
_PROMPT_OF_DIVERSE = {"merge": "merge_diverse", "update": "update_diverse"}
"""Prompts of later steps that name no number of sentences, as the first one does not."""

_FOCUS_OF = {place: f"focus_{place}" for place in ("top", "middle", "bottom")}
_MERGING = ("merge", "update")
"""Tasks whose prompts ask for a number of sentences."""

_LABELLED = frozenset(
    {*_SENTENCES, *(prompts[task] for prompts in (_PROMPT_OF_TASK, _PROMPT_OF_DIVERSE) for task in _MERGING)}
)


class _UnanswerableError(Exception):
    """A step for which no prompt can be made, with the reason."""


def prompts_of(settings: ChatSummarizerSettings, method: MethodSettings) -> list[str]:
    """
    Return the names of all prompts that *settings* may use under *method*; their versions decide what is made anew.

    Raises:
        UsageError: The method needs a number of bullets, which the settings withhold.
    """
    opened = method_of(method)
    if settings.is_free and opened.other_task in _MERGING:
        raise UsageError(
            "bullets: free withholds the number of bullets, and merging and updating ask for a number of sentences: "
            "expected method plain, one with a focus, or one that condenses documents"
        )
    alone = settings.prompt if settings.prompt in (*_SENTENCES, *_ANSWERS, FROM_MEMORY) else None
    names = [*([alone] if alone else sorted(_HEADING_OF)), *sorted((settings.prompt_with or {}).values())]
    if settings.is_free:
        names = [f"{name}{_FREE}" for name in names]
    if opened.focus is not None:
        names.append(_FOCUS_OF[opened.focus])
    if opened.other_task is not None:
        names.append(_later_prompt(settings.prompt, opened.other_task))
    return names


def _later_prompt(first: str | None, task: str) -> str:
    """Return the prompt of a step that follows, or goes before, a summary of documents by the prompt *first*."""
    return _PROMPT_OF_DIVERSE.get(task, _PROMPT_OF_TASK[task]) if first == _DIVERSE else _PROMPT_OF_TASK[task]


def check_prompts(settings: ChatSummarizerSettings) -> None:
    """
    Check that each prompt that *settings* names is one for summaries.

    Raises:
        UsageError: One is not.
    """
    offered = {*_HEADING_OF, *_ANSWERS, *_SENTENCES, FROM_MEMORY}
    named = [*([settings.prompt] if settings.prompt else []), *(settings.prompt_with or {}).values()]
    if unknown := [prompt for prompt in named if prompt not in offered]:
        raise UsageError(f"expected a prompt of {sorted(offered)}, found {unknown[0]!r}")
    if settings.is_free and (other := [prompt for prompt in named if prompt not in _HEADING_OF]):
        raise UsageError(f"bullets: free is for prompts of {sorted(_HEADING_OF)}, found {other[0]!r}")


class SummaryPrompts:
    """
    Makes requests by the prompt of a summarizer; without one, the query's domain decides.

    Raises:
        UsageError: A prompt cannot be used.
    """

    def __init__(self, benchmark: Benchmark, name: str, settings: ChatSummarizerSettings, asking: Asking) -> None:
        try:
            check_prompts(settings)
        except UsageError as error:
            raise UsageError(f"summarizer {name!r}: {error}") from error
        own = settings.prompt_with or {}
        names = [settings.prompt] if settings.prompt else sorted(_HEADING_OF)
        names += [f"{name}{_FREE}" for name in _HEADING_OF if settings.is_free]
        names += [*own.values(), *_PROMPT_OF_TASK.values(), *_PROMPT_OF_DIVERSE.values(), *_FOCUS_OF.values()]
        self._prompts = {prompt: asking.prompt(prompt) for prompt in names}
        self._benchmark = benchmark
        self._settings = settings
        self._chat = settings.chat
        self._count_tokens = asking.counter

    def request(self, row: AskedContext, step: AskStep, texts: Sequence[str]) -> ChatRequest | str:
        """Return the request of *step* for a row of contexts, with its parents' *texts*; or why there is none."""
        prompt = self._prompt(row, step)
        try:
            text = prompt.render(**self._values(prompt, row, step, texts))
        except _UnanswerableError as error:
            return str(error)
        if step.focus is not None and "focus" not in prompt.fields:
            text = f"{text}\n{self._focus(step)}\n"
        request = prompt_request(self._chat, text, count_tokens=self._count_tokens)
        return replace(request, repeat=row["repeat"])

    def version(self, row: AskedContext, step: AskStep) -> str:
        """Return the version of all prompts that *step* is asked with."""
        used = [self._prompt(row, step)]
        if step.focus is not None:
            used.append(self._prompts[_FOCUS_OF[step.focus]])
        return "+".join(prompt.version for prompt in used)

    def shows_documents(self, row: AskedContext) -> bool:
        """Return whether the prompt of a row shows documents; if not, it needs none."""
        return self._summarize_prompt(row) != FROM_MEMORY

    def labelled(self, row: AskedContext, step: AskStep) -> bool:
        """Return whether the reply should begin with a label that is no part of the summary."""
        return self._prompt(row, step).name in _LABELLED

    # ---------------------------------------------------------------- which prompt

    def _prompt(self, row: AskedContext, step: AskStep) -> Prompt:
        if step.task == "summarize":
            name = self._summarize_prompt(row)
            return self._prompts[f"{name}{_FREE}" if self._settings.is_free else name]
        return self._prompts[_later_prompt(self._summarize_prompt(row), step.task)]

    def _summarize_prompt(self, row: AskedContext) -> str:
        if (named := self._settings.prompt_of(row["retriever"])) is not None:
            return named
        query = self._query(row)
        return _PROMPT_OF_DOMAIN.get((query and query.domain) or "", _PROMPT_OF_ANY)

    def _query(self, row: AskedContext) -> Query | None:
        return self._benchmark.queries.get(row["query_id"])

    def _focus(self, step: AskStep) -> str:
        return "" if step.focus is None else self._prompts[_FOCUS_OF[step.focus]].text.strip()

    # ---------------------------------------------------------------- with what in it

    def _values(self, prompt: Prompt, row: AskedContext, step: AskStep, texts: Sequence[str]) -> dict[str, object]:
        query = self._query(row)
        if query is None:
            raise _UnanswerableError("missing_query")
        known = {
            "n_documents": len(step.documents),
            "scenario": query.topic,
            "topic": query.topic,
            "subtopic": query.subtopic,
            "participants": ", ".join(query.participants) if query.participants else None,
            "query": query.text,
            "question": self._question(self._summarize_prompt(row), query),
            "about": self._about(query),
            "n_insights": row["n_requested"],
            "n_sentences": row["n_requested"],
            "focus": self._focus(step),
            **self._documents(self._summarize_prompt(row), row, step, texts),
            "summaries": SEPARATOR.join(texts),
            "summary": texts[0] if texts else None,
        }
        for field in sorted(prompt.fields):
            if known[field] is None:
                raise _UnanswerableError(f"missing_{field}")
        return {field: known[field] for field in prompt.fields}

    def _about(self, query: Query) -> str:
        """Return the lines that say which texts an answer from memory is about; empty if nothing states it."""
        told = (("Collection", self._settings.collection), ("Topic", query.topic))
        lines = "".join(f"{name}: {value}\n" for name, value in told if value)
        return f"\n{lines}" if lines else ""

    def _question(self, summarize_prompt: str, query: Query) -> str:
        """Return the line of a merge or update that states the question; empty if the summaries answer none."""
        match summarize_prompt:
            case prompt if prompt in _SENTENCES:
                return ""
            case "summarize_news" if query.subtopic:  # its prompt asks by subtopic, too
                return f"\nQuestion: what do the documents say about this subtopic: {query.subtopic}\n"
            case _:
                return f"\nQuestion: {query.text}\n"

    def _documents(
        self, summarize_prompt: str, row: AskedContext, step: AskStep, condensed: Sequence[str]
    ) -> dict[str, str]:
        texts = condensed if step.task == "summarize" and step.parents else self._texts(row, step)
        if summarize_prompt in _SENTENCES:
            joined = SEPARATOR.join(texts)
            return {"documents": joined, "document": joined}
        heading = _HEADING_OF.get(summarize_prompt, _HEADING_OF[_PROMPT_OF_ANY])
        numbers = [row["doc_numbers"][place] for place in step.documents]
        shown = [f"{heading} {number}:\n{text}\n\n" for number, text in zip(numbers, texts, strict=True)]
        return {"documents": "".join(shown), "document": "".join(shown).strip()}

    def _texts(self, row: AskedContext, step: AskStep) -> list[str]:
        """Return the documents that *step* shows, cut as the context says."""
        texts = {document.doc_id: document.text for document in self._benchmark.documents(row["haystack_id"])}
        shown = []
        for place in step.documents:
            doc_id = row["doc_ids"][place]
            if doc_id not in texts:
                raise _UnanswerableError(f"missing_document: {doc_id}")
            shown.append(texts[doc_id][: row["doc_chars"][place]])
        return shown
