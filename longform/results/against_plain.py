"""
Every method and order of documents against the plain one: faithfulness of the same summarizer on the same queries.

The plain system of a row has its retriever, budget and lengths, the order given and the plain method. The rows of a
judge and data set are a family, adjusted together (Holm, `stepwise_differences`).
"""

from __future__ import annotations

from collections.abc import Sequence

from longform.evidence.scores import samples
from longform.keys import stable_seed
from longform.metrics.paired_differences import Adjusted, n_sign_changes, stepwise_differences
from longform.metrics.statistics import Array
from longform.results.aggregate import Averaging, sums_of
from longform.results.checked import CheckedSummary, scores_of
from longform.results.faithfulness_tables import Group, Key, Row, groups
from longform.results.pairs import finding

_POINTS = 100.0


def against_plain(summaries: Sequence[CheckedSummary], how: Averaging) -> list[Row]:
    """
    Return a family for each judge and data set that has a method or order beside a plain one.

    Its rows are in points; `score` and `plain_score` are over all queries of a system, the difference over those that
    both have.
    """
    found = dict(groups(summaries))
    families: dict[tuple[str, str | None], list[tuple[Key, Key]]] = {}
    for key in found:
        plain = key._replace(system=key.system._replace(order="given", method="plain"))
        known = key.system.order is not None and key.system.permutation is None
        if known and key != plain and plain in found:
            families.setdefault((key.judge, key.dataset), []).append((key, plain))
    return [_family(found, pairs, how) for pairs in families.values()]


def _family(found: dict[Key, Group], pairs: Sequence[tuple[Key, Key]], how: Averaging) -> Row:
    judge, _, dataset = pairs[0][0]
    seed = stable_seed(how.seed, judge, dataset, "against plain")
    tested = stepwise_differences([_pair(found[key], found[plain]) for key, plain in pairs], seed=seed)
    n = max((one.difference.n_clusters for one in tested if one is not None), default=0)
    rows = [
        _row(key, plain, _mean(found[key]), _mean(found[plain]), one)
        for (key, plain), one in zip(pairs, tested, strict=True)
    ]
    return {"judge": judge, "dataset": dataset, "n_sign_changes": n_sign_changes(n), "rows": rows}


def _pair(group: Group, plain: Group) -> tuple[Array, Array]:
    clusters = list(dict.fromkeys(one.query_id for one in (*plain, *group)))
    return sums_of(scores_of(group), clusters), sums_of(scores_of(plain), clusters)


def _mean(group: Group) -> float | None:
    total, n = samples(scores_of(group), "pooled").select("total", "n").sum().row(0)
    return _POINTS * total / n if n else None


def _row(key: Key, plain: Key, score: float | None, plain_score: float | None, found: Adjusted | None) -> Row:
    difference = None if found is None else found.difference
    low, high = (None, None) if difference is None else (difference.low, difference.high)
    return {
        "summarizer": key.system.summarizer,
        "setting": key.system.setting,
        "plain": plain.system.setting,
        "order": key.system.order,
        "method": key.system.method,
        "score": score,
        "plain_score": plain_score,
        "difference": None if difference is None else _POINTS * difference.value,
        "low": None if low is None else _POINTS * low,
        "high": None if high is None else _POINTS * high,
        "p": None if difference is None else difference.p,
        "p_holm": None if found is None else found.p_holm,
        "n_queries": 0 if difference is None else difference.n_clusters,
        "finding": _finding(found),
    }


def _finding(found: Adjusted | None) -> str:
    """Say in words what the adjusted test shows of a system beside the plain one."""
    return finding(None) if found is None else finding(found.difference, too_few=found.too_few_clusters)
