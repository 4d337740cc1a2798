"""The judge of coverage that reads vectors beside words; vectors here are made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import LongformError
from longform.judges.coverage_model import VECTORS, WORDS, JudgeModel
from longform.judges.offline_coverage import QueryInsights, Reading, shipped_judge, stem_weights
from longform.text.vectors import TextVectors, WeighedPieces
from longform.text.words import TermWeights, stems

SALES = "Sales fell 3% to $2.33 billion in the winter quarter."
STORES = "The company closes 400 mall stores by 2026."
LOYALTY = "Members of the loyalty program earn points in the app."
INSIGHTS = [SALES, STORES, LOYALTY]
WEIGHTS = stem_weights(INSIGHTS)
SHIPPED = shipped_judge("people-vectors")

_SUBJECTS = ({"sale", "fell", "revenu", "drop"}, {"mall", "store", "shop", "shutter"}, {"member", "point", "reward"})


class Subjects:
    """
    An encoder: a sentence is the subjects that it has words of; a piece is a stem, and its vector that of its subject.

    A stem of no subject has a dimension of its own. `given` are the texts that were read.
    """

    def __init__(self, shaken: float = 1.0) -> None:
        self.given: list[str] = []
        self._others: dict[str, int] = {}
        self._shaken = np.float32(shaken)

    def read(self, texts: Sequence[str]) -> list[TextVectors]:
        self.given += texts
        return [self._vectors(text) for text in texts]

    def pieces(self, texts: Sequence[str]) -> list[list[str]]:
        return [stems(text) for text in texts]

    def _vectors(self, text: str) -> TextVectors:
        found = np.array([float(bool(of & set(stems(text)))) for of in _SUBJECTS]) + 1e-3
        sentence = np.asarray(found / np.linalg.norm(found), dtype=np.float32)
        tokens = np.zeros((len(stems(text)), 64), dtype=np.float16)
        for row, stem in enumerate(stems(text)):
            tokens[row, self._dimension(stem)] = 1
        return TextVectors(sentence * self._shaken, tuple(stems(text)), tokens * np.float16(self._shaken))

    def _dimension(self, stem: str) -> int:
        for place, of in enumerate(_SUBJECTS):
            if stem in of:
                return place
        return len(_SUBJECTS) + self._others.setdefault(stem, len(self._others))


def asked(insights: Sequence[str], encoder: Subjects | None = None) -> QueryInsights:
    return QueryInsights(insights, WEIGHTS, vectors=WeighedPieces.of(encoder or Subjects(), INSIGHTS))


def readings(bullets: Sequence[str], insights: Sequence[str] = INSIGHTS, model: JudgeModel = SHIPPED) -> list[Reading]:
    return asked(insights).readings(bullets, model)


def scores(bullets: Sequence[str], insights: Sequence[str] = INSIGHTS) -> list[float]:
    found = [reading.score for reading in readings(bullets, insights)]
    return [score for score in found if score is not None]


def test_copied_insights_are_full_and_linked_to_their_copies() -> None:
    found = readings([f"- {text} [3][14]" for text in reversed(INSIGHTS)])
    assert [reading.answer for reading in found] == ["full"] * 3
    assert [reading.linked for reading in found] == [2, 1, 0]
    assert all(getattr(reading.evidence, guard) == 0 for reading in found for guard in VECTORS.guards)


def test_a_bullet_of_the_same_meaning_is_linked_before_one_that_shares_more_words() -> None:
    """Hand-worked: they hold 1 and 2 of its 6 stems, and by words alone fit it 0.36 and 0.82."""
    bullets = ["Shops shutter in 2026.", "By 2026 the company drops."]
    near = readings(bullets)[1].evidence
    by_words = QueryInsights(INSIGHTS, WEIGHTS).evidence(bullets, WORDS.fit)[1]

    assert (near.closest, near.recall, near.cosine) == (0, pytest.approx(1 / 6, abs=1e-6), 1.0)
    assert (by_words.closest, by_words.recall, by_words.cosine) == (1, pytest.approx(2 / 6, abs=1e-6), 0.0)
    assert near.crowding == 0.0 < near.dilution  # in other words, and yet alone


def test_shares_are_softmaxes_of_the_fit_over_siblings_and_over_bullets() -> None:
    """Hand-worked: a copy fits by 1 + 0.5 + 0.5 + 1 = 3; what shares neither word nor subject fits by almost 0."""
    evidence = readings([SALES, STORES])[0].evidence
    assert (evidence.recall, evidence.precision, evidence.cosine, evidence.token_recall) == (1.0, 1.0, 1.0, 1.0)
    strong = np.exp(4.0 * 3.0)
    nobody = np.exp(4.0 * 1.2)  # takes one place beside three insights, and two beside two bullets
    assert evidence.share == pytest.approx(strong / (strong + 2 + nobody), abs=1e-5)
    assert evidence.bullet_share == pytest.approx(strong / (strong + 1 + 2 * nobody), abs=1e-5)


def test_the_lead_is_taken_from_siblings_and_from_nobody_in_the_places_of_those_that_lack() -> None:
    """Hand-worked: its copy has all pieces of the first insight and none of the others'; nobody has 0.4."""
    assert [readings([SALES], INSIGHTS[:n])[0].evidence.token_lead for n in (1, 2, 3)] == pytest.approx(
        [1 - 3 * 0.4 / 3, 1 - 2 * 0.4 / 3, 1 - 0.4 / 3]
    )
    four = [*INSIGHTS, "Sales of penguins."]  # it shares one of two pieces, and penguins are new to the background
    weights = TermWeights.of([stems(text) for text in INSIGHTS])
    shared = weights.known["sale"] / (weights.known["sale"] + weights.unseen)
    assert readings([SALES], four)[0].evidence.token_lead == pytest.approx(1 - shared / 3, abs=2e-3)


