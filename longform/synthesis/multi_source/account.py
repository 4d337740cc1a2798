"""Count what was made of sources and their queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.synthesis.multi_source.sources import LongSource, SourceQuery
from longform.synthesis.recipe import SynthesisWords
from longform.tables.table import Column, Table


def corpus_account(
    name: str,
    sources: Sequence[LongSource],
    *,
    n_written: int,
    rewritten: Sequence[tuple[SourceQuery, str | None]] | None,
    clustering: Mapping[str, Any] | None,
    merged: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """
    Count what became of a corpus, the one haystack of the benchmark, whose id is *name*.

    *n_written* is the number of its queries. *rewritten* has each query, and its new text if a try was right; None:
    queries were not rewritten. *clustering* has the fields of `Clusters`; None: queries were not clustered. *merged*
    has those of `Merged` for each cluster.
    """
    return {
        "haystack_id": name,
        "sources": len(sources),
        "documents": sum(len(source.chapters) for source in sources),
        "empty_chapters": sum(source.n_empty for source in sources),
        "queries_of_sources": sum(len(source.queries) for source in sources),
        "queries": n_written,
        "single_document_sources": sum(len(source.chapters) == 1 for source in sources),
        "rewritten": None
        if rewritten is None
        else [{"query_id": query.query_id, "original": query.text, "rewritten": text} for query, text in rewritten],
        "clusters": None if clustering is None else _clusters(sources, clustering, merged),
    }


def _clusters(
    sources: Sequence[LongSource], clustering: Mapping[str, Any], merged: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    ids = [query.query_id for source in sources for query in source.queries]
    owners = [number for number, source in enumerate(sources) for _ in source.queries]
    placed = clustering["placed"]
    lengths = sorted(map(len, placed))
    return {
        "threshold_clusters_split": clustering["n_split"],
        "mergers": clustering["n_merged"],  # of clusters that were too small
        "sizes": {str(size): lengths.count(size) for size in dict.fromkeys(lengths)},
        "oversize": clustering["oversize"],
        "unplaced": [ids[place] for place in clustering["unplaced"]],
        "of_one_source": sum(len({owners[place] for place in cluster}) == 1 for cluster in placed),
        "members": [[ids[place] for place in cluster] for cluster in placed],
        "texts_by_rules": sum(one["by_rules"] for one in merged),
    }


def told(haystacks: Sequence[Mapping[str, Any]]) -> SynthesisWords:
    """Tell accounts in words; short is a benchmark that lacks queries, or has clusters that are too large."""
    documents, queries = (sum(one[key] for one in haystacks) for key in ("documents", "queries"))
    clusters = [one["clusters"] for one in haystacks if one["clusters"] is not None]
    lost = [row for one in haystacks for row in one["rewritten"] or () if row["rewritten"] is None]
    return SynthesisWords(
        first=f"haystacks: {len(haystacks)}, documents: {documents:,}, queries: {queries:,}",
        table=made(haystacks),
        columns=[*_COLUMNS],
        notes=["empty: chapters without text, which are left out", *(line for one in clusters for line in _lines(one))],
        is_short=bool(lost) or any(one["oversize"] or one["unplaced"] for one in clusters),
    )


_COLUMNS = {
    "haystack": "",
    "sources": "",
    "documents": "",
    "empty_chapters": "empty",
    "queries_of_sources": "queries before",
    "queries": "",
}


def made(haystacks: Sequence[Mapping[str, Any]]) -> Table:
    """Return what was made of sources and their queries, a row a haystack."""
    columns = [Column(name, "text" if name == "haystack" else "count", title) for name, title in _COLUMNS.items()]
    rows = [{"haystack": row["haystack_id"], **{one.name: row[one.name] for one in columns[1:]}} for row in haystacks]
    return Table("made", columns, rows, key=["haystack"])


def _lines(clusters: Mapping[str, Any]) -> list[str]:
    sizes = ", ".join(f"{count:,} of {size}" for size, count in clusters["sizes"].items()) or "none"
    split, mergers = clusters["threshold_clusters_split"], clusters["mergers"]
    left = f"too large still: {clusters['oversize']:,}; queries without room: {len(clusters['unplaced']):,}"
    made = f"of one source: {clusters['of_one_source']:,}; texts by rules after the last try"
    return [
        f"clusters by queries: {sizes}; {split:,} were too large and split; {mergers:,} mergers of those too small",
        f"clusters {left}; {made}: {clusters['texts_by_rules']:,}",
    ]
