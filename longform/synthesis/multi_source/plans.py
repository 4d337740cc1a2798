"""
The plans: rewrite a query, cluster all queries, merge a cluster.

Before them stand the forms of replies, the checks by name, and those by rule: each returns what is wrong, or None.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple

from longform.settings.strict import Strict
from longform.synthesis.asking import Ask, Form, Log, Plan, Verified, WantedText, Words, listed, write_checked
from longform.synthesis.multi_source.clusters import Clusters, cluster_queries
from longform.synthesis.multi_source.settings import ClusterSettings, MultiSourceCaps, RewriteSettings
from longform.synthesis.multi_source.sources import SourceQuery
from longform.synthesis.recipe import Embed
from longform.synthesis.written.replies import QueryText, numbers_fit
from longform.text.sentences import sentences
from longform.text.words import numbers, stems


class SummaryText(Form):
    summary: Words


class RewriteVerdict(Form):
    """A verifier's reading of a rewritten query."""

    same: bool  # the query asks for the same as before
    told: tuple[Words, ...]  # parts of the answer that the query tells


class MergeVerdict(Form):
    """The numbers of the texts that a merged one leaves out."""

    missing: tuple[int, ...]


DECONTEXTUALIZE, CHECK_REWRITE = "synthesize_decontextualize", "synthesize_check_rewrite"
MERGE_QUERIES, MERGE_SUMMARIES, CHECK_MERGE = (
    "synthesize_merge_queries",
    "synthesize_merge_summaries",
    "synthesize_check_merge",
)

FORMS: Mapping[str, type[Form]] = {
    DECONTEXTUALIZE: QueryText,
    CHECK_REWRITE: RewriteVerdict,
    MERGE_QUERIES: QueryText,
    MERGE_SUMMARIES: SummaryText,
    CHECK_MERGE: MergeVerdict,
}
"""Prompt -> the form of its reply."""

CHECKS: Mapping[str, str] = {
    "rewrite read": "a rewritten query can be read",
    "rewrite is one request": "it is one sentence, and a question stays one; a rule decides",
    "rewrite keeps the query": "every content word of the query is in it; a rule decides",
    "rewrite is brief": "it adds something, and few words; a rule decides",
    "rewrite tells no answer": "it takes no run of content words from a reference; a rule decides",
    "rewrite verified": "the verifier finds that it asks for the same, and tells no part of a reference",
    "query clustered": "a cluster of the wanted size has it; a rule decides",
    "merged query read": "a merged query can be read",
    "merged query is one request": "one sentence with words of each query, not longer than all of them; a rule decides",
    "merged query verified": "the verifier finds that it leaves no query out",
    "merged summary read": "a merged summary can be read",
    "merged summary is a merger": "words of each summary, no number of its own, not longer than all; a rule decides",
}
"""Check -> when it accepts, in the order of the work."""


# ---------------------------------------------------------------- rules


_LEAST_SHARED = 0.2
"""The least share of a summary's content words in a merged summary; one that leaves the summary out has fewer."""


def no_request(text: str, original: str | None = None) -> str | None:
    """Return why *text* is no request of one sentence; a question is to stay one."""
    if (n := len(sentences(text))) > len(sentences(original or ".")):  # some queries have two to begin with
        return f"expected one sentence, found {n}"
    if original is not None and original.endswith("?") and not text.endswith("?"):
        return "expected a question as before: it does not end with a question mark"
    return None if text.endswith(("?", ".", "!")) else "expected a sentence that ends with a mark"


def lost_words(text: str, original: str) -> str | None:
    """Return which content words of the *original* query are gone."""
    lost = sorted(set(stems(original)) - set(stems(text)))
    return f"the question's words are gone: {', '.join(lost)}" if lost else None


def no_description(text: str, original: str, most: int) -> str | None:
    """Return why what was added to the *original* is no brief description."""
    added = len(text.split()) - len(original.split())
    if not set(stems(text)) - set(stems(original)):
        return "nothing was added to the question"
    return f"{added} words were added, expected at most {most}" if added > most else None


def told_answer(text: str, original: str, answers: Sequence[str], n_words: int) -> str | None:
    """
    Return what *text* takes from an answer: *n_words* content words in a row that the *original* does not have.

    Stems are compared, and stop words between them do not count.
    """
    new = _runs(text, n_words) - _runs(original, n_words)
    taken = sorted(new & {run for answer in answers for run in _runs(answer, n_words)})
    return f"tells of the answer: {' '.join(taken[0])}" if taken else None


def _runs(text: str, n: int) -> set[tuple[str, ...]]:
    found = stems(text)
    return {tuple(found[start : start + n]) for start in range(len(found) - n + 1)}


def unmerged_query(text: str, queries: Sequence[str]) -> str | None:
    """Return why *text* is no merger of *queries*: too long, or with no content word of one of them."""
    if (reason := no_request(text)) is not None:
        return reason
    said = set(stems(text))
    for number, query in enumerate(queries, start=1):
        if (words := set(stems(query))) and not words & said:
            return f"leaves out question {number}"
    longest = sum(len(query.split()) for query in queries)
    return (
        f"{len(text.split())} words, more than the {longest} of all questions" if len(text.split()) > longest else None
    )


def unmerged_summary(text: str, summaries: Sequence[str]) -> str | None:
    """Return why *text* is no merger of *summaries*: too long, with a number of its own, or without one of them."""
    longest = sum(len(summary.split()) for summary in summaries)
    if len(text.split()) > longest:
        return f"{len(text.split())} words, more than the {longest} of all summaries"
    if own := sorted(numbers(text) - {number for summary in summaries for number in numbers(summary)}):
        return f"states {own[0]}, which no summary does"
    said = set(stems(text))
    for number, summary in enumerate(summaries, start=1):
        words = set(stems(summary))
        if len(words & said) < _LEAST_SHARED * len(words):
            return f"leaves out summary {number}"
    return None


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
        return told_answer(answer.query, original, answers, settings.leak_words)

    wanted = WantedText(
        subject=query.query_id,
        prompt=DECONTEXTUALIZE,
        fields={"document": story, "query": original},
        form=QueryText,
        read="rewrite read",
        rules={
            "rewrite is one request": lambda answer: no_request(answer.query, original),
            "rewrite keeps the query": lambda answer: lost_words(answer.query, original),
            "rewrite is brief": lambda answer: no_description(answer.query, original, settings.most_added_words),
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
        large = f"a cluster of {len(cluster)} queries, expected at most {settings.most}"
        for place in cluster:
            fault = large if len(cluster) > settings.most else None
            log.decide("query clustered", queries[place].query_id, fault, last=True)
    for place in found.unplaced:
        log.decide("query clustered", queries[place].query_id, "no cluster that is alike has room for it", last=True)


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
        rules={"merged query is one request": lambda answer: unmerged_query(answer.query, queries)},
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
        rules={"merged summary is a merger": lambda answer: unmerged_summary(answer.summary, summaries)},
    )
    found = yield from write_checked(wanted, tries=caps.tries, replies=caps.replies, log=log)
    return None if found is None else found.summary