@pytest.mark.parametrize("insights", [[SALES], [SALES, STORES], INSIGHTS])
def test_a_bullet_on_the_subject_alone_covers_nothing_in_full_however_few_compete(insights: list[str]) -> None:
    """Without nobody in the places of those that lack, nothing competes, and a shared word covers it in full."""
    for bullets in (["Sales matter."], ["Sales matter.", "Penguins breed on ice."]):
        assert readings(bullets, insights)[0].answer != "full"
    assert readings([SALES], insights)[0].answer == "full"


def test_with_four_insights_and_four_bullets_nobody_competes() -> None:
    more = [*INSIGHTS, "Penguins breed on Antarctic ice."]
    evidence = readings(more, more)[0].evidence
    fits = np.array([3.0, 0.0, 0.0, 0.0])
    assert evidence.share == pytest.approx(float(np.exp(4 * fits[0]) / np.exp(4 * fits).sum()), abs=1e-3)
    assert evidence.bullet_share == pytest.approx(evidence.share, abs=1e-3)


def test_crowding_is_the_insights_weight_by_the_bullets() -> None:
    """Hand-worked: each stem of three insights weighs ln(4 / 1.5); three insights in one bullet leave a third each."""
    merged = readings([" ".join(INSIGHTS)])
    sizes = [len(set(stems(text))) for text in INSIGHTS]
    expected = [min(1.0, max(0.0, (0.4 - size / sum(sizes)) / 0.25)) for size in sizes]
    assert [reading.evidence.crowding for reading in merged] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("guard", "bullet"),
    [
        pytest.param("numbers_contradicted", "Sales fell 7% to $2.93 billion in the winter quarter.", id="number"),
        pytest.param("denial_mismatch", "Sales did not fall 3% to $2.33 billion in the winter quarter.", id="negated"),
        pytest.param("order_lost", "quarter winter the in billion $2.33 to 3% fell Sales", id="shuffled"),
    ],
)
def test_bullet_that_says_otherwise_loses_at_least_a_quarter(guard: str, bullet: str) -> None:
    said, otherwise = readings([SALES])[0], readings([bullet])[0]
    assert getattr(otherwise.evidence, guard) >= 0.5
    assert said.score is not None
    assert otherwise.score is not None
    assert otherwise.score < said.score - 0.25


