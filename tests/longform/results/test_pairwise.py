"""The chooser's tests are those of the comparisons with the reference, and of the groups."""

from __future__ import annotations

import numpy as np

from longform.results.comparisons import members_of, system_groups
from longform.results.pairs import all_pairs, signs_seed
from longform.results.pairwise import _columns, _letters, places_of
from tests.longform.results.test_comparisons import one, system


def test_a_pair_has_the_same_numbers_with_the_reference_and_in_the_chooser() -> None:
    rng = np.random.default_rng(2)
    summaries = [s for k in range(5) for s in system(f"s{k}", list(rng.uniform(0.2 * k / 4, 0.5 + 0.5 * k / 4, 12)))]
    family = one(summaries)
    members, clusters = members_of(summaries, "joint", "pooled", {})
    columns = _columns(all_pairs([member.sums for member in members], seed=signs_seed(1)), len(clusters), 100.0)
    names = [str(member.name) for member in members]
    reference = names.index(family["reference"])
    assert family["n_tests"] == 10
    for row in family["rows"]:
        first, second = sorted((names.index(row["system"]), reference))
        place = places_of(5).index((first, second))
        assert round(abs(row["difference"]), 6) == abs(columns["difference"][place])
        assert round(row["p"], 6) == columns["p"][place]
        apart = abs(columns["difference"][place]) > columns["half"][place]
        assert apart == (columns["p"][place] <= 0.05) == (row["finding"] in ("better", "worse"))


def test_groups_agree_with_findings_and_letters_with_groups() -> None:
    summaries = system("a", [0.9] * 8) + system("b", [0.89, 0.91] * 4) + system("c", [0.1, 0.12] * 4)
    family = one(summaries)
    apart = {row["system"] for row in family["rows"] if row["finding"] == "worse"}
    assert family["groups"] == [["a, bm25", "b, bm25"], ["c, bm25"]]
    assert apart == {"c, bm25"}
    assert _letters(family["groups"]) == {"a, bm25": "a", "b, bm25": "a", "c, bm25": "b"}
    members, _ = members_of(summaries, "joint", "pooled", {})
    assert system_groups(members, None) is None
