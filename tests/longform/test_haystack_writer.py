"""The haystack writer: what it says it planted is there, and nothing else."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pytest

from longform.errors import UsageError
from longform.haystack_writer import (
    MIN_DOCUMENTS,
    Haystack,
    possible_statements,
    topic_names,
    write_haystack,
)
from longform.haystack_writer.assignment import assign_insights
from longform.haystack_writer.grammar import every_sentence, number_in_words, slots, write
from longform.haystack_writer.topic import InsightPlan, load_topic
from longform.keys import content_key
from longform.records import gold_documents
from longform.support import SupportIndex
from longform.text import inverse_document_frequency, numbers, stems

SEED = 11
DEMO = {"documents": 40, "words": 160, "subtopics_per_document": 2, "insights_per_document": 4}


@pytest.fixture(scope="module", params=topic_names())
def haystack(request: pytest.FixtureRequest) -> Haystack:
    return write_haystack(request.param, variant=0, seed=SEED, **DEMO)


def _topic(haystack: Haystack) -> str:
    return haystack.haystack_id.split("-", maxsplit=1)[0]


# ---------------------------------------------------------------- the gold standard


def test_every_insight_is_stated_by_at_least_five_documents(haystack: Haystack) -> None:
    gold = gold_documents(haystack.qrels)

    assert gold.keys() == {target.target_id for target in haystack.targets}
    assert min(len(documents) for documents in gold.values()) >= MIN_DOCUMENTS == 5


def test_a_planted_statement_stands_in_its_document_exactly_once(haystack: Haystack) -> None:
    texts = {document.doc_id: document.text for document in haystack.documents}

    assert len(haystack.plants) == 40 * 4
    assert {texts[plant.doc_id].count(plant.text) for plant in haystack.plants} == {1}


def test_a_document_states_no_insight_that_it_was_not_given(haystack: Haystack) -> None:
    """Of all sentences that could state an insight, a document holds one for each that it was given, and no other."""
    gold = gold_documents(haystack.qrels)
    statements = possible_statements(_topic(haystack), variant=0, seed=SEED)

    for target, sentences in zip(haystack.targets, statements, strict=True):
        for document in haystack.documents:
            found = [sentence for sentence in sentences if sentence in document.text]
            assert len(found) == (document.doc_id in gold[target.target_id]), (target.text, found)


def test_the_prose_between_statements_has_none_of_the_insights_numbers(haystack: Haystack) -> None:
    of_insights = set().union(*(numbers(target.text) for target in haystack.targets)) - {"1"}  # "one" is a pronoun too
    planted: dict[str, list[str]] = {}
    for plant in haystack.plants:
        planted.setdefault(plant.doc_id, []).append(plant.text)

    for document in haystack.documents:
        rest = document.text
        for sentence in planted[document.doc_id]:
            rest = rest.replace(sentence, "")
        assert not numbers(rest) & of_insights, rest


def test_qrels_are_the_plants(haystack: Haystack) -> None:
    query_of = {target.target_id: target.query_id for target in haystack.targets}

    assert [(q.query_id, q.target_id, q.doc_id, q.relevance) for q in haystack.qrels] == [
        (query_of[plant.target_id], plant.target_id, plant.doc_id, 1) for plant in haystack.plants
    ]


def test_a_document_takes_its_insights_evenly_from_its_subtopics(haystack: Haystack) -> None:
    by_document: dict[str, Counter[str]] = {}
    for qrel in haystack.qrels:
        by_document.setdefault(qrel.doc_id, Counter())[qrel.query_id] += 1

    assert {tuple(counts.values()) for counts in by_document.values()} == {(2, 2)}


# ---------------------------------------------------------------- words


def _share(insight: str, statement: frozenset[str]) -> float:
    wanted = set(stems(insight))
    return len(wanted & statement) / len(wanted)


class _Likeness(NamedTuple):
    """Of the sentence nearest to an insight in each document that states it, over all insights."""

    to_reference: list[float]  # share of the insight's stems
    to_each_other: list[float]  # two documents' sentences: shared stems / stems of the shorter


def _likeness(documents: Sequence[str], stated: Iterable[tuple[str, Sequence[int]]]) -> _Likeness:
    """*stated*: the text of each insight, and the places of the documents that state it."""
    index = SupportIndex(documents)
    found = _Likeness([], [])
    for insight, places in stated:
        near = partial(_share, insight)
        best = [max(index.stems[index.bounds[place] : index.bounds[place + 1]], key=near) for place in places]
        found.to_reference.extend(map(near, best))
        found.to_each_other.extend(
            len(one & other) / max(1, min(len(one), len(other))) for one, other in combinations(best, 2)
        )
    return found


def _likeness_in(haystack: Haystack) -> _Likeness:
    place = {document.doc_id: document.doc_index for document in haystack.documents}
    stating = {
        target_id: sorted(place[doc_id] for doc_id in doc_ids)
        for target_id, doc_ids in gold_documents(haystack.qrels).items()
    }
    stated = [(target.text, stating[target.target_id]) for target in haystack.targets]
    return _likeness([document.text for document in haystack.documents], stated)


def test_statements_share_as_many_words_with_the_reference_as_in_published_haystacks(haystack: Haystack) -> None:
    """
    Measured 0.61 (ferry) and 0.53 (lido); the bounds are 0.1 around the mean of two published topics.

    Much less, and a method that matches words finds nothing; nearly all, and matching is as good as understanding.
    """
    shares = _likeness_in(haystack).to_reference

    assert 0.46 < fmean(shares) < 0.66
    assert min(shares) > 0.2
    assert max(shares) < 1


def test_statements_of_an_insight_resemble_each_other_as_in_published_haystacks(haystack: Haystack) -> None:
    """Measured 0.58 (ferry) and 0.48 (lido); bounds as above."""
    assert 0.44 < fmean(_likeness_in(haystack).to_each_other) < 0.64


@pytest.mark.parametrize(
    ("name", "to_reference", "to_each_other"),
    [pytest.param("news3", 0.73, 0.65, id="news"), pytest.param("conv5", 0.39, 0.42, id="conversation")],
)
def test_what_published_haystacks_measure(name: str, to_reference: float, to_each_other: float) -> None:
    """The two SummHay topics whose means bound ours: 0.56 to the reference and 0.54 to each other."""
    folder = os.environ.get("LONGFORM_RELEASED_DATA")
    if not folder:
        pytest.skip("LONGFORM_RELEASED_DATA is not set: SummHay's haystacks are not at hand")
    topic = json.loads(gzip.decompress((Path(folder) / f"summhay/topic_{name}.json.gz").read_bytes()))
    insights = [insight for subtopic in topic["subtopics"] for insight in subtopic["insights"]]
    included = [frozenset(document["insights_included"]) for document in topic["documents"]]
    stated = [(i["insight"], [at for at, held in enumerate(included) if i["insight_id"] in held]) for i in insights]

    found = _likeness([document["document_text"] for document in topic["documents"]], stated)

    assert fmean(found.to_reference) == pytest.approx(to_reference, abs=0.01)
    assert fmean(found.to_each_other) == pytest.approx(to_each_other, abs=0.02)


@pytest.mark.parametrize("variant", range(3))
@pytest.mark.parametrize("topic", topic_names())
def test_no_wording_copies_the_reference(topic: str, variant: int) -> None:
    """Each possible sentence leaves out or replaces a word of the reference; a name or a number ties it to it."""
    targets = write_haystack(topic, variant=variant, seed=SEED, **DEMO).targets
    for target, sentences in zip(targets, possible_statements(topic, variant=variant, seed=SEED), strict=True):
        for sentence in sentences:
            assert 0.25 < _share(target.text, frozenset(stems(sentence))) < 0.9, (target.text, sentence)


@pytest.mark.parametrize("topic", topic_names())
def test_wordings_of_an_insight_differ_from_each_other(topic: str) -> None:
    """
    No two share more than 0.6 of the shorter one's stems, names and numbers apart; 0.27 and 0.23 on average.

    Else the same sentence would be found again and again, and repetition would give insights away.
    """
    overlaps = []
    for insight in (insight for subtopic in load_topic(topic).subtopics for insight in subtopic.insights):
        texts = [set(stems(re.sub(r"\{.*?\}", "", wording))) for wording in insight.wordings]
        for one, other in combinations(texts, 2):
            overlaps.append(len(one & other) / min(len(one), len(other)))
            assert overlaps[-1] <= 0.6, insight.name
    assert 0.15 < fmean(overlaps) < 0.35


def test_words_alone_find_gold_documents_better_than_chance_and_not_perfectly(haystack: Haystack) -> None:
    """
    R-precision by the idf of the reference's stems: 0.89 measured in both topics, 0.13 by chance.

    SummHay's news3 and conv5, measured alike, have 0.95 and 0.77.
    """
    texts = {document.doc_id: set(stems(document.text)) for document in haystack.documents}
    idf = inverse_document_frequency(texts.values())
    gold = gold_documents(haystack.qrels)
    precisions = []
    for target in haystack.targets:
        wanted = set(stems(target.text))
        ranked = sorted(texts, key=lambda doc_id: (-sum(idf.get(s, 0) for s in wanted & texts[doc_id]), doc_id))
        relevant = gold[target.target_id]
        precisions.append(len(relevant.intersection(ranked[: len(relevant)])) / len(relevant))

    assert 0.75 < fmean(precisions) < 0.95


# ---------------------------------------------------------------- documents


def test_documents_have_the_length_asked_for(haystack: Haystack) -> None:
    for document in haystack.documents:
        speakers = document.text.count("\n") + 1 if document.title is None else 0
        assert 160 <= len(document.text.split()) - speakers <= 160 + 40


def test_documents_are_distinct_and_numbered_in_order(haystack: Haystack) -> None:
    assert len({document.text for document in haystack.documents}) == 40
    assert len({document.doc_id for document in haystack.documents}) == 40
    assert [document.doc_index for document in haystack.documents] == list(range(40))


def test_a_conversation_is_turns_of_its_participants_and_nobody_answers_himself() -> None:
    haystack = write_haystack("lido", variant=0, seed=SEED, **DEMO)
    names = haystack.queries[0].participants
    assert names is not None

    for document in haystack.documents:
        speakers = [line.partition(": ")[0] for line in document.text.split("\n")]
        assert set(speakers) <= set(names)
        assert all(one != next_one for one, next_one in pairwise(speakers))
        assert document.title is None


def test_a_document_states_the_insights_of_a_subtopic_together(haystack: Haystack) -> None:
    """Other statements of the subtopic may stand between, another subtopic's insight may not."""
    text = {document.doc_id: document.text for document in haystack.documents}
    query_of = {target.target_id: target.query_id for target in haystack.targets}
    placed: dict[str, list[tuple[int, str]]] = {}
    for plant in haystack.plants:
        place = text[plant.doc_id].index(plant.text)
        placed.setdefault(plant.doc_id, []).append((place, query_of[plant.target_id]))

    for places in placed.values():
        first, second, third, fourth = [query_id for _, query_id in sorted(places)]
        assert first == second != third == fourth


