"""The haystack writer: what it says it planted is there, and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest

from longform.errors import UsageError
from longform.keys import content_key
from longform.records import gold_documents
from longform.synthesis.grammar.assignment import Bounds
from longform.synthesis.grammar.haystack import HaystackSize, TopicPart, Woven, write_haystack
from longform.synthesis.grammar.topic import load_topic, topic_names
from longform.text.words import words

SIZE = HaystackSize(
    documents=100,
    words=750,
    per_document=Bounds(5, 7),
    per_insight=Bounds(5, 25),
    distractors=3,
    contradictions=4,
)
SMALL = SIZE._replace(documents=60, words=300, per_document=Bounds(5, 5), distractors=1, contradictions=0)
SEED = 11


@pytest.fixture(scope="module", params=topic_names())
def haystack(request: pytest.FixtureRequest) -> Woven:
    return write_haystack(request.param, variant=0, size=SIZE, seed=SEED)


# ---------------------------------------------------------------- size


def test_it_has_the_published_size(haystack: Woven) -> None:
    per_query = Counter(target.query_id for target in haystack.targets)
    speakers = sum(d.text.count("\n") + 1 for d in haystack.documents) if haystack.queries[0].participants else 0
    n_words = (sum(len(d.text.split()) for d in haystack.documents) - speakers) / len(haystack.documents)

    assert len(haystack.documents) == 100
    assert len(haystack.queries) == 10
    assert all(5 <= count <= 8 for count in per_query.values())
    assert 50 <= len(haystack.targets) <= 80
    assert 750 <= n_words < 790


def test_documents_have_the_length_asked_for_and_are_numbered_in_order() -> None:
    haystack = write_haystack("railway", variant=0, size=SMALL, seed=SEED)

    assert all(300 <= len(document.text.split()) <= 300 + 40 for document in haystack.documents)
    assert [document.doc_index for document in haystack.documents] == list(range(60))
    assert len({document.doc_id for document in haystack.documents}) == 60


def test_a_part_of_a_topic_has_its_first_subtopics_and_of_each_its_first_insights() -> None:
    size = SMALL._replace(documents=20, per_document=Bounds(3, 3), per_insight=Bounds(5, 10))
    haystack = write_haystack("orchard", variant=0, size=size, seed=SEED, part=TopicPart(subtopics=2, insights=4))
    whole = load_topic("orchard")

    assert [query.subtopic_name for query in haystack.queries] == [one.name for one in whole.subtopics[:2]]
    assert [target.name for target in haystack.targets] == [
        fact.name for subtopic in whole.subtopics[:2] for fact in subtopic.insights[:4]
    ]
    assert haystack.facts.settings["insights"] == 4


# ---------------------------------------------------------------- the gold standard


def test_bounds_of_documents_and_insights_are_met(haystack: Woven) -> None:
    gold = gold_documents(haystack.qrels)
    per_document = Counter(qrel.doc_id for qrel in haystack.qrels)

    assert gold.keys() == {target.target_id for target in haystack.targets}
    assert all(5 <= len(doc_ids) <= 25 for doc_ids in gold.values())
    assert all(5 <= per_document[document.doc_id] <= 7 for document in haystack.documents)


def test_the_gold_map_is_what_is_planted_and_nothing_else(haystack: Woven) -> None:
    texts = {document.doc_id: document.text for document in haystack.documents}
    planted = haystack.facts.planted

    assert {texts[one.doc_id].count(one.text) for one in planted} == {1}
    assert sorted((q.target_id, q.doc_id) for q in haystack.qrels) == sorted(
        (one.target_id, one.doc_id) for one in planted if one.kind == "insight"
    )


def test_no_statement_stands_in_a_document_that_was_not_given_it(haystack: Woven) -> None:
    """Nor does one that says the same in the same words after naming who says it."""
    texts = {document.doc_id: document.text.lower() for document in haystack.documents}
    for one in haystack.facts.planted:
        assert [doc_id for doc_id, text in texts.items() if one.text.lower() in text] == [one.doc_id]


def test_no_insight_is_stated_twice_in_the_same_words(haystack: Woven) -> None:
    said = Counter((one.target_id, one.text.lower()) for one in haystack.facts.planted if one.kind == "insight")

    assert max(said.values()) == 1


def test_statements_keep_the_names_and_numbers_of_their_insight(haystack: Woven) -> None:
    """A paraphrase by rule must not lose the fact: what an insight names, each of its statements names."""
    texts = {target.target_id: target.text for target in haystack.targets}
    for one in haystack.facts.planted:
        if one.kind == "insight":
            facts = {word for word in words(texts[one.target_id]) if word[0].isdigit() and word != "1"}
            assert facts <= set(words(re.sub(r"(\d+)(?:st|nd|rd|th)\b", r"\1", one.text))), (texts[one.target_id], one)


# ---------------------------------------------------------------- distractors and contradictions


def test_each_document_has_the_distractors_asked_for_and_no_insight_has_one(haystack: Woven) -> None:
    distractors = [one for one in haystack.facts.planted if one.kind == "distractor"]

    assert set(Counter(one.doc_id for one in distractors).values()) == {3}
    assert {one.target_id for one in distractors} == {None}


def test_a_contradiction_gives_another_number_and_is_never_in_the_gold_map(haystack: Woven) -> None:
    gold = gold_documents(haystack.qrels)
    texts = {target.target_id: target.text for target in haystack.targets}
    found = [one for one in haystack.facts.planted if one.kind == "contradiction"]

    assert len(found) == 8
    assert set(Counter(one.target_id for one in found).values()) == {2}
    for one in found:
        assert one.target_id is not None
        assert one.doc_id not in gold[one.target_id]
        stated = {word for word in words(texts[one.target_id]) if word[0].isdigit() and word != "1"}
        assert not stated <= set(words(re.sub(r"(\d+)(?:st|nd|rd|th)\b", r"\1", one.text))), (texts[one.target_id], one)


def test_without_the_options_there_are_none() -> None:
    plain = write_haystack("railway", variant=0, size=SMALL._replace(distractors=0), seed=SEED)

    assert {one.kind for one in plain.facts.planted} == {"insight"}


# ---------------------------------------------------------------- documents


def test_a_conversation_is_turns_of_its_participants_and_nobody_answers_himself() -> None:
    haystack = write_haystack("orchard", variant=0, size=SMALL, seed=SEED)
    names = haystack.queries[0].participants

    for document in haystack.documents:
        speakers = [line.partition(": ")[0] for line in document.text.split("\n")]
        assert names is not None
        assert set(speakers) <= set(names)
        assert all(one != after for one, after in pairwise(speakers))


def test_an_article_has_a_headline_a_dateline_and_paragraphs() -> None:
    haystack = write_haystack("railway", variant=0, size=SMALL, seed=SEED)

    assert haystack.queries[0].participants is None
    for document in haystack.documents:
        headline, lead, *rest = document.text.split("\n\n")
        assert not headline.endswith(".")
        assert re.match(r"[A-Z][\w ]+, \d{1,2} [A-Z][a-z]+ – [A-Z“]", lead), lead
        assert len(rest) > 3


def test_no_mark_of_the_grammar_is_left(haystack: Woven) -> None:
    texts = [d.text for d in haystack.documents] + [t.text for t in haystack.targets]
    texts += [f"{q.text} {q.subtopic} {q.topic}" for q in haystack.queries]

    assert not [text for text in texts if set("[]{}<>|_") & set(text) or "//" in text or ",," in text or " ," in text]


# ---------------------------------------------------------------- seeds


def test_the_same_arguments_give_the_same_bytes_and_another_seed_another() -> None:
    """The digest was computed once: another number here means that published benchmarks can no longer be rebuilt."""
    one = write_haystack("orchard", variant=0, size=SMALL, seed=SEED)
    other = write_haystack("orchard", variant=0, size=SMALL, seed=SEED + 1)

    assert one == write_haystack("orchard", variant=0, size=SMALL, seed=SEED)
    assert content_key([document.text for document in one.documents]) == "bfcc947972a6ed381785"
    assert not {d.text for d in one.documents} & {d.text for d in other.documents}
    assert one.haystack_id != other.haystack_id


def test_sizes_change_the_documents_and_keep_the_facts() -> None:
    one = write_haystack("railway", variant=0, size=SMALL, seed=SEED)
    harder = write_haystack("railway", variant=0, size=SMALL._replace(distractors=4), seed=SEED)

    assert [t.text for t in one.targets] == [t.text for t in harder.targets]
    assert one.haystack_id != harder.haystack_id
    assert harder.facts.settings["distractors"] == 4


def test_variants_have_other_facts() -> None:
    one, other = (write_haystack("railway", variant=variant, size=SMALL, seed=SEED) for variant in (0, 1))
    same = {t.text for t in one.targets} & {t.text for t in other.targets}

    assert len(same) < len(one.targets) / 4, same


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"documents": 40}, "ask for 57 documents or 8 insights", id="too-few-documents"),
        pytest.param({"words": 60}, "words: expected at least", id="no-room"),
        pytest.param({"contradictions": 99}, "contradictions: expected at most", id="contradictions"),
        pytest.param(
            {"documents": 700, "words": 200, "per_insight": Bounds(5, 600)}, "has no more words", id="no-more-words"
        ),
    ],
)
def test_sizes_that_cannot_be_met_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        write_haystack("railway", variant=0, size=SMALL._replace(**changes), seed=SEED)


def test_an_unknown_topic_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no topic 'moon'; there are orchard, railway"):
        write_haystack("moon", variant=0, size=SMALL, seed=SEED)
