import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from lab.fits import ranker as training
from lab.fits.haystacks import set_f1
from lab.fits.ranker import GoldInsight, RankedQuery, RankerRecipe, earned, fit_ranker
from longform.summaries.query_relevance import FEATURES, VectorQuery, relevance
from longform.summaries.sentence_support import candidates
from tests.longform.summaries.test_sentence_support import (
    places_of,
    planted_documents,
    sentence_support,
    stem_vectors,
)

INSIGHTS = {
    "The library opens at seven on exam days.": [1, 4, 7, 9],
    "Lockers in the library cost ten dollars.": [2, 4, 8, 11],
    "Ferries stop at the old harbour pier.": [3, 5, 7, 10],
    "Harbour tolls for ferries rise in March.": [3, 6, 9, 12],
}
QUERIES = {"What about the library?": slice(0, 2), "What about harbour ferries?": slice(2, 4)}


def made_queries(haystack_id: str, *, seed: int) -> list[RankedQuery]:
    texts = [text for _, text in planted_documents(14, INSIGHTS, seed=seed)]
    support = sentence_support(texts)
    insights = [
        GoldInsight(text, stem_vectors([text])[0], np.isin(np.arange(1, 15), numbers))
        for text, numbers in INSIGHTS.items()
    ]
    return [
        RankedQuery(haystack_id, support, VectorQuery(text, *stem_vectors([text, text])), insights[wanted])
        for text, wanted in QUERIES.items()
    ]


def poisoned(query: RankedQuery) -> RankedQuery:
    """Other gold documents, insights and words; the support of another haystack."""
    noise = stem_vectors(["zebra"])[0]
    flipped = [GoldInsight("zebra " + insight.text, noise, ~insight.gold) for insight in query.insights]
    other = sentence_support([text for _, text in planted_documents(14, INSIGHTS, seed=99)])
    return query._replace(support=other, query=VectorQuery("zebra", noise, noise), insights=flipped)


@pytest.fixture(scope="module")
def queries() -> list[RankedQuery]:
    return [query for seed in range(3) for query in made_queries(f"h{seed}", seed=seed)]


SMALL = RankerRecipe(fits=8, trees=8, rate=0.1, leaf=3)
"""Made haystacks hold too few sentences for leaves of forty."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """On a busy machine more threads only wait."""
    with threadpool_limits(1):
        yield


def as_text(queries: list[RankedQuery], *, left_out: tuple[str, ...] = (), recipe: RankerRecipe = SMALL) -> str:
    return json.dumps(fit_ranker(queries, left_out=left_out, recipe=recipe).as_json())


# ---------------------------------------------------------------- what reaches the fit


@pytest.mark.parametrize("left_out", [("h0",), ("h1",), ("h0", "h2")], ids="+".join)
def test_rows_of_a_left_out_haystack_never_reach_the_fit(queries: list[RankedQuery], left_out: tuple[str, ...]) -> None:
    """Whatever stands in them, the ranker is the one fitted without them, to the byte."""
    spoilt = [poisoned(q) if q.haystack_id in left_out else q for q in queries]
    absent = [q for q in queries if q.haystack_id not in left_out]
    assert as_text(spoilt, left_out=left_out) == as_text(absent) == as_text(queries, left_out=left_out)
    assert as_text(spoilt) != as_text(queries)
    assert as_text(queries) != as_text(absent)


def test_nothing_left_is_an_error(queries: list[RankedQuery]) -> None:
    with pytest.raises(ValueError, match="no query is left"):
        fit_ranker(queries, left_out=("h0", "h1", "h2"), recipe=SMALL)


def test_fitting_twice_gives_the_same_text(queries: list[RankedQuery]) -> None:
    assert as_text(made_queries("h0", seed=0)) == as_text(queries[:2])


def test_the_order_of_reading_changes_nothing(queries: list[RankedQuery], monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows stand in one order, too: sums of floats, and so a split between two that are equal, hang on it."""
    taught: list[bytes] = []
    monkeypatch.setattr(training, "_boosted", lambda *told: taught.append(told[0].tobytes()) or boosted(*told))
    assert as_text(queries[::-1]) == as_text(queries)
    backwards, forwards = taught[: SMALL.fits], taught[SMALL.fits :]
    assert backwards == forwards


