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
from longform.synthesis.multi_source.account import corpus_account, told
from longform.synthesis.multi_source.checks import (
    CHECK_MERGE,
    CHECK_REWRITE,
    CHECKS,
    DECONTEXTUALIZE,
    FORMS,
    MERGE_QUERIES,
    MERGE_SUMMARIES,
)
from longform.synthesis.multi_source.plans import Merged, QueryCluster, cluster_plan, merge_cluster, rewrite_query
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
    Work,
    bounded,
)

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
            return [self._rewriting(place, n) for place, source in enumerate(self.corpus) for n in _places(source)]
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
    def queries(self) -> list[SourceQuery]:
        """Return the queries of all sources."""
        return [query for source in self.corpus for query in source.queries]

    # ------------------------------------------------------------ plans

    def plan(self, job: Job, log: Log) -> Plan[JsonValue]:
        """Return the plan of a query, of the clustering, or of a cluster."""
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
            for place, source in enumerate(self.corpus):
                gold = [chapter.doc_id for chapter in source.chapters]
                for n, query in enumerate(source.queries):
                    rewritten = variant == "rewritten"
                    text = pieces[self._rewriting(place, n).key].content if rewritten else query.text
                    if text is not None:
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
        """Count what was made of what was there."""
        rewritten = [
            (query, pieces[self._rewriting(place, n).key].content)
            for place, source in enumerate(self.corpus if self.settings.rewrite is not None else ())
            for n, query in enumerate(source.queries)
        ]
        merged = self.works(MERGE, pieces) if self.settings.cluster is not None else []
        account = corpus_account(
            self.settings.name,
            self.corpus,
            n_written=sum(1 for _ in self._asked(pieces)),
            rewritten=rewritten if self.settings.rewrite is not None else None,
            clustering=pieces[self._clustering.key].content if self.settings.cluster is not None else None,
            merged=[pieces[work.key].content for work in merged],
        )
        return [{**account}]

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


def _places(source: LongSource) -> range:
    return range(len(source.queries))


def multi_source_recipe(settings: MultiSourceSynthesis, read: Read, prompts: Sequence[str]) -> MultiSourceRecipe:
    """
    Return the recipe of a configuration, its sources read.

    Raises:
        UsageError: A file cannot be read, or there is nothing to make a benchmark of.
        InputError: A line is no source.
    """
    return MultiSourceRecipe(settings, read_sources(settings, read), prompts)


MULTI_SOURCE = SynthesisKind(
    settings=MultiSourceSynthesis,
    forms=FORMS,
    checks=CHECKS,
    make=multi_source_recipe,
    told=told,
    is_audited=False,
    scripted=("scripted-writer",),
)
