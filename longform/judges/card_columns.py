"""The columns of judge cards: whose they are, what every card says of labels, and the figures of each worth."""

from __future__ import annotations

from typing import NamedTuple, NotRequired, TypedDict

from pydantic import JsonValue

from longform.metrics.agreement import Retest
from longform.metrics.balanced import Separation
from longform.metrics.statistics import Estimate, EstimateColumns


class JudgedBy(TypedDict, total=False):
    """
    The name of a judge by what answers.

    Attributes:
        options: Settings by which it answers, beside its model and prompt.
        cuts: Of a mean.
        of: Members of a mean.
    """

    backend: str
    model: str
    prompt_version: str | None
    options: dict[str, JsonValue]
    cuts: list[float]
    of: list[JudgedBy]


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
    retest: NotRequired[Retest]  # of a judge with repeats
    cost: NotRequired[CostColumns]  # not of all cards that ship
    note: NotRequired[str | None]  # what a reader must know besides


# ---------------------------------------------------------------- correlation


class HeldOutRow(EstimateColumns):
    """A figure of a fitted judge on labels that it was not fitted on, as `longform train` found it."""

    measure: str
    fitted_on: str
    scored_on: str


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


class SummarizerBias(EstimateColumns):
    summarizer: str


class SampleBias(TypedDict):
    """Biases of the means of summaries: of each summarizer's, and correlations with the words of a bullet."""

    by_summarizer: list[SummarizerBias]
    length_to_score: EstimateColumns
    length_to_bias: EstimateColumns


class Bias(SampleBias):
    mean: EstimateColumns


class AdversarialRow(TypedDict):
    """
    The effect of one perturbation of labelled summaries on a judge.

    Attributes:
        perturbation: One of `longform.judges.adversarial`.
        measure: `score`, from 0 to 1, or `citation precision`.
        rows: Insights that count: `fully covered` as people say, `all`, or `covered by the judge` both times.
        should: What the measure does under a judge that sees the perturbation: `full`, `same`, `nothing` or `less`.
        before: Mean over the insights of the summaries as they were written.
        after: The same of the perturbed ones.
        drop: Before less after.
        n_summaries: Perturbed.
        n_unjudged: Insights without a score on one side, which are in no figure.
    """

    perturbation: str
    measure: str
    rows: str
    should: str
    before: EstimateColumns
    after: EstimateColumns
    drop: EstimateColumns
    n_summaries: int
    n_unjudged: int


class Adversarial(TypedDict):
    """
    The effects of perturbations on a judge.

    Attributes:
        rows: One a perturbation and measure.
        missing: Perturbation or measure that has no row -> why.
        reason: Why there are no rows; None: there are.
    """

    rows: list[AdversarialRow]
    missing: dict[str, str]
    reason: str | None


# ---------------------------------------------------------------- balanced accuracy


class DataSetRow(Separation):
    """The figures of a data set, and what it holds."""

    data_set: str
    level: str
    n_labels: int
    n_summaries: int
    n_articles: int
    held_out: bool  # a judge was fitted on it, of older cards: its figures are of models that have not seen the article


class GridMean(TypedDict):
    """Means over data sets; null: one of them has none."""

    balanced_accuracy: float | None
    auroc: float | None


# ---------------------------------------------------------------- the card


class Figures(TypedDict, total=False):
    """
    The figures of a card; those of its worth are there, and the others are not.

    Attributes:
        n: Labels behind the figures.
        in_sample: True if the judge was fitted on all of the labels' topics.
        texts: A row for each kind of text.
        unjudged: Labels without a figure by reason.
        held_out: Only beside labels that the judge was fitted on.
        adversarial: Of judges that link bullets; not of older cards.
        documents: The way of merging over documents, as `sentences` is that over sentences.
        data_sets: A row for each data set.
        mean: Over data sets.
    """

    n: int
    n_unjudged: int
    labels: LabelSet

    fitted_haystacks: list[str]
    in_sample: bool
    pearson: EstimateColumns
    pearson_of_answers: EstimateColumns
    kappa: EstimateColumns
    linking_accuracy: EstimateColumns
    linking_recall: EstimateColumns
    bias: Bias
    texts: list[TextRow]
    unjudged: dict[str, int]
    held_out: list[HeldOutRow]
    adversarial: Adversarial

    documents: str
    sentences: str
    fidelity: str
    threshold: float
    seed: int
    resamples: int
    data_sets: list[DataSetRow]
    mean: GridMean
    fitted_articles: list[str]


class Card(CardFrame, Figures):
    """The card of a judge of any kind."""


class Reach(NamedTuple):
    """One measured figure, with the data behind it on both sides."""

    measure: str
    value: float
    low: float | None  # of a 95 % interval; null: none is known
    high: float | None
    n: int
    fitted_on: str
    scored_on: str


def reach_of(measure: str, estimate: Estimate, *, fitted_on: str, scored_on: str) -> Reach:
    """Return an estimate as a figure; it must have a value."""
    assert estimate.value is not None, f"{measure} is undefined on {scored_on}"
    return Reach(measure, estimate.value, estimate.low, estimate.high, estimate.n, fitted_on, scored_on)
