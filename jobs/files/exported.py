"""The files of an export: each is checked, and they are written once all of them are fine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from actors.python_class import guarded, returned, wrong
from actors.storage.folder import Folder
from actors.storage.json_files import as_bytes
from longform.formats.exported import ExportedFile


def write_files(
    form: str, files: Callable[[], Iterable[object]], folder: Folder
) -> tuple[list[str], int, Counter[str]]:
    """
    Write the *files* of the export *form* to *folder*.

    Return their names, the number of summaries in them, and counts of what the format cannot express.

    Raises:
        UserCodeError: A user's format raised, or yielded what is no file below the folder; nothing is written.
    """
    names: dict[str, None] = {}
    folders, left_out, n_summaries = set[str](), Counter[str](), 0
    with TemporaryDirectory() as unwritten:
        for value in guarded(form, "files", files):
            expected = "ExportedFile(name, bytes or a JSON document)"
            file = returned(form, "files", value, ExportedFile, expected=expected)
            above = {str(one) for one in PurePosixPath(file.name).parents}
            if file.name in names.keys() | folders or above & names.keys():
                raise wrong(form, "files", "a name that no other file or its folder has as name", file.name)
            Path(unwritten, str(len(names))).write_bytes(_content(form, file))
            names[file.name] = None
            folders |= above
            n_summaries += file.n_summaries
            left_out.update(file.left_out)
        for place, name in enumerate(names):
            folder.upload(Path(unwritten, str(place)), name)
    return [*names], n_summaries, left_out


def _content(form: str, file: ExportedFile) -> bytes:
    with suppress(TypeError, ValueError, RecursionError):
        if isinstance(file.content, bytes):
            return file.content
        if isinstance(file.content, dict | list):
            return as_bytes(file.content, sealed=False)
    raise wrong(form, "files", f"bytes or a JSON document as content of {file.name!r}", file.content)
