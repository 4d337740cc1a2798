from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.fits.haystacks import GoldHaystack
from lab.fits.reach import HeldOut, Judge, SummaryJudge, summary_reach
from longform.records import Document, Query, Target
from longform.summaries.query_relevance import VectorQuery

FERRY, LOCKERS = "The ferry leaves at seven.", "Lockers cost ten dollars."


class Quoting:
    """A summarizer that always quotes the same sentence, and cites two documents."""

    def __init__(self, text: str) -> None:
        self.text = text

    def extract(self, query: VectorQuery, n_bullets: int, max_words: int) -> list[tuple[str, list[int]]]:
        assert n_bullets == 2
        return [(self.text, [1, 2])]


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.ones((len(texts), 1), dtype=np.float32)


def system(haystack_id: str, domain: str, text: str) -> HeldOut:
    """Two insights, the first stated by document 1 and the second by document 2."""
    documents = [Document(f"{haystack_id}-d{n}", haystack_id, n - 1, None, FERRY) for n in (1, 2)]
    query = Query(f"{haystack_id}-q", haystack_id, "When does the ferry leave?", domain)
    targets = [
        Target(f"{haystack_id}-{place}", "insight", query.query_id, haystack_id, place, None, said)
        for place, said in enumerate((FERRY, LOCKERS))
    ]
    gold = {target.target_id: [documents[place].doc_id] for place, target in enumerate(targets)}
    return GoldHaystack(haystack_id, documents, [(query, targets)], gold, embed), Quoting(text)


SYSTEMS = [system("a", "news", FERRY), system("b", "news", LOCKERS), system("c", "talk", FERRY)]


def figures(judge: SummaryJudge) -> dict[tuple[str, str], float]:
    return {(row["measure"], row["scored_on"]): row["value"] for row in summary_reach(SYSTEMS, [judge])}


def test_each_haystack_of_a_domain_that_has_several_has_figures() -> None:
    """Hand-worked: one insight of two is said, and of its two citations one is right, so that F1 is 2 / 3."""

    def judge_for(haystack: GoldHaystack, query: Query) -> Judge:
        return lambda lines: [("full", 0) if said in lines[0] else ("none", None) for said in (FERRY, LOCKERS)]

    judge = SummaryJudge("by what is quoted", "labels", judge_for)
    shown = figures(judge)
    assert {group for _, group in shown} == {"all", "news", "talk", "haystack a", "haystack b"}
    for group in ("all", "news", "talk", "haystack a"):
        assert shown["summarizer, judged by what is quoted: coverage", group] == pytest.approx(50)
        assert shown["summarizer, judged by what is quoted: citation", group] == pytest.approx(200 / 3)
        assert shown["summarizer, judged by what is quoted: joint", group] == pytest.approx(100 / 3)


def test_a_judge_reads_the_summaries_of_its_own_query() -> None:
    """A judge that finds less in one haystack lowers that haystack alone."""

    def judge_for(haystack: GoldHaystack, query: Query) -> Judge:
        answer = ("partial", 0) if haystack.haystack_id == "b" else ("full", 0)
        return lambda lines: [answer, answer]

    shown = figures(SummaryJudge("made", "nothing", judge_for))
    coverage = {group: value for (measure, group), value in shown.items() if measure.endswith("coverage")}
    assert coverage == {
        "all": pytest.approx(250 / 3), "news": 75.0, "talk": 100.0, "haystack a": 100.0, "haystack b": 50.0
    }  # fmt: skip
