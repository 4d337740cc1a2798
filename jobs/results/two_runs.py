"""Queries and judges that two runs have in common: those that ask the same, and those that can answer no different."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from actors.storage.benchmark import Benchmark
from jobs.results.frames import gold_by_query, in_words, ranked_documents
from jobs.results.stored_run import JudgeSignature, StoredRun, averaging_of
from longform.errors import UsageError
from longform.evidence.scan import pl
from longform.keys import content_key
from longform.metrics.retrieval import MEASURES
from longform.results.comparison import setting_rows
from longform.results.differences import datasets_of
from longform.results.ranked import compare_rankings, ranked_values
from longform.settings.systems import SystemName, named_system
from longform.tables.table import Table

_SHOWN = 3


def common_queries(first: StoredRun, second: StoredRun) -> tuple[Collection[str], list[str]]:
    """
    Return the queries that both runs have summaries of, in the first one's order, and sentences on them for a reader.

    Raises:
        UsageError: They have none in common, or ask for other targets.
    """
    both = second.query_ids
    found = [query_id for query_id in first.query_ids if query_id in both]
    if first.dataset_hash == second.dataset_hash:
        if not found:
            raise UsageError(
                f"{first.url} and {second.url} are runs on the same benchmark and have no query in common: nothing can "
                "be compared; give one of them more queries (--limit)"
            )
        return found, []
    benches = _benchmark(first), _benchmark(second)
    texts, others = ({one.query_id: one.text for one in bench.queries.values()} for bench in benches)
    same = [query_id for query_id in found if texts.get(query_id) == others.get(query_id)]
    if not same:
        raise UsageError(
            f"{first.url} and {second.url} are runs on other benchmarks ({_named(first)}; {_named(second)}), and no "
            "query of the one has the id and the text of a query of the other: nothing can be compared. Run both on "
            "one benchmark"
        )
    _check_targets(first, second, benches, same)
    told = (
        f"The benchmarks differ ({_named(first)}; {_named(second)}): compared are the {len(same):,} queries that have "
        f"the same id, text and targets in both.{_other_documents(benches, same)}"
    )
    return same, [told]


def _named(run: StoredRun) -> str:
    return f"{run.record['benchmark']['url']}, dataset {run.dataset_hash}"


def _benchmark(run: StoredRun) -> Benchmark:
    if run.benchmark is None:
        raise UsageError(
            f"{run.url}: its benchmark {_named(run)} is not there, or has changed, and the other run has another one: "
            "it cannot be told whether their queries ask the same. Call the command from the folder in which the run "
            "was made, or put the benchmark back"
        )
    return run.benchmark


def _check_targets(
    first: StoredRun, second: StoredRun, benches: tuple[Benchmark, Benchmark], query_ids: Iterable[str]
) -> None:
    sides = [(bench, gold_by_query(bench.qrels)) for bench in benches]
    other = [
        query_id
        for query_id in query_ids
        if len({content_key(list(_targets(bench, query_id, gold.get(query_id, {})))) for bench, gold in sides}) > 1
    ]
    if other:
        shown = ", ".join(other[:_SHOWN]) + (f" and {len(other) - _SHOWN:,} more" if len(other) > _SHOWN else "")
        raise UsageError(
            f"{first.url} and {second.url} are runs on benchmarks whose targets, or the documents that state them, "
            f"differ ({_named(first)}; {_named(second)}): queries {shown}. Scores against other targets cannot be "
            "compared; run both on one benchmark"
        )


def _targets(
    benchmark: Benchmark, query_id: str, gold: Mapping[str, Collection[str]]
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield kind, text and gold documents of the targets of a query."""
    for target in benchmark.targets_by_query(benchmark.queries[query_id].haystack_id).get(query_id, ()):
        yield target.kind, target.text, sorted(gold.get(target.target_id, ()))


def _other_documents(benches: tuple[Benchmark, Benchmark], query_ids: Collection[str]) -> str:
    """Say of how many queries the haystacks hold other documents."""

    @cache
    def documents(side: int, haystack_id: str) -> str:
        return content_key([(one.doc_id, one.text) for one in benches[side].documents(haystack_id)])

    places = ([bench.queries[query_id].haystack_id for bench in benches] for query_id in query_ids)
    n = sum(documents(0, first) != documents(1, second) for first, second in places)
    return f" The haystacks of {n:,} of them hold other documents: systems had not the same to read." if n else ""


# ---------------------------------------------------------------- systems


