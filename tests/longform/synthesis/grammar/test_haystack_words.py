"""The words of made haystacks: the prose does not repeat itself, and statements are as alike as in published ones."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pytest

from longform.records import gold_documents
from longform.support.index import SupportIndex
from longform.synthesis.grammar.assignment import Bounds
from longform.synthesis.grammar.haystack import HaystackSize, Woven, write_haystack
from longform.synthesis.grammar.topic import load_topic, topic_names
from longform.text.sentences import sentences
from longform.text.words import inverse_document_frequency, numbers, stems

SIZE = HaystackSize(100, 750, Bounds(5, 7), Bounds(5, 25), distractors=3, contradictions=0)


@pytest.fixture(scope="module", params=topic_names())
def haystack(request: pytest.FixtureRequest) -> Woven:
    return write_haystack(request.param, variant=0, size=SIZE, seed=11)


# ---------------------------------------------------------------- skeletons

NUMBER_WORDS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety"
).split()
MASKED = re.compile(rf"\b(?:[A-Z][\w'’]*|\d[\w.,:]*\w|\d|(?:{'|'.join(NUMBER_WORDS)}))\b")


def masked(sentence: str) -> str:
    """Written apart from the writer's own: names, numbers and dates are one mark, and marks in a row are one."""
    plain = re.sub(r"[^\w* ]", " ", MASKED.sub("*", sentence))
    return " ".join(re.sub(r"\*(?: \*)+", "*", " ".join(plain.split())).split())


Prose = list[tuple[str, str]]


@pytest.fixture(scope="module")
def prose(haystack: Woven) -> Prose:
    """Every sentence outside the statements of insights, with its document."""
    stated: dict[str, list[str]] = {}
    for one in haystack.facts.planted:
        if one.kind != "distractor":
            stated.setdefault(one.doc_id, []).append(one.text)
    names = haystack.queries[0].participants or []
    found = []
    for document in haystack.documents:
        text = document.text
        for statement in stated[document.doc_id]:
            text = text.replace(statement, "")
        text = re.sub(rf"^(?:{'|'.join(names)}): ", "", text, flags=re.MULTILINE) if names else text
        found += [(document.doc_id, sentence.text) for sentence in sentences(text)]
    return found


def test_no_two_documents_share_a_long_skeleton_outside_the_statements(prose: Prose) -> None:
    long = [(doc_id, masked(text), text) for doc_id, text in prose if len(text.split()) > 8]
    seen: dict[str, tuple[str, str]] = {}

    assert len(long) > 2500
    for doc_id, skeleton, text in long:
        assert skeleton not in seen or seen[skeleton][0] == doc_id, (text, seen[skeleton])
        seen[skeleton] = doc_id, text


def test_the_mask_of_this_test_hides_what_templates_fill() -> None:
    one = masked("On 4 March, Ann Lee of Fruitwood paid £1,200 for six ladders.")

    assert one == masked("On 28 July, Leopold Darrow of Keg & Stave paid £30 for nineteen ladders.").replace("* *", "*")
    assert one != masked("On 4 March, Ann Lee of Fruitwood paid £1,200 for six buckets.")


def test_short_answers_may_repeat_and_are_few(prose: Prose) -> None:
    short = [text for _, text in prose if len(text.split()) <= 8]

    assert len(short) < 0.45 * len(prose)


def test_the_prose_has_none_of_the_larger_numbers_of_insights(haystack: Woven, prose: Prose) -> None:
    """Below ten the stock of clauses counts, too: "the two of us"."""
    of_insights = {number for target in haystack.targets for number in numbers(target.text) if len(number) > 1}

    assert len(of_insights) > 30
    for _, sentence in prose:
        assert not numbers(sentence) & of_insights, sentence


# ---------------------------------------------------------------- likeness


def _share(insight: str, statement: frozenset[str]) -> float:
    wanted = set(stems(insight))
    return len(wanted & statement) / len(wanted)


class _Likeness(NamedTuple):
    """Likeness to an insight of the nearest sentence in each document that states it, over all insights."""

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


@pytest.fixture(scope="module")
def likeness(haystack: Woven) -> _Likeness:
    place = {document.doc_id: document.doc_index for document in haystack.documents}
    stating = {
        target_id: sorted(place[doc_id] for doc_id in doc_ids)
        for target_id, doc_ids in gold_documents(haystack.qrels).items()
    }
    stated = [(target.text, stating[target.target_id]) for target in haystack.targets]
    return _likeness([document.text for document in haystack.documents], stated)


def test_statements_share_as_many_words_with_the_reference_as_in_published_haystacks(likeness: _Likeness) -> None:
    """
    Measured 0.69 (orchard) and 0.61 (railway); the bounds are the two published topics below.

    Much less, and a method that matches words finds nothing; nearly all, and matching is as good as understanding.
    """
    shares = likeness.to_reference

    assert 0.39 < fmean(shares) < 0.73
    assert min(shares) > 0.1


def test_statements_of_an_insight_resemble_each_other_as_in_published_haystacks(likeness: _Likeness) -> None:
    """Measured 0.58 (orchard) and 0.51 (railway); bounds as above."""
    assert 0.42 < fmean(likeness.to_each_other) < 0.65


@pytest.mark.parametrize(
    ("name", "to_reference", "to_each_other"),
    [pytest.param("news3", 0.73, 0.65, id="news"), pytest.param("conv5", 0.39, 0.42, id="conversation")],
)
def test_what_published_haystacks_measure(name: str, to_reference: float, to_each_other: float, released: Path) -> None:
    """The two SummHay topics that bound ours."""
    topic = json.loads(gzip.decompress((released / f"summhay/topic_{name}.json.gz").read_bytes()))
    insights = [insight for subtopic in topic["subtopics"] for insight in subtopic["insights"]]
    included = [frozenset(document["insights_included"]) for document in topic["documents"]]
    stated = [(i["insight"], [at for at, held in enumerate(included) if i["insight_id"] in held]) for i in insights]

    found = _likeness([document["document_text"] for document in topic["documents"]], stated)

    assert fmean(found.to_reference) == pytest.approx(to_reference, abs=0.01)
    assert fmean(found.to_each_other) == pytest.approx(to_each_other, abs=0.02)


def test_words_alone_find_gold_documents_better_than_chance_and_not_perfectly(haystack: Woven) -> None:
    """
    R-precision by the idf of the reference's stems: 0.95 (orchard) and 0.92 (railway), 0.11 by chance.

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

    assert 0.75 < fmean(precisions) < 0.98


@pytest.mark.parametrize("topic", topic_names())
@pytest.mark.parametrize("seed", range(3))
def test_every_insight_has_words_for_thirty_documents(topic: str, seed: int) -> None:
    """The presets let an insight stand in 25 of 100; one that ran out of words would refuse the haystack."""
    n = sum(len(subtopic.insights) for subtopic in load_topic(topic).subtopics)
    size = HaystackSize(30, 1900, Bounds(n, n), Bounds(30, 30), distractors=0, contradictions=0)

    assert len(write_haystack(topic, variant=seed, size=size, seed=seed).qrels) == 30 * n
