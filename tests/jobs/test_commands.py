"""The command line: verbs, exit codes, one JSON document."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import pytest

from jobs.commands import VERBS, Outcome, main, run_verb, verb_parser
from longform.errors import InputError, LongformError, UsageError


def test_every_verb_has_its_module_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in VERBS:
        with pytest.raises(SystemExit) as ended:
            main([verb, "--help"])
        assert ended.value.code == 0
        assert f"longform {verb}" in capsys.readouterr().out


def test_unknown_verb_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evalute"]) == 2
    assert "evaluate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (LongformError("broke"), 1),
        (UsageError("no such thing"), 2),
        (InputError(file="f", record="line 1", field="x", expected="a", found="b"), 2),
    ],
)
def test_error_is_one_message_and_its_code(error: LongformError, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    def work(_: argparse.Namespace) -> Outcome:
        raise error

    assert run_verb(verb_parser("x", None), work, []) == code
    captured = capsys.readouterr()
    assert str(error) in captured.err
    assert captured.out == ""


def test_json_is_one_document_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    run_verb(verb_parser("x", None), lambda _: Outcome({"a": [1]}, "words"), ["--json"])

    assert json.loads(capsys.readouterr().out) == {"a": [1]}


def test_help_of_the_command_imports_no_ray() -> None:
    """A command that only prints must not cost seconds."""
    code = "import sys; from jobs.commands import main; main(['--help']); assert 'ray' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
