"""
Means of each measure by a property of the query; those of key points by the length of the summary, too.

LONG2RAG splits key point recall by category, domain and length of the output (sections 5.3, 5.4 and 5.7). A benchmark
states the properties of its queries (`facets`). Lengths are put into four groups of about equal numbers of summaries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from longform.judges.kinds.key_point import KEY_POINT
from longform.metrics.measure import Measure
from longform.metrics.statistics import EstimateColumns
from longform.results.aggregate import Averaging, Group, Scored, estimate, final_summaries, systems_of
from longform.results.cells import measures_of
from longform.results.columns import OfJudge
from longform.results.evidence import Evidence, Family, rows_of

OUTPUT_LENGTH = "words of the summary"
_LENGTH = "words"  # the measure
_N_GROUPS = 4
_LEAST_SUMMARIES = 8  # of which groups are made


class FacetsRow(OfJudge):
    """A system's mean by one measure over the queries of one value of a facet."""

    facet: str
    value: str
    n_queries: int
    setting: str
    summarizer: str
    measure: str
    score: EstimateColumns


def facets(evidence: Evidence) -> list[FacetsRow]:
    """Return a row for each judge, measure, system and value of a facet; none if there is one value at most."""

    def of_family(own: Family) -> list[FacetsRow]:
        return list(_rows(own, evidence))

    return rows_of(evidence, [measure.name for measure in evidence.measures], of_family)


def _rows(own: Family, evidence: Evidence) -> Iterator[FacetsRow]:
    summaries = final_summaries(own.summaries)
    measures = [one for one in measures_of(summaries, evidence.measures) if one.unit not in ("count", "words")]
    for (setting, summarizer), group in sorted(systems_of(summaries).items()):
        for facet, by_value in {**_stated(group, evidence.facets), OUTPUT_LENGTH: _by_length(group)}.items():
            for value, part in by_value.items() if len(by_value) > 1 else ():
                for measure in measures if facet != OUTPUT_LENGTH else _of_key_points(measures):
                    how = evidence.averaging.own("facets", facet, value, setting, summarizer, measure.name)
                    yield {
                        "judge": own.judge,
                        "dataset": own.dataset,
                        "facet": facet,
                        "value": value,
                        "n_queries": len({one.info.query_id for one in part}),
                        "setting": setting,
                        "summarizer": summarizer,
                        "measure": measure.name,
                        "score": _score(part, measure.name, measure.factor, how),
                    }


def _score(part: Group, measure: str, factor: float, how: Averaging) -> EstimateColumns:
    return estimate(part, measure, how).scaled(factor).as_json()


def _of_key_points(measures: Sequence[Measure]) -> list[Measure]:
    return [measure for measure in measures if measure.judged_by == KEY_POINT.task]


def _stated(group: Group, stated: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, list[Scored]]]:
    """Return facet -> value -> summaries."""
    found: dict[str, dict[str, list[Scored]]] = {}
    for one in group:
        for facet, value in stated.get(one.info.query_id, {}).items():
            found.setdefault(facet, {}).setdefault(value, []).append(one)
    return {facet: dict(sorted(by_value.items())) for facet, by_value in sorted(found.items())}


def _by_length(group: Group) -> dict[str, list[Scored]]:
    """Return summaries in groups of about equal numbers, by their words; none if they are few or all alike."""
    lengths = [(one.measures[_LENGTH][0], one) for one in group if one.measures.get(_LENGTH, (0, 0, 0))[1]]
    if len(lengths) < _LEAST_SUMMARIES:
        return {}
    bounds = _bounds([length for length, _ in lengths])
    found: dict[str, list[Scored]] = {}
    for low, high in pairwise(bounds):
        name = f"{low:.0f} to {high - 1:.0f}"
        if part := [one for length, one in lengths if low <= length < high]:
            found[name] = part
    return found


def _bounds(lengths: Sequence[float]) -> list[float]:
    """Return the ends of the groups: each begins at a length, the last ends behind the longest."""
    quantiles = np.quantile(lengths, np.arange(_N_GROUPS) / _N_GROUPS, method="higher")
    return [*dict.fromkeys(float(one) for one in quantiles), max(lengths) + 1]
