"""The study of repaired citations: each system before and after, and bullets to see it by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NotRequired, TypedDict

from longform.repair.by_matrix import best_evidence
from longform.results.aggregate import scored_summaries
from longform.results.before_after import (
    MEASURES,
    SHOWN,
    Change,
    RepairedRow,
    before_after,
    changes,
    drawn_examples,
)
from longform.results.columns import with_columns
from longform.results.drilldown import SummaryFacts
from longform.results.evidence import Driver, Evidence, Twins
from longform.results.faithfulness_tables import cells
from longform.support.index import SupportIndex
from longform.text.citations import without_citations

_TWINS_AT_ONCE = 128


class CitedDocument(TypedDict):
    number: int
    right: bool  # whether it states the insight


class Quoted(CitedDocument):
    text: str


class Example(TypedDict):
    """A bullet before and after."""

    kind: str  # better, worse, unchanged
    summarizer: str
    setting: str
    summary_id: str
    repaired_id: str
    bullet: str
    insight: str
    f1: list[float]  # before and after
    before: list[CitedDocument]
    after: list[CitedDocument]
    gold: list[int]
    evidence: Quoted | None  # null: no document supports it


class _Examples(TypedDict):
    changes: dict[str, int]  # by kind
    examples: list[Example]


class Repair(_Examples, Driver):
    """Systems with repaired citations."""

    rows: list[RepairedRow]
    judge: str | None  # whose links the changes and examples are of
    in_sample: NotRequired[str | None]


def repair(evidence: Evidence) -> Repair | None:
    """
    Return `rows` of every judge, and, by the first judge's links, `changes` (how many of each kind) and `examples`.

    If a support judge drove the citations, its `faithfulness` of the same bullets stands in each row. None: the run has
    no twins.
    """
    twins = evidence.twins
    if twins is None:
        return None
    table = evidence.score_table
    judges = [judge for judge in table.judges if set(MEASURES).intersection(table.measures(judge))]
    aggregate, seed, _ = evidence.averaging
    rows = [
        row
        for judge in judges
        for row in before_after(
            scored_summaries(table, judge, evidence.infos), twins.originals, judge=judge, aggregate=aggregate, seed=seed
        )
    ]
    judge = next(iter(judges), None)
    drawn = _examples(evidence, twins, judge)
    found: Repair = {
        "by": twins.driver["by"],
        "label": twins.driver["label"],
        "rows": _with_faithfulness(rows, evidence, twins),
        "judge": judge,
        "changes": drawn["changes"],
        "examples": drawn["examples"],
    }
    return with_columns(found, twins.driver)


def _with_faithfulness(rows: list[RepairedRow], evidence: Evidence, twins: Twins) -> list[RepairedRow]:
    how, checked = evidence.averaging._replace(aggregate="pooled"), evidence.checked
    summaries = [] if checked is None else [one for one in checked.summaries if one.judge == twins.driver["by"]]
    found = {
        (cell["dataset"], cell["setting"], cell["summarizer"]): cell["faithfulness"] for cell in cells(summaries, how)
    }
    if found:
        for row in rows:
            row["faithfulness"] = found[row["dataset"], row["setting"], row["summarizer"]]
    return rows


def _examples(evidence: Evidence, twins: Twins, judge: str | None) -> _Examples:
    counted: Counter[str] = Counter()
    drawn: list[Change] = []
    for found in _changes(evidence, twins, judge) if judge else ():
        counted.update(change.kind for change in found)
        drawn = drawn_examples([*drawn, *found])
    shown = {change.original_id for change in drawn}
    facts = {summary["summary_id"]: summary for summary in evidence.unfolded(shown)}
    writer = _Writer(evidence)
    return {
        "changes": {kind: counted[kind] for kind in SHOWN},
        "examples": [writer.row(change, facts[change.original_id]) for change in drawn],
    }


def _changes(evidence: Evidence, twins: Twins, judge: str) -> Iterator[list[Change]]:
    """Yield the changes of some twins at a time."""
    pairs = iter(twins.originals.items())
    while originals := dict(islice(pairs, _TWINS_AT_ONCE)):
        ids = {*originals, *originals.values()}
        facts = {summary["summary_id"]: summary for summary in evidence.unfolded(ids)}
        queries = {summary["query_id"] for summary in facts.values()}
        gold = {target["target_id"]: target["gold"] for query in queries for target in evidence.query(query)["targets"]}
        yield changes(facts, originals, gold, judge=judge)


class _Writer:
    """Holds the sentences of the last haystacks it found evidence in."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._sources = lru_cache(maxsize=2)(self._read)

    def row(self, change: Change, summary: SummaryFacts) -> Example:
        bullet, query = summary["bullets"][change.unit]["text"], self._evidence.query(summary["query_id"])
        (insight,) = (target["text"] for target in query["targets"] if target["target_id"] == change.target_id)
        index, numbers = self._sources(query["haystack"])
        evidence = best_evidence(bullet, change.after, index, numbers)
        before, after = change.f1
        return {
            "kind": change.kind,
            "summarizer": summary["summarizer"],
            "setting": summary["setting"],
            "summary_id": change.original_id,
            "repaired_id": change.twin_id,
            "bullet": without_citations(bullet),
            "insight": insight,
            "f1": [before, after],
            "before": _marked(change.before, change.gold),
            "after": _marked(change.after, change.gold),
            "gold": list(change.gold),
            "evidence": None
            if evidence is None
            else {"number": evidence.number, "right": evidence.number in change.gold, "text": evidence.text},
        }

    def _read(self, haystack_id: str) -> tuple[SupportIndex, list[int]]:
        documents = self._evidence.documents(haystack_id)
        return SupportIndex([document.text for document in documents]), [document.number for document in documents]


def _marked(cited: Sequence[int], gold: Sequence[int]) -> list[CitedDocument]:
    return [{"number": number, "right": number in gold} for number in cited]
