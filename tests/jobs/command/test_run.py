"""The command line: verbs, exit codes, one JSON document."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from importlib import import_module

import pytest

from jobs import calibrate, ingest, train
from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, run_verb
from jobs.command_line import GROUPS, VERBS, main
from lab.train import MODELS
from longform.errors import InputError, LongformError, UsageError
from longform.formats.names import FORMATS
from longform.judges.merges import DOCUMENT


def test_every_verb_has_its_module_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in VERBS:
        with pytest.raises(SystemExit) as ended:
            main([verb, "--help"])
        assert ended.value.code == 0
        assert f"longform {verb}" in capsys.readouterr().out


def test_unknown_verb_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evalute"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "longform: expected a verb, found 'evalute'; did you mean 'evaluate'?; longform --help has all verbs"


def test_verbs_fit_a_screen_by_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 28
    assert max(map(len, lines)) <= 80
    words = {word.strip(",") for line in lines for word in line.split()}
    assert {*VERBS} <= words
    assert {*GROUPS} <= {*lines}


@pytest.mark.parametrize("verb", VERBS)
def test_help_begins_with_at_most_five_options(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    purpose, *sections = re.split(r"\n\n(?=[\w ,]+:\n)", capsys.readouterr().out)
    titles = [part.partition(":")[0] for part in sections if not part.startswith("arguments:")]
    made = import_module(f"jobs.{verb.replace('-', '_')}").parser()
    first = "".join(part for part in sections if part.startswith("options used most:"))
    used = re.findall(r"^  (--[\w-]+)", first, re.MULTILINE)
    assert purpose.startswith(f"usage: longform {verb} ")
    assert titles[0] == ("options used most" if used else "options of every verb")
    assert titles.count("options of every verb") == 1
    assert len(used) <= 5
    assert {flag for action in made._actions if action.required for flag in action.option_strings} <= {*used}


@pytest.mark.parametrize("verb", VERBS)
def test_a_usage_error_is_one_line(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--no-such-option"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"longform {verb}: ")
    assert line.endswith("--help has all options")


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

    assert run_verb(VerbParser("x", None), work, []) == code
    captured = capsys.readouterr()
    assert str(error) in captured.err
    assert captured.out == ""


def test_json_is_one_document_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    def work(_: argparse.Namespace) -> Outcome:
        print("what a class of somebody else's says")
        return Outcome({"a": [1]}, "words")

    run_verb(VerbParser("x", None), work, ["--json"])

    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"a": [1]}
    assert "somebody else's" in captured.err


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    code = (
        "import sys; from jobs.command.run import Outcome, run_verb; from jobs.command.parser import VerbParser\n"
        "sys.exit(run_verb(VerbParser('x', None), lambda _: Outcome({}, 'word ' * 1_000_000), []))"
    )
    command = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert command.stdout is not None
    assert command.stderr is not None
    assert command.stdout.read(4) == b"word"
    command.stdout.close()

    assert command.stderr.read() == b""
    assert command.wait() == 0


COMMAND_LINES = ["", *VERBS, "train checker", "train support-judge"]
LOADED = """
import sys
from jobs.command_line import main
try:
    main([*sys.argv[1:], "--help"])
except SystemExit:
    pass
loaded = {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names
print(sorted(name for name in loaded if not name.startswith("__")), file=sys.stderr)
"""


@pytest.mark.parametrize("words", COMMAND_LINES)
def test_help_loads_nothing_but_the_standard_library(words: str) -> None:
    """A command that only prints must not cost seconds: what is not in this list loads when it is used."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path}\n{LOADED}", *words.split()],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.strip() == str(["jobs", *(["lab"] if words.startswith("train") else []), "longform"])
    assert f"longform {words}".strip() in done.stdout


def test_wrong_words_end_before_a_library_loads() -> None:
    line = "import sys; from jobs.command_line import main\ntry: main(['evaluate', '--limit', 'x'])\n"
    code = f"{line}except SystemExit as e: print(e.code, 'pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "False"]
    assert "--limit" in done.stderr


def test_products_of_matrices_have_one_thread_by_the_time_numpy_loads() -> None:
    """More threads give other last digits: a run in one process has not those of workers, who have one on Ray."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    code = "import os, sys, jobs; print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]


def test_parsers_name_what_there_is() -> None:
    """They spell names out, so as not to load what defines them."""
    assert (*FORMATS, ingest.PYTHON, ingest.IR_DATASETS, ingest.OUTPUTS) == ingest.KINDS
    assert (*MODELS, "all") == train.NAMES
    assert calibrate.parser().get_default("modes") == DOCUMENT


def test_pages_are_written_without_the_libraries_of_frames() -> None:
    """They are large: a process that queries nothing does not hold them."""
    modules = "jobs.results.write, jobs.evaluations.replay, jobs.evaluations.evaluation"
    line = f"import sys, {modules}; print({{'polars', 'pandas'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["set()"]
