"""
The worth of a judge: people's labels with its answers beside them, and the agreements that its kind counts.

Whatever a kind judges, a label becomes one row with the judge's answer to the same, and every figure is of such rows.
A kind names its worth:

- `correlation`, of a summary's targets: SummHay, section 4.2, table 1 (insight-level Pearson correlation, linking
  accuracy) with kappa beside it. Labels are pooled, and told apart by kind of text; summaries are resampled.
- `balanced_accuracy`, of sentences: Wan et al. (On Positional Bias of Faithfulness for Long-form Summarization),
  section 3. Each data set counts once in their mean; articles are resampled within each data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from longform.judges.kind import Kind
from longform.metrics import agreement
from longform.metrics.agreement import WEIGHTS, JudgedPair, Label, answers_of, answers_of_people, scores_of
from longform.metrics.balanced import mean_recall, recall_sums
from longform.metrics.contrasts import Compared, n_used
from longform.metrics.statistics import (
    Array,
    Estimate,
    EstimateColumns,
    cluster_sums,
    drawn_sums,
    of_draws,
    pearson_of_sums,
)
from longform.rows import JudgementRow, LabelRow

Settings = Mapping[str, int]
"""`seed` and `resamples` of the intervals."""


class LabelledItem(NamedTuple):
    """A label with the judge's answer to the same."""

    summary_id: str
    cluster: str  # the summary or the article, which is resampled
    source: str  # the haystack or the article, which a judge may be fitted on
    part: str | None  # kind of text or data set, with figures apart; None: unknown
    people: Label | None  # a person's answer, as it is compared; None: there is none
    judge: Label | None  # the judge's answer, as it is compared; None: there is none
    failure: str | None = None  # why one of the two is missing
    counts: Mapping[str, float] = WEIGHTS  # answer -> the number that it counts

    @property
    def pair(self) -> JudgedPair | None:
        if self.people is None or self.judge is None:
            return None
        return JudgedPair(self.cluster, self.people, self.judge, self.counts)


Items = Sequence[LabelledItem]


def pairs_of(items: Items) -> list[JudgedPair]:
    """Return the pairs of those that have two answers."""
    return [pair for one in items if (pair := one.pair) is not None]


def target_item(
    kind: Kind, label: LabelRow, verdict: JudgementRow | None, *, source: str, part: str | None
) -> LabelledItem:
    """Return a label of a target of a summary, with a judge's verdict on it, if there is one."""
    people = _compared(kind, label["annotator"], label, label, None)
    judge = None if verdict is None else _compared(kind, "", label, verdict, verdict["probability"])
    failure = "no verdict" if verdict is None else str(verdict.get("failure") or "no reason recorded")
    return LabelledItem(
        summary_id=label["summary_id"],
        cluster=label["summary_id"],
        source=source,
        part=part,
        people=people,
        judge=judge,
        failure="not labelled" if people is None else failure if judge is None else None,
        counts=kind.counts,
    )


def _compared(kind: Kind, who: str, label: LabelRow, row: JudgementRow, number: float | None) -> Label | None:
    """Return an answer as it is compared: not every judge can tell all of a kind apart."""
    if (answer := row["answer"]) is None:
        return None
    item = (label["summary_id"], label["target_id"])
    return Label(who, label["summary_id"], item, kind.as_one.get(answer, answer), row["linked_unit"], number)


# ---------------------------------------------------------------- parts of the labels

ALL, AVERAGE = "all", "average"
"""The part of the labels that is all of them, and the mean over data sets."""

NO_KIND = "text of unknown kind"

Places = Sequence[int]
Parts = Mapping[str, Sequence[Places]]
"""Part of the labels -> the places of the labels of each of its sets, whose figures are averaged."""


@dataclass(frozen=True, kw_only=True)
class Worth:
    """The figures by which judges of a family of kinds are held against people."""

    agreement: str  # figure by which judges are compared
    title: str  # the figure's name on a page
    factor: float  # the figure is shown times this, with so many digits
    digits: int
    told: str  # the figure's name in sentences on differences
    part: str  # column that names parts of the labels
    clusters: str  # things that are resampled, in the plural
    judged: str  # things that are judged, in the plural
    # data sets are averaged, and their differences are one family; else labels are pooled, and each part has a family
    averages: bool
    figures: Callable[[Sequence[Items], Settings], dict[str, EstimateColumns]]  # figures of a part of the labels
    # rows of two judges' pairs of the same items, with columns whose sums `difference` takes
    columns: Callable[[Sequence[JudgedPair], Sequence[JudgedPair]], Array]
    # sums of `columns`, shape (m, k) -> agreement of the first judge less that of the second
    difference: Callable[[Array], Array]

    def parts(self, items: Items) -> Parts:
        """Return all labels and those of each kind of text, or those of each data set and their average."""
        names = list(dict.fromkeys(one.part for one in items))
        sets = {name: [place for place, one in enumerate(items) if one.part == name] for name in names}
        several = len(names) > 1
        if self.averages:
            return {str(name): [of] for name, of in sets.items()} | ({AVERAGE: list(sets.values())} if several else {})
        kinds = {name or NO_KIND: [sets[name]] for name in sorted(names, key=str)} if several else {}
        return {ALL: [range(len(items))], **kinds}

    def families(self, parts: Parts) -> list[list[str]]:
        """Return the parts whose differences are tested together."""
        return [list(parts)] if self.averages else [[part] for part in parts]

    def compared(self, first: Items, second: Items, sets: Sequence[Places], clusters: Sequence[str]) -> Compared:
        """Compare two judges on the labels that both judged; the difference is the mean of those in each set."""
        blocks, n = [], 0
        for of_set in sets:
            both = [(a, b) for one in of_set if (a := first[one].pair) and (b := second[one].pair)]
            pairs = [a for a, _ in both]
            blocks.append(sums_of(pairs, self.columns(pairs, [b for _, b in both]), clusters))
            n += len(both)

        def of_sums(sums: Array) -> Array:
            found: Array = np.mean(np.stack([self.difference(part) for part in np.hsplit(sums, len(sets))]), axis=0)
            return found

        return Compared(np.hstack(blocks), of_sums, n, min(map(n_used, blocks)))


