"""
Rankings of a run as TREC files, which trec_eval, pytrec_eval and ir-measures read.

    run.SYSTEM.txt   query Q0 document rank score system, a line for each ranked document
    qrels.txt        query 0 document relevance, of the queries that were ranked for
    topics.tsv       query and its text

Relevance is the number of a query's insights that a document states; if only the query as a whole is judged, it is
that judgement (`longform.records.relevance_by_query`). Measures here take every relevance above 0 as 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from longform.errors import UsageError
from longform.formats.exported import Export, ExportedFile, RunToExport
from longform.keys import in_groups
from longform.records import relevance_by_query
from longform.rows import RankingRow

_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
_BY_RANK = "rankings with equal or missing scores, written by rank"

Ranking = Mapping[str, float]
"""Document -> a score that falls with every rank."""


def trec_export(run: RunToExport) -> Iterable[ExportedFile]:
    """
    Yield the run of each ranking, the judgements and the topics.

    Raises:
        UsageError: An id holds white space, at which these files are split, or two rankings would have one file.
    """
    told: Counter[str] = Counter()
    runs: dict[str, list[str]] = {}
    qrels: list[str] = []
    topics: list[str] = []
    for haystack in run.haystacks:
        relevance = relevance_by_query(haystack.qrels)
        found = rankings_of(haystack.rankings, told)
        for system, of_system in found.items():
            runs.setdefault(system, []).extend(run_lines(system, of_system))
        ranked = {query_id for of_system in found.values() for query_id in of_system}
        for query in haystack.queries:
            if query.query_id in ranked:
                topics.append(f"{word(query.query_id, 'query')}\t{' '.join(query.text.split())}")
                judged = relevance.get(query.query_id, {})
                qrels += [f"{query.query_id} 0 {word(doc_id, 'document')} {n}" for doc_id, n in judged.items()]
    if not runs:
        return
    names = file_names(runs)
    for system, lines in runs.items():
        yield ExportedFile(f"run.{names[system]}.txt", _lines(lines))
    yield ExportedFile("qrels.txt", _lines(qrels), 0, +told)
    yield ExportedFile("topics.tsv", _lines(topics))


def rankings_of(rows: Sequence[RankingRow], told: Counter[str]) -> dict[str, dict[str, Ranking]]:
    """
    Return system -> query -> ranking, best document first.

    Tools rank by score and break ties by id. A ranking whose scores do not fall with every rank is written with its
    ranks as scores, -1 for the first, so that its order stays; *told* counts these.
    """
    by_list = in_groups(((row["system"], row["query_id"]), row) for row in rows)
    found: dict[str, dict[str, Ranking]] = {}
    for (system, query_id), listed in by_list.items():
        ordered = sorted(listed, key=lambda row: row["rank"])
        scores = [row["score"] for row in ordered]
        if _falls(scores):
            ranking = {row["doc_id"]: float(row["score"] or 0.0) for row in ordered}
        else:
            told[_BY_RANK] += 1
            ranking = {row["doc_id"]: -float(place) for place, row in enumerate(ordered, 1)}
        found.setdefault(system, {})[query_id] = ranking
    return found


def file_names(systems: Iterable[str]) -> dict[str, str]:
    """
    Return system -> its name as a part of a file's name.

    Raises:
        UsageError: Two systems have the same.
    """
    found: dict[str, str] = {}
    for system in systems:
        name = _UNSAFE.sub("_", system)
        if name in found.values():
            raise UsageError(f"rankings {system!r} and another would both be written as {name!r}; rename a retriever")
        found[system] = name
    return found


def _falls(scores: Sequence[float | None]) -> bool:
    known = [score for score in scores if score is not None]
    return len(known) == len(scores) and all(high > low for high, low in pairwise(known))


def run_lines(system: str, rankings: Mapping[str, Ranking]) -> Iterable[str]:
    """Yield the lines of a run's file."""
    tag = _UNSAFE.sub("_", system)
    for query_id, ranking in rankings.items():
        for rank, (doc_id, score) in enumerate(ranking.items(), 1):
            yield f"{word(query_id, 'query')} Q0 {word(doc_id, 'document')} {rank} {score} {tag}"


def word(name: str, of: str) -> str:
    """
    Return *name*, if it may stand in a file that is split at white space; *of* says what it names.

    Raises:
        UsageError: It may not.
    """
    if name.split() != [name]:
        raise UsageError(
            f"{of} {name!r}: TREC files are split at white space: expected an id without any; try --as beir"
        )
    return name


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


EXPORT = Export(
    trec_export,
    "rankings and judgements as TREC runs and qrels, for trec_eval and pytrec_eval",
    of="rankings",
)
