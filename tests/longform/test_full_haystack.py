"""Haystacks of SummHay's size: what is planted is there, and the prose between does not repeat itself."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from statistics import fmean

import pytest

from longform.errors import UsageError
from longform.haystack_writer.assignment import Bounds
from longform.haystack_writer.full_haystack import FullHaystack, HaystackSize, write_full_haystack
from longform.haystack_writer.full_topic import Fact, FullTopic, full_topic_names, load_full_topic
from longform.haystack_writer.grammar import slots
from longform.keys import content_key
from longform.records import gold_documents
from longform.sentences import sentences
from longform.text import stems, words

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


@pytest.fixture(scope="module", params=full_topic_names())
def haystack(request: pytest.FixtureRequest) -> FullHaystack:
    return write_full_haystack(request.param, variant=0, size=SIZE, seed=SEED)


# ---------------------------------------------------------------- size


def test_it_has_the_published_size(haystack: FullHaystack) -> None:
    per_query = Counter(target.query_id for target in haystack.targets)
    speakers = sum(d.text.count("\n") + 1 for d in haystack.documents) if haystack.queries[0].participants else 0
    n_words = (sum(len(d.text.split()) for d in haystack.documents) - speakers) / len(haystack.documents)

    assert len(haystack.documents) == 100
    assert len(haystack.queries) == 10
    assert all(5 <= count <= 8 for count in per_query.values())
    assert 50 <= len(haystack.targets) <= 80
    assert 750 <= n_words < 790


def test_both_domains_are_there() -> None:
    assert {load_full_topic(name).domain for name in full_topic_names()} == {"conversation", "news"}


# ---------------------------------------------------------------- the gold standard


def test_bounds_of_documents_and_insights_are_met(haystack: FullHaystack) -> None:
    gold = gold_documents(haystack.qrels)
    per_document = Counter(qrel.doc_id for qrel in haystack.qrels)

    assert gold.keys() == {target.target_id for target in haystack.targets}
    assert all(5 <= len(doc_ids) <= 25 for doc_ids in gold.values())
    assert all(5 <= per_document[document.doc_id] <= 7 for document in haystack.documents)


def test_the_gold_map_is_what_is_planted_and_nothing_else(haystack: FullHaystack) -> None:
    texts = {document.doc_id: document.text for document in haystack.documents}
    planted = haystack.facts.planted

    assert {texts[one.doc_id].count(one.text) for one in planted} == {1}
    assert sorted((q.target_id, q.doc_id) for q in haystack.qrels) == sorted(
        (one.target_id, one.doc_id) for one in planted if one.kind == "insight"
    )


def test_no_statement_stands_in_a_document_that_was_not_given_it(haystack: FullHaystack) -> None:
    """Nor does one that says the same in the same words after naming who says it."""
    texts = {document.doc_id: document.text.lower() for document in haystack.documents}
    for one in haystack.facts.planted:
        assert [doc_id for doc_id, text in texts.items() if one.text.lower() in text] == [one.doc_id]


def test_no_insight_is_stated_twice_in_the_same_words(haystack: FullHaystack) -> None:
    said = Counter((one.target_id, one.text.lower()) for one in haystack.facts.planted if one.kind == "insight")

    assert max(said.values()) == 1


def test_statements_keep_the_names_and_numbers_of_their_insight(haystack: FullHaystack) -> None:
    """A paraphrase by rule must not lose the fact: what an insight names, each of its statements names."""
    texts = {target.target_id: target.text for target in haystack.targets}
    for one in haystack.facts.planted:
        if one.kind == "insight":
            facts = {word for word in words(texts[one.target_id]) if word[0].isdigit() and word != "1"}
            assert facts <= set(words(re.sub(r"(\d+)(?:st|nd|rd|th)\b", r"\1", one.text))), (texts[one.target_id], one)


def test_no_statement_copies_the_reference(haystack: FullHaystack) -> None:
    texts = {target.target_id: set(stems(target.text)) for target in haystack.targets}
    shares = [
        len(texts[one.target_id] & set(stems(one.text))) / len(texts[one.target_id])
        for one in haystack.facts.planted
        if one.kind == "insight"
    ]

    assert 0.5 < fmean(shares) < 0.8


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


def prose(haystack: FullHaystack) -> list[tuple[str, str]]:
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


def test_no_two_documents_share_a_long_skeleton_outside_the_statements(haystack: FullHaystack) -> None:
    long = [(doc_id, masked(text), text) for doc_id, text in prose(haystack) if len(text.split()) > 8]
    seen: dict[str, tuple[str, str]] = {}

    assert len(long) > 2500
    for doc_id, skeleton, text in long:
        assert skeleton not in seen or seen[skeleton][0] == doc_id, (text, seen[skeleton])
        seen[skeleton] = doc_id, text


def test_the_mask_of_this_test_hides_what_templates_fill() -> None:
    one = masked("On 4 March, Ann Lee of Fruitwood paid £1,200 for six ladders.")

    assert one == masked("On 28 July, Leopold Darrow of Keg & Stave paid £30 for nineteen ladders.").replace("* *", "*")
    assert one != masked("On 4 March, Ann Lee of Fruitwood paid £1,200 for six buckets.")


def test_short_answers_may_repeat_and_are_few(haystack: FullHaystack) -> None:
    short = [text for _, text in prose(haystack) if len(text.split()) <= 8]

    assert len(short) < 0.45 * len(prose(haystack))


# ---------------------------------------------------------------- distractors and contradictions


def test_each_document_has_the_distractors_asked_for_and_no_insight_has_one(haystack: FullHaystack) -> None:
    distractors = [one for one in haystack.facts.planted if one.kind == "distractor"]

    assert set(Counter(one.doc_id for one in distractors).values()) == {3}
    assert {one.target_id for one in distractors} == {None}


def test_a_contradiction_gives_another_number_and_is_never_in_the_gold_map(haystack: FullHaystack) -> None:
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
    plain = write_full_haystack("railway", variant=0, size=SMALL._replace(distractors=0), seed=SEED)

    assert {one.kind for one in plain.facts.planted} == {"insight"}


# ---------------------------------------------------------------- documents


def test_a_conversation_is_turns_of_its_participants_and_nobody_answers_himself() -> None:
    haystack = write_full_haystack("orchard", variant=0, size=SMALL, seed=SEED)
    names = haystack.queries[0].participants

    for document in haystack.documents:
        speakers = [line.partition(": ")[0] for line in document.text.split("\n")]
        assert names is not None
        assert set(speakers) <= set(names)
        assert all(one != after for one, after in pairwise(speakers))


def test_no_mark_of_the_grammar_is_left(haystack: FullHaystack) -> None:
    texts = [d.text for d in haystack.documents] + [t.text for t in haystack.targets]
    texts += [f"{q.text} {q.subtopic} {q.topic}" for q in haystack.queries]

    assert not [text for text in texts if set("[]{}<>|_") & set(text) or "//" in text or ",," in text or " ," in text]


# ---------------------------------------------------------------- seeds


def test_the_same_arguments_give_the_same_bytes_and_another_seed_another() -> None:
    """The digest was computed once: another number here means that published benchmarks can no longer be rebuilt."""
    one = write_full_haystack("orchard", variant=0, size=SMALL, seed=SEED)
    other = write_full_haystack("orchard", variant=0, size=SMALL, seed=SEED + 1)

    assert one == write_full_haystack("orchard", variant=0, size=SMALL, seed=SEED)
    assert content_key([document.text for document in one.documents]) == "8c2556c530bf3bf6451f"
    assert not {d.text for d in one.documents} & {d.text for d in other.documents}
    assert one.haystack_id != other.haystack_id


def test_sizes_change_the_documents_and_keep_the_facts() -> None:
    one = write_full_haystack("railway", variant=0, size=SMALL, seed=SEED)
    harder = write_full_haystack("railway", variant=0, size=SMALL._replace(distractors=4), seed=SEED)

    assert [t.text for t in one.targets] == [t.text for t in harder.targets]
    assert one.haystack_id != harder.haystack_id
    assert harder.facts.settings["distractors"] == 4


def test_variants_have_other_facts() -> None:
    one, other = (write_full_haystack("railway", variant=variant, size=SMALL, seed=SEED) for variant in (0, 1))
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
        write_full_haystack("railway", variant=0, size=SMALL._replace(**changes), seed=SEED)


def test_an_unknown_topic_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no topic 'moon'; there are orchard, railway"):
        write_full_haystack("moon", variant=0, size=SMALL, seed=SEED)


# ---------------------------------------------------------------- topics


@pytest.mark.parametrize("name", full_topic_names())
def test_every_insight_names_a_number_a_date_or_an_entity(name: str) -> None:
    topic = load_full_topic(name)
    facts = [fact for subtopic in topic.subtopics for fact in subtopic.insights]

    assert all(slots(fact.reference) & {*topic.entities, *topic.numbers} for fact in facts)
    assert {*topic.numbers, *topic.entities} <= frozenset().union(
        slots(topic.title), *(slots(fact.reference) for fact in facts), *(slots(s.query) for s in topic.subtopics)
    )


def test_a_wording_that_leaves_out_a_fact_is_refused() -> None:
    with pytest.raises(ValueError, match="names other slots"):
        Fact(name="n", reference="{a} and {b}", wordings=("{a} {b}", "{b} {a}", "{a}"))


def test_a_symbol_without_lines_is_refused() -> None:
    topic = load_full_topic("railway").model_dump()
    topic["stock"]["remark"] = ("<actor> <nonsense>.",)

    with pytest.raises(ValueError, match="found none for \\['nonsense'\\]"):
        FullTopic.model_validate(topic)