def test_each_fit_draws_rows_of_its_own(queries: list[RankedQuery], monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw of rows that all fits shared would stay in their mean."""
    taught: list[NDArray[np.float64]] = []

    def fitted(features: NDArray[np.float64], target: NDArray[np.float64], seed: int, recipe: RankerRecipe) -> Any:
        taught.append(features)
        return boosted(features, target, seed, recipe)

    monkeypatch.setattr(training, "_boosted", fitted)
    fit_ranker(queries, left_out=(), recipe=SMALL._replace(fits=3))
    drawn = [frozenset(map(tuple, rows.tolist())) for rows in taught]
    assert len(set(drawn)) == 3
    assert all(len(rows) < len(frozenset.union(*drawn)) for rows in drawn)


def test_a_ranker_is_the_mean_of_its_fits(queries: list[RankedQuery], monkeypatch: pytest.MonkeyPatch) -> None:
    apart = []
    rows = relevance(queries[0].support, queries[0].query)
    monkeypatch.setattr(training, "_boosted", lambda *told: apart.append(made := boosted(*told)) or made)
    ranker = fit_ranker(queries, left_out=(), recipe=SMALL._replace(fits=3))
    assert len(ranker.trees) == 3 * SMALL.trees
    assert ranker.predict(rows) == pytest.approx(np.mean([fit.predict(rows) for fit in apart], axis=0), abs=1e-4)
    assert np.ptp([fit.predict(rows).mean() for fit in apart]) > 1e-3


def test_what_cannot_be_quoted_teaches_nothing(queries: list[RankedQuery], monkeypatch: pytest.MonkeyPatch) -> None:
    taught = []
    monkeypatch.setattr(
        training,
        "_boosted",
        lambda features, target, *told: taught.append((features, target)) or boosted(features, target, *told),
    )
    fit_ranker(queries[:1], left_out=(), recipe=SMALL)
    _, preferred = candidates(queries[0].support)
    rows, targets = taught[0]
    offered = relevance(queries[0].support, queries[0].query)[preferred]
    assert {tuple(row) for row in rows.tolist()} <= {tuple(row) for row in offered.tolist()}
    assert sorted(targets[targets > 0.02]) == sorted(t for t in earned(queries[0])[preferred] if t > 0.02)


boosted = training._boosted


# ---------------------------------------------------------------- what is fitted


def test_the_trees_as_text_predict_what_scikit_learn_predicts() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, len(FEATURES)))
    target = np.clip(rows[:, 0] + rows[:, 7] * (rows[:, 4] > 0), 0, 2)
    fitted = [boosted(rows, target, seed, RankerRecipe()) for seed in range(3)]
    trees = tuple(training._as_tree(stage[0].nodes, 3) for model in fitted for stage in model._predictors)
    ours = training.TreeEnsemble(FEATURES, float(np.mean([m._baseline_prediction.item() for m in fitted])), trees)
    unseen = rng.normal(size=(300, len(FEATURES)))
    expected = np.mean([model.predict(unseen) for model in fitted], axis=0)
    assert ours.predict(unseen) == pytest.approx(expected, abs=1e-4)
    assert np.ptp(expected) > 0.3


def test_more_relevance_never_lowers_a_score_whatever_the_rows_say() -> None:
    """Length may count against a sentence, relevance and repetition may not: here the target falls with all."""
    rng = np.random.default_rng(0)
    rows = rng.random((600, len(FEATURES)))
    fitted = boosted(rows, -rows.sum(axis=1), 0, RankerRecipe())
    for column, name in enumerate(FEATURES):
        higher = rows.copy()
        higher[:, column] += 0.5
        falls = (fitted.predict(higher) < fitted.predict(rows) - 1e-9).any()
        assert falls == (name in ("mass", "words")), name


def test_a_ranker_of_other_haystacks_puts_what_earns_first(queries: list[RankedQuery]) -> None:
    fitted = fit_ranker(queries, left_out=("h2",), recipe=SMALL)
    for query in queries[4:]:
        scores, target = fitted.predict(relevance(query.support, query.query)), earned(query)
        assert scores[target > 0.5].mean() > scores[target <= 0.5].mean() + 0.1


# ---------------------------------------------------------------- the target


def test_a_sentence_earns_by_what_it_says_and_cites(queries: list[RankedQuery]) -> None:
    """A sentence that is an insight earns the F1 of its citations, where its document states the insight."""
    for query in queries[:2]:
        target = earned(query)
        for insight in query.insights:
            for place in places_of(query.support, insight.text):
                cited = query.support.cited[[place]]
                assert target[place] == pytest.approx(set_f1(cited, insight.gold[None])[0])
                assert target[place] > 0.5


def test_a_sentence_of_another_query_earns_nothing(queries: list[RankedQuery]) -> None:
    library, harbour = (earned(query) for query in queries[:2])
    for text, numbers in INSIGHTS.items():
        mine, other = (library, harbour) if "library" in text else (harbour, library)
        places = places_of(queries[0].support, text)
        assert len(places) == len(numbers)
        assert mine[places].min() > 0.5
        assert other[places].max() < 0.1


def test_what_a_document_outside_the_gold_says_earns_nothing(queries: list[RankedQuery]) -> None:
    """The map is all that is known: a copy in another document is no proof of the insight."""
    query = queries[0]
    (insight, *_), place = query.insights, places_of(query.support, query.insights[0].text)[0]
    gold = insight.gold.copy()
    gold[query.support.index.owners[place]] = False
    assert earned(query._replace(insights=[insight]))[place] > 0.5
    assert earned(query._replace(insights=[insight._replace(gold=gold)]))[place] == 0
