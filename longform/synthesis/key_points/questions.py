"""Makes questions: seeds are read, and new questions grow from them (LONG2RAG, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from longform.keys import content_key
from longform.synthesis.asking import (
    Ask,
    Log,
    Plan,
    Read,
    Role,
    ask_for,
    ask_until_read,
    read_reply,
    unverified,
)
from longform.synthesis.key_points.settings import EvolvedQuestions, KeyPointSynthesis
from longform.synthesis.key_points.steps import (
    FORMED,
    IN_CELL,
    LISTED,
    NEW,
    SORTED,
    SUITABLE,
    Criteria,
    QuestionList,
    Sorted,
)
from longform.text.words import stems


class TopicCell(NamedTuple):
    """A category and a domain, by their names."""

    category: str
    domain: str


def read_question(
    text: str, settings: KeyPointSynthesis, least: int | None, log: Log, *, is_sorted: bool
) -> Plan[dict[str, Any]]:
    """
    Ask which criteria a question meets, and if it meets *least* of them and *is_sorted*, where it belongs.

    If *least* is None, nobody is asked about criteria.

    Returns:
        `met`, the number of criteria, null if nobody was asked or nothing was answered; `suits`, whether the question
        stays; `facets`, its category and domain if they were told.
    """
    read: dict[str, Any] = {"met": None, "suits": True, "facets": {}}
    if least is not None:
        met = read["met"] = yield from _criteria(text, settings, least, log)
        read["suits"] = met is not None and met >= least
    if not is_sorted or not read["suits"]:
        return read
    found = yield from ask_for(
        text,
        sort_ask("planner", text, settings),
        Sorted,
        check=SORTED,
        most=settings.replies,
        log=log,
        fits=lambda answer: _sorted_fits(answer, settings),
    )
    if found.reason is not None:
        return read
    log.accept(SORTED, text, found.call_id)
    return {**read, "facets": cell_of(found.answer, settings)._asdict()}


def _criteria(text: str, settings: KeyPointSynthesis, least: int, log: Log) -> Plan[int | None]:
    ask = Ask("planner", "synthesize_criteria", {"question": text})
    read = yield from ask_for(text, ask, Criteria, check=SUITABLE, most=settings.replies, log=log)
    if read.reason is not None:
        return None
    missed = [name for name, is_met in read.answer.model_dump().items() if not is_met]
    met = 5 - len(missed)
    fault = f"meets {met} of 5 criteria; not {', '.join(missed)}" if met < least else None
    log.decide(SUITABLE, text, fault, read.call_id)
    return met


def sort_ask(role: Role, text: str, settings: KeyPointSynthesis) -> Ask:
    """Ask for the category and the domain of a question."""
    lists = {"categories": _numbered(settings.categories), "domains": _numbered(settings.domains)}
    return Ask(role, "synthesize_sort_question", {**lists, "question": text})


def _numbered(named: Mapping[str, str]) -> str:
    return "\n".join(f"{n}. {name}: {meaning}" for n, (name, meaning) in enumerate(named.items(), start=1))


def _sorted_fits(found: Sorted, settings: KeyPointSynthesis) -> str | None:
    fits = 1 <= found.category <= len(settings.categories) and 1 <= found.domain <= len(settings.domains)
    return None if fits else "no_such_number"


def cell_of(found: Sorted, settings: KeyPointSynthesis) -> TopicCell:
    """Return the category and domain that are named by their numbers."""
    return TopicCell([*settings.categories][found.category - 1], [*settings.domains][found.domain - 1])


# ---------------------------------------------------------------- evolving


@dataclass
class _Evolving:
    """A cell as it fills with new questions."""

    cell: TopicCell
    settings: KeyPointSynthesis
    log: Log
    accepted: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # why others were rejected, for the next prompts

    @property
    def asked(self) -> EvolvedQuestions:
        assert isinstance(self.settings.questions, EvolvedQuestions)
        return self.settings.questions

    def accepts(self, check: str, text: str, fault: str | None, read: Read, told: str) -> bool:
        """Note the verdict of a check on a question; if it has a fault, the next prompt is *told*."""
        if fault is not None:
            self.faults.append(told)
        return self.log.decide(check, text, fault, read.call_id)


def evolve(cell: TopicCell, seeds: Sequence[str], settings: KeyPointSynthesis, log: Log) -> Plan[list[str]]:
    """
    Return new questions of a cell, as many as are asked for or as came to be.

    A round takes the next seed, and asks for questions that go deeper and for others in its manner at once.
    """
    work = _Evolving(cell, settings, log)
    for turn in range(work.asked.rounds if seeds else 0):
        seed = seeds[turn % len(seeds)]
        replies = yield [_evolve_ask(work, seed, way) for way in ("deeper", "wider")]
        reads = [read_reply(reply, QuestionList) for reply in replies]
        found = [(text, read) for read in reads for text in _listed(work, read)]
        yield from _screen(work, seed, found)
        if len(work.accepted) >= work.asked.per_cell:
            break
    return work.accepted


def _evolve_ask(work: _Evolving, seed: str, way: str) -> Ask:
    settings, said = work.settings, dict.fromkeys(work.faults)
    told = [f"- {fault}" for fault in said] + [f"- do not ask again: {text}" for text in work.accepted]
    fields = {
        "category": f"{work.cell.category}: {settings.categories[work.cell.category]}",
        "domain": f"{work.cell.domain}: {settings.domains[work.cell.domain]}",
        "question": seed,
        "n_questions": str(work.asked.candidates),
        "notes": "\n".join(["Of earlier questions:", *told]) if told else "",
    }
    return Ask("planner", f"synthesize_{way}_questions", fields)


def _listed(work: _Evolving, read: Read) -> list[str]:
    name = f"{work.cell.category}, {work.cell.domain}"
    reason = unverified(read) if read.reason is not None else None if read.answer.questions else "an empty list"
    return [*read.answer.questions] if work.log.decide(LISTED, name, reason, read.call_id) else []


def _screen(work: _Evolving, seed: str, found: Sequence[tuple[str, Read]]) -> Plan[None]:
    """Accept what is a question, new, and read as one of the cell by somebody who is not told the cell."""
    fresh: list[str] = []
    for text, read in found:
        formed = text.rstrip().endswith("?") and len(text.split()) > 2
        if work.accepts(FORMED, text, None if formed else "no question", read, "one was no question"):
            other = next(
                (one for one in (seed, *work.accepted, *fresh) if overlap(text, one) >= work.asked.alike), None
            )
            why = None if other is None else "its seed" if other is seed else f"repeats {other!r}"
            if work.accepts(NEW, text, why, read, f"one was too much like {other!r}"):
                fresh.append(text)
    fresh = fresh[: work.asked.per_cell - len(work.accepted)]
    if not fresh:
        return
    settings = work.settings
    reads = yield from ask_until_read(
        [(text, sort_ask("verifier", text, settings)) for text in fresh],
        Sorted,
        check=IN_CELL,
        most=settings.replies,
        log=work.log,
        fits=lambda answer: _sorted_fits(answer, settings),
    )
    for text, read in zip(fresh, reads, strict=True):
        if read.reason is None:
            cell = cell_of(read.answer, settings)
            why = None if cell == work.cell else f"read as {cell.category}, {cell.domain}"
            if work.accepts(IN_CELL, text, why, read, f"one was {why}"):
                work.accepted.append(text)


def overlap(first: str, second: str) -> float:
    """Return the share of the stems of two texts that both have, in [0, 1]; without stems 1 if they are equal."""
    one, other = set(stems(first)), set(stems(second))
    return len(one & other) / len(one | other) if one | other else float(first == second)


def question_id(text: str) -> str:
    """Return the id of a question that was made."""
    return content_key("question", text)