def sums_of(pairs: Sequence[JudgedPair], rows: Array, clusters: Sequence[str]) -> Array:
    """Return sums of the *rows* of pairs over each of *clusters*, zeros over one without pairs: (clusters, columns)."""
    place = {cluster: index for index, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), rows.shape[1]))
    np.add.at(sums, [place[str(pair.cluster)] for pair in pairs], rows)
    return sums


# ---------------------------------------------------------------- correlation


def _table_1(sets: Sequence[Items], settings: Settings) -> dict[str, EstimateColumns]:
    pairs = [pair for of_set in sets for pair in pairs_of(of_set)]
    return {
        "pearson": agreement.score_agreement(pairs, **settings).as_json(),
        "linking_accuracy": agreement.linking_accuracy(pairs, **settings).as_json(),
    }


def _moments(first: Sequence[JudgedPair], second: Sequence[JudgedPair]) -> Array:
    """Return what two correlations with people are made of, about the means for their precision."""
    rows = np.column_stack([scores_of(first), scores_of(second), answers_of_people(first)])
    x, y, z = (rows - (rows.mean(axis=0) if len(rows) else 0.0)).T
    return np.column_stack([np.ones_like(x), x, z, x * x, z * z, x * z, y, y * y, y * z])


def _less_correlated(sums: Array) -> Array:
    second = np.column_stack([sums[:, 0], sums[:, 6], sums[:, 2], sums[:, 7], sums[:, 4], sums[:, 8]])
    found: Array = pearson_of_sums(sums[:, :6]) - pearson_of_sums(second)
    return found


# ---------------------------------------------------------------- balanced accuracy


def balanced_accuracy(sets: Sequence[Items], settings: Settings) -> Estimate:
    """Return the balanced accuracy of a judge's answers, the mean over data sets, each of which is drawn apart."""
    pairs = [pairs_of(of_set) for of_set in sets]
    if not pairs:
        return Estimate(None, None, None, 0)
    drawn = [_drawn(of_set, settings) for of_set in pairs]
    found = of_draws(np.mean(np.stack(np.broadcast_arrays(*drawn)), axis=0), sum(map(len, pairs)))
    # a data set of one article has no draws, and then the mean has no interval
    return found if min(map(len, drawn)) > 1 else found._replace(low=None, high=None)


def _drawn(pairs: Sequence[JudgedPair], settings: Settings) -> Array:
    """Return the balanced accuracy, then that of each draw of articles; of one article there are no draws."""
    sums = cluster_sums(_recalls(pairs), [pair.cluster for pair in pairs]) if pairs else np.zeros((1, 4))
    drawn = drawn_sums(sums, **settings) if len(sums) > 1 else ()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate([mean_recall(some) for some in (sums.sum(axis=0, keepdims=True), *drawn)])


def _recalls(pairs: Sequence[JudgedPair]) -> Array:
    return recall_sums(answers_of(pairs), answers_of_people(pairs) == 1, threshold=0.5)


WORTHS: Mapping[str, Worth] = {
    "correlation": Worth(
        agreement="pearson",
        title="correlation with people",
        factor=1,
        digits=3,
        told="correlation",
        part="part",
        clusters="summaries",
        judged="labels",
        averages=False,
        figures=_table_1,
        columns=_moments,
        difference=_less_correlated,
    ),
    "balanced_accuracy": Worth(
        agreement="balanced_accuracy",
        title="balanced accuracy, in per cent,",
        factor=100,
        digits=1,
        told="balanced accuracy in points, each document apart, the best one, the mean over sentences,",
        part="data_set",
        clusters="articles",
        judged="pairs",
        averages=True,
        figures=lambda sets, settings: {"balanced_accuracy": balanced_accuracy(sets, settings).as_json()},
        columns=lambda first, second: np.hstack([_recalls(first), _recalls(second)]),
        difference=lambda sums: mean_recall(sums[:, :4]) - mean_recall(sums[:, 4:]),
    ),
}
"""Name that kinds give -> their worth."""
