"""A GGUF file, here or on `s3://`; one on S3 is copied once a machine and content, as checkpoints are."""

from __future__ import annotations

from pathlib import Path

from actors.local_models.checkpoint_files import S3, Stated, appear, copy, stated_of
from actors.local_models.checkpoints import cache_folder
from longform.errors import UsageError
from longform.keys import content_key

_MAGIC = b"GGUF"


def gguf_path(model: str, *, cache: Path | None = None) -> str:
    """
    Return the path of a GGUF file on this machine.

    Args:
        model: A path, or an `s3://` URL of one file.
        cache: The folder of copies from S3; None: the environment's.

    Raises:
        UsageError: There is no such file, or it is none of GGUF.
    """
    if not model.startswith(S3):
        if not Path(model).is_file():
            raise UsageError(f"model {model!r}: expected the path of a GGUF file, found no file there")
        return model
    url, _, name = model.rpartition("/")
    stated = stated_of(model)
    folder = (cache or cache_folder()) / _content_of(name, stated)
    if not folder.is_dir():
        appear(folder, model, lambda unfinished: copy(url, {name: stated}, unfinished), check=_check_magic)
    return str(folder / name)


def gguf_content(model: str) -> str:
    """
    Return a hash that changes with the file: of its name and its tag on S3, or of its name, size and time on a disk.

    Raises:
        UsageError: There is no such file.
    """
    if model.startswith(S3):
        return _content_of(Path(model).name, stated_of(model))
    file = Path(gguf_path(model)).stat()
    return content_key("gguf", Path(model).name, file.st_size, file.st_mtime_ns)


def _content_of(name: str, stated: Stated) -> str:
    return content_key("gguf", name, stated.tag)


def _check_magic(folder: Path, model: str) -> None:
    (file,) = folder.iterdir()
    with file.open("rb") as stream:
        beginning = stream.read(len(_MAGIC))
    if beginning != _MAGIC:
        raise UsageError(f"model {model!r}: expected a file of GGUF, found one that begins with {beginning!r}")
