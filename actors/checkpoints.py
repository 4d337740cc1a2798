"""
A checkpoint by hub name, folder, `package:NAME`, `s3://` or `shipped:NAME`.

One on S3 is copied once into a folder of this machine that is named by its content, so that a new upload is a new
folder and nobody reads half a copy. One that ships is a change of the packaged MiniLM, put together in the same way.
`LONGFORM_CACHE` says where such folders stand; without it they stand in the user's cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from actors.encoder import MINILM, model_path
from actors.storage import Folder
from longform.errors import UsageError
from longform.keys import content_key

CACHE_ENV = "LONGFORM_CACHE"

_S3 = "s3://"
_SHIPPED = "shipped:"
_MARKER = "config.json"


def checkpoint_path(model: str, *, cache: Path | None = None) -> str:
    """
    The folder of a checkpoint, on S3 or not; a hub name as it is.

    Args:
        model: As the configuration names it.
        cache: Where copies from S3 stand; None: as the environment says.

    Raises:
        UsageError: There is no checkpoint of that name.
    """
    if model.startswith(_SHIPPED):
        return str(_assembled(model, cache or cache_folder()))
    return str(_copied(model, cache or cache_folder())) if model.startswith(_S3) else model_path(model)


def checkpoint_content(model: str) -> str:
    """
    A hash of a checkpoint's files, the name of one on a hub.

    Raises:
        UsageError: As `checkpoint_path` says.
    """
    if model.startswith(_S3):
        return content_key(_checked(model))
    if model.startswith(_SHIPPED):
        return change_content(_shipped_change(model))
    folder = Path(model_path(model))
    if not folder.is_dir():
        return model
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return content_key({str(path.relative_to(folder)): _digest(path) for path in files})


def cache_folder() -> Path:
    """Where copies from S3 stand."""
    stated = os.environ.get(CACHE_ENV)
    if stated:
        return Path(stated).expanduser() / "checkpoints"
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "longform" / "checkpoints"


def change_content(file: Path) -> str:
    """A hash of a change of the packaged MiniLM, and of what it is a change of."""
    return content_key([_digest(file), MINILM])


def _shipped_change(model: str) -> Path:
    file = Path(str(files("longform.models").joinpath(f"{model.removeprefix(_SHIPPED)}.safetensors")))
    if not file.is_file():
        shipped = sorted(f"{_SHIPPED}{path.stem}" for path in file.parent.glob("*.safetensors"))
        raise UsageError(f"no model {model!r}: expected one of {shipped}")
    return file


def _assembled(model: str, cache: Path) -> Path:
    change = _shipped_change(model)
    folder = cache / change_content(change)
    if not folder.is_dir():
        from safetensors.torch import load_file

        from actors.low_rank import write_checkpoint

        tensors = load_file(change)
        _appear(folder, model, lambda unfinished: write_checkpoint(Path(model_path(MINILM)), tensors, unfinished))
    return folder


def _copied(url: str, cache: Path) -> Path:
    content = _checked(url)
    folder = cache / content_key(content)
    if not folder.is_dir():
        _copy(url, content, folder)
    return folder


def _checked(url: str) -> dict[str, str]:
    content = _listed(url)
    if _MARKER not in content:
        msg = f"model {url!r}: expected a folder with {_MARKER} there; found {sorted(content)[:10] or 'nothing'}"
        raise UsageError(msg)
    return content


def _copy(url: str, content: Mapping[str, str], folder: Path) -> None:
    source = Folder(url)

    def fill(unfinished: Path) -> None:
        for name in content:
            target = unfinished / name
            target.parent.mkdir(parents=True, exist_ok=True)
            source.download(name, target)

    _appear(folder, url, fill)


def _appear(folder: Path, model: str, fill: Callable[[Path], None]) -> None:
    """*folder*, filled under another name, then renamed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        fill(unfinished)
        unfinished.rename(folder)
    except OSError as error:
        if not folder.is_dir():  # else another worker was faster
            raise UsageError(f"model {model!r}: cannot be copied to {folder}: {error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _listed(url: str) -> dict[str, str]:
    """Name in the folder -> hash of the content, as S3 states it."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, key = url.removeprefix(_S3).rstrip("/").partition("/")
    prefix = f"{key}/" if key else ""
    try:
        pages: Any = (
            boto3.Session().client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        )
        listed = [entry for page in pages for entry in page.get("Contents", [])]
    except (BotoCoreError, ClientError, ValueError) as error:
        raise UsageError(f"model {url!r}: cannot be listed: {error}") from error
    named = {entry["Key"].removeprefix(prefix): entry["ETag"] for entry in listed}
    return {name: tag for name, tag in named.items() if name and not name.endswith("/")}
