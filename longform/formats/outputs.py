"""
Answers that were written elsewhere, as JSON Lines: read against the benchmark whose queries they answer.

Each line is looked at whatever is wrong with the others, so that one reading tells all problems of a file. An error is
a fault of the file, and nothing of it is taken. A warning is a thing that a system did, such as an empty answer or a
citation of a document that is not there: it is judged as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, StrictInt, StrictStr, field_validator

from longform.errors import InputError
from longform.formats.document_names import DocumentNames
from longform.formats.fields import (
    UNKNOWN_FIELD,
    Entry,
    Expected,
    Filled,
    FromOne,
    FromZero,
    Id,
    NotNegative,
    Record,
    Text,
    describe,
)
from longform.formats.foreign_outputs import TREC, foreign, from_trec, named_elsewhere
from longform.formats.json_files import Lines, json_line, no_json_lines
from longform.formats.jsonl import UNKNOWN_SETTING
from longform.formats.output_citations import Habits, MarksRead, Numbering, Numbers, cited, cited_in
from longform.formats.rows import ShippedRow
from longform.formats.table_rows import parted
from longform.keys import content_key
from longform.settings.systems import Order
from longform.text.answers import statements
from longform.text.citations import bullets
from longform.text.layout import laid_out
from longform.text.reasoning import set_aside
from longform.text.source_lists import without_sources

_Citation = Annotated[StrictInt | StrictStr, Expected("the number or the id of a document")]
_NUMBERS = ("model", "budget_tokens", "input_tokens", "output_tokens", "cost_usd", "seconds")
"""Fields that have the name of their column."""


class _OutputLine(Entry):
    model_config = ConfigDict(extra="forbid")


class _BulletLine(_OutputLine):
    text: Text
    citations: list[_Citation] | None = None


class OutputLine(_OutputLine):
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
    repeat: FromZero | None = None
    elapsed_minutes: NotNegative | None = None
    failure: Filled | None = None
    model: Filled | None = None
    budget_tokens: FromOne | None = None
    input_tokens: FromZero | None = None
    output_tokens: FromZero | None = None
    cost_usd: NotNegative | None = None
    seconds: NotNegative | None = None

    @field_validator("bullets", mode="before")
    @classmethod
    def _a_text_is_a_bullet(cls, value: Any) -> Any:
        return [{"text": one} if isinstance(one, str) else one for one in value] if isinstance(value, list) else value


class Problem(NamedTuple):
    """A problem of a file."""

    file: str
    line: int  # from 1
    kind: Literal["error", "warning"]  # error: a fault of the file; warning: a thing that a system did
    told: str  # the problem in words

    def __str__(self) -> str:
        return f"{self.file}: line {self.line}: {self.kind}: {self.told}"


class ReadAnswer(NamedTuple):
    """An answer that can be judged, with the documents that its writer saw if it names them."""

    summary: ShippedRow
    context: ShippedRow | None
    file: str
    aside: str  # text that is not judged: thinking, and a list of sources; empty: none


Identity = tuple[str, str, str, str | None, float | None, int]
"""Query, summarizer, setting, order, minutes and repeat: a benchmark has one text of each."""


def identity(row: Mapping[str, Any]) -> Identity:
    """Return what a row of `summaries` is a text of; the order `given` is that of a row without one."""
    order = None if row.get("order") == "given" else row.get("order")
    minutes, repeat = row.get("elapsed_minutes"), row.get("repeat") or 0
    return row["query_id"], row["summarizer"], row["setting"], order, minutes, repeat


HaystackOf = Callable[[str], tuple[str, DocumentNames] | None]
"""Id of a query -> its haystack, and the names of the documents there; None: there is no such query."""


@dataclass
class OutputsReader:
    """Reads files of answers, and collects their problems."""

    haystack_of: HaystackOf
    # for lines that name none; None: the place among the documents that a line names, else in the haystack, unless a
    # number may be an id too
    numbering: Numbering | None
    there: Mapping[Identity, str]  # each text of the benchmark -> its summary id
    problems: list[Problem] = field(default_factory=list)
    n_known: int = 0  # answers that the benchmark has, word by word
    marks: dict[str, MarksRead] = field(default_factory=dict)  # system -> the account of its marks
    _seen: dict[Identity, str] = field(default_factory=dict)  # the place of each answer so far
    _waiting: list[_LineReading] = field(default_factory=list)
    _habits: dict[str, Habits] = field(default_factory=dict)

    def read(self, lines: Lines, file: str) -> None:
        """Read the lines of a file; how a system cites is known after the last of all files."""
        formats: set[str] = set()
        for number, line in enumerate(lines, start=1):
            if number == 1 and (wrong := no_json_lines(line)) is not None:
                self._add(file, number, "error", f"expected {wrong.expected}, found {wrong.found}")
                return
            try:
                record = json_line(line, number, file)
            except InputError as error:
                self._add(file, number, "error", f"expected {error.expected}, found {error.found}")
                continue
            if record is None:
                continue
            if (other := foreign(record.content)) is not None:
                if other not in formats:
                    self._add(file, number, "error", f"expected an answer, found {other}")
                formats.add(other)
                continue
            if (row := from_trec(record.content)) is not None:
                record, told = record._replace(content=row), TREC
                if told not in formats:
                    self._add(file, number, "warning", f"read as {told}")
                formats.add(told)
            self._line(record, file, number)

    def answers(self) -> Iterator[ReadAnswer]:
        """Yield the answers of all files that the benchmark has not; one with an error is left out."""
        for system, habits in self._habits.items():
            habits.tell(self.marks.setdefault(system, MarksRead(system)))
        for reading in self._waiting:
            account = self.marks[reading.line.system]
            answer = reading.answer(self._habits[reading.line.system], account)
            for told in reading.errors:
                self._add(reading.file, reading.number, "error", told)
            for told in reading.warnings:
                self._add(reading.file, reading.number, "warning", told)
            if answer is not None and not reading.errors and (new := self._new(answer, reading)) is not None:
                yield new
        order = {file: place for place, file in enumerate(dict.fromkeys(one.file for one in self.problems))}
        self.problems.sort(key=lambda one: (order[one.file], one.line))
        self._waiting = []

    def _add(self, file: str, line: int, kind: Literal["error", "warning"], told: str) -> None:
        self.problems.append(Problem(file, line, kind, told))

    def _line(self, record: Record, file: str, number: int) -> None:
        if wrong := record.problems(OutputLine):
            for error in wrong:
                place = error.field if error.record == record.label else f"{error.record}.{error.field}"
                place = place.removeprefix(f"{record.label}.")
                hint = named_elsewhere(place, record.content) if error.found == UNKNOWN_FIELD else ""
                self._add(file, number, "error", f"{place}: expected {error.expected}, found {error.found}{hint}")
            return
        line = record.read(OutputLine)
        reading = _LineReading(line, self.haystack_of, line.numbering or self.numbering, file, number)
        reading.note(self._habits.setdefault(line.system, Habits()))
        self._waiting.append(reading)

    def _new(self, answer: ReadAnswer, reading: _LineReading) -> ReadAnswer | None:
        """Return the answer unless there is one of its system to its query."""
        file, number = reading.file, reading.number
        key, summary_id = identity(answer.summary), answer.summary["summary_id"]
        stands = f"in {self._seen[key]} already" if key in self._seen else None
        self._seen.setdefault(key, f"{file}, line {number}")
        if stands is None and self.there.get(key, summary_id) != summary_id:
            stands = "in the benchmark already, not in these words"
        if stands is not None:
            answer_told = f"an answer of {key[1]!r} to query {key[0]!r}"
            self._add(file, number, "error", f"{answer_told} stands {stands}; {_APART}")
            return None
        self.n_known += key in self.there
        return None if key in self.there else answer


_APART = "tell the two apart by `setting`, `repeat` or `elapsed_minutes`, or give one system another name"


@dataclass
class _LineReading:
    """Reads one line, whose fields have the right types."""

    line: OutputLine
    haystack_of: InitVar[HaystackOf]
    numbering: Numbering | None
    file: str
    number: int
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    sources: dict[int | str, str] = field(default_factory=dict)
    haystack: tuple[str, DocumentNames] | None = None

    def __post_init__(self, haystack_of: HaystackOf) -> None:
        self.haystack = haystack_of(self.line.query_id)
        if self.haystack is None:
            found = describe(self.line.query_id)
            self.errors.append(f"query_id: expected a query of the benchmark, found {found}")
        else:
            self._part_names(self.haystack[1])
        self._check_texts()
        if self.line.text is not None:
            self.line.text = self._judged_part(self.line.text)

    def _part_names(self, names: DocumentNames) -> None:
        """Part entries that are names of documents with commas between, as cells of tables have them."""

        def known(name: str) -> bool:
            return name.isdecimal() or names.find(name) is not None

        line = self.line
        line.documents = line.documents and [one for name in line.documents for one in parted(name, known)]
        for part in (line, *(line.bullets or ())):
            entries = part.citations or ()
            parts = ([entry] if isinstance(entry, int) else parted(entry, known) for entry in entries)
            part.citations = part.citations and [one for found in parts for one in found]

    def _judged_part(self, text: str) -> str:
        """Return an answer without thinking and list of sources, which are kept aside."""
        answer, thought = set_aside(text)
        answer = laid_out(answer)
        body, sources = without_sources(answer)
        self.sources.update(sources)
        self.aside += [thought] if thought else []
        self.aside += [answer.removeprefix(body).strip()] if sources else []
        return body

    def note(self, habits: Habits) -> None:
        """Let an answer show how its system cites."""
        if self.haystack is None or self.numbering == "ids":
            return
        line = self.line
        parts = line.bullets or []
        text = line.text or "\n".join(part.text for part in parts)
        seen = None if self.numbering == "haystack" else line.documents
        counted = self.haystack[1].ids if seen is None else seen
        citations = [one for given in (line.citations, *(part.citations for part in parts)) for one in given or ()]
        if not self.sources:
            habits.note(text, citations, len(counted))

    def answer(self, habits: Habits, account: MarksRead) -> ReadAnswer | None:
        """Return the answer; errors are added as they are found, and one of them makes it worthless."""
        if self.haystack is None or self.errors:
            return None
        line, (haystack_id, names) = self.line, self.haystack
        seen = self._seen(account, names)
        if self.errors:
            return None
        numbered = None if seen is None else [names.ids[one] for one in seen]
        place = f"{self.file}, line {self.number}"
        if any("think" in one.casefold() for one in self.aside):
            account.tell("thinking in answers is set aside, and not judged.")
        text = self._text(
            Numbers(names, numbered, self.numbering, habits, self.sources, account, place, self.errors, self.warnings)
        )
        setting = line.setting or UNKNOWN_SETTING
        context = None if seen is None else self._context(haystack_id, setting, [*dict.fromkeys(seen)])
        order = line.order or ("given" if context is not None else None)
        told = [line.query_id, line.system, setting, order, line.elapsed_minutes, line.repeat, text, line.failure]
        summary: ShippedRow = {
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
            **{name: getattr(line, name) for name in _NUMBERS},
        }
        return ReadAnswer(summary, context, self.file, "\n\n".join(self.aside))

    def _check_texts(self) -> None:
        line = self.line
        given = [name for name in ("text", "bullets", "failure") if getattr(line, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            self.errors.append(f"expected one of text, bullets and failure (why there is no text), found {found}")
        if line.failure is not None and line.citations:
            self.errors.append("citations: expected none beside a failure")

    def _seen(self, account: MarksRead, names: DocumentNames) -> list[str] | None:
        """Return the ids of the documents that the line names, at their places; parts are of their document."""
        given = self.line.documents
        if given is None:
            return None
        seen: list[str] = []
        for place, name in enumerate(given):
            found = names.find(name)
            if found is None:
                self.errors.append(
                    f"documents[{place}]: expected a document of the query's haystack, or a part of one such as its id "
                    f"and #2 (in a cell with ; between), found {describe(name)}"
                )
            elif name in given[:place]:
                self.errors.append(f"documents[{place}]: expected each document once, found {describe(name)} again")
            else:
                seen.append(found.doc_id)
                if found.part:
                    account.tell_part(name, found.doc_id)
        return seen

    def _context(self, haystack_id: str, setting: str, seen: list[str]) -> ShippedRow:
        line = self.line
        return {
            "context_id": content_key("seen", line.query_id, setting, line.budget_tokens, seen),
            "query_id": line.query_id,
            "haystack_id": haystack_id,
            "system": setting,
            "budget_tokens": line.budget_tokens,
            "doc_ids": seen,
        }

    def _text(self, numbers: Numbers) -> str | None:
        """Return the answer's text with all citations as numbers of the haystack's documents; bullets are a list."""
        line = self.line
        if line.failure is not None:
            return None
        if line.bullets is not None:
            lines = [self._bullet(bullet, place, numbers) for place, bullet in enumerate(line.bullets)]
            text = "\n".join(one for one in lines if one)
        else:
            text = cited_in(line.text or "", numbers)
        if line.citations:
            text = "\n".join(cited(f"- {one.text}", line.citations, numbers) for one in statements(text))
        if not bullets(text):
            self.warnings.append("the answer is empty; it is judged as an answer that says nothing")
        return text

    def _bullet(self, bullet: _BulletLine, place: int, numbers: Numbers) -> str:
        text = " ".join(bullet.text.split())
        if not text:
            self.warnings.append(f"bullets[{place}] is empty; it is left out")
            return ""
        listed = text if text.startswith(_LIST_MARKS) else f"- {text}"
        return cited(cited_in(listed, numbers), bullet.citations or [], numbers)


_LIST_MARKS = ("- ", "* ", "• ")


def told_in_words(problems: Sequence[Problem]) -> list[str]:
    """Return a line for each problem, errors first, in the order of the files."""
    return [str(one) for kind in ("error", "warning") for one in problems if one.kind == kind]
