"""Passages of a chat model around planted sentences: what fits, what comes in place of others, and the counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from longform.synthesis.asking import Ask, Reply, carried_out
from longform.synthesis.audit.audit import audit_haystack
from longform.synthesis.grammar.assignment import Bounds
from longform.synthesis.grammar.haystack import (
    ComposedHaystack,
    HaystackSize,
    TopicPart,
    Woven,
    compose_haystack,
    finished_haystack,
    write_haystack,
)
from longform.synthesis.grammar.passages import (
    WISHES,
    PassageJob,
    Tried,
    figures,
    passage_jobs,
    passage_parts,
    prose_counts,
    unfit,
    write_passages,
)

SIZE = HaystackSize(
    documents=6, words=180, per_document=Bounds(3, 3), per_insight=Bounds(2, 4), distractors=1, contradictions=1
)
PART = TopicPart(2, 3)
LEAK = "The museum moves into the old mill"
JOB = PassageJob(
    statement="The dam broke on 3 May.",
    others=(f"{LEAK}.",),
    n_words=30,
    spoken=False,
    fields={"setting": "", "subtopic": "", "kind": "", "n_words": "30", "statement": "The dam broke on 3 May."},
)
BESIDE = "People in the valley still talk about it when they meet."


def stating(text: str, facts: Sequence[str]) -> list[bool]:
    return [fact.rstrip(".") in text for fact in facts]


def tried(jobs: Sequence[PassageJob], say: Callable[[Ask, int], Reply], tries: int) -> tuple[list[Tried], list[Ask]]:
    """Return the outcome of the jobs if *say* answers each ask, given how often its sentence was asked about before."""
    asked: list[Ask] = []

    def answer(asks: Sequence[Ask]) -> list[Reply]:
        replies = []
        for ask in asks:
            replies.append(say(ask, sum(ask.fields["statement"] == one.fields["statement"] for one in asked)))
            asked.append(ask)
        return replies

    return carried_out(write_passages(jobs, tries=tries, stating=stating), answer), asked


def keeps(ask: Ask, before: int) -> Reply:
    return Reply(f"{BESIDE}\n {ask.fields['statement']}", None)


# ---------------------------------------------------------------- what fits


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(f"{BESIDE} The dam broke on 3 May.", None, id="before"),
        pytest.param(f"The dam broke on 3 May. {BESIDE} It was May then.", None, id="its-own-month-again"),
        pytest.param(f"{BESIDE} The dam broke in May.", "statement_lost", id="retold"),
        pytest.param(f"The dam broke on 3 May. {BESIDE} The dam broke on 3 May.", "statement_repeated", id="twice"),
        pytest.param("The dam broke on 3 May. Oh dear.", "too_short", id="nothing-of-its-own"),
        pytest.param(f"The dam broke on 3 May. {BESIDE * 6}", "too_long", id="endless"),
        pytest.param(f"Sure! The dam broke on 3 May. {BESIDE}", "not_prose", id="chatter"),
        pytest.param(f"**The dam** {BESIDE} The dam broke on 3 May.", "not_prose", id="markup"),
        pytest.param(f"{BESIDE} The sentence: The dam broke on 3 May.", "of_the_task", id="names-the-sentence"),
        pytest.param(f"{BESIDE} Let's chat about it. The dam broke on 3 May.", "of_the_task", id="speaks-to-us"),
        pytest.param(f"{BESIDE} Some 40 came. The dam broke on 3 May.", "number", id="digits"),
        pytest.param(f"{BESIDE} Forty came. The dam broke on 3 May.", "number", id="words"),
        pytest.param(f"{BESIDE} It was a Monday. The dam broke on 3 May.", "number", id="weekday"),
        pytest.param(f"{LEAK}, and nobody minds. The dam broke on 3 May.", "other_insight", id="leak"),
    ],
)
def test_a_passage_keeps_its_sentence_and_tells_nothing_else(text: str, reason: str | None) -> None:
    assert unfit(text, JOB, stating) == reason
    assert reason is None or reason in WISHES


def test_numbers_are_the_same_in_digits_and_words_and_one_is_none() -> None:
    assert figures("Nine of 1,200 came on one May day") == figures("9 of 1200, in May")


def test_a_turn_goes_before_the_sentence_and_one_begins_with_it() -> None:
    spoken = JOB._replace(spoken=True)

    assert passage_parts(f"Did you hear? {JOB.statement} So it goes.", spoken) == [
        "Did you hear?",
        f"{JOB.statement} So it goes.",
    ]
    assert passage_parts(f"{JOB.statement} So it goes.", spoken) == [f"{JOB.statement} So it goes."]


# ---------------------------------------------------------------- tries


@pytest.mark.parametrize(
    ("reply", "rejected"),
    [
        pytest.param(lambda ask: keeps(ask, 0), {}, id="keeps"),
        pytest.param(lambda _: Reply(BESIDE, None), {"statement_lost": 6}, id="breaks"),
        pytest.param(
            lambda ask: Reply(f"{LEAK}, and nobody minds. {ask.fields['statement']}", None),
            {"other_insight": 6},
            id="leaks",
        ),
        pytest.param(lambda _: Reply(None, "refusal"), {"refusal": 6}, id="refuses"),
    ],
)
def test_what_a_model_does_is_counted(reply: Callable[[Ask], Reply], rejected: dict[str, int]) -> None:
    other = JOB._replace(statement="The bridge held.", fields={**JOB.fields, "statement": "The bridge held."})
    found, _ = tried([JOB, other], lambda ask, _: reply(ask), tries=3)
    counts = prose_counts([found])

    assert counts["rejected"] == rejected
    assert counts["replies"] == counts["kept"] + sum(rejected.values())
    assert (counts["by_model"], counts["kept"]) == ((0, 0) if rejected else (1, 2))
    assert (counts["by_template"], counts["fallen_back"]) == ((1, 2) if rejected else (0, 0))


def test_a_second_try_says_what_was_wrong_and_is_the_last_where_it_fits() -> None:
    found, asked = tried([JOB], lambda ask, before: keeps(ask, 0) if before else Reply(BESIDE, None), tries=3)

    assert found[0].rejections == ("statement_lost",)
    assert found[0].text == f"{BESIDE} {JOB.statement}"
    assert [WISHES["statement_lost"] in ask.fields["notes"] for ask in asked] == [False, True]


def test_documents_are_by_the_model_in_part_or_by_the_template() -> None:
    kept, lost = Tried("x", []), Tried(None, ["number"] * 2)
    counts = prose_counts([[kept, kept], [kept, lost], [lost, lost], []])

    assert [counts[name] for name in ("documents", "by_model", "in_part", "by_template")] == [4, 1, 1, 2]
    assert [counts[name] for name in ("passages", "kept", "fallen_back", "replies")] == [6, 3, 3, 9]


# ---------------------------------------------------------------- haystacks


@pytest.fixture(scope="module", params=["orchard", "railway"])
def composed(request: pytest.FixtureRequest) -> ComposedHaystack:
    return compose_haystack(request.param, variant=0, size=SIZE, seed=3, part=PART, prose="p")


def finished(composed: ComposedHaystack, say: Callable[[Ask, int], Reply]) -> Woven:
    others, counted = [], []
    for index in range(len(composed.documents)):
        wanted = passage_jobs(composed, index)
        found, _ = tried([job for job in wanted if job], say, tries=2)
        results = iter(found)
        texts = [(next(results).text, job) if job else (None, job) for job in wanted]
        others.append([passage_parts(text, job) if text and job else None for text, job in texts])
        counted.append(found)
    return finished_haystack(composed, others, prose=prose_counts(counted))


def test_a_part_of_a_topic_has_so_many_subtopics_and_insights(composed: ComposedHaystack) -> None:
    assert len(composed.queries) == 2
    assert len(composed.targets) == 6


def test_every_planted_sentence_stands_once_whoever_wrote_around_it(composed: ComposedHaystack) -> None:
    """Every other passage is the model's."""
    n_asked = iter(range(10_000))
    haystack = finished(composed, lambda ask, _: keeps(ask, 0) if next(n_asked) % 2 else Reply(None, "refusal"))
    search = audit_haystack(haystack.documents, haystack.targets, haystack.qrels, haystack.facts).facts["exact_search"]

    assert haystack.facts.prose is not None
    assert haystack.facts.prose["kept"] > 0
    assert sum(BESIDE in document.text for document in haystack.documents) == 6 - haystack.facts.prose["by_template"]
    assert search["found"] == search["planted"] == 18
    assert search["elsewhere"] == search["unplanted"] == search["unlisted"] == 0


def test_where_no_try_fits_the_documents_are_the_grammars(composed: ComposedHaystack) -> None:
    haystack = finished(composed, lambda _, __: Reply(None, "refusal"))
    plain = write_haystack(str(composed.settings["topic"]), variant=0, size=SIZE, seed=3, part=PART)

    assert [one.text for one in haystack.documents] == [one.text for one in plain.documents]
    assert haystack.haystack_id != plain.haystack_id
    assert haystack.facts.prose is not None
    assert haystack.facts.prose["by_template"] == 6
