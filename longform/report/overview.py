"""Facts at the head of a report: what was run, on how much, when, how long it took, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from longform.report.parts import counted, dataset_words, has_datasets, listed
from longform.report.shown_names import models_told
from longform.report.tables import is_position_row, system_of
from longform.results.calls import calls_told
from longform.results.cells import systems_in, table_rows
from longform.results.results import Results
from longform.results.run_status import time_words
from longform.tables.cells import TextCell, words

_NAMED = 5
"""Names in a line."""
_OLDER = "results of this version do not say; longform aggregate RUN writes them anew"


def facts(results: Results) -> dict[str, TextCell]:
    """Return the facts of a run by their names, in reading order."""
    models = next(iter(models_told(results)), "").removeprefix("Models: ")
    return {
        "Systems": _systems(results),
        "Judges": _judges(results),
        **({"Models": words(models)} if models else {}),
        "On": _size(results),
        "When": _when(results),
        "Took": _took(results),
        "Cost": _cost(results),
    }


def _systems(results: Results) -> TextCell:
    cells = systems_in(results)
    own = [cell for cell in cells if not cell.get("twin_of")]
    systems = {system_of(cell) for cell in own}
    twins = {system_of(cell) for cell in cells if cell.get("twin_of")}
    if not systems:
        return words(None, reason="no summary was scored")
    summarizers, settings = (dict.fromkeys(str(cell[name]) for cell in own) for name in ("summarizer", "setting"))
    made_of = [
        f"{counted(len(names), noun)} ({listed([*names], most=_NAMED, between=', ')})"
        for names, noun in ((summarizers, "summarizer"), (settings, "setting"))
    ]
    ordered = {system_of(cell) for cell in own if is_position_row(cell)}
    on_purpose = f"; {len(ordered):,} with documents ordered on purpose, on the page Position" if ordered else ""
    beside = f"; beside {len(twins):,} of them a repaired twin, which nobody runs" if twins else ""
    return words(f"{len(systems):,}: {', '.join(made_of)}{on_purpose}{beside}")


def _judges(results: Results) -> TextCell:
    names = [row["judge"] for row in results.get("judges") or []]
    return words(listed(names, most=_NAMED, between=", ") if names else "none; measures that need no judge")


def _size(results: Results) -> TextCell:
    size = results.get("size")
    if size is None:
        return words(None, reason=_OLDER)
    topics = results.get("haystack_topics") or {}
    by_topic = Counter(topics[one] or "topic not stated" for one in size["haystacks"] if one in topics)
    named = [f"{topic} ({n})" if n > 1 else topic for topic, n in by_topic.items()]
    stated = f" ({listed(named, most=_NAMED)})" if by_topic and set(by_topic) != {"topic not stated"} else ""
    parts = [
        queries_told(size),
        f"{counted(len(size['haystacks']), 'haystack')}{stated} of {counted(size['n_documents'], 'document')}",
        counted(size["n_summaries"], "summary"),
    ]
    again = size.get("n_repeating", 0)
    repeated = f", and {counted(again, 'summary')} that repeat some in another order of documents" if again else ""
    return words(", ".join(parts) + repeated)


def size_told(size: Mapping[str, Any]) -> str:
    """Return the systems and queries of a run in a few words, as all pages count them."""
    return f"{counted(size.get('n_systems', 0), 'system')} on {queries_told(size)}"


def queries_told(size: Mapping[str, Any]) -> str:
    """Count the queries, those with a score, and why the others have none."""
    told, unscored = counted(size["n_queries"], "query"), size.get("unscored_queries")
    if not unscored:
        return told if unscored is not None or "n_systems" not in size else f"{told}, none scored"
    why = "; ".join(f"{n:,}: {reason}" for reason, n in unscored.items())
    return f"{told}, {size['n_queries'] - sum(unscored.values()):,} of them scored ({why})"


def _when(results: Results) -> TextCell:
    run = results.get("run") or {}
    makers = (run.get("commands") or {}).values()
    began = [maker["began_at"] for maker in makers if maker.get("began_at") is not None]
    versions = dict.fromkeys(maker["versions"]["longform"] for maker in makers if "longform" in maker["versions"])
    by = f", longform {', '.join(versions)}" if versions else ""
    if not began:
        return words(None, reason="the version that made the run did not record it")
    days = dict.fromkeys(f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC" for at in (min(began), max(began)))
    return words(f"{' to '.join(days)}{by}")


def _took(results: Results) -> TextCell:
    stages = (results.get("run") or {}).get("stages") or []
    if not stages:
        return words(None, reason="no stage's work is recorded")
    untold = any(stage["pieces_untold"] for stage in stages)
    least = "at least " if untold else ""
    why = ", more by commands that kept no record" if untold else ""
    return words(f"{least}{time_words(sum(stage['seconds'] for stage in stages))} of work in stages{why}")


def _cost(results: Results) -> TextCell:
    rows = table_rows(results, "calls")
    lost = results.get("missing_ledgers") or []
    if rows:
        missing = f" {counted(len(lost), 'ledger')} cannot be read: what they hold is not in it." if lost else ""
        so_far = results.get("so_far")
        goes_on = so_far is not None and so_far["goes_on"]
        return words(f"{calls_told(rows, goes_on=goes_on)}{missing}")
    run = results.get("run") or {}
    if lost or run.get("jobs"):
        return words(None, reason="the ledger of the calls cannot be read")
    replayed = any(maker["verb"] == "replay" for maker in (run.get("commands") or {}).values())
    shipped = "; what the given summaries cost is not recorded" if results.get("elsewhere") or replayed else ""
    return words(f"$0: no chat model was called{shipped}")


# ---------------------------------------------------------------- what is independent


def clusters_told(found: Sequence[Any] | Mapping[str, Any] | None) -> list[str]:
    """Say what intervals take as independent, and whether it is: of each data set; nothing if results do not say."""
    rows = [found] if isinstance(found, Mapping) else found or []  # results of older versions have one for all
    several = has_datasets(rows)
    return [f"{f'{dataset_words(row)}: ' if several else ''}{_told_of(row)}" for row in rows]


def _told_of(clusters: Mapping[str, Any]) -> str:
    n_queries, n_haystacks = clusters["n_queries"], clusters["n_haystacks"]
    queries = f"{n_queries} {'query' if n_queries == 1 else 'queries'}"
    haystacks = f"{n_haystacks} {'haystack' if n_haystacks == 1 else 'haystacks'}"
    if n_queries == 1:
        return "There is one query: nothing can be said of how far its scores would hold for others."
    if clusters["kind"] == "haystack":
        return f"Intervals and tests take {haystacks} as independent: the {queries} of a haystack share its documents."
    told = f"Intervals and tests take {queries} as independent."
    if n_haystacks == n_queries:
        return told
    return (
        f"{told} They are not: they share the documents of {haystacks}, too few to take these instead, so that "
        "differences are less certain than intervals and p-values say."
    )
