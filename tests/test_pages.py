"""README, CONTRIBUTING and every page of docs/: their commands are taken, run and print what the page shows."""

from __future__ import annotations

import argparse
import importlib
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import click
import pytest

from jobs.command_line import VERBS
from jobs.configs import read_experiment
from longform import __version__
from tests.pages import (
    KINDS,
    LANGUAGES,
    PAGES,
    anchors,
    blocks,
    command_lines,
    commands,
    links,
    pages_with,
    run_page,
    text_of,
)
from tests.pictures import PICTURE
from tests.places import ROOT
from tests.quickstart_files import write_quickstart

DECISIONS = sorted(f"docs/decisions/{path.name}" for path in (ROOT / "docs/decisions").glob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_every_fence_says_what_it_is(page: str) -> None:
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert {block.kind for block in blocks(page) if block.language == "sh"} <= KINDS


@pytest.mark.parametrize("page", PAGES)
def test_no_command_stands_outside_a_fence(page: str) -> None:
    assert not re.findall(r"^    (?:longform|python|ray|pytest|make) .*", text_of(page), re.MULTILINE)


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md", *DECISIONS])
def test_links_lead_somewhere(page: str) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        found = (ROOT / page).parent / path if path else ROOT / page
        assert found.exists(), f"{page}: no {path}"
        if anchor:
            assert anchor in anchors(str(found.resolve().relative_to(ROOT))), f"{page}: {target}"


def test_every_page_is_reached_from_the_readme() -> None:
    reached, new = set(), ["README.md"]
    while new:
        page = new.pop()
        reached.add(page)
        near = {(ROOT / page).parent / target.partition("#")[0] for target in links(page)}
        named = {str(path.resolve().relative_to(ROOT)) for path in near if path.suffix == ".md" and path.exists()}
        new += named - reached
    assert set(PAGES) <= reached


def test_readme_is_short() -> None:
    assert len(text_of("README.md").splitlines()) <= 150


def test_changelog_begins_with_the_version_of_the_package() -> None:
    versions = re.findall(r"^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$", text_of("CHANGELOG.md"), re.MULTILINE)

    assert versions[0] == __version__
    assert versions == sorted(versions, key=lambda version: [int(part) for part in version.split(".")], reverse=True)


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", text_of("Makefile"), re.MULTILINE))
    named = {words[1] for page in PAGES for words in command_lines(commands(page, "make")) if words[0] == "make"}
    assert named
    assert named <= targets


def commands_taken() -> Iterator[tuple[str, list[str]]]:
    """Each page's commands that are ours or Ray's; what is submitted stands beside the submission."""
    for page in PAGES:
        for block in blocks(page):
            for words in command_lines(block.text) if block.language == "sh" else ():
                submitted = words.index("--") if words[0] == "ray" and "--" in words else len(words)
                for command in (words[:submitted], words[submitted + 1 :]):
                    if command and (command[0] in {"longform", "ray", "serve"} or command[:2] == ["python", "-m"]):
                        yield page, command


@pytest.mark.parametrize(("page", "command"), [pytest.param(*one, id=" ".join(one[1])) for one in commands_taken()])
def test_commands_are_taken(page: str, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option and argument is known to the command; nothing runs."""
    if command[0] in {"ray", "serve"}:
        _read_by_ray(command)
    elif command[0] == "longform" and command[1] in VERBS:
        _read_by_program(f"jobs.{command[1].replace('-', '_')}", command[2:], monkeypatch)
    else:
        assert command[:2] == ["python", "-m"], page
        _read_by_program(command[2], command[3:], monkeypatch)


class _ReadError(Exception):
    """Stops a program that has read its command line."""


def _read_by_program(module: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    parse = argparse.ArgumentParser.parse_args

    def parse_and_stop(parser: argparse.ArgumentParser, argv: Sequence[str]) -> NoReturn:
        parse(parser, argv)
        raise _ReadError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_and_stop)
    program = importlib.import_module(f"{module}.__main__" if (ROOT / module).is_dir() else module)
    with pytest.raises(_ReadError):
        program.main(words)


def _read_by_ray(words: list[str]) -> None:
    scripts = importlib.import_module("ray.scripts.scripts" if words[0] == "ray" else "ray.serve.scripts")
    command, rest = scripts.cli, words[1:]
    while isinstance(command, click.Group):
        _, found, rest = command.resolve_command(click.Context(command), rest)
        assert found is not None
        command = found
    command.make_context(words[0], [*rest, "what is submitted"] if "submit" in words else rest)


@pytest.fixture(scope="module")
def readme_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the README's commands have run."""
    folder = tmp_path_factory.mktemp("readme")
    run_page("README.md", "", folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with(""))
def test_commands_run_as_written(page: str, readme_folder: Path, tmp_path: Path) -> None:
    if page != "README.md":  # whose commands the fixture has run
        shutil.copytree(readme_folder, tmp_path, dirs_exist_ok=True)
        if page == "docs/quickstart.md":
            write_quickstart(tmp_path)
        run_page(page, "", tmp_path)


def test_picture_of_the_readme_shows_the_systems_of_the_demo() -> None:
    shown = PICTURE.read_text()
    demo = read_experiment("demo")

    assert PICTURE.relative_to(ROOT).as_posix() in links("README.md")
    assert shown.startswith("<svg ")
    assert all(f">{name}" in shown for name in demo.retrievers)
