import json

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from longform.summaries.extractive import Tree, TreeEnsemble

FEATURES = ("width", "depth", "colour")


def stump(feature: int, threshold: float, low: float, high: float) -> Tree:
    return Tree(
        np.array([feature, -1, -1]),
        np.array([threshold, 0.0, 0.0]),
        np.array([1, 0, 0]),
        np.array([2, 0, 0]),
        np.array([0.0, low, high]),
    )


def grown(rows: np.ndarray, target: np.ndarray) -> tuple[GradientBoostingRegressor, TreeEnsemble]:
    """The same trees in scikit-learn and as ours, read from its public arrays."""
    fitted = GradientBoostingRegressor(n_estimators=30, max_depth=4, random_state=0).fit(rows, target)
    trees = tuple(
        Tree(
            np.where(tree.children_left < 0, -1, tree.feature),
            tree.threshold,
            tree.children_left,
            tree.children_right,
            fitted.learning_rate * tree.value[:, 0, 0],
        )
        for tree in (estimator.tree_ for estimator in fitted.estimators_[:, 0])
    )
    return fitted, TreeEnsemble(FEATURES, float(fitted.init_.constant_[0, 0]), trees)


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    # scikit-learn compares in float32
    return np.random.default_rng(1).normal(size=(500, 3)).astype(np.float32).astype(np.float64)


@pytest.fixture(scope="module")
def both(rows: np.ndarray) -> tuple[GradientBoostingRegressor, TreeEnsemble]:
    noise = np.random.default_rng(2).normal(size=len(rows))
    return grown(rows, np.sin(3 * rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.1 * noise)


def test_prediction_is_the_one_of_scikit_learn(
    rows: np.ndarray, both: tuple[GradientBoostingRegressor, TreeEnsemble]
) -> None:
    fitted, ours = both
    unseen = np.random.default_rng(3).normal(size=(500, 3)).astype(np.float32).astype(np.float64)
    for asked in (rows, unseen):
        assert ours.predict(asked) == pytest.approx(fitted.predict(asked), abs=1e-9)
    assert np.ptp(ours.predict(unseen)) > 1


def test_an_ensemble_survives_its_text(rows: np.ndarray, both: tuple[GradientBoostingRegressor, TreeEnsemble]) -> None:
    ensemble = both[1]
    text = json.dumps(ensemble.as_json())
    again = TreeEnsemble.from_json(json.loads(text))
    assert json.dumps(again.as_json()) == text
    assert again.features == FEATURES
    assert np.array_equal(again.predict(rows), ensemble.predict(rows))


def test_a_row_on_the_threshold_goes_left() -> None:
    """Hand-worked: 10 + (1 or 2) by width at 0.5 + (0 or 4) by colour at 3."""
    ensemble = TreeEnsemble(FEATURES, 10.0, (stump(0, 0.5, 1.0, 2.0), stump(2, 3.0, 0.0, 4.0)))
    asked = np.array([[0.5, 9.0, 3.0], [0.6, 9.0, 3.0], [0.5, 9.0, 3.1], [0.6, 9.0, 3.1]])
    assert ensemble.predict(asked).tolist() == [11.0, 12.0, 15.0, 16.0]


def test_a_tree_of_one_leaf_says_the_same_of_every_row() -> None:
    leaf = TreeEnsemble.from_json({"features": ["width"], "baseline": 1.0, "trees": [[[0.25]]]})
    assert leaf.predict(np.array([[-9.0], [9.0]])).tolist() == [1.25, 1.25]


def test_no_trees_and_no_rows() -> None:
    empty = TreeEnsemble(FEATURES, 2.0, ())
    assert empty.predict(np.ones((2, 3))).tolist() == [2.0, 2.0]
    full = TreeEnsemble(FEATURES, 2.0, (stump(0, 0.5, 1.0, 2.0),))
    assert full.predict(np.ones((0, 3))).shape == (0,)


@pytest.mark.parametrize("n_columns", [2, 4])
def test_rows_of_another_width_are_an_error(n_columns: int) -> None:
    ensemble = TreeEnsemble(FEATURES, 0.0, ())
    with pytest.raises(ValueError, match=rf"expected 3 features .*'colour'.*got {n_columns} columns"):
        ensemble.predict(np.ones((1, n_columns)))
