"""Systems: the grid of a configuration, the orders of documents, each system, and their names in reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationInfo, field_validator, model_validator

from longform.axes import SystemAxes
from longform.errors import UsageError, meant
from longform.settings.endpoints import EncoderSettings
from longform.settings.strict import Count, PartSettings, Strict

_SHOWN = 12  # names in an error

Order = Literal["given", "top", "middle", "bottom", "random", "permuted"]


class RelevanceImportanceSettings(PartSettings):
    """Importance by judged relevance; documents without any go to either end in `middle` (SummHay's released code)."""

    actor = "actors.retrieval.importance:ByRelevance"
    kind: Literal["relevance"]


class RankedImportanceSettings(PartSettings):
    """Importance by a ranking that the benchmark ships."""

    actor = "actors.retrieval.importance:ByRanking"
    kind: Literal["released"]
    name: str = "importance"  # of the ranking in the benchmark


class SimilarityImportanceSettings(EncoderSettings, PartSettings):
    """Importance by similarity to the query's reference summary (Wan et al., section 4.3)."""

    actor = "actors.retrieval.importance:ByLikeness"
    kind: Literal["reference"]


ImportanceSettings = Annotated[
    RelevanceImportanceSettings | RankedImportanceSettings | SimilarityImportanceSettings, Field(discriminator="kind")
]


class Permutations(Strict):
    """
    Order `permuted`: each query's documents in several drawn orders, whose mean score is free of any one order's luck.

    With a `half_width`, orders are added one by one until the interval of that mean over orders is as narrow.
    """

    n_orders: int = Field(3, ge=2, le=1000)  # drawn at first
    most: int = Field(24, ge=2, le=1_000_000)  # orders, with a `half_width`
    half_width: float | None = Field(None, gt=0)  # points of 100; null: `n_orders` and no more

    @model_validator(mode="after")
    def _has_room(self) -> Permutations:
        if self.n_orders > self.most:
            raise ValueError(f"expected n_orders of at most {self.most} (`most`), found {self.n_orders}")
        return self


class SystemGrid(Strict):
    """One or many systems: every list multiplies. One without a retriever is of summarizers of kind shipped."""

    retriever: tuple[str, ...] = ()  # names under `retrievers`
    reranker: tuple[str | None, ...] = (None,)  # names under `rerankers`; null: none
    budget_tokens: tuple[Count | None, ...] = ()  # of all documents shown; null: no limit
    n_documents: tuple[Count | None, ...] = (None,)  # the first of them; null: all
    length_tokens: tuple[Count | None, ...] = (None,)  # the first that fit whole; null: all
    document_tokens: tuple[Count | None, ...] = (None,)  # each cut to so many; null: none is
    order: tuple[Order, ...] = ("given",)  # of the documents in the prompt
    method: tuple[str, ...] = ("plain",)  # names under `methods`, or of those that ship
    summarizer: tuple[str, ...]  # names under `summarizers`
    repeats: int = Field(1, gt=0, le=1000)  # summaries of each context by each system, in calls of their own

    @field_validator("*", mode="before")
    @classmethod
    def _one_is_a_list_of_one(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, list | tuple) and not value and cls.model_fields[str(info.field_name)].default != ():
            raise ValueError("expected one or more, found an empty list")
        return value if info.field_name == "repeats" or isinstance(value, list | tuple) else (value,)

    @model_validator(mode="after")
    def _says_what_is_shown(self) -> SystemGrid:
        if not self.retriever:
            fields = type(self).model_fields.items()
            usual = {name: field.default for name, field in fields if name not in {"retriever", "summarizer"}}
            if more := [name for name, default in usual.items() if getattr(self, name) != default]:
                raise ValueError(
                    f"a system without a retriever is made of shipped texts, and takes no {', '.join(more)}"
                )
        elif not self.budget_tokens:
            raise ValueError("expected budget_tokens beside a retriever (null: no limit), found none")
        return self

    @model_validator(mode="after")
    def _lengths_have_one_unit(self) -> SystemGrid:
        if any(self.n_documents) and any(self.length_tokens):
            raise ValueError("lengths are in documents or in tokens: expected n_documents or length_tokens, found both")
        return self

    def systems(self, n_orders: int) -> Iterator[System]:
        """Yield each combination; with order `permuted` each of *n_orders* orders."""
        several = len(self.budget_tokens) > 1
        shown = (self.retriever, self.reranker, self.budget_tokens, self.n_documents, self.order)
        for parts in product(*shown, self.method, self.summarizer):
            for cuts in product(self.length_tokens, self.document_tokens):
                for permutation in range(n_orders) if "permuted" in parts else (None,):
                    yield System(*parts, permutation, several, *cuts)


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