def test_an_article_has_a_headline_a_dateline_and_paragraphs() -> None:
    haystack = write_haystack("ferry", variant=0, seed=SEED, **DEMO)

    for document in haystack.documents:
        assert document.title
        assert " – " in document.text[:50]
        assert len(document.text.split("\n\n")) > 2
    assert haystack.queries[0].participants is None


def test_no_template_mark_is_left(haystack: Haystack) -> None:
    texts = [f"{d.title} {d.text}" for d in haystack.documents] + [t.text for t in haystack.targets]
    texts += [f"{q.text} {q.subtopic} {q.topic}" for q in haystack.queries]

    assert not [text for text in texts if set("[]{}|") & set(text)]


# ---------------------------------------------------------------- seeds and variants


def test_the_same_arguments_give_the_same_bytes() -> None:
    """The digest was computed once: another number here means that published benchmarks can no longer be rebuilt."""
    haystack = write_haystack("lido", variant=0, seed=SEED, **DEMO)

    assert haystack == write_haystack("lido", variant=0, seed=SEED, **DEMO)
    assert content_key([document.text for document in haystack.documents]) == "cad8b7c2d1ea96524482"


def test_variants_differ_in_facts_and_places(haystack: Haystack) -> None:
    other = write_haystack(_topic(haystack), variant=1, seed=SEED, **DEMO)

    assert not {d.doc_id for d in haystack.documents} & {d.doc_id for d in other.documents}
    assert not {q.text for q in haystack.queries} & {q.text for q in other.queries}
    same = {t.text for t in haystack.targets} & {t.text for t in other.targets}
    assert len(same) < len(haystack.targets) / 4, same


