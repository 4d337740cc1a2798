"""Shells are asked what they complete."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from pathlib import Path

import pytest

from jobs.command_line import VERBS
from jobs.completion import SCRIPTS, main, verbs
from longform.formats.names import EXPORTS

"""Seconds from TAB to answer, the start of the shell included."""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, known = tmp_path_factory.mktemp("scripts"), list(verbs())
    for shell, script in SCRIPTS.items():
        (folder / shell).write_text(script(known))
    return folder


def completed(scripts: Path, *words: str) -> set[str]:
    """Return what bash offers at the end of *words*, of which the last is under way."""
    quoted = " ".join(f"'{word}'" for word in words)
    asked = f"source {scripts}/bash; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _longform; "
    done = subprocess.run(
        ["bash", "-c", asked + 'printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_verbs_options_and_values_are_completed(scripts: Path) -> None:
    assert completed(scripts, "longform", "") >= set(VERBS)
    assert completed(scripts, "longform", "ex") == {"export"}
    assert completed(scripts, "longform", "export", "run", "--as", "") == set(EXPORTS)
    assert completed(scripts, "longform", "judge", "a.jsonl", "--fail-u") == {"--fail-under"}
    assert completed(scripts, "longform", "judge", "--judge", "offline-k") == {"offline-key-points"}
    assert "summhay_paper" in completed(scripts, "longform", "evaluate", "summ")
    assert completed(scripts, "longform", "completion", "--json", "") == set(SCRIPTS)


def test_values_of_options_are_no_arguments(scripts: Path) -> None:
    assert "demo" in completed(scripts, "longform", "evaluate", "--out", "runs", "d")
    assert completed(scripts, "longform", "ingest", "beir", "") == set()  # files, by the shell itself
    assert completed(scripts, "longform", "evaluate", "demo", "--out", "") == set()


def test_every_option_of_every_verb_stands_in_every_script(scripts: Path) -> None:
    bash, fish = (scripts / "bash").read_text(), (scripts / "fish").read_text()
    for verb in VERBS:
        parser = importlib.import_module(f"jobs.{verb.replace('-', '_')}").parser()
        for flag in (flag for action in parser._actions for flag in action.option_strings if flag.startswith("--")):
            assert f" {flag} " in bash.replace('"', " ")
            assert f"{verb}' " in fish
            assert f"-l {flag[2:]} " in fish


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_script(scripts: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", str(scripts / shell)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(scripts: Path) -> None:
    asked = f"source {scripts}/fish; complete -C 'longform export --as '"
    done = subprocess.run(["fish", "-c", asked], capture_output=True, text=True, check=True)
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == set(EXPORTS)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_takes_the_function(scripts: Path) -> None:
    asked = f"source {scripts}/zsh; whence -w _longform"
    done = subprocess.run(["zsh", "-f", "-c", asked], capture_output=True, text=True, check=True)
    assert "function" in done.stdout


def test_the_script_is_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bash"]) == 0
    assert "complete -o default -F _longform longform" in capsys.readouterr().out
