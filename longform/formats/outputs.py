"""
Answers that were written elsewhere, as JSON Lines: read against the benchmark whose queries they answer.

Each line is looked at whatever is wrong with the others, so that one reading tells all problems of a file. An error is
a fault of the file, and nothing of it is taken. A warning is a thing that a system did, such as an empty answer or a
citation of a document that is not there: it is judged as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import ConfigDict, Field, StrictInt, StrictStr, field_validator

from longform.errors import InputError
from longform.formats.fields import Entry, Expected, Filled, Id, Record, Text, describe
from longform.formats.json_files import LINE, Lines, json_line, no_json_lines
from longform.formats.jsonl import UNKNOWN_SETTING
from longform.formats.output_citations import Numbering, Numbers, cited, cited_in
from longform.formats.rows import ShippedContext, ShippedSummary
from longform.keys import content_key
from longform.settings.systems import Order
from longform.text.citations import bullets

_NotNegative = Annotated[
    float, Field(strict=True, allow_inf_nan=False, ge=0), Expected("a finite number of at least 0")
]
_FromZero = Annotated[int, Field(strict=True, ge=0, lt=2**31), Expected("an integer of 32 bits of at least 0")]
_FromOne = Annotated[int, Field(strict=True, ge=1, lt=2**31), Expected("an integer of 32 bits of at least 1")]
_Citation = Annotated[StrictInt | StrictStr, Expected("the number or the id of a document")]
_NUMBERS = ("model", "budget_tokens", "input_tokens", "output_tokens", "cost_usd", "seconds")
"""Fields that have the name of their column."""


class _Line(Entry):
    model_config = ConfigDict(extra="forbid")


class _BulletLine(_Line):
    text: Text
    citations: list[_Citation] | None = None


class OutputLine(_Line):
    """An answer."""

    query_id: Id
    system: Filled
    text: Text | None = None
    bullets: list[_BulletLine] | None = None
    citations: list[_Citation] | None = None
    documents: list[Id] | None = None
    numbering: Numbering | None = None
    setting: Filled | None = None
    order: Order | None = None
    repeat: _FromZero | None = None
    elapsed_minutes: _NotNegative | None = None
    failure: Filled | None = None
    model: Filled | None = None
    budget_tokens: _FromOne | None = None
    input_tokens: _FromZero | None = None
    output_tokens: _FromZero | None = None
    cost_usd: _NotNegative | None = None
    seconds: _NotNegative | None = None

    @field_validator("bullets", mode="before")
    @classmethod
    def _a_text_is_a_bullet(cls, value: Any) -> Any:
        return [{"text": one} if isinstance(one, str) else one for one in value] if isinstance(value, list) else value


class Problem(NamedTuple):
    """
    A problem of a file.

    Attributes:
        line: From 1.
        kind: error: a fault of the file; warning: a thing that a system did.
        told: In words.
    """

    file: str
    line: int
    kind: Literal["error", "warning"]
    told: str

    def __str__(self) -> str:
        return f"{self.file}: line {self.line}: {self.kind}: {self.told}"


class Answer(NamedTuple):
    """An answer that can be judged, with the documents that its writer saw if it names them."""

    summary: ShippedSummary
    context: ShippedContext | None


Identity = tuple[str, str, str, str | None, float | None, int]
"""Query, summarizer, setting, order, minutes and repeat: a benchmark has one text of each."""


def identity(row: Mapping[str, Any]) -> Identity:
    """Return what a row of `summaries` is a text of; the order `given` is that of a row without one."""
    order = None if row.get("order") == "given" else row.get("order")
    minutes, repeat = row.get("elapsed_minutes"), row.get("repeat") or 0
    return row["query_id"], row["summarizer"], row["setting"], order, minutes, repeat


class Queries(Protocol):
    """The part of a benchmark that answers are read against."""

    def haystack(self, query_id: str) -> str | None:
        """Return the haystack of a query; None if there is no such query."""
        ...

    def numbers(self, haystack_id: str) -> Mapping[str, int]:
        """Return the number, from 1, of each document of a haystack by its id."""
        ...


@dataclass
class OutputsReader:
    """
    Reads files of answers, and collects their problems.

    Attributes:
        queries: Of the benchmark.
        numbering: Of lines that name none; None: by the place in the haystack, unless a number may be an id too.
        there: Summary id of each text that the benchmark has.
        problems: Of the lines so far.
        n_known: Answers so far that the benchmark has, word by word.
    """

    queries: Queries
    numbering: Numbering | None
    there: Mapping[Identity, str]
    problems: list[Problem] = field(default_factory=list)
    n_known: int = 0
    _seen: dict[Identity, str] = field(default_factory=dict)  # the place of each answer so far

    def read(self, lines: Lines, file: str) -> Iterator[Answer]:
        """Yield the answers of a file that the benchmark has not; one with an error is left out."""
        for number, line in enumerate(lines, start=1):
            if number == 1 and (wrong := no_json_lines(line)) is not None:
                self._add(file, number, "error", f"expected {wrong.expected}, found {wrong.found}")
                return
            try:
                record = json_line(line, number, file)
            except InputError as error:
                field = "" if error.field == LINE else f"{error.field}: "
                self._add(file, number, "error", f"{field}expected {error.expected}, found {error.found}")
                continue
            if record is not None and (answer := self._answer(record, file, number)) is not None:
                yield answer

    def _add(self, file: str, line: int, kind: Literal["error", "warning"], told: str) -> None:
        self.problems.append(Problem(file, line, kind, told))

    def _answer(self, record: Record, file: str, number: int) -> Answer | None:
        if wrong := record.problems(OutputLine):
            for error in wrong:
                place = error.field if error.record == record.label else f"{error.record}.{error.field}"
                place = place.removeprefix(f"{record.label}.")
                self._add(file, number, "error", f"{place}: expected {error.expected}, found {error.found}")
            return None
        line = record.read(OutputLine)
        reading = _LineReading(line, self.queries, line.numbering or self.numbering)
        answer = reading.answer()
        for told in reading.errors:
            self._add(file, number, "error", told)
        for told in reading.warnings:
            self._add(file, number, "warning", told)
        if answer is None or reading.errors:
            return None
        return self._new(answer, file, number)

    def _new(self, answer: Answer, file: str, number: int) -> Answer | None:
        """Return the answer unless there is one of its system to its query."""
        key, summary_id = identity(answer.summary), answer.summary["summary_id"]
        if key in self._seen:
            self._add(file, number, "error", f"{_named(key)} stands in {self._seen[key]} already; {_APART}")
            return None
        self._seen[key] = f"{file}, line {number}"
        if key in self.there:
            if self.there[key] != summary_id:
                self._add(
                    file,
                    number,
                    "error",
                    f"{_named(key)} stands in the benchmark already, not in these words; {_APART}",
                )
            else:
                self.n_known += 1
            return None
        return answer


_APART = "tell the two apart by `setting`, `repeat` or `elapsed_minutes`, or give one system another name"


def _named(key: Identity) -> str:
    return f"an answer of {key[1]!r} to query {key[0]!r}"


@dataclass
class _LineReading:
    """Reads one line, whose fields have the right types."""

    line: OutputLine
    queries: Queries
    numbering: Numbering | None
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def answer(self) -> Answer | None:
        """Return the answer; errors are added as they are found, and one of them makes it worthless."""
        line = self.line
        haystack_id = self.queries.haystack(line.query_id)
        if haystack_id is None:
            self.errors.append(f"query_id: expected a query of the benchmark, found {describe(line.query_id)}")
        self._check_texts()
        if haystack_id is None or self.errors:
            return None
        ids = self.queries.numbers(haystack_id)
        self._check_documents(ids)
        if self.errors:
            return None
        text = self._text(Numbers(ids, line.documents, self.numbering, self.errors, self.warnings))
        context = self._context(haystack_id)
        setting = line.setting or UNKNOWN_SETTING
        order = line.order or ("given" if context is not None else None)
        told = [line.query_id, line.system, setting, order, line.elapsed_minutes, line.repeat, text, line.failure]
        summary: ShippedSummary = {
            "summary_id": content_key("output", *told, context and context["context_id"]),
            "query_id": line.query_id,
            "haystack_id": haystack_id,
            "summarizer": line.system,
            "setting": setting,
            "order": order,
            "method": "plain",
            "parents": [],
            "elapsed_minutes": line.elapsed_minutes,
            "repeat": line.repeat,
            "text": text,
            "failure": line.failure,
            "context_id": context and context["context_id"],
            **{name: getattr(line, name) for name in _NUMBERS},  # type: ignore[typeddict-item]  # of their types
        }
        return Answer(summary, context)

    def _check_texts(self) -> None:
        line = self.line
        given = [name for name in ("text", "bullets", "failure") if getattr(line, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            self.errors.append(f"expected one of text, bullets and failure (why there is no text), found {found}")
        if line.numbering == "seen" and line.documents is None:
            self.errors.append("numbering: seen counts among `documents`, and the line has none")
        if line.failure is not None and line.citations:
            self.errors.append("citations: expected none beside a failure")

    def _check_documents(self, ids: Mapping[str, int]) -> None:
        seen = self.line.documents or []
        for place, doc_id in enumerate(seen):
            if doc_id not in ids:
                self.errors.append(
                    f"documents[{place}]: expected a document of the query's haystack, found {describe(doc_id)}"
                )
            elif doc_id in seen[:place]:
                self.errors.append(f"documents[{place}]: expected each document once, found {describe(doc_id)} again")
        if self.numbering == "seen" and self.line.documents is None and not self.errors:
            self.errors.append("documents: numbers count among the documents seen, and the line names none")

    def _context(self, haystack_id: str) -> ShippedContext | None:
        line = self.line
        if line.documents is None:
            return None
        setting = line.setting or UNKNOWN_SETTING
        return {
            "context_id": content_key("seen", line.query_id, setting, line.budget_tokens, line.documents),
            "query_id": line.query_id,
            "haystack_id": haystack_id,
            "system": setting,
            "budget_tokens": line.budget_tokens,
            "doc_ids": line.documents,
        }

    def _text(self, numbers: Numbers) -> str | None:
        """Return the answer's text, a bullet a line, with all citations as numbers of the haystack's documents."""
        line = self.line
        if line.failure is not None:
            return None
        if line.bullets is not None:
            lines = [self._bullet(bullet, place, numbers) for place, bullet in enumerate(line.bullets)]
            text = "\n".join(lines)
        else:
            text = "\n".join(cited_in(one, numbers) for one in (line.text or "").split("\n"))
        if line.citations:
            text = "\n".join(cited(one, line.citations, numbers) if one.strip() else one for one in text.split("\n"))
        if not bullets(text):
            self.warnings.append("the answer is empty; it is judged as an answer that says nothing")
        return text

    def _bullet(self, bullet: _BulletLine, place: int, numbers: Numbers) -> str:
        text = " ".join(bullet.text.split())
        if not text:
            self.warnings.append(f"bullets[{place}] is empty; it is left out")
            return ""
        return cited(cited_in(text, numbers), bullet.citations or [], numbers)


def told_in_words(problems: Sequence[Problem]) -> list[str]:
    """Return a line for each problem, errors first, in the order of the files."""
    return [str(one) for kind in ("error", "warning") for one in problems if one.kind == kind]
