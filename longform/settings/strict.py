"""The bases of all settings, and the resources that a part asks of the cluster for each process that holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any, ClassVar, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, field_validator, model_validator

_LARGEST = 2**31 - 1  # a count, limit or share, which clocks, columns and workers hold
_LARGEST_SEED = 2**53 - 1  # which every server reads from JSON as it is
_LARGEST_STORED = 2**63 - 1

Count = Annotated[int, Field(gt=0)]


class Strict(BaseModel):
    """A frozen model that refuses keys it does not know, and numbers that a run cannot hold."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)
    how_it_is_asked: ClassVar[frozenset[str]] = frozenset()  # fields that are only limits, deadlines and the like
    newer: ClassVar[frozenset[str]] = frozenset()  # of an identity only if set: stored identities are older

    @model_validator(mode="before")
    @classmethod
    def _no_number_is_true(cls, content: Any) -> Any:
        for name in _number_fields(cls) if isinstance(content, Mapping) else ():
            if any(isinstance(value, bool) for value in _values(content.get(name))):
                raise ValueError(f"{name}: expected a number, found true or false")
        return content

    @field_validator("*", mode="after")
    @classmethod
    def _numbers_can_be_held(cls, value: Any, info: ValidationInfo) -> Any:
        is_number, is_seed = info.field_name in _number_fields(cls), info.field_name == "seed"
        most = _LARGEST_SEED if is_seed else _LARGEST if is_number else _LARGEST_STORED
        least = 0 if is_seed else -most
        for number in _values(value):
            if isinstance(number, int | float) and not least <= number <= most:
                raise ValueError(f"expected numbers from {least} to {most}, found {number!r:.40}")
        return value

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


@cache
def _number_fields(settings: type[Strict]) -> frozenset[str]:
    """Return the names of the fields whose values, or members of them, are numbers and never true or false."""
    types = {name: list(_values(_types(field.annotation))) for name, field in settings.model_fields.items()}
    return frozenset(name for name, found in types.items() if bool not in found and (int in found or float in found))


def _types(annotation: object) -> list[Any]:
    return [annotation, *map(_types, get_args(annotation))]


def _values(value: Any) -> Iterator[Any]:
    """Yield a value, or all that stand in a list or a mapping; settings within have checked their own."""
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else None
    if members is None:
        yield value
    for member in members or ():
        yield from _values(member)


def imported(path: str) -> Any:
    """Return the class or value at the import *path* of a part that ships, MODULE:NAME."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


class PartSettings(Strict):
    """Settings of a part of an experiment; *actor* is the import path of the class that does its work."""

    actor: ClassVar[str]


class ResourcesSettings(Strict):
    """
    Resources of each Ray worker that holds a local model; shares are allowed: four of `num_gpus: 0.25` share a GPU.

    They change no answer, and are no part of an identity.
    """

    num_gpus: float | None = Field(None, ge=0, allow_inf_nan=False)  # null: none
    num_cpus: float | None = Field(None, ge=0, allow_inf_nan=False)  # null: what the command says

    @model_validator(mode="after")
    def _whole_above_one(self) -> ResourcesSettings:
        if self.num_gpus is not None and self.num_gpus > 1 and self.num_gpus != int(self.num_gpus):
            raise ValueError(f"expected num_gpus as a share below 1, or a whole number, found {self.num_gpus:g}")
        return self

    @property
    def gpus(self) -> float:
        """The GPUs of a worker."""
        return self.num_gpus or 0.0


def together(asked: Iterable[ResourcesSettings | None]) -> ResourcesSettings | None:
    """Return what a worker asks for that holds several models: the most that one of them asks; None: nothing."""
    found = [one for one in asked if one is not None]
    if not found:
        return None
    cpus = [one.num_cpus for one in found if one.num_cpus is not None]
    return ResourcesSettings(num_gpus=max(one.gpus for one in found), num_cpus=max(cpus, default=None))
