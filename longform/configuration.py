"""
What an experiment's YAML file may say; an unknown key is an error.

The sections `retrievers`, `rerankers`, `summarizers` and `judges` give names to components; `systems` combines names.
A list in a system multiplies: two retrievers and three orders are six systems.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from longform.comparisons import SystemName, named_system
from longform.errors import UsageError
from longform.judge_settings import Judge, SupportJudge
from longform.method_settings import SHIPPED_METHODS, Method, PlainMethod
from longform.model_settings import ChatSummarizer, Summarizer
from longform.retriever_settings import Reranker, Retriever, base_retrievers
from longform.strict import Strict

Order = Literal["given", "top", "middle", "bottom", "random", "permuted"]
UnitKind = Literal["bullets", "sentences"]
"""What a summary is split into, and judged by: its lines, or its sentences."""


OWN_CITATIONS = ("written", "matrix")
"""Of `citations`, what names no support judge."""


class SystemGrid(Strict):
    """One or many systems: every list multiplies."""

    retriever: tuple[str, ...]
    reranker: tuple[str | None, ...] = (None,)
    budget_tokens: tuple[Annotated[int, Field(gt=0)] | None, ...]  # null: no limit
    n_documents: tuple[Annotated[int, Field(gt=0)] | None, ...] = (None,)  # the first of them; null: all
    length_tokens: tuple[Annotated[int, Field(gt=0)] | None, ...] = (None,)  # the first that fit whole; null: all
    order: tuple[Order, ...] = ("given",)
    method: tuple[str, ...] = ("plain",)
    summarizer: tuple[str, ...]

    @field_validator("*", mode="before")
    @classmethod
    def _one_is_a_list_of_one(cls, value: Any) -> Any:
        return value if isinstance(value, list | tuple) else (value,)

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
    order: Order
    method: str
    summarizer: str
    permutation: int | None = None  # of order permuted: which one, from 0
    several_budgets: bool = False  # of the grid: then the setting names its own
    length_tokens: int | None = None

    @property
    def ranking(self) -> str:
        """The name its ranking goes by in the tables."""
        return self.retriever if self.reranker is None else f"{self.retriever}+{self.reranker}"

    @property
    def setting(self) -> str:
        """The column of the report it stands in."""
        parts = [
            self.ranking,
            f"{self.budget_tokens or 'all'} tokens" if self.several_budgets else "",
            f"first {self.n_documents}" if self.n_documents else "",
            f"within {self.length_tokens} tokens" if self.length_tokens else "",
            self.order if self.order != "given" else "",
            f"{self.permutation + 1}" if self.permutation is not None else "",
            self.method if self.method != "plain" else "",
        ]
        return "/".join(part for part in parts if part)


class RelevanceImportance(Strict):
    """By judged relevance; documents without any go to either end in `middle` (SummHay's released code)."""

    kind: Literal["relevance"]


class RankedImportance(Strict):
    """By a ranking that the benchmark ships."""

    kind: Literal["released"]
    name: str = "importance"


class SimilarityImportance(Strict):
    """By similarity to the query's reference summary (Wan et al., section 4.3)."""

    kind: Literal["reference"]
    model: str  # an encoder, as for retrievers


Importance = Annotated[RelevanceImportance | RankedImportance | SimilarityImportance, Field(discriminator="kind")]
"""What the orders top, middle and bottom sort documents by."""


class Faithfulness(Strict):
    """How verdicts of support judges become numbers (Wan et al., section 2.3)."""

    mode: Literal["document", "full"] = "document"  # each document apart, or all of a prompt joined
    documents: Literal["min", "mean", "max"] = "max"
    sentences: Literal["min", "mean", "max"] = "mean"
    attribution: str | None = None  # the support judge whose best document is a sentence's place; null: each its own


class Permutations(Strict):
    """
    Order `permuted`: each query's documents in several drawn orders, whose mean score is free of any one order's luck.

    With a `half_width`, orders are added one by one until the interval of that mean over orders is as narrow.
    """

    n_orders: int = Field(3, ge=2)  # drawn at first
    most: int = Field(24, ge=2)
    half_width: float | None = Field(None, gt=0)  # points of 100; null: `n_orders` and no more

    @model_validator(mode="after")
    def _has_room(self) -> Permutations:
        if self.n_orders > self.most:
            msg = f"expected n_orders of at most {self.most} (`most`), found {self.n_orders}"
            raise ValueError(msg)
        return self


class Experiment(Strict):
    """A whole configuration file."""

    name: str
    benchmark: str | None = None  # a folder or s3:// URL; null: named on the command line
    synthesize: str | None = None  # make this benchmark first where none is named
    seed: int
    retrievers: dict[str, Retriever]
    rerankers: dict[str, Reranker] = Field(default_factory=dict)
    summarizers: dict[str, Summarizer]
    judges: dict[str, Judge] = Field(default_factory=dict)
    support_judges: dict[str, SupportJudge] = Field(default_factory=dict)
    methods: dict[str, Method] = Field(default_factory=dict)  # beside those that ship
    cards: dict[str, str] = Field(default_factory=dict)  # judge -> the file that `longform calibrate --out` wrote
    systems: tuple[SystemGrid, ...] = Field(min_length=1)
    query_text: Literal["query", "query_subtopic"] = "query_subtopic"
    ranking_depth: int = Field(1000, gt=0)  # documents kept of each ranking
    cutoffs: tuple[int, ...] = (5, 10, 20)  # K of P@K, R@K, nDCG@K, MAP@K
    bullets: Literal["targets"] | int = "targets"  # as many as the query has targets (without: 7), or a number
    units: UnitKind = "bullets"  # what a summary is judged by
    importance: Importance = RelevanceImportance(kind="relevance")
    faithfulness: Faithfulness = Faithfulness()
    permutations: Permutations = Permutations()
    partial_score: float = Field(0.5, ge=0, le=1)  # what partial coverage counts
    aggregate: Literal["pooled", "per_summary"] = "pooled"
    compare_with: str | None = None  # a system, as "summarizer, setting"; null: the best on the same data
    resamples: int = Field(2000, ge=100)
    unjudged_threshold: float = Field(0.02, ge=0, le=1)
    citations: str = "written"  # matrix, or a support judge: repairs citations, in a twin of each summary
    prompts: str | None = None  # a folder whose files replace the project's own of the same name

    @model_validator(mode="after")
    def _names_are_defined(self) -> Experiment:
        for place, name, known in self._references():
            if name not in known:
                msg = f"{place} names {name!r}; defined are {sorted(known)}"
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _judged_citations_can_be_had(self) -> Experiment:
        if taken := sorted(set(OWN_CITATIONS) & self.support_judges.keys()):
            msg = f"support_judges: {taken} have another meaning in `citations`; give the judges other names"
            raise ValueError(msg)
        if self.citing_judge is not None and (self.units, self.faithfulness.mode) != ("bullets", "document"):
            msg = (
                f"citations by {self.citations!r} need a verdict on each bullet and document: expected units bullets "
                f"and faithfulness.mode document, found {self.units} and {self.faithfulness.mode}"
            )
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _reference_is_a_system(self) -> Experiment:
        if self.compare_with is not None:
            try:
                named_system(self.compare_with, [SystemName(s.summarizer, s.setting) for s in self.all_systems()])
            except UsageError as error:
                raise ValueError(str(error)) from error
        return self

    @model_validator(mode="after")
    def _settings_have_one_budget(self) -> Experiment:
        """A setting's rows stand under its name, which says the budget only where one grid has several."""
        budgets: dict[tuple[str, str], int | None] = {}
        for system in self.all_systems():
            first = budgets.setdefault((system.setting, system.summarizer), system.budget_tokens)
            if first != system.budget_tokens:
                msg = (
                    f"systems: {system.setting!r} with {system.summarizer!r} has the budgets {first} and "
                    f"{system.budget_tokens}; define its retriever once a budget, each under a name of its own"
                )
                raise ValueError(msg)
        return self

    def _references(self) -> Iterator[tuple[str, str, Collection[str]]]:
        """Where a name stands, the name, and the names defined for that place."""
        for grid in self.systems:
            yield from (("systems.retriever", name, self.retrievers) for name in grid.retriever)
            yield from (("systems.reranker", name, self.rerankers) for name in grid.reranker if name is not None)
            yield from (("systems.summarizer", name, self.summarizers) for name in grid.summarizer)
            yield from (("systems.method", name, self.all_methods()) for name in grid.method)
        yield "citations", self.citations, {*OWN_CITATIONS, *self.support_judges}
        yield from (("cards", name, {*self.judges, *self.support_judges}) for name in self.cards)
        if self.faithfulness.attribution is not None:
            yield "faithfulness.attribution", self.faithfulness.attribution, self.support_judges
        yield from self._means("judges", self.judges)
        yield from self._means("support_judges", self.support_judges)
        for name, retriever in self.retrievers.items():
            yield from ((f"retrievers.{name}.of", base, self.retrievers) for base in base_retrievers(retriever))

    @staticmethod
    def _means(place: str, judges: Mapping[str, Judge | SupportJudge]) -> Iterator[tuple[str, str, Collection[str]]]:
        """Members of means, which are judges that are asked."""
        asking = [name for name, judge in judges.items() if judge.kind != "mean"]
        for name, judge in judges.items():
            if judge.kind == "mean":
                yield from ((f"{place}.{name}.of", member, asking) for member in judge.of)

    @property
    def citing_judge(self) -> str | None:
        """The support judge whose verdicts drive the citations of twins; None: there are no twins, or by matrix."""
        return None if self.citations in OWN_CITATIONS else self.citations

    def all_methods(self) -> dict[str, Method]:
        """Those that ship, and those defined here."""
        return {**SHIPPED_METHODS, **self.methods}

    def _applies(self, system: System) -> bool:
        # all methods but the plain one need a chat model
        method, summarizer = self.all_methods()[system.method], self.summarizers[system.summarizer]
        return isinstance(method, PlainMethod) or isinstance(summarizer, ChatSummarizer)

    def all_systems(self) -> tuple[System, ...]:
        """Every combination that the grids name and that can be had, each once, in the order they are written."""
        return tuple(system for system in self._combinations() if self._applies(system))

    def not_applicable(self) -> tuple[System, ...]:
        """The combinations whose summarizer cannot do what their method needs: they have no result."""
        return tuple(system for system in self._combinations() if not self._applies(system))

    def _combinations(self) -> tuple[System, ...]:
        systems = [
            System(
                *parts,
                permutation=permutation,
                several_budgets=len(grid.budget_tokens) > 1,
                length_tokens=length_tokens,
            )
            for grid in self.systems
            for parts in product(
                grid.retriever,
                grid.reranker,
                grid.budget_tokens,
                grid.n_documents,
                grid.order,
                grid.method,
                grid.summarizer,
            )
            for length_tokens in grid.length_tokens
            for permutation in (range(self.permutations.n_orders) if "permuted" in parts else (None,))
        ]
        return tuple(dict.fromkeys(systems))
