"""A GGUF file, here or on `s3://`; one on S3 is copied once a machine and content, as checkpoints are."""

from __future__ import annotations

from pathlib import Path

from actors.checkpoint_files import S3, appear, copy, stated_of
from actors.checkpoints import cache_folder
from longform.errors import UsageError
from longform.keys import content_key

_MAGIC = b"GGUF"


def gguf_path(model: str, *, cache: Path | None = None) -> str:
    """
    The path of a GGUF file on this machine.

    Args:
        model: A path, or an `s3://` URL of one file.
        cache: Where copies from S3 stand; None: as the environment says.

    Raises:
        UsageError: There is no such file, or it is none of GGUF.
    """
    if not model.startswith(S3):
        if not Path(model).is_file():
            raise UsageError(f"model {model!r}: expected the path of a GGUF file, found no file there")
        return model
    url, _, name = model.rpartition("/")
    content = {name: stated_of(model)}
    folder = (cache or cache_folder()) / gguf_content(model)
    if not folder.is_dir():
        appear(folder, model, lambda unfinished: copy(url, content, unfinished), check=_check_magic)
    return str(folder / name)


def gguf_content(model: str) -> str:
    """
    A hash that changes with the file: of its name and size, and of its tag on S3 or its time on a disk.

    Raises:
        UsageError: There is no such file.
    """
    if model.startswith(S3):
        return content_key("gguf", Path(model).name, stated_of(model).tag)
    file = Path(gguf_path(model)).stat()
    return content_key("gguf", Path(model).name, file.st_size, file.st_mtime_ns)


def _check_magic(folder: Path, model: str) -> None:
    (file,) = folder.iterdir()
    with file.open("rb") as stream:
        beginning = stream.read(len(_MAGIC))
    if beginning != _MAGIC:
        raise UsageError(f"model {model!r}: expected a file of GGUF, found one that begins with {beginning!r}")
