"""
Things that a paper, its release and this project read in different ways.

`Reading` chooses a kind or a measure, `KeyReading` the value of a key; a `Dispute` has no key to choose by, and is
told. The paper where it is silent is read as its release, and the words say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

Fidelity = Literal["ours", "release", "paper"]
FIDELITIES: tuple[Fidelity, ...] = get_args(Fidelity)

Content = Mapping[str, Any]
"""A configuration, or one component of it, as a mapping of JSON values."""


class Reading(NamedTuple):
    """A thing that is read in several ways."""

    section: str  # of a configuration: components by their names, or a list of names
    name: str  # the kind of those components, or the name in the list, as the configuration writes it
    instead: Mapping[Fidelity, str]  # what stands in its place; one that is left out changes nothing
    told: Mapping[Fidelity, str]  # the reading in words
    decided_by: frozenset[str] = frozenset()  # keys that decide the reading; a component that has one keeps it


class KeyReading(NamedTuple):
    """A key whose value is a reading."""

    section: str | None  # of the components that have the key; None: it stands at the top
    key: str
    values: Mapping[Fidelity, str]
    told: Mapping[Fidelity, str]  # the reading in words
    concerns: Callable[[Content], bool]  # tells whether a component, or the whole configuration, reads the key
    disputed: bool = False  # the paper and its release differ: then it is told under every fidelity


class Dispute(NamedTuple):
    """A thing on which a paper and its release differ, and which no fidelity changes."""

    places: Callable[[Content], Iterable[str]]  # yields the places in a configuration that it concerns
    told: Mapping[Fidelity, str]  # the reading in words
    taken: str | None = None  # what a run does, in words; None: as `ours`


# ---------------------------------------------------------------- kinds and measures

_AS_RANK_BM25 = (
    "BM25Okapi of rank_bm25: split at single spaces, case and punctuation kept, idf floored at 0.25 times its mean"
)
_WITH_NUMBERS = "a number in square brackets is a word, as any other"


def _rouge(name: str) -> Reading:
    released = f"{name}_released"
    told: dict[Fidelity, str] = {
        "ours": "citations, numbers in square brackets, are taken out of a summary first",
        "release": _WITH_NUMBERS,
        "paper": f"not described; as released: {_WITH_NUMBERS}",
    }
    return Reading("measures", name, {"release": released, "paper": released}, told)


READINGS = (
    Reading(
        "retrievers",
        "bm25",
        {"release": "bm25_okapi", "paper": "bm25_okapi"},
        {
            "ours": "BM25 as Lucene has it, over lower-cased stems",
            "release": _AS_RANK_BM25,
            "paper": f"BM25, not described further; as released: {_AS_RANK_BM25}",
        },
        decided_by=frozenset({"stem"}),
    ),
    *map(_rouge, ("rouge_1", "rouge_2", "rouge_l")),
)

# ---------------------------------------------------------------- keys


def _judges_coverage(content: Content) -> bool:
    return any(judge.get("task", "coverage") == "coverage" for judge in _components(content, "judges").values())


def _counts_bullets(content: Content) -> bool:
    return _judges_coverage(content) and content.get("units") != "sentences"


def _asks_for_support(judge: Content) -> bool:
    return judge.get("kind") == "chat" and judge.get("task") == "support"


def _rates(judge: Content) -> bool:
    return judge.get("kind") in ("chat", "served", "python") and judge.get("task") == "reference"


def _places_documents(content: Content) -> bool:
    """Tell whether a system's documents are ordered by relevance."""
    systems = (system for system in content.get("systems") or () if isinstance(system, Mapping))
    listed = (_listed(system.get("order")) for system in systems)
    orders = {order for orders in listed for order in orders}
    return orders >= {"top", "bottom"}


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


_FIRST = "rated beside the first reference text alone"
_ANYWHERE = "yes or no anywhere in the reply, yes first, also within other words; not asked again"

