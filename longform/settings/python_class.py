"""Classes and values of a user's own, as a configuration names them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from posixpath import join
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, ValidationInfo, model_validator

from longform.settings.endpoints import Options
from longform.settings.strict import Strict

FOLDER = "folder"
"""The key of pydantic's validation context that holds the folder of the configuration file."""


class CodeSettings(Strict):
    """Settings that may name code outside of the package; its place changes no answer."""

    how_it_is_asked = frozenset({"folder"})

    folder: str | None = None  # where the module stands, read from the configuration's folder; null: that folder

    @classmethod
    def names_code(cls, content: dict[str, JsonValue]) -> bool:  # noqa: ARG003  settings that always do
        """Tell whether the settings of this *content* name any."""
        return True

    @model_validator(mode="before")
    @classmethod
    def _stands_beside_the_configuration(cls, content: Any, info: ValidationInfo) -> Any:
        beside = (info.context or {}).get(FOLDER)
        if not isinstance(content, dict) or beside is None or not cls.names_code(content):
            return content
        return content | {"folder": join(beside, content.get("folder") or "").rstrip("/")}


_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def _a_path(path: str) -> str:
    if not _PATH.fullmatch(path):
        raise ValueError(f"expected the path of a class, as my_module:MyClass, found {path[:60]!r}")
    return path


class PythonClassSettings(CodeSettings):
    """A class outside of the package, by its import path; it is made with `options` as keyword arguments."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)

    kind: Literal["python"]
    class_: Annotated[str, AfterValidator(_a_path)] = Field(alias="class")  # my_module:MyClass
    options: Options = Field(default_factory=dict)  # keyword arguments of its constructor

    @property
    def own_code(self) -> Mapping[str, str | None]:
        return {self.class_: self.folder}

    def __hash__(self) -> int:
        return hash(self.model_dump_json())  # options may be lists and mappings
