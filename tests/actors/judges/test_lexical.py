from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from actors.judges.lexical import NO_WORDS, LexicalJudge
from actors.local_models.encoder import Encoder
from longform.judges.kind import Group, Verdict
from longform.judges.kinds.support import NO_SENTENCE
from longform.text.vectors import TextVectors

DOCUMENT = (
    "The council met on 4 March. It voted 7 to 2 to rebuild the Alder Street bridge. The works will cost 3.4 million "
    "euros, the treasurer said. Shops nearby fear a quiet summer. Volunteers count the swans of the harbour each May."
)
QUOTED = "The council voted 7 to 2 to rebuild the Alder Street bridge."
FOREIGN = "Rain is expected in the mountains over the weekend."


@pytest.fixture(scope="module")
def judge() -> LexicalJudge:
    return LexicalJudge(threads=1)


def test_what_a_document_says_is_supported_and_what_it_does_not_is_not(judge: LexicalJudge) -> None:
    quoted, foreign = judge.judge([Group("d", (DOCUMENT,), (QUOTED, FOREIGN))])[0]
    assert (quoted.answer, foreign.answer) == ("supported", "unsupported")
    assert quoted.probability is not None
    assert foreign.probability is not None
    assert quoted.probability > foreign.probability


def test_the_evidence_stands_beside_the_verdict(judge: LexicalJudge) -> None:
    (verdict,) = judge.judge([Group("d", (DOCUMENT,), ("Swans are counted by volunteers in May.",))])[0]
    told = json.loads(verdict.reply or "")
    assert "swans of the harbour" in told["window"]
    assert verdict.chunk_index in (2, 3, 4)
    assert {"recall_3", "cosine", "numbers", "denials", "doubted", "window"} <= told.keys()


def test_a_verdict_does_not_depend_on_what_is_asked_beside_it(judge: LexicalJudge) -> None:
    """Word weights are the document's own: another document or sentence in the same call moves nothing."""
    together = judge.judge(
        [Group("d", (DOCUMENT,), (QUOTED, FOREIGN)), Group("e", ("Council bridge. " * 9,), (QUOTED,))]
    )
    alone = judge.judge([Group("x", (DOCUMENT,), (QUOTED,))])[0][0]
    assert alone.probability == pytest.approx(together[0][0].probability, abs=2e-6)
    assert alone.reply == together[0][0].reply


def test_what_has_no_words_is_settled_or_unjudged(judge: LexicalJudge) -> None:
    nothing = Verdict("unsupported", 0.0)
    assert judge.judge([Group("e", (" ",), (QUOTED, "")), Group("m", ("***",), (QUOTED, "--"))]) == [
        [nothing, Verdict(None, None, NO_SENTENCE)],
        [nothing, Verdict(None, None, NO_WORDS)],
    ]
    assert judge.judge([Group("d", (DOCUMENT,), ("...", QUOTED, QUOTED))])[0][0].failure == NO_WORDS
    assert judge.judge([]) == []


def test_of_a_long_document_only_what_words_find_is_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict on a sentence is the same beside others, and the one that a short document has."""
    judge, embedded = LexicalJudge(threads=1), set[str]()
    read = Encoder.read

    def counted(encoder: Encoder, texts: Sequence[str]) -> list[TextVectors]:
        embedded.update(texts)
        return read(encoder, texts)

    monkeypatch.setattr(Encoder, "read", counted)
    filler = [f"Street number {at} was swept by worker {at * 7 % 997} before noon." for at in range(1000)]
    book = " ".join([*filler[:600], DOCUMENT, *filler[600:]])
    both = judge.judge([Group("d", (book,), (QUOTED, FOREIGN))])[0]
    alone = LexicalJudge(threads=1).judge([Group("d", (book,), (QUOTED,))])[0][0]

    assert len(embedded) < 50
    assert [one.answer for one in both] == ["supported", "unsupported"]
    assert (both[0].probability, both[0].reply) == (alone.probability, alone.reply)


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        pytest.param("voted 7 to 2", "did not vote 7 to 2", id="denial"),
        pytest.param("7 to 2", "9 to 2", id="number"),
        pytest.param("Alder Street", "Beech Street", id="name"),
    ],
)
def test_one_changed_word_lowers_support(judge: LexicalJudge, said: str, changed: str) -> None:
    right, wrong = judge.judge([Group("d", (DOCUMENT,), (QUOTED, QUOTED.replace(said, changed)))])[0]
    assert right.answer == "supported"
    assert wrong.answer != "supported"
