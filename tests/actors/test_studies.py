"""Studies of a user's own: found by import path beside those that ship, checked, and drawn as a table."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from actors.python_class import UserCodeError
from actors.studies import check_studies, open_studies
from longform.errors import UsageError
from longform.evidence.scan import pl
from longform.report.result_tables import table_sections
from longform.results.evidence import Evidence
from longform.settings.python_class import FOLDER, PythonClassSettings
from longform.studies import LISTED
from longform.studies.study import study_tables
from tests.frames import contents_of, spent_of, summary_frame
from tests.longform.studies.test_key_points import QUESTIONS, evidence
from tests.modules import Write

NOTHING = cast(Evidence, None)
RANKED: dict[str, Any] = {
    **dict.fromkeys(("system", "retriever", "reranker", "query_id"), pl.String),
    "doc_ids": pl.List(pl.String),
    "budget_tokens": pl.Int64,
    "cut_share": pl.Float64,
}
NOTHING_ELSE: dict[str, Any] = {
    "gold": {},
    "spent": spent_of({}),
    "cutoffs": (),
    "ranking_measures": (),
    "contents": contents_of(),
    "frames": SimpleNamespace(summaries=summary_frame([]).lazy()),
    "datasets": {},
    "checked": None,
    "experiment": None,
    "calls": None,
    "compare_with": None,
    "sensitivity": "ours",
    "asked_again": tuple,
    **dict.fromkeys(("rankings", "contexts"), lambda: pl.DataFrame(schema=RANKED)),
}
"""The evidence that a run lacks if its summaries are scored, and nothing was ranked, repaired or called."""
SPREAD = """
from longform.metrics.statistics import Estimate

class Spread:
    title = "Spread of scores"
    told = "Higher is wider."

    def __init__(self, name="spread", measures=(), value=1.5, needs=("scores",)):
        self.name, self.measures, self.value, self.needs = name, measures, value, needs

    def result(self, evidence):
        return [{"system": "a", "n": 2, "spread": Estimate(10.0, 5.0, 15.0, 2)}, {"system": "b", "more": self.value}]
"""


def own(folder: Path, path: str = "their_study:Spread", **options: Any) -> PythonClassSettings:
    content = {"kind": "python", "class": path, "options": options}
    return PythonClassSettings.model_validate(content, context={FOLDER: str(folder)})


def test_a_class_is_a_study_and_a_section(write: Write, tmp_path: Path) -> None:
    write("their_study", SPREAD)

    shipped, study = open_studies(["calls", own(tmp_path, measures=["rouge_1"])])
    results = {"tables": study_tables([study], NOTHING)}
    (section,) = table_sections(results)
    (table,) = section.tables

    assert (shipped.name, study.name, tuple(study.measures)) == ("calls", "spread", ("rouge_1",))
    assert (section.title, table.caption) == ("Spread of scores", "Higher is wider. Brackets: 95 % interval.")
    assert [column.head for column in table.columns] == ["system", "n", "spread", "more"]
    assert [[cell.text for cell in row] for row in table.cells] == [["a", "2", "10.0", None], ["b", None, None, "1.5"]]
    assert table.cells[0][2].detail == "[5.0, 15.0]"


@pytest.mark.parametrize("name", LISTED)
def test_a_shipped_study_is_the_same_file_outside_the_package(write: Write, tmp_path: Path, name: str) -> None:
    module, _, class_name = LISTED[name].partition(":")
    write("moved_out", Path(str(find_spec(module).origin)).read_text())
    made: Any = SimpleNamespace(**{**NOTHING_ELSE, **vars(evidence({"j": QUESTIONS}))})

    (shipped,), (own_copy,) = open_studies([name]), open_studies([own(tmp_path, f"moved_out:{class_name}")])

    assert own_copy.result is not shipped.result
    assert study_tables([own_copy], made) == study_tables([shipped], made)
    with pytest.raises(UsageError, match=f"found {name} more than once"):
        check_studies([name, own(tmp_path, f"moved_out:{class_name}")])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([{"name": "judges"}], "judges is a name that results have already; give yours another"),
        ([{"name": "calls_planned"}], "calls_planned is a name that results have already; give yours another"),
        ([{}, {"value": 2}], "expected different names, found spread more than once"),
        ([{"measures": ["rouge"]}], "their_study:Spread: measures: expected some of .*, found rouge"),
        ([{"needs": ["table"]}], "their_study:Spread: needs: expected some of calls, .*, found table"),
        ([{"needs": ["scors"]}], "needs: expected some of .*, found scors; did you mean 'scores'"),
    ],
)
def test_names_are_known_and_free(write: Write, tmp_path: Path, options: list[dict[str, Any]], said: str) -> None:
    write("their_study", SPREAD)

    with pytest.raises(UsageError, match=said):
        check_studies([own(tmp_path, **one) for one in options])


WRONG = """
import polars
from longform.tables.table import Column, Table

class Wrong:
    name = "wrong"

    def __init__(self, kind):
        self.kind = kind

    def result(self, evidence):
        frame = polars.DataFrame({"x": [1.0]})
        return {"number": 0.5, "frame": frame, "table": Table("t", [Column("x")], [], "Head", ["x"])}[self.kind]
"""


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("number", "expected a Table, a list of Tables, or rows that are mappings, found 0.5"),
        (
            "frame",
            "row 0: expected a mapping of columns to values, found shape: (?s:.*); a frame has rows as `to_dicts",
        ),
        ("table", r"table t: expected a text as told, found \['x'\]; name the arguments"),
    ],
)
def test_a_result_of_another_form_is_an_error_that_says_what_was_expected(
    write: Write, tmp_path: Path, kind: str, said: str
) -> None:
    write("their_study", WRONG)
    (study,) = open_studies([own(tmp_path, "their_study:Wrong", kind=kind)])

    with pytest.raises(UserCodeError, match=said):
        study.result(NOTHING)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1], r"row 1, column more: expected a text, texts, a number, an Estimate or None, found \[1\]"),
        ("nan", "finite"),
    ],
)
def test_what_no_table_can_show_is_an_error(write: Write, tmp_path: Path, value: object, said: str) -> None:
    write("their_study", SPREAD.replace("self.value}", "float('nan') if self.value == 'nan' else self.value}"))
    (study,) = open_studies([own(tmp_path, value=value)])

    with pytest.raises(UserCodeError, match=said):
        study.result(NOTHING)
