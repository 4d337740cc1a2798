"""Systems: the grid of a configuration, each system of it, and their names in reports and in a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationInfo, field_validator, model_validator

from longform.axes import SystemAxes
from longform.errors import UsageError, meant
from longform.settings.strict import Strict

_SHOWN = 12  # names in an error

Order = Literal["given", "top", "middle", "bottom", "random", "permuted"]


class SystemGrid(Strict):
    """One or many systems: every list multiplies. One without a retriever is of summarizers of kind shipped."""

    retriever: tuple[str, ...] = ()  # names under `retrievers`
    reranker: tuple[str | None, ...] = (None,)  # names under `rerankers`; null: none
    budget_tokens: tuple[Annotated[int, Field(gt=0)] | None, ...] = ()  # of all documents shown; null: no limit
    n_documents: tuple[Annotated[int, Field(gt=0)] | None, ...] = (None,)  # the first of them; null: all
    length_tokens: tuple[Annotated[int, Field(gt=0)] | None, ...] = (None,)  # the first that fit whole; null: all
    document_tokens: tuple[Annotated[int, Field(gt=0)] | None, ...] = (None,)  # each cut to so many; null: none is
    order: tuple[Order, ...] = ("given",)  # of the documents in the prompt
    method: tuple[str, ...] = ("plain",)  # names under `methods`, or of those that ship
    summarizer: tuple[str, ...]  # names under `summarizers`
    repeats: int = Field(1, gt=0)  # summaries of each context by each system, in calls of their own

    @field_validator("*", mode="before")
    @classmethod
    def _one_is_a_list_of_one(cls, value: Any, info: ValidationInfo) -> Any:
        return value if info.field_name == "repeats" or isinstance(value, list | tuple) else (value,)

    @model_validator(mode="after")
    def _says_what_is_shown(self) -> SystemGrid:
        if not self.retriever:
            fields = type(self).model_fields.items()
            usual = {name: field.default for name, field in fields if name not in {"retriever", "summarizer"}}
            if more := [name for name, default in usual.items() if getattr(self, name) != default]:
                msg = f"a system without a retriever is made of shipped texts, and takes no {', '.join(more)}"
                raise ValueError(msg)
        elif not self.budget_tokens:
            msg = "expected budget_tokens beside a retriever (null: no limit), found none"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _lengths_have_one_unit(self) -> SystemGrid:
        if any(self.n_documents) and any(self.length_tokens):
            msg = "lengths are in documents or in tokens: expected n_documents or length_tokens, found both"
            raise ValueError(msg)
        return self


class System(NamedTuple):
    """One way from a query to a summary, by the names of its parts."""

    retriever: str
    reranker: str | None
    budget_tokens: int | None
    n_documents: int | None
    order: Order | None  # None: unknown, as of texts that were written elsewhere
    method: str
    summarizer: str
    permutation: int | None = None  # of order permuted: which one, from 0
    several_budgets: bool = False  # of the grid: then the setting names its own
    length_tokens: int | None = None
    document_tokens: int | None = None

    @property
    def axes(self) -> SystemAxes:
        """All but the summarizer."""
        return SystemAxes(**{name: getattr(self, name) for name in SystemAxes._fields})

    @property
    def ranking(self) -> str:
        """The name its ranking goes by in the tables."""
        return self.axes.ranking

    @property
    def setting(self) -> str:
        """The name in reports: the axes in words, which no code reads back."""
        return self.axes.words(with_budget=self.several_budgets)


def told(system: System) -> str:
    """The axes of *system* that say something, by name."""
    values = system.axes._asdict().items()
    return "(" + ", ".join(f"{name} {value!r}" for name, value in values if value is not None) + ")"


# ---------------------------------------------------------------- names


class SystemName(NamedTuple):
    """A system as the report names it."""

    summarizer: str
    setting: str

    def __str__(self) -> str:
        return f"{self.summarizer}, {self.setting}"


def named_system(wanted: str, systems: Iterable[SystemName], *, asked: str = "compare_with") -> SystemName:
    """
    Return the system that *wanted* names: by "summarizer, setting", or by one of both if that names a single system.

    *asked* is the key or option that names it.

    Raises:
        UsageError: None, or several.
    """
    known = list(dict.fromkeys(systems))
    found = [name for name in known if str(name) == wanted] or [name for name in known if wanted in name]
    if len(found) == 1:
        return found[0]
    if found:
        told = f"{len(found)} systems are called so: {_listed(found)}"
    else:
        near = meant(wanted, [part for name in known for part in (str(name), *name)])
        told = f"found no such system{near or '.'} Systems: {_listed(known)}"
    raise UsageError(f"{asked}: expected one system as 'SUMMARIZER, SETTING', found {wanted!r}: {told}")


def _listed(names: Sequence[SystemName]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return "; ".join(map(str, names[:_SHOWN])) + more
