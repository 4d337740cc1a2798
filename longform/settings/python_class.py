"""Classes of a user's own, as a configuration names them."""

from __future__ import annotations

from posixpath import join
from typing import Any, Literal

from pydantic import ConfigDict, Field, JsonValue, ValidationInfo, model_validator

from longform.settings.strict import Strict

FOLDER = "folder"
"""The key of pydantic's validation context that holds the folder of the configuration file."""


class PythonClassSettings(Strict):
    """A class outside of the package, by its import path; it is made with `options` as keyword arguments."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)
    how_it_is_asked = frozenset({"folder"})

    kind: Literal["python"]
    class_: str = Field(alias="class", pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*$")  # my_module:MyClass
    options: dict[str, JsonValue] = Field(default_factory=dict)
    folder: str | None = None  # where the module stands, read from the configuration's folder; null: that folder

    @model_validator(mode="before")
    @classmethod
    def _stands_beside_the_configuration(cls, content: Any, info: ValidationInfo) -> Any:
        beside = (info.context or {}).get(FOLDER)
        if not isinstance(content, dict) or beside is None:
            return content
        return content | {"folder": join(beside, content.get("folder") or "").rstrip("/")}