def test_another_seed_is_another_haystack(haystack: Haystack) -> None:
    other = write_haystack(_topic(haystack), variant=0, seed=SEED + 1, **DEMO)

    assert other.haystack_id != haystack.haystack_id
    assert not {d.text for d in haystack.documents} & {d.text for d in other.documents}


def test_documents_of_the_published_length_can_be_written() -> None:
    haystack = write_haystack(
        "ferry", variant=3, documents=100, words=750, subtopics_per_document=3, insights_per_document=6, seed=SEED
    )

    assert len({document.text for document in haystack.documents}) == 100
    assert 750 <= fmean(len(document.text.split()) for document in haystack.documents) < 800


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"documents": 38}, r"38 documents .* = 12 documents a subtopic.* = 13; ask for 39", id="too-few"),
        pytest.param({"insights_per_document": 5}, "of each the same number", id="uneven"),
        pytest.param({"insights_per_document": 12}, "of each the same number", id="more-than-there-are"),
        pytest.param({"words": 40}, "words: expected at least", id="no-room"),
        pytest.param({"words": 20_000}, "ask for fewer words", id="no-prose"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        write_haystack("ferry", variant=0, seed=SEED, **DEMO | changes)


def test_an_unknown_topic_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no topic 'moon'; there are ferry, lido"):
        write_haystack("moon", variant=0, seed=SEED, **DEMO)


# ---------------------------------------------------------------- parts


@pytest.mark.parametrize("documents", [39, 40, 57, 100])
def test_the_fewest_documents_that_fit_suffice(documents: int) -> None:
    assigned = assign_insights(
        [5] * 6,
        documents=documents,
        subtopics_per_document=2,
        insights_per_document=4,
        rng=np.random.default_rng(SEED),
    )
    counts = Counter(place for places in assigned for place in places)

    assert len(counts) == 30
    assert min(counts.values()) >= 5
    assert all(len(set(places)) == 4 for places in assigned)


def test_a_wording_that_leaves_out_a_fact_is_refused() -> None:
    with pytest.raises(ValueError, match="names other slots"):
        InsightPlan(name="n", reference="{a} and {b}", wordings=("{a} {b}", "{b} {a}", "{a}", "so {a} {b}"))


def test_every_sentence_is_what_write_can_give() -> None:
    template = "[we|they] paid £{sum} [today|on {day:words} May|]"
    values = {"sum": 1200, "day": 21}
    possible = set(every_sentence(template, values))

    written = {write(template, values, np.random.default_rng(seed)) for seed in range(100)}
    assert written == possible
    assert "They paid £1,200 on twenty-one May" in possible
    assert len(possible) == 6


@pytest.mark.parametrize(("number", "words"), [(0, "zero"), (13, "thirteen"), (40, "forty"), (99, "ninety-nine")])
def test_numbers_in_words(number: int, words: str) -> None:
    assert number_in_words(number) == words


def test_a_number_too_large_for_words_is_refused() -> None:
    with pytest.raises(ValueError, match="0 to 99"):
        number_in_words(100)


@pytest.mark.parametrize("name", topic_names())
def test_every_name_and_number_kept_from_the_prose_belongs_to_an_insight(name: str) -> None:
    topic = load_topic(name)
    stated = frozenset().union(*(slots(i.reference) for s in topic.subtopics for i in s.insights))

    assert {*topic.numbers, *topic.entities} - stated <= slots(topic.title)
