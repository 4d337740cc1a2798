"""
Fits the judge that reads vectors beside words on people's labels of two topics, and measures it.

Its design (`longform.judges.coverage_model.VECTORS`) was chosen by fits on each topic measured on the other, with both
in view: figures of a topic kept out are of held-out coefficients, not of a held-out design. What ships is fitted on
both topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.fits.judge import Transfer, agreement_reach, drop_reach, fit_judge, topic_reach
from lab.fits.judge_examples import JudgeExample, LabelledSet, judge_examples
from longform.judges.card_columns import Reach
from longform.judges.coverage_model import VECTORS, JudgeModel
from longform.judges.target_cards import SCALE_NAMES

NAME = "people-vectors"
TEXTS_HELD = 50_000
"""More than all texts of the study and their copies, which take about 0.3 GB."""


class Topics:
    """
    People's labels of two topics, their examples made once.

    Args:
        first: Labels of one topic, with an encoder.
        second: Labels of another topic.
    """

    def __init__(self, first: LabelledSet, second: LabelledSet) -> None:
        self.sets = (first, second)
        self._examples = [judge_examples(topic, VECTORS.fit) for topic in self.sets]

    @property
    def examples(self) -> list[JudgeExample]:
        """The examples of both topics."""
        return [example for examples in self._examples for example in examples]

    @property
    def transfers(self) -> list[Transfer]:
        """The fits on one topic that are measured on the other, both ways."""
        (first, second), (of_first, of_second) = self.sets, self._examples
        return [
            Transfer("people", of_first, first.name, second, NAME, VECTORS),
            Transfer("people", of_second, second.name, first, NAME, VECTORS),
        ]

    def fit(self, *, left_out: Sequence[str] = ()) -> JudgeModel:
        """Return the judge that both topics teach, without the examples of the haystacks and queries left out."""
        names = " and ".join(topic.name for topic in self.sets)
        return fit_judge(self.examples, calibration="people", fitted_on=names, left_out=left_out, design=VECTORS)


def vectors_reach(topics: Topics, foreign: Sequence[str], query_texts: Mapping[str, str]) -> list[Reach]:
    """
    Return what the judge reaches on a topic that was kept out, both ways, then on queries that were left out.

    Args:
        topics: The labels.
        foreign: Bullets to pad others with, of neither topic.
        query_texts: Query id -> its text.
    """
    found = [row for transfer in topics.transfers for row in topic_reach(transfer, foreign, query_texts)]
    for topic in topics.sets:
        models = {query_id: topics.fit(left_out=[query_id]) for query_id in _query_ids(topic)}
        fitted_on = "labels of both topics, without the query"
        rows = [
            *agreement_reach(topic, models, fitted_on=fitted_on),
            *drop_reach(topic, models, foreign, query_texts, fitted_on=fitted_on),
        ]
        found += [row._replace(measure=f"judge as {SCALE_NAMES[NAME]}: {row.measure}") for row in rows]
    return found


def _query_ids(topic: LabelledSet) -> list[str]:
    return list(dict.fromkeys(summary.query_id for summary in topic.summaries))
