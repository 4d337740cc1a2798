"""Wrong configurations and command lines are told once, at their place, with what was meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jobs.config import main as config
from jobs.evaluate import parser as evaluate_parser
from jobs.export import parser as export_parser
from jobs.judge import parser as judge_parser

GOOD = """\
name: x
seed: 1
retrievers: {bm25: {kind: bm25}}
summarizers: {offline: {kind: offline}}
judges: {j: {kind: offline, calibration: people}}
systems: [{retriever: bm25, budget_tokens: 300, summarizer: offline}]
"""


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("kind: bm25", "kind: bm52", "retrievers.bm25.kind: no kind 'bm52'; .*did you mean 'bm25'"),
        ("budget_tokens", "budget_token", "systems.0.budget_token: no such key; did you mean 'budget_tokens'"),
        ("300", "-3", "systems.0.budget_tokens.0: Input should be greater than 0, found '-3'"),
        ("people", "peple", "judges.j.calibration: .*found 'peple'; did you mean 'people'"),
        ("retriever: bm25", "retriever: bm", "systems.retriever names 'bm'; .*did you mean 'bm25'"),
        ("seed: 1", "seed: 1\naggregate: poled", "aggregate: .*found 'poled'; did you mean 'pooled'"),
        ("seed: 1", "seed: 1\nseed: 2", "the key 'seed' stands twice"),
        ("seed: 1", "seed: 1\ncutoff: [5]", "cutoff: no such key; did you mean 'cutoffs'"),
        ("[{retriever: bm25, budget_tokens: 300, summarizer: offline}]", "[]", "systems: .*at least 1 item"),
    ],
)
def test_one_fault_is_one_line_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, told: str
) -> None:
    (tmp_path / "c.yaml").write_text(GOOD.replace(before, after))

    assert config([str(tmp_path / "c.yaml")]) == 2

    said = capsys.readouterr().err
    assert re.search(told, said)
    assert "Value error" not in said
    assert " 2 wrong" not in said


def test_a_part_set_to_null_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert config(["demo", "--set", "judges.lexical=null"]) == 0
    assert "lexical" not in re.sub("#.*", "", capsys.readouterr().out)


def test_a_short_name_of_presets_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert config(["demo", "--set", "budgt=300"]) == 2
    assert "did you mean 'budget'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("parser", "words", "told"),
    [
        (export_parser, ["run", "--as", "parqet", "--out", "x"], "did you mean 'parquet'?"),
        (export_parser, ["run", "--ass", "csv"], "no option --ass; did you mean '--as'?"),
        (judge_parser, ["a", "--bnech", "b"], "no option --bnech; did you mean '--bench'?"),
        (
            judge_parser,
            ["a", "--bench", "b", "--fail-unter=x=3"],
            "no option --fail-unter; did you mean '--fail-under'?",
        ),
        (evaluate_parser, ["demo", "--out", "x", "--until", "jugde"], "did you mean 'judge'?"),
    ],
)
def test_options_and_choices_are_mended(
    capsys: pytest.CaptureFixture[str], parser: type, words: list[str], told: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(words)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_beginnings_of_options_and_words_behind_a_dash_are_no_slips(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        judge_parser().parse_args(["--be", "b", "--work=x", "--", "--nothing"])
    said = capsys.readouterr().err
    assert "--workers" in said
    assert "no option" not in said
