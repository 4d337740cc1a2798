"""Finds the files of answers that a command names: JSON Lines, tables, and texts named by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jobs.files.located_file import LocatedFile, files_under
from longform.errors import UsageError
from longform.formats.answer_files import ENDINGS, LINES, TEXTS, AnswerFile
from longform.formats.files import SourceFile
from longform.formats.texts import ending_of


def output_files(urls: Sequence[str]) -> list[SourceFile]:
    """
    Return the files of answers that are named; of a folder, those of JSON Lines and tables, or else the texts.

    Raises:
        UsageError: One is not there, is named twice, or texts and other files lie in one folder.
    """
    found: list[tuple[LocatedFile, str]] = []
    for url in urls:
        under = files_under(url)
        names = [*under] if len(under) == 1 else _answers(under)
        if not names:
            raise UsageError(f"{url}: expected a file of answers ({', '.join(ENDINGS)}), found none")
        _check_one_kind(url, names)
        folder = Path(url).absolute().name if "://" not in url else url.rstrip("/").rsplit("/", 1)[-1]
        alone = next(iter(under.values())).url == url
        found += [(under[name], _of_one(url) if alone else f"{folder}/{name}") for name in names]
    located = [file.url for file, _ in found]
    if twice := sorted({url for url in located if located.count(url) > 1}):
        raise UsageError(f"expected each file of answers once, found {', '.join(twice)} twice")
    paths = [file.path for file, _ in found]
    apart = [(LocatedFile(one.url, one.url) if paths.count(one.path) > 1 else one, place) for one, place in found]
    return [
        file if ending_of(file.name) not in ENDINGS[len(LINES) :] else AnswerFile(file, place) for file, place in apart
    ]


def _of_one(url: str) -> str:
    """Return the place of a text that is named itself: its folder is its system."""
    return str(Path(url).absolute()) if "://" not in url else url


def _answers(under: Mapping[str, LocatedFile]) -> list[str]:
    """Return the names of JSON Lines, or else of tables and texts, without hidden ones."""
    shown = [name for name in under if not any(part.startswith(".") for part in name.split("/"))]
    lines = [name for name in shown if ending_of(name) in LINES]
    return lines or [name for name in shown if ending_of(name) in ENDINGS]


def _check_one_kind(url: str, names: Sequence[str]) -> None:
    texts = [name for name in names if ending_of(name) in TEXTS]
    if texts and len(texts) < len(names):
        other = next(name for name in names if name not in texts)
        raise UsageError(f"{url}: expected texts or tables of answers, found both ({texts[0]}, {other}); part them")
