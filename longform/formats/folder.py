"""
A folder of one's own files, and the questions to them: .txt, .md, .html, .pdf and .docx, in folders or not.

A document's id is its path below the folder, such as `minutes/march.md`, and documents stand in the order of their ids,
numbers in them as numbers: 2.txt before 10.txt. Hidden files are passed over.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from longform.errors import InputError, UsageError
from longform.formats.asked import questions, wanted_of
from longform.formats.faults import Faults
from longform.formats.files import Found, Named, SourceFile, last_part, only_folder
from longform.formats.jsonl import DEFAULT_HAYSTACK
from longform.formats.rows import HaystackRows
from longform.formats.texts import FileText, NoTextError, text_of
from longform.keys import in_groups
from longform.records import Document

_LOG = logging.getLogger(__name__)
_NAMED = 20


def folder_files(
    named: Named,
    *,
    queries: Sequence[SourceFile],
    insights: Sequence[SourceFile] = (),
    skip_unreadable: bool = False,
) -> Found:
    """
    Return the haystack of the one folder that is named.

    Raises:
        UsageError: There are no documents or questions, or files give no text: all of them are named.
        InputError: A file of questions or insights is not as its ending says.
    """
    url, files = only_folder(named, "folder")
    shown = {path: file for path, file in files.items() if not any(part.startswith(".") for part in path.split("/"))}
    texts, problems = _texts(shown)
    _tell(url, problems, len(texts), skip=skip_unreadable)
    _tell_twice(texts)
    used = {path: file for path, file in shown.items() if path.removesuffix(".gz") in texts}
    haystack = own_haystack(texts, queries, insights, Faults(skip=skip_unreadable))
    return Found([_Together(url, used), *queries, *insights], [haystack])


class _Together:
    """All files of a folder as one source: a manifest of 10,000 names would be read by nobody."""

    def __init__(self, url: str, files: Mapping[str, SourceFile]) -> None:
        self.name = self.path = last_part(url)
        self._files = files

    def lines(self) -> Iterator[bytes]:
        for file in self._files.values():
            yield from file.lines()

    def read(self) -> bytes:
        return b"".join(self.lines())

    def identity(self) -> dict[str, str]:
        """Return the folder's name, and the hash of the paths and contents of its files."""
        found = hashlib.sha256()
        for path in sorted(self._files):
            found.update(f"{path}\0{self._files[path].identity()['sha256']}\n".encode())
        return {"name": self.name, "files": str(len(self._files)), "sha256": found.hexdigest()}


def own_haystack(
    texts: Mapping[str, FileText], queries: Sequence[SourceFile], wanted: Sequence[SourceFile], faults: Faults
) -> HaystackRows:
    """
    Return documents by their ids, and the questions to them, as one haystack.

    Raises:
        InputError: Rows are faulty, of the documents or of these files, and not to be left out.
        UsageError: No document is left, or no question.
    """
    asked = {one.query_id: one for one in questions(queries, faults)}
    targets, qrels = wanted_of(wanted, asked, texts, faults)
    faults.settle()
    if not texts:
        raise UsageError("expected at least one document, found no row that can be read")
    return HaystackRows(DEFAULT_HAYSTACK, documents_of(texts), [*asked.values()], targets, qrels)


def documents_of(texts: Mapping[str, FileText]) -> list[Document]:
    """Return texts as the documents of one haystack, in their order."""
    return [
        Document(doc_id, DEFAULT_HAYSTACK, index, found.title, found.text)
        for index, (doc_id, found) in enumerate(texts.items())
    ]


def _texts(files: Mapping[str, SourceFile]) -> tuple[dict[str, FileText], dict[str, str]]:
    """Return the text of each file that has one, and of each other the reason."""
    texts: dict[str, FileText] = {}
    problems: dict[str, str] = {}
    for path in sorted(files, key=_by_numbers):
        try:
            texts[path.removesuffix(".gz")] = text_of(path, files[path].read())
        except NoTextError as error:
            problems[path] = str(error)
        except InputError as error:
            problems[path] = f"expected {error.expected}, found {error.found}"
        except OSError as error:
            problems[path] = f"it cannot be read ({_why(error)}); give yourself the right to read it, or delete it"
    return texts, problems


def _by_numbers(path: str) -> tuple[str, str]:
    """Return the key of an order that is that of texts but where two names have other numbers at one place."""
    return re.sub("0*([0-9]+)", lambda found: f"{len(found[1]):04}{found[1]}", path), path


def _why(error: OSError) -> str:
    """Return the system's words: those of Arrow repeat the path."""
    return os.strerror(error.errno) if error.errno else str(error)


def _tell(url: str, problems: Mapping[str, str], n_texts: int, *, skip: bool) -> None:
    lines = "\n".join(_listed(problems))
    if problems and not skip:
        raise UsageError(
            f"{url}: {len(problems)} of {len(problems) + n_texts} files give no text; nothing was written. Mend them, "
            f"or leave them out by --skip-unreadable\n{lines}"
        )
    if not n_texts:
        raise UsageError(
            f"{url}: expected documents (.txt, .md, .html, .pdf, .docx), found none{lines and chr(10)}{lines}"
        )
    if problems:
        _LOG.warning("%s: %d files give no text and are left out\n%s", url, len(problems), lines)


def _listed(problems: Mapping[str, str]) -> Iterator[str]:
    for path, why in [*problems.items()][:_NAMED]:
        yield f"  {path}: {why}"
    if len(problems) > _NAMED:
        yield f"  and {len(problems) - _NAMED} more"


def _tell_twice(texts: Mapping[str, FileText]) -> None:
    by_text = in_groups((found.text, doc_id) for doc_id, found in texts.items())
    twice = [", ".join(same[:3]) + (", ..." if len(same) > 3 else "") for same in by_text.values() if len(same) > 1]
    if twice:
        more = f"\n  and {len(twice) - _NAMED} more" if len(twice) > _NAMED else ""
        lines = "".join(f"\n  {same}" for same in twice[:_NAMED])
        _LOG.warning("files have the same text; each counts as a document of its own%s%s", lines, more)