def named_pair(words: str, sides: Sequence[Sequence[SystemName]], expected: str) -> tuple[SystemName, SystemName]:
    """
    Return the systems that `A=B` names, one of each side.

    Raises:
        UsageError: These are no two names, or no such systems.
    """
    first, equals, second = (part.strip() for part in words.partition("="))
    if not equals or not first or not second:
        raise UsageError(f"--systems: expected A=B, {expected}, found {words!r}")
    return named_system(first, sides[0], asked="--systems"), named_system(second, sides[1], asked="--systems")


# ---------------------------------------------------------------- judges


def same_judges(first: StoredRun, second: StoredRun) -> tuple[list[str | None], list[str]]:
    """
    Return the judges that both runs have, and sentences that say of the others why their scores are not compared.

    None: measures without a judge.
    """
    same: list[str | None] = []
    told: list[str] = []
    for judge in first.table.judges:
        if judge not in second.table.judges:
            told += _only(first, judge)
        elif judge is None or not (differing := _differing(first.judges[judge], second.judges[judge])):
            same.append(judge)
        else:
            words = (f"{key} is {one} in {first.label} and {other} in {second.label}" for key, one, other in differing)
            told.append(
                f"Judge {judge} is not the same in both runs, so its scores are not compared: {'; '.join(words)}."
            )
    for judge in second.table.judges:
        told += _only(second, judge) if judge not in first.table.judges else []
    return same, told


def _differing(first: JudgeSignature, second: JudgeSignature) -> list[tuple[str, str, str]]:
    """Return what differs: its name and both values. Models that are not known of one run do not differ."""
    unknown = {name for name in first if name != "settings" and not (first[name] and second[name])}
    one, other = ({name: value for name, value in side.items() if name not in unknown} for side in (first, second))
    return [
        (str(row["key"]).removeprefix("settings."), str(row["first"] or "not set"), str(row["second"] or "not set"))
        for row in setting_rows(one, other)
    ]


def _only(run: StoredRun, judge: str | None) -> list[str]:
    return [f"Judge {judge} is in {run.label} only, so its scores are not compared."] if judge is not None else []


_COLUMNS = ["query_id", "retriever", "reranker", "doc_id", "rank"]
NAMES = frozenset(measure.name for measure in MEASURES)


def is_of_rankings(measure: str) -> bool:
    """Return whether this is the name of a measure of rankings, with or without a cutoff."""
    return measure.partition("@")[0] in NAMES


def compared_rankings(
    runs: tuple[StoredRun, StoredRun],
    summaries: Sequence[pl.DataFrame],
    pairs: Sequence[tuple[SystemName, SystemName]],
    *,
    only: Collection[str],
) -> Table:
    """
    Return the differences of the rankers of *pairs* of systems, by the measures and cutoffs that both runs have.

    The *summaries* of each run are those of the common queries alone; *only* names measures, if not all are wanted.
    """
    depths = [(run.record["config"] or {}).get("cutoffs") or [] for run in runs]
    cutoffs = [k for k in depths[0] if k in depths[1]]
    queries = (
        summaries[0].select("query_id", "dataset", "cluster").unique("query_id", keep="first", maintain_order=True)
    )
    rankers = dict.fromkeys(
        (one, other)
        for first, second in pairs
        for one in _rankers(summaries[0], first)
        for other in _rankers(summaries[1], second)
    )
    benchmark = runs[0].benchmark or runs[1].benchmark
    gold = {} if benchmark is None else gold_by_query(benchmark.qrels)
    there = gold and cutoffs and rankers
    values = pl.concat(
        ranked_values(_rankings(run, max(cutoffs) if there else 0), gold, queries, MEASURES, cutoffs).with_columns(
            run=pl.lit(run.label)
        )
        for run in runs
    )
    named = pl.any_horizontal(pl.col("name", "measure").is_in(list(only))) if only else pl.lit(value=True)
    labels, seed = (runs[0].label, runs[1].label), averaging_of(runs[0]).seed
    datasets = datasets_of(queries)
    return compare_rankings(values.filter(named), labels, datasets=datasets, pairs=list(rankers), seed=seed)


def _rankers(summaries: pl.DataFrame, name: SystemName) -> list[str]:
    """Return the ranker of a system in words; none if its summaries were written elsewhere."""
    own = summaries.filter(pl.col("summarizer") == name.summarizer, pl.col("setting") == name.setting)
    found = own.select("retriever", "reranker").unique(maintain_order=True).drop_nulls("retriever")
    return in_words(found)["system"].to_list()


def _rankings(run: StoredRun, depth: int) -> pl.DataFrame:
    """Return the first *depth* documents of each ranking; of two of one name and query the first."""
    parts = run.folder.batches("rankings", columns=_COLUMNS) if depth else ()
    found = ranked_documents(parts, depth, "retriever", "reranker", "query_id").drop_nulls("retriever")
    return in_words(found)
