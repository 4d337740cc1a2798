"""
The README and the pages of docs/ as blocks of commands and of what they print.

A fence says what it is: a language, and behind it the kind of its commands (CONTRIBUTING.md lists the kinds).
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path
from typing import NamedTuple

from tests.places import ROOT

PAGES = [
    *("README.md", "CONTRIBUTING.md"),
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
    *sorted(f"docs/papers/{path.name}" for path in (ROOT / "docs/papers").glob("*.md")),
]
LANGUAGES = {"sh", "python", "yaml", "json", "text", "markdown"}
KINDS = {"", "make", "released", "served", "key", "cloud", "long", "usage"}

_FENCE = re.compile(r"^```([\w]*)[ ]?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

_FILE = re.compile(r"[\w/-]+\.(py|yaml|txt)")
_ASSIGNMENT = re.compile(r"[A-Z_]+=.*")


class Block(NamedTuple):
    language: str
    kind: str  # the word behind the language
    text: str


def text_of(page: str) -> str:
    return (ROOT / page).read_text()


def blocks(page: str) -> list[Block]:
    return [Block(*found) for found in _FENCE.findall(text_of(page))]


def commands(page: str, kind: str) -> str:
    """
    The page's commands of one kind as one shell script; programs in Python are fed to it.

    Those without a kind have the files that the page shows beside them.
    """
    found = [block for block in blocks(page) if block.language in {"sh", "python"} and block.kind == kind]
    files = "" if kind or not found else "".join(map(_written, files_shown(page)))
    return files + "\n".join(
        block.text if block.language == "sh" else f"python - <<'END'\n{block.text}END\n" for block in found
    )


def files_shown(page: str) -> list[Block]:
    """Return the blocks that are files: the word behind the language is a name such as `mine.yaml`."""
    return [block for block in blocks(page) if _FILE.fullmatch(block.kind)]


def _written(file: Block) -> str:
    folder = Path(file.kind).parent
    return f"mkdir -p {folder}\ncat > {file.kind} <<'END'\n{file.text}END\n"


def printed(page: str, kind: str) -> list[str]:
    """The lines that commands of *kind* print: those of each `text prints` block that follows one."""
    lines, latest = [], None
    for block in blocks(page):
        if block.language == "text" and block.kind == "prints" and latest == kind:
            lines += block.text.splitlines()
        elif block.language in {"sh", "python"}:
            latest = block.kind
    return lines


def run_commands(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run *script* as a reader would who has the project's commands on the path."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HF_HUB_OFFLINE": "1",
    }
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )


def pages_with(kind: str) -> list[str]:
    return [page for page in PAGES if commands(page, kind)]


def run_page(page: str, kind: str, folder: Path, *, url: str = "http://127.0.0.1:8000") -> None:
    """Run the commands of a *kind* as the page has them, and look for all that it says they print and write."""
    script = commands(page, kind).replace("http://127.0.0.1:8000", url)
    done = run_commands(script, folder)

    assert done.returncode == 0, f"{page}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    for line in printed(page, kind):
        assert line in done.stdout, f"{page}: the commands do not print {line!r}, but\n{done.stdout[-3000:]}"
    out = folders_written(script)
    for name in [*out, *named_files(page, out)]:
        assert (folder / name).exists(), f"{page}: {name} was not made"


def command_lines(script: str) -> Iterator[list[str]]:
    """
    The words of each command, without the documents that `cat` writes, assignments in front, and redirections.

    A command ends where what follows its failure begins (`2>&1 || echo ...`).
    """
    script = re.sub(r"<<'END'\n.*?^END$", "", script, flags=re.MULTILINE | re.DOTALL).replace("\\\n", " ")
    for words in _split(script.splitlines()):
        command = list(dropwhile(_ASSIGNMENT.fullmatch, words))
        if command:
            ends = (at for at, word in enumerate(command) if word in {">", "2>&1", "||"})
            yield command[: next(ends, None)]


def _split(lines: list[str]) -> Iterator[list[str]]:
    """Words of each line; a quotation may end on a later line."""
    open_line = ""
    for line in lines:
        try:
            yield shlex.split(open_line + line, comments=True)
        except ValueError:
            open_line += line + "\n"
        else:
            open_line = ""


def folders_written(script: str) -> list[str]:
    """Return the folder of every `--out`, but those of plans, which may write nothing."""
    found = [words for words in command_lines(script) if "--out" in words and "--plan" not in words]
    return [words[words.index("--out") + 1] for words in found]


def named_files(page: str, folders: list[str]) -> list[str]:
    """Return the files below *folders* that the page's prose names in backticks."""
    named = re.findall(r"`([\w./-]+\.\w+)`", _FENCE.sub("", text_of(page)))
    return [path for path in named if any(path.startswith(f"{folder}/") for folder in folders)]


def links(page: str) -> list[str]:
    """Return the relative targets of the page's links and pictures, each with its #anchor."""
    prose = _FENCE.sub("", text_of(page))
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", prose) if not re.match(r"[a-z]+:", target)]


def anchors(page: str) -> set[str]:
    """Return the anchors of the page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", _FENCE.sub("", text_of(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
