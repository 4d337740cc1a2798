from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from longform.judges.lexical_support import Evidence, shipped_lexical_support
from longform.text.punkt import release_sentences
from longform.training.support_judge import (
    COSINE_ALONE,
    HeldOut,
    LabelledSentence,
    brier_score,
    fit_support_judge,
    held_out_balanced_accuracy,
    labelled_sentences,
    leave_article_out,
    support_probability,
)


def cell(recall: float, cosine: float = 0.5) -> Evidence:
    return Evidence(recall, cosine, recall, recall, 0.5, (0, ""))


def made(n_articles: int = 10, seed: int = 0) -> list[LabelledSentence]:
    """Each supported sentence has one document that shares much; the others, and the unsupported, share little."""
    rng = np.random.default_rng(seed)
    found = []
    for n in range(n_articles * 10):
        supported = bool(rng.random() < 0.6)
        low = [cell(rng.uniform(0, 0.4), rng.uniform(0, 0.8)) for _ in range(4)]
        best = [cell(rng.uniform(0.6, 1), rng.uniform(0, 0.8))] if supported else []
        found.append(LabelledSentence(n % n_articles, supported, tuple(low + best)))
    return found


def test_what_separates_is_found_and_the_threshold_is_the_share_of_supported() -> None:
    sentences = made()
    model = fit_support_judge(sentences, strength=10.0)
    supported = np.array([sentence.supported for sentence in sentences])
    answered = support_probability(model, sentences) > model.threshold
    assert model.threshold == pytest.approx(supported.mean(), abs=1e-5)
    assert np.array_equal(answered, supported)


def test_an_article_is_judged_by_a_model_that_has_not_seen_it() -> None:
    """One article's labels are turned round: right for itself, it would be, only by a model fitted on it."""
    sentences = [s._replace(supported=not s.supported) if s.article == 3 else s for s in made()]
    held_out = leave_article_out(sentences, strength=10.0)
    wrong = {
        a for a, right in zip(held_out.articles, held_out.supported == held_out.answered, strict=True) if not right
    }
    assert wrong == {3}
    unseen = fit_support_judge(sentences, left_out=[3], strength=10.0)
    own = [place for place, article in enumerate(held_out.articles) if article == 3]
    assert np.array_equal(held_out.probability[own], support_probability(unseen, [sentences[place] for place in own]))


def test_left_out_articles_change_nothing() -> None:
    sentences = made()
    turned = [s._replace(supported=not s.supported) if s.article == 3 else s for s in sentences]
    assert fit_support_judge(turned, left_out=[3]) == fit_support_judge(sentences, left_out=[3])
    assert fit_support_judge(turned) != fit_support_judge(sentences)


def test_one_label_alone_cannot_be_fitted() -> None:
    with pytest.raises(ValueError, match="both labels"):
        fit_support_judge([sentence for sentence in made() if sentence.supported])


def test_balanced_accuracy_by_hand() -> None:
    """3 of 4 supported and 1 of 2 unsupported are right."""
    held_out = HeldOut(
        ("a", "a", "b", "b", "c", "c"),
        np.array([True, True, True, True, False, False]),
        np.array([1, 1, 1, 0, 0, 1.0]),
        np.array([True, True, True, False, False, True]),
    )
    found = held_out_balanced_accuracy(held_out, seed=1)
    assert (found.value, found.n) == (pytest.approx(0.625), 6)
    assert brier_score(held_out) == pytest.approx(2 / 6)


def test_labelled_sentences_leave_out_what_has_no_label_or_no_text() -> None:
    def embed(texts):
        return np.ones((len(texts), 1), dtype=np.float32)

    found = labelled_sentences("a", ["One two three.", " ", "Four."], ["One.", "Two.", "Six."], [1, None, 0], embed)
    assert [(sentence.supported, len(sentence.cells)) for sentence in found] == [(True, 2), (False, 2)]
    with pytest.raises(ValueError, match="a label a sentence"):
        labelled_sentences("a", ["One."], ["One."], [], embed)


# ---------------------------------------------------------------- the release


@pytest.fixture(scope="module")
def pubmed(released: Path) -> list[LabelledSentence]:
    from actors.local_models.encoder import Encoder
    from actors.local_models.weights import MINILM

    embed = Encoder(MINILM, threads=1).embed
    found = []
    with gzip.open(released / "longformfact/metric_benchmark/longeval_pubmed.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            sentences = release_sentences(row["summary"])
            found += labelled_sentences(row["documents"][0], row["documents"], sentences, row["faithfulness"], embed)
    return found


@pytest.mark.slow
def test_reach_on_the_release(pubmed: list[LabelledSentence]) -> None:
    """
    The numbers are those of `support_judge.json`, to the noise of another machine's last bits;
    cosine alone is behind.
    """
    assert (len(pubmed), sum(s.supported for s in pubmed), len({s.article for s in pubmed})) == (225, 144, 20)
    ours = leave_article_out(pubmed)
    cosine = leave_article_out(pubmed, signals=COSINE_ALONE)
    estimate = held_out_balanced_accuracy(ours, seed=1)
    assert estimate.value == pytest.approx(0.82, abs=0.011)
    assert (estimate.low, estimate.high) == (pytest.approx(0.736, abs=0.03), pytest.approx(0.885, abs=0.03))
    assert held_out_balanced_accuracy(cosine, seed=1).value == pytest.approx(0.759, abs=0.011)
    assert brier_score(ours) < brier_score(cosine)


@pytest.mark.slow
def test_the_shipped_model_is_the_recipe(pubmed: list[LabelledSentence]) -> None:
    again, shipped = fit_support_judge(pubmed), shipped_lexical_support()
    assert again.weights == pytest.approx(shipped.weights, rel=1e-3)
    assert (again.intercept, again.threshold) == (pytest.approx(shipped.intercept, rel=1e-3), shipped.threshold)
