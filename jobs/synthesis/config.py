"""The configuration of a synthesis with chat models: read, and found out about before the first call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from actors.chat.opening import check_chat, load_prompt
from actors.local_models.checkpoints import check_checkpoint
from actors.storage.folder import file_place
from jobs.configs import is_file, read_yaml, validated
from longform.errors import UsageError
from longform.synthesis.key_points.recipe import KEY_POINTS
from longform.synthesis.multi_source.recipe import MULTI_SOURCE
from longform.synthesis.recipe import Recipe, SynthesisKind
from longform.synthesis.written.recipe import WRITTEN

KINDS: Mapping[str, SynthesisKind] = {"written": WRITTEN, "multi_source": MULTI_SOURCE, "key_points": KEY_POINTS}
"""The key `kind` of a configuration -> the kind; without the key it is `written`."""


class Opened(NamedTuple):
    """A recipe and its kind."""

    name: str  # of the kind
    kind: SynthesisKind
    recipe: Recipe[Any]
    prompts: list[str]  # versions


def read_config(name: str, changes: Sequence[str] = ()) -> Any:
    """
    Return the settings of a file, or of a preset by its name, with `key=value` changes applied.

    Raises:
        UsageError: They cannot be used.
    """
    content = read_yaml(name, folder="configs/syntheses")
    kind = content.get("kind", "written") if isinstance(content, dict) else "written"
    if not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(f"{name}: expected kind {' or '.join(KINDS)}, found {kind!r}")
    return validated(KINDS[kind].settings, content, changes, where=name)


def asks_models(name: str) -> bool:
    """Tell whether *name* is a preset of `synthesize-models`, or a file that states one of its kinds."""
    try:
        content = read_yaml(name, folder="configs/syntheses")
    except UsageError:
        return False
    return not is_file(name) or (isinstance(content, dict) and content.get("kind") in KINDS)


def open_recipe(settings: Any) -> Opened:
    """
    Return the recipe of *settings*, its files read.

    Raises:
        UsageError: A file or a prompt cannot be read, or a file holds something else.
    """
    kind = KINDS[settings.kind]
    prompts = sorted(load_prompt(name, settings.prompts).version for name in kind.forms)
    return Opened(settings.kind, kind, kind.make(settings, _read, prompts), prompts)


def _read(name: str) -> bytes:
    folder, file = file_place(name)
    try:
        return folder.read_bytes(file)
    except OSError as error:
        raise UsageError(f"{name}: {error}") from error


def check_synthesis(recipe: Recipe[Any], *, with_keys: bool = True) -> None:
    """
    Find out before the first call what can be known to fail; keys of models are looked for if *with_keys*.

    Raises:
        UsageError: Models cannot be used, or the recipe refuses its own settings.
    """
    for chat in recipe.checked_chats:
        check_chat(chat, with_key=with_keys)
    for encoder in recipe.encoders:
        check_checkpoint(encoder)
    recipe.check()