KEYS = (
    KeyReading(
        None,
        "aggregate",
        {"ours": "pooled", "release": "pooled", "paper": "per_summary"},
        {
            "ours": "the mean of all insights of all summaries together",
            "release": "the mean of all insights of all summaries together",
            "paper": "the mean of the summaries' own means",
        },
        _judges_coverage,
        disputed=True,
    ),
    KeyReading(
        None,
        "query_text",
        {"ours": "query_subtopic", "release": "query_subtopic", "paper": "query"},
        {
            "ours": "retrievers search with the query and its subtopic, if it has one",
            "release": "retrievers search with the query and its subtopic",
            "paper": "retrievers search with the query",
        },
        _judges_coverage,
        disputed=True,
    ),
    KeyReading(
        None,
        "units",
        {"ours": "statements", "release": "bullets", "paper": "bullets"},
        {
            "ours": "an answer is read as statements: sentences of prose, items of lists, rows of tables",
            "release": "every line that is not empty is a bullet",
            "paper": "bullets, not described further; as released: every line that is not empty is one",
        },
        _counts_bullets,
    ),
    KeyReading(
        None,
        "sensitivity",
        {"ours": "ours", "release": "release", "paper": "paper"},
        {
            "ours": "the largest distance of top and bottom from documents in random order; if none were, as given",
            "release": "the largest distance of top, middle and bottom from the order given",
            "paper": "the largest distance of top and bottom from Random, which is the order given",
        },
        _places_documents,
        disputed=True,
    ),
    KeyReading(
        "judges",
        "fidelity",
        {"ours": "ours", "release": "release", "paper": "release"},
        {
            "ours": "the first word of a reply is its answer; another reply is asked for again",
            "release": _ANYWHERE,
            "paper": f"not described; as released: {_ANYWHERE}",
        },
        _asks_for_support,
    ),
    KeyReading(
        "judges",
        "references",
        {"ours": "all", "release": "first", "paper": "first"},
        {
            "ours": "rated beside every reference text",
            "release": _FIRST,
            "paper": f"not described; as released: {_FIRST}",
        },
        _rates,
    ),
)

# ---------------------------------------------------------------- what no key chooses


def _components(content: Content, section: str) -> Mapping[str, Content]:
    """Return the components of a section that are described; a configuration that is wrong may have anything there."""
    entries = content.get(section)
    entries = entries if isinstance(entries, Mapping) else {}
    return {name: one for name, one in entries.items() if isinstance(one, Mapping)}


def _measures(*names: str) -> Callable[[Content], Iterable[str]]:
    def places(content: Content) -> Iterable[str]:
        return [f"measures.{name}" for name in content.get("measures") or () if name in names]

    return places


def _stated(section: str, **values: str) -> Callable[[Content], Iterable[str]]:
    def places(content: Content) -> Iterable[str]:
        components = _components(content, section).items()
        return [f"{section}.{name}" for name, one in components if values.items() <= one.items()]

    return places


def _in_method(name: str) -> Callable[[Content], Iterable[str]]:
    def places(content: Content) -> Iterable[str]:
        systems = [system for system in content.get("systems") or () if isinstance(system, Mapping)]
        used = any(name in (system.get("method"), *_listed(system.get("method"))) for system in systems)
        return [f"systems.method.{name}"] if used else []

    return places


_CALIBRATED: Mapping[Fidelity, str] = {
    "ours": "as the method says",
    "release": "the n rotations of the documents",
    "paper": "all n! orders of the documents",
}

DISPUTES = (
    Dispute(
        _measures("nDCG", "MAP"),
        {
            "ours": "over the first K documents",
            "release": "over the first K documents",
            "paper": "MSRS's text: across the entire ranking; its tables: over the first K documents",
        },
    ),
    Dispute(
        _measures("R"),
        {
            "ours": "gold documents that the corpus lacks are left out",
            "release": "MSRS's code counts gold documents that the corpus lacks as missed (3 queries on meetings)",
            "paper": "MSRS's tables leave them out",
        },
    ),
    Dispute(
        _stated("retrievers", kind="encoder", pooling="mean"),
        {
            "ours": "chunks of chunk_tokens tokens, or of the encoder's window",
            "release": "MSRS's code: chunks of 1,000 words, weighted by their words",
            "paper": "MSRS: chunks of 1,000 tokens, weighted by their size",
        },
    ),
    Dispute(
        _stated("summarizers", prompt="summarize_meeting"),
        {
            "ours": "cut to budget_tokens of a system, the last document first",
            "release": "MSRS's code cuts for local models alone: 20,000 words, shared equally among the documents",
            "paper": "MSRS: cut to a window of 32,000 tokens for all models but those that reason",
        },
    ),
    Dispute(_in_method("calibration-rotations"), _CALIBRATED, taken=_CALIBRATED["release"]),
    Dispute(_in_method("calibration-all"), _CALIBRATED, taken=_CALIBRATED["paper"]),
)
