"""The plans: rewrite a query, cluster all queries, merge a cluster."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from longform.settings.strict import Strict
from longform.synthesis.asking import Ask, Log, Plan, listed
from longform.synthesis.multi_source import checks
from longform.synthesis.multi_source.checks import (
    CHECK_MERGE,
    CHECK_REWRITE,
    DECONTEXTUALIZE,
    MERGE_QUERIES,
    MERGE_SUMMARIES,
    MergeVerdict,
    RewriteVerdict,
    SummaryText,
)
from longform.synthesis.multi_source.clusters import Clusters, cluster_queries
from longform.synthesis.multi_source.settings import ClusterSettings, MultiSourceCaps, RewriteSettings
from longform.synthesis.multi_source.sources import SourceQuery
from longform.synthesis.recipe import Embed
from longform.synthesis.tries import Verified, WantedText, write_checked
from longform.synthesis.written.replies import QueryText, numbers_fit

# ---------------------------------------------------------------- rewriting


def rewrite_query(
    query: SourceQuery, story: str, settings: RewriteSettings, caps: MultiSourceCaps, log: Log
) -> Plan[str | None]:
    """Return *query* with a vague description of its source; None if no try passed the checks (MSRS, section 3.2)."""
    original, answers = query.text, query.answers

    def ask(answer: QueryText) -> Ask:
        fields = {"original": original, "query": answer.query, "answers": listed(answers)}
        return Ask("verifier", CHECK_REWRITE, fields)

    def told(answer: QueryText) -> str | None:
        return checks.told_answer(answer.query, original, answers, settings.leak_words)

    wanted = WantedText(
        subject=query.query_id,
        prompt=DECONTEXTUALIZE,
        fields={"document": story, "query": original},
        form=QueryText,
        read="rewrite read",
        rules={
            "rewrite is one request": lambda answer: checks.no_request(answer.query, original),
            "rewrite keeps the query": lambda answer: checks.lost_words(answer.query, original),
            "rewrite is brief": lambda answer: checks.no_description(answer.query, original, settings.most_added_words),
            "rewrite tells no answer": told,
        },
        verified=Verified("rewrite verified", ask, RewriteVerdict, _rewrite_fault),
    )
    found = yield from write_checked(wanted, tries=caps.tries, replies=caps.replies, log=log)
    return None if found is None else found.query


def _rewrite_fault(verdict: RewriteVerdict) -> str | None:
    if not verdict.same:
        return "asks for something else"
    return f"tells of the answer: {verdict.told[0]}" if verdict.told else None


# ---------------------------------------------------------------- clustering


def cluster_plan(
    queries: Sequence[SourceQuery], settings: ClusterSettings, embed: Embed, log: Log
) -> Generator[Sequence[Ask], Any, dict[str, Any]]:
    """Cluster queries; nobody is asked."""
    found = cluster_queries(embed(settings.encoder, [query.text for query in queries]), settings)
    _log_clusters(found, queries, settings, log)
    yield from ()
    return found._asdict()


def _log_clusters(found: Clusters, queries: Sequence[SourceQuery], settings: ClusterSettings, log: Log) -> None:
    for cluster in found.placed:
        for place in cluster:
            if len(cluster) > settings.most:
                reason = f"a cluster of {len(cluster)} queries, expected at most {settings.most}"
                log.reject("query clustered", queries[place].query_id, reason, last=True)
            else:
                log.accept("query clustered", queries[place].query_id)
    for place in found.unplaced:
        log.reject("query clustered", queries[place].query_id, "no cluster that is alike has room for it", last=True)


# ---------------------------------------------------------------- merging


class Merged(Strict):
    """The query and the reference summaries that a cluster is merged into."""

    query: str
    summaries: tuple[str, ...]
    by_rules: int  # texts among these that a rule made, because no try of the writer passed the checks


class QueryCluster(NamedTuple):
    """The queries of a cluster."""

    name: str
    queries: Sequence[SourceQuery]

    @property
    def texts(self) -> list[str]:
        """Return each query once."""
        return list(dict.fromkeys(query.text for query in self.queries))

    @property
    def references(self) -> list[list[str]]:
        """Return the summaries to be merged: the first references of all queries, the second, and so on."""
        n = min(len(query.answers) for query in self.queries)
        return [list(dict.fromkeys(query.answers[place] for query in self.queries)) for place in range(n)]


def merge_cluster(cluster: QueryCluster, settings: ClusterSettings, caps: MultiSourceCaps, log: Log) -> Plan[Merged]:
    """Return the query and the summaries of a cluster (MSRS, appendix A); what no try got right, a rule makes."""
    by_writer = settings.merge == "writer"
    query = (yield from _merge_queries(cluster, caps, log)) if by_writer else None
    said = query or query_by_rules(cluster.texts)
    summaries = []
    for number, parts in enumerate(cluster.references, start=1):
        subject = f"{cluster.name}, reference {number}"
        merged = (yield from _merge_summaries(subject, said, parts, caps, log)) if by_writer else None
        summaries.append(merged)
    n_missing = (query is None) + summaries.count(None)
    texts = [text or summary_by_rules(parts) for text, parts in zip(summaries, cluster.references, strict=True)]
    return Merged(query=said, summaries=tuple(texts), by_rules=n_missing if by_writer else 0)


def query_by_rules(queries: Sequence[str]) -> str:
    """Return one request that lists *queries*."""
    if len(queries) == 1:
        return queries[0]
    return f"Answer these together: {' '.join(f'({number}) {query}' for number, query in enumerate(queries, start=1))}"


def summary_by_rules(summaries: Sequence[str]) -> str:
    """Return *summaries* as one, each a paragraph."""
    return "\n\n".join(summary.strip() for summary in summaries)


def _merge_queries(cluster: QueryCluster, caps: MultiSourceCaps, log: Log) -> Plan[str | None]:
    queries = cluster.texts
    if len(queries) == 1:
        return queries[0]

    def ask(answer: QueryText) -> Ask:
        return Ask("verifier", CHECK_MERGE, {"queries": listed(queries), "query": answer.query})

    wanted = WantedText(
        subject=cluster.name,
        prompt=MERGE_QUERIES,
        fields={"queries": listed(queries)},
        form=QueryText,
        read="merged query read",
        rules={"merged query is one request": lambda answer: checks.unmerged_query(answer.query, queries)},
        verified=Verified(
            "merged query verified",
            ask,
            MergeVerdict,
            _merge_fault,
            lambda verdict: numbers_fit(verdict.missing, len(queries)),
        ),
    )
    found = yield from write_checked(wanted, tries=caps.tries, replies=caps.replies, log=log)
    return None if found is None else found.query


def _merge_fault(verdict: MergeVerdict) -> str | None:
    return f"leaves out question {verdict.missing[0]}" if verdict.missing else None


def _merge_summaries(
    subject: str, query: str, summaries: Sequence[str], caps: MultiSourceCaps, log: Log
) -> Plan[str | None]:
    if len(summaries) == 1:
        return summaries[0]
    wanted = WantedText(
        subject=subject,
        prompt=MERGE_SUMMARIES,
        fields={"query": query, "summaries": listed(summaries)},
        form=SummaryText,
        read="merged summary read",
        rules={"merged summary is a merger": lambda answer: checks.unmerged_summary(answer.summary, summaries)},
    )
    found = yield from write_checked(wanted, tries=caps.tries, replies=caps.replies, log=log)
    return None if found is None else found.summary
