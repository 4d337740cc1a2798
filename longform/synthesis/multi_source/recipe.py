"""Long documents with queries as a recipe: rewrite each query, or cluster all and merge each cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from pydantic import JsonValue

from longform.formats.rows import HaystackRows
from longform.keys import content_key
from longform.records import Document, Qrel, Query, Target
from longform.synthesis.asking import Log, Plan
from longform.synthesis.multi_source.plans import (
    CHECK_MERGE,
    CHECK_REWRITE,
    CHECKS,
    DECONTEXTUALIZE,
    FORMS,
    MERGE_QUERIES,
    MERGE_SUMMARIES,
    Merged,
    QueryCluster,
    cluster_plan,
    merge_cluster,
    rewrite_query,
)
from longform.synthesis.multi_source.settings import MultiSourceSynthesis
from longform.synthesis.multi_source.sources import LongSource, SourceQuery, read_sources
from longform.synthesis.recipe import (
    Job,
    Loop,
    Pieces,
    PlannedCalls,
    Read,
    Recipe,
    Step,
    SynthesisKind,
    SynthesisWords,
    Work,
    bounded,
    made_table,
)
from longform.tables.table import Table

_VERSION = 1  # raised by a change of the plans that changes a benchmark
REWRITE, CLUSTER, MERGE = "rewrite", "cluster", "merge"


class MultiSourceRecipe(Recipe[MultiSourceSynthesis]):
    """One configuration, and the sources that its file holds."""

    def __init__(self, settings: MultiSourceSynthesis, sources: Sequence[LongSource], prompts: Sequence[str]) -> None:
        super().__init__(settings)
        self.corpus = tuple(sources)
        self._prompts = tuple(prompts)

    @property
    def steps(self) -> list[Step]:
        if self.settings.rewrite is not None:
            return [Step(REWRITE, "queries")]
        return [Step(CLUSTER, "clusterings"), Step(MERGE, "clusters")] if self.settings.cluster is not None else []

    @property
    def encoders(self) -> list[str]:
        return [self.settings.cluster.encoder] if self.settings.cluster is not None else []

    @cached_property
    def sources(self) -> list[dict[str, str]]:
        """Return the file, with a key of all that decides the benchmark."""
        settings = self.settings
        decides = {"name", "domain", "rewrite", "cluster"}
        key = content_key(
            "multi_source", settings.model_dump(mode="json", include=decides), self._asking, [*self.corpus]
        )
        return [{"name": f"sources {settings.sources.rsplit('/', 1)[-1]}", "sha256": key}]

    @cached_property
    def _asking(self) -> list[JsonValue]:
        """Return all that decides replies and the choice among them; the version alone if nobody is asked."""
        if not self.settings.asks:
            return [_VERSION]
        chats: dict[str, JsonValue] = {role: chat.identity for role, chat in self.settings.chats.items()}
        caps = self.settings.caps.model_dump(mode="json")
        return [_VERSION, self.settings.seed, chats, caps, [*self._prompts]]

    # ------------------------------------------------------------ works

    def works(self, step: str, pieces: Pieces) -> list[Work]:
        """Return the works of a step; clusters are known once all queries have been clustered."""
        if step == REWRITE:
            return [self._rewriting(*at) for at, _ in self._numbered]
        if step == CLUSTER:
            return [self._clustering]
        if self._clustering.key not in pieces:
            return []
        placed = pieces[self._clustering.key].content["placed"]
        return [self._merging(number, members) for number, members in enumerate(placed, start=1)]

    def _rewriting(self, place: int, n: int) -> Work:
        source, rewrite = self.corpus[place], self.settings.rewrite
        assert rewrite is not None
        said = rewrite.model_dump(mode="json", exclude={"variants"})
        key = content_key(REWRITE, self._asking, said, source.text, source.queries[n])
        return Work(key, self.settings.name, {"source": place, "query": n}, group=source.source_id)

    @cached_property
    def _clustering(self) -> Work:
        cluster = self.settings.cluster
        assert cluster is not None
        said = cluster.model_dump(mode="json", exclude={"merge"})
        return Work(
            content_key(CLUSTER, _VERSION, said, [query.text for query in self.queries]), self.settings.name, {}
        )

    def _merging(self, number: int, members: Sequence[int]) -> Work:
        assert self.settings.cluster is not None
        name = f"{self.settings.name}:{number:03}"
        texts = [[self.queries[place].text, self.queries[place].answers] for place in members]
        key = content_key(MERGE, self._asking, self.settings.cluster.merge, name, texts)
        return Work(key, self.settings.name, {"name": name, "members": list(members)})

    @cached_property
    def _numbered(self) -> list[tuple[tuple[int, int], SourceQuery]]:
        """Return the queries of all sources, each after the place of its source and its own there."""
        return [((at, n), query) for at, source in enumerate(self.corpus) for n, query in enumerate(source.queries)]

    @property
    def queries(self) -> list[SourceQuery]:
        """Return the queries of all sources."""
        return [query for _, query in self._numbered]

    # ------------------------------------------------------------ plans

    def plan(self, job: Job, log: Log) -> Plan[JsonValue]:
        settings, payload = self.settings, job.payload
        if job.step == CLUSTER:
            assert settings.cluster is not None
            return cluster_plan(self.queries, settings.cluster, job.embed, log)
        if job.step == MERGE:
            return self._merge(payload["name"], payload["members"], log)
        assert settings.rewrite is not None
        source = self.corpus[payload["source"]]
        return rewrite_query(source.queries[payload["query"]], source.text, settings.rewrite, settings.caps, log)

    def _merge(self, name: str, members: Sequence[int], log: Log) -> Plan[JsonValue]:
        assert self.settings.cluster is not None
        cluster = QueryCluster(name, [self.queries[place] for place in members])
        merged = yield from merge_cluster(cluster, self.settings.cluster, self.settings.caps, log)
        return merged.model_dump(mode="json")

    # ------------------------------------------------------------ what comes of it

    def rows(self, pieces: Pieces) -> Iterator[HaystackRows]:
        """Return the corpus as one haystack, all chapters of a source gold of its queries (MSRS, section 3.2)."""
        name = self.settings.name
        chapters = [chapter for source in self.corpus for chapter in source.chapters]
        queries, targets, qrels = [], [], []
        for query_id, dataset, text, references, gold in self._asked(pieces):
            queries.append(Query(query_id, name, text, domain=self.settings.domain, dataset=dataset))
            qrels += [Qrel(query_id, None, doc_id, 1) for doc_id in gold]
            targets += [
                Target(f"{query_id}:{place}", "reference", query_id, name, place, None, reference)
                for place, reference in enumerate(references)
            ]
        documents = [Document(one.doc_id, name, place, None, one.text) for place, one in enumerate(chapters)]
        yield HaystackRows(name, documents=documents, queries=queries, targets=targets, qrels=qrels)

    def _asked(self, pieces: Pieces) -> Iterator[tuple[str, str, str, Sequence[str], list[str]]]:
        """Give each query of the benchmark: id, data set, text, references, gold documents."""
        settings = self.settings
        if settings.cluster is not None:
            yield from self._clustered(pieces)
            return
        variants = settings.rewrite.variants if settings.rewrite is not None else ("original",)
        for number, variant in enumerate(variants):
            suffix = f":{variant}" if number else ""
            for at, query in self._numbered:
                text = pieces[self._rewriting(*at).key].content if variant == "rewritten" else query.text
                if text is not None:
                    gold = [chapter.doc_id for chapter in self.corpus[at[0]].chapters]
                    yield f"{query.query_id}{suffix}", f"{settings.name}{suffix}", text, query.answers, gold

    def _clustered(self, pieces: Pieces) -> Iterator[tuple[str, str, str, Sequence[str], list[str]]]:
        chapters = [[one.doc_id for one in source.chapters] for source in self.corpus for _ in source.queries]
        for work in self.works(MERGE, pieces):
            assert isinstance(work.payload, dict)
            merged = Merged.model_validate(pieces[work.key].content)
            members = work.payload["members"]
            assert isinstance(members, list)
            gold = dict.fromkeys(doc_id for place in members for doc_id in chapters[int(str(place))])
            yield str(work.payload["name"]), self.settings.name, merged.query, merged.summaries, [*gold]

    def accounts(self, pieces: Pieces) -> list[dict[str, Any]]:
        """Count what became of the corpus, the one haystack of the benchmark; null: not rewritten, or not clustered."""
        rewritten = [
            {"query_id": query.query_id, "original": query.text, "rewritten": pieces[self._rewriting(*at).key].content}
            for at, query in self._numbered
            if self.settings.rewrite is not None
        ]
        account = {
            "haystack_id": self.settings.name,
            "sources": len(self.corpus),
            "documents": sum(len(source.chapters) for source in self.corpus),
            "empty_chapters": sum(source.n_empty for source in self.corpus),
            "queries_of_sources": len(self.queries),
            "queries": sum(1 for _ in self._asked(pieces)),
            "single_document_sources": sum(len(source.chapters) == 1 for source in self.corpus),
            "rewritten": rewritten if self.settings.rewrite is not None else None,
            "clusters": self._cluster_account(pieces) if self.settings.cluster is not None else None,
        }
        return [account]

    def _cluster_account(self, pieces: Pieces) -> dict[str, Any]:
        ids, owners = [query.query_id for query in self.queries], [place for (place, _), _ in self._numbered]
        clustering = pieces[self._clustering.key].content
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
            "texts_by_rules": sum(pieces[work.key].content["by_rules"] for work in self.works(MERGE, pieces)),
        }

    # ------------------------------------------------------------ before it is made

    def planned(self, left: Mapping[str, Sequence[Work]]) -> list[PlannedCalls]:
        """Bound the calls; before queries are clustered there are as few clusters as possible, or as many."""
        if not self.settings.asks:
            return []
        if self.settings.rewrite is not None:
            return [call for work in left[REWRITE] for call in self._rewrite_calls(work.group)]
        cluster = self.settings.cluster
        assert cluster is not None
        n = len(self.queries)
        counts = (-(-n // cluster.most), n // cluster.least) if left[CLUSTER] else (len(left[MERGE]),) * 2
        return self._merge_calls(*counts) if counts[1] else []

    def _rewrite_calls(self, group: str) -> list[PlannedCalls]:
        tries, replies = self._loops
        calls = partial(bounded, REWRITE, group=group)
        return [
            calls(DECONTEXTUALIZE, "rewrite queries", "writer", 1, tries),
            calls(CHECK_REWRITE, "look at queries", "verifier", 1, tries, replies),
        ]

    def _merge_calls(self, least: int, most: int) -> list[PlannedCalls]:
        tries, replies = self._loops
        calls = partial(bounded, MERGE, least=least)
        n_summaries = most * max(len(query.answers) for query in self.queries)
        return [
            calls(MERGE_QUERIES, "merge queries", "writer", most, tries),
            calls(MERGE_SUMMARIES, "merge summaries", "writer", n_summaries, tries),
            calls(CHECK_MERGE, "look at merged queries", "verifier", most, tries, replies),
        ]

    @property
    def _loops(self) -> tuple[Loop, Loop]:
        return (self.settings.caps.tries, "tries"), (self.settings.caps.replies, "replies")


def multi_source_recipe(settings: MultiSourceSynthesis, read: Read, prompts: Sequence[str]) -> MultiSourceRecipe:
    """
    Return the recipe of a configuration, its sources read.

    Raises:
        UsageError: A file cannot be read, or there is nothing to make a benchmark of.
        InputError: A line is no source.
    """
    return MultiSourceRecipe(settings, read_sources(settings, read), prompts)


# ---------------------------------------------------------------- the account in words


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
    return made_table(_COLUMNS, [{**row, "haystack": row["haystack_id"]} for row in haystacks])


def _lines(clusters: Mapping[str, Any]) -> list[str]:
    sizes = ", ".join(f"{count:,} of {size}" for size, count in clusters["sizes"].items()) or "none"
    split, mergers = clusters["threshold_clusters_split"], clusters["mergers"]
    left = f"too large still: {clusters['oversize']:,}; queries without room: {len(clusters['unplaced']):,}"
    made = f"of one source: {clusters['of_one_source']:,}; texts by rules after the last try"
    return [
        f"clusters by queries: {sizes}; {split:,} were too large and split; {mergers:,} mergers of those too small",
        f"clusters {left}; {made}: {clusters['texts_by_rules']:,}",
    ]


MULTI_SOURCE = SynthesisKind(
    settings=MultiSourceSynthesis,
    forms=FORMS,
    checks=CHECKS,
    make=multi_source_recipe,
    told=told,
    is_audited=False,
    scripted=("scripted-writer",),
)
