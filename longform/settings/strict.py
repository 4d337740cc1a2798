"""The base of all settings."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue


class Strict(BaseModel):
    """
    A frozen model that refuses keys it does not know.

    Attributes:
        how_it_is_asked: Fields that say only how something is asked, such as limits and deadlines.
        newer: Fields that stored identities are older than: a part of an identity only if they are set.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    how_it_is_asked: ClassVar[frozenset[str]] = frozenset()
    newer: ClassVar[frozenset[str]] = frozenset()

    @property
    def identity(self) -> dict[str, JsonValue]:
        """Everything that can change an answer, as JSON values; changing the rest makes no work anew."""
        unset = {name for name in self.newer if getattr(self, name, None) is None}
        found = self.model_dump(mode="json", exclude={*self.how_it_is_asked, *unset})
        return found | {name: part.identity for name in found if isinstance(part := getattr(self, name, None), Strict)}

    @property
    def own_code(self) -> Mapping[str, str | None]:
        """The import paths of a user's classes and values that it names -> the folder of their module."""
        return {}


def imported(path: str) -> Any:
    """Return the class or value at the import *path* of a part that ships, MODULE:NAME."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


class PartSettings(Strict):
    """Settings of a part of an experiment; *actor* is the import path of the class that does its work."""

    actor: ClassVar[str]
