"""The columns of judge cards: whose they are, what every card says of labels, and the figures of each worth."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from pydantic import JsonValue

from longform.metrics.agreement import Retest
from longform.metrics.balanced import Separation
from longform.metrics.statistics import Estimate, EstimateColumns


class JudgedBy(TypedDict, total=False):
    """The name of a judge by what answers."""

    backend: str
    model: str
    prompt_version: str | None
    options: dict[str, JsonValue]  # settings by which it answers, beside its model and prompt
    cuts: list[float]  # bounds between the answers of a mean
    of: list[JudgedBy]  # members of a mean


class LabelSet(TypedDict):
    hash: str
    annotators: list[str]
    n_summaries: int
    n_topics: NotRequired[int]
    n_articles: NotRequired[int]


class CostColumns(TypedDict):
    usd: float | None  # null: unknown
    why: str


class CardFrame(TypedDict):
    """The fields that say whose a card is, and what it took."""

    kind: str
    judge: str
    judged_by: JudgedBy
    scale: str | None
    retest: NotRequired[Retest]  # only if the judge has repeats
    cost: NotRequired[CostColumns]  # not of all cards that ship
    note: NotRequired[str | None]  # further facts that a reader must know


# ---------------------------------------------------------------- correlation


class Reach(EstimateColumns):
    """A figure of a fitted model on data that it was not fitted on, as `longform train` finds it."""

    measure: str
    fitted_on: str
    scored_on: str


def reach_of(measure: str, estimate: Estimate, *, fitted_on: str, scored_on: str) -> Reach:
    """Return an estimate as a figure; it must have a value."""
    assert estimate.value is not None, f"{measure} is undefined on {scored_on}"
    return {"measure": measure, **estimate.as_json(), "fitted_on": fitted_on, "scored_on": scored_on}


class TextRow(TypedDict):
    """The figures of some kinds of text."""

    texts: list[str | None]  # null: unknown
    fitted: bool
    n: int
    n_summaries: int
    n_topics: int
    pearson: EstimateColumns
    pearson_of_answers: EstimateColumns
    kappa: EstimateColumns
    linking_accuracy: EstimateColumns
    linking_recall: EstimateColumns
    bias_of_answers: EstimateColumns


class Bias(TypedDict):
    """Biases of the means of summaries: of each summarizer's, and correlations with the words of a bullet."""

    mean: NotRequired[EstimateColumns]  # of answers, over labels
    by_summarizer: list[dict[str, Any]]  # a `summarizer` with the estimate of its bias
    length_to_score: EstimateColumns
    length_to_bias: EstimateColumns


class AdversarialRow(TypedDict):
    """The effect of one perturbation of labelled summaries on a judge."""

    perturbation: str  # one of `longform.judges.adversarial`
    measure: str  # `score`, from 0 to 1, or `citation precision`
    rows: str  # insights that count: `fully covered` as people say, `all`, or `covered by the judge` both times
    should: str  # effect on a judge that sees it: `full`, `same`, `nothing` or `less`
    before: EstimateColumns  # mean over the insights of the summaries as they were written
    after: EstimateColumns  # the same of the perturbed summaries
    drop: EstimateColumns  # before less after
    n_summaries: int  # perturbed ones
    n_unjudged: int  # insights without a score on one side, which are in no figure


class Adversarial(TypedDict):
    """The effects of perturbations on a judge."""

    rows: list[AdversarialRow]  # one a perturbation and measure
    missing: dict[str, str]  # perturbation or measure that has no row -> why
    reason: str | None  # why there are no rows; None: there are


# ---------------------------------------------------------------- balanced accuracy


class DataSetRow(Separation):
    """The figures of a data set, and what it holds."""

    data_set: str
    level: str
    n_labels: int
    n_summaries: int
    n_articles: int
    held_out: bool  # a judge was fitted on it, of older cards: its figures are of models that have not seen the article


# ---------------------------------------------------------------- the card


class Figures(TypedDict, total=False):
    """The figures of a card; those of its worth are there, and the others are not."""

    n: int  # labels behind the figures
    n_unjudged: int
    labels: LabelSet

    fitted_haystacks: list[str]
    in_sample: bool  # the judge was fitted on all of the labels' topics
    pearson: EstimateColumns
    pearson_of_answers: EstimateColumns
    kappa: EstimateColumns
    linking_accuracy: EstimateColumns
    linking_recall: EstimateColumns
    bias: Bias
    texts: list[TextRow]  # one a kind of text
    unjudged: dict[str, int]  # reason -> labels without a figure
    held_out: list[Reach]  # only beside labels that the judge was fitted on
    adversarial: Adversarial  # only if the judge links bullets; older cards have none

    documents: str  # the way of merging over documents
    sentences: str  # the way of merging over sentences
    fidelity: str
    threshold: float
    seed: int
    resamples: int
    data_sets: list[DataSetRow]  # one a data set
    mean: dict[str, float | None]  # balanced_accuracy and auroc over data sets; null: one of them has none
    fitted_articles: list[str]


class Card(CardFrame, Figures):
    """The card of a judge of any kind."""