def test_one_bullet_of_everything_scores_far_below_a_bullet_each() -> None:
    filler = [f"{word} bridges cross rivers near {word} towns." for word in ("Old", "New", "Steel", "Stone", "Long")]
    apart, merged = scores([*INSIGHTS, *filler]), scores([" ".join([*INSIGHTS, *filler])])
    assert all(one < other - 0.3 for one, other in zip(merged, apart, strict=True))


def test_no_bullet_and_a_bullet_without_shared_words_say_nothing() -> None:
    for bullets in ([], ["Penguins breed on Antarctic ice."], ["Shops shutter."]):
        assert [(r.answer, r.score, r.linked) for r in readings(bullets)] == [("none", 0.0, None)] * 3


def test_a_bullet_that_is_far_in_all_its_pieces_says_nothing_though_no_sibling_is_nearer() -> None:
    """Features are relative: alone with its siblings, it would win a part of the shares by the one word that it has."""
    bullets = ["Quarter notes follow half notes.", *["Penguins breed on ice.", "Rivers freeze.", "Trains stop."]]
    reading = readings(bullets)[0]
    assert reading.evidence.recall > 0
    assert 0 < reading.evidence.token_recall < SHIPPED.fit.floor
    assert (reading.answer, reading.score) == ("none", 0.0)
    lower = SHIPPED._replace(fit=SHIPPED.fit._replace(floor=0.0))
    assert readings(bullets, model=lower)[0].score != 0.0


def test_insights_are_embedded_once_and_bullets_without_their_marks() -> None:
    encoder = Subjects()
    insights = asked(INSIGHTS, encoder)
    for bullets in (["- Sales fell. [2]"], ["1. **Malls** close [3, 4]"]):
        insights.readings(bullets, SHIPPED)

    assert sorted(encoder.given) == sorted([*INSIGHTS, "Sales fell.", "Malls close"])


def test_last_digits_of_a_vector_move_no_score() -> None:
    """A hundred times the difference between two processors."""
    bullets = ["Sales fell.", "Mall stores"]
    calm, moved = (asked(INSIGHTS, Subjects(shaken)).readings(bullets, SHIPPED) for shaken in (1, 1 - 1e-4))
    assert calm == moved


def test_a_judge_that_reads_vectors_is_refused_without_a_maker_of_vectors() -> None:
    with pytest.raises(LongformError, match="expected `vectors`"):
        QueryInsights(INSIGHTS, WEIGHTS).readings([SALES], SHIPPED)


# ---------------------------------------------------------------- properties

BULLETS = [*INSIGHTS, "The mall closes.", "Points for winter members.", "Revenue drops as shops shutter."]


@given(st.permutations(BULLETS))
def test_order_of_bullets_changes_no_score(bullets: list[str]) -> None:
    assert scores(bullets) == pytest.approx(scores(BULLETS), abs=2e-6)


@given(st.permutations(range(3)), st.lists(st.sampled_from(BULLETS), min_size=1, max_size=4))
def test_order_of_siblings_changes_no_score(places: list[int], bullets: list[str]) -> None:
    moved = scores(bullets, [INSIGHTS[place] for place in places])
    assert moved == pytest.approx([scores(bullets)[place] for place in places], abs=2e-6)


@given(st.lists(st.sampled_from([*BULLETS, "Mall.", "", "- **Winter** [2]"]), max_size=6))
def test_scores_lie_between_0_and_1_and_links_name_bullets(bullets: list[str]) -> None:
    for reading in readings(bullets):
        assert reading.score is not None
        assert 0 <= reading.score <= 1
        assert (reading.linked is None) == (reading.answer == "none")
