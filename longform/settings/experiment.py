"""
Settings of an experiment's YAML file; an unknown key is an error.

The sections `retrievers`, `rerankers`, `summarizers` and `judges` give names to components; `systems` combines names. A
list in a system multiplies: two retrievers and three orders are six systems.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from longform.errors import UsageError, meant
from longform.settings.chat import FROM_MEMORY, SummarizerSettings
from longform.settings.fidelity import as_published
from longform.settings.judges import JudgeSettings, PythonJudgeSettings
from longform.settings.measures import Faithfulness, MeasureSettings, SupportMode
from longform.settings.methods import SHIPPED_METHODS, MethodSettings
from longform.settings.named_judges import ALIGNER, ALIGNERS, NEAREST_PLACE, SECOND_ALIGNER, SHARED_WORDS, judges_of
from longform.settings.python_class import PythonClassSettings
from longform.settings.readings import Fidelity
from longform.settings.retrievers import RerankerSettings, RetrievalSettings, RetrieverSettings
from longform.settings.strict import Count, Strict
from longform.settings.systems import (
    ImportanceSettings,
    Permutations,
    RelevanceImportanceSettings,
    System,
    SystemGrid,
    SystemName,
    named_system,
    told,
)
from longform.text.units import UnitKind

_OVER_ALL_DOCUMENTS = ("faithfulness min-", "faithfulness mean-")  # names of measures that merge every document

OWN_CITATIONS = ("written", "matrix")
"""Values of `citations` that name no support judge."""


def _of_support(name: str, judge: Any) -> Any:
    """Add the task to an entry of `support_judges`."""
    if not isinstance(judge, Mapping):
        return judge
    if judge.get("task", "support") != "support":
        raise ValueError(f"support_judges.{name} has the task {judge['task']}: define it under `judges`")
    return {**judge, "task": "support"}


class Experiment(Strict):
    """A whole configuration file."""

    name: str  # of the experiment, in its report
    benchmark: str | None = None  # a folder or s3:// URL; null: named on the command line
    synthesize: str | None = None  # make this benchmark first where none is named
    fidelity: Fidelity = "ours"  # where we, a release and its paper differ: whose reading is taken
    seed: int  # of all that is drawn: orders, resamples
    retrievers: dict[str, RetrieverSettings]  # name -> what ranks the documents for a query
    rerankers: dict[str, RerankerSettings] = Field(default_factory=dict)  # name -> what ranks a ranking's first again
    summarizers: dict[str, SummarizerSettings]  # name -> what writes the summaries
    judges: dict[str, JudgeSettings] = Field(default_factory=dict)  # name -> what judges; of every task
    methods: dict[str, MethodSettings] = Field(default_factory=dict)  # beside those that ship: how it is asked
    cards: dict[str, str] = Field(default_factory=dict)  # judge -> the file that `longform calibrate --out` wrote
    systems: tuple[SystemGrid, ...] = Field(min_length=1)  # what is run: names of the sections, combined
    query_text: Literal["query", "query_subtopic"] = "query_subtopic"  # what retrievers search with
    ranking_depth: int = Field(1000, gt=0)  # documents kept of each ranking
    cutoffs: tuple[Count, ...] = Field((5, 10, 20), min_length=1)  # K of P@K, R@K, nDCG@K, MAP@K
    measures: tuple[str | MeasureSettings, ...] | None = None  # null: those that follow from the judges; []: none
    studies: tuple[str | PythonClassSettings, ...] | None = None  # null: all that the run has anything for
    bullets: Literal["targets"] | Annotated[int, Field(gt=0, le=1000)] = "targets"
    """Bullets or sentences asked for: a number; or as many as the query has insights (without: 8), as its paper asks
    for where it has a reference summary instead (Wan et al.), else as many as the reference has sentences."""
    units: UnitKind = "statements"  # by which a summary is judged; bullets: lines, as SummHay's release has them
    importance: ImportanceSettings = RelevanceImportanceSettings(kind="relevance")  # by which orders sort documents
    faithfulness: Faithfulness = Faithfulness()  # how verdicts of support become numbers
    permutations: Permutations = Permutations()  # how many orders `permuted` draws
    partial_score: float = Field(0.5, ge=0, le=1)  # what partial coverage counts
    aggregate: Literal["pooled", "per_summary"] = "pooled"  # means over insights, or over summaries
    datasets: Literal["apart", "pooled"] = "apart"  # pooled: all data sets of a benchmark are one in results
    sensitivity: Fidelity = "ours"  # whose rule of sensitivity to the order of documents (SummHay, table 3)
    compare_with: str | None = None  # a system, as "summarizer, setting"; null: the best on the same data
    resamples: int = Field(2000, ge=100, le=1_000_000)  # of the bootstrap behind intervals
    unjudged_threshold: float = Field(0.02, ge=0, le=1)  # a larger share that is unjudged ends with code 3
    citations: str = "written"  # matrix, or a support judge: repairs citations, in a twin of each summary
    prompts: str | None = None  # a folder whose files replace the project's own of the same name

    @model_validator(mode="before")
    @classmethod
    def _read_as_published(cls, content: Any) -> Any:
        """Fill what components leave open by the readings of the fidelity."""
        return as_published(content) if isinstance(content, Mapping) else content

    @model_validator(mode="before")
    @classmethod
    def _support_judges_are_judges(cls, content: Any) -> Any:
        """Read the key `support_judges`, which older files have, as judges of task support."""
        if not isinstance(content, Mapping) or not isinstance(given := content.get("support_judges"), Mapping):
            return content
        judges = content.get("judges") or {}
        if twice := sorted(given.keys() & judges.keys()):
            raise ValueError(f"judges and support_judges both define {twice}: give every judge a name of its own")
        found = {name: _of_support(name, judge) for name, judge in given.items()}
        kept = {key: value for key, value in content.items() if key != "support_judges"}
        return kept | {"judges": {**judges, **found}}

    @model_validator(mode="after")
    def _names_are_defined(self) -> Experiment:
        for place, name, known in self._references():
            if name not in known:
                raise ValueError(f"{place} names {name!r}; defined are {sorted(known)}{meant(name, known)}")
        return self

    @model_validator(mode="after")
    def _rankings_that_are_asked_for_stand_alone(self) -> Experiment:
        asking = {name for name, retriever in self.retrievers.items() if retriever.asked_model is not None}
        for name, retriever in self.retrievers.items():
            if taken := sorted(asking.intersection(retriever.bases)):
                raise ValueError(
                    f"retrievers.{name}.of names {taken}, whose rankings are asked for through the ledger: expected "
                    "retrievers that compute here; leave `calls` out of one of kind python, or rerank its ranking"
                )
        return self

    @model_validator(mode="after")
    def _judged_citations_can_be_had(self) -> Experiment:
        if taken := sorted({*OWN_CITATIONS, *ALIGNERS} & self.support_judges.keys()):
            raise ValueError(f"judges: {taken} have another meaning for judges of support; give the judges other names")
        if self.citing_judge is not None and (self.units == "sentences" or self.support_mode != "document"):
            raise ValueError(
                f"citations by {self.citations!r} need a verdict on each unit and document: expected units statements "
                f"or bullets and faithfulness.mode document, found {self.units} and {self.support_mode}"
            )
        return self

    @model_validator(mode="after")
    def _all_cells_can_be_had(self) -> Experiment:
        if self.faithfulness.mode == "cited" and self._reads_all_cells:
            raise ValueError(
                "faithfulness.mode cited checks some documents of a prompt: expected document beside citations by a "
                "judge, an attribution, a second aligner, or merging by min or mean over documents"
            )
        return self

    @model_validator(mode="after")
    def _shipped_texts_have_no_retriever(self) -> Experiment:
        for grid in self.systems:
            for name in grid.summarizer:
                writer = self.summarizers[name]
                if not grid.retriever and writer.from_documents:
                    raise ValueError(
                        f"systems: {name!r} is of kind {writer.kind} and writes from documents: expected a retriever, "
                        "found none (only kind shipped goes without)"
                    )
                if grid.retriever and not writer.from_documents and writer.writer is None:
                    raise ValueError(
                        f"systems: {name!r} is all that a benchmark ships: expected `name` of one summarizer beside a "
                        "retriever, found none; or leave the retriever out"
                    )
        return self

    @model_validator(mode="after")
    def _reference_is_a_system(self) -> Experiment:
        if self.compare_with is not None and not self.shipped:  # names of shipped texts stand in the benchmark
            try:
                named_system(self.compare_with, [SystemName(s.summarizer, s.setting) for s in self.all_systems()])
            except UsageError as error:
                raise ValueError(str(error)) from error
        return self

    @model_validator(mode="after")
    def _a_setting_is_one_system(self) -> Experiment:
        """Check that a system's rows stand under one setting, which states the budget only if one grid has several."""
        known: dict[tuple[str, str], System] = {}
        for system in self.all_systems():
            first = known.setdefault((system.setting, system.summarizer), system)
            if first.axes == system.axes:
                continue
            if first.axes == system.axes._replace(budget_tokens=first.budget_tokens):
                raise ValueError(
                    f"systems: {system.setting!r} with {system.summarizer!r} has the budgets {first.budget_tokens} and "
                    f"{system.budget_tokens}; define its retriever once a budget, each under a name of its own"
                )
            raise ValueError(
                f"systems: two systems with {system.summarizer!r} would both be called {system.setting!r}: "
                f"{told(first)} and {told(system)}; rename a retriever, reranker or method"
            )
        return self

    @model_validator(mode="after")
    def _repeats_can_differ(self) -> Experiment:
        for grid in self.systems:
            same = [name for name in grid.summarizer if self.summarizers[name].deterministic]
            if grid.repeats > 1 and same:
                raise ValueError(
                    f"systems: {same[0]!r} writes the same text every time: expected repeats 1, found {grid.repeats}; "
                    "name it in a system without repeats"
                )
        return self

    @model_validator(mode="after")
    def _memory_is_shown_no_documents(self) -> Experiment:
        for system in self.all_systems():
            writer, retriever = self.summarizers[system.summarizer], self.retrievers[system.retriever]
            if writer.prompt_of(system.retriever) == FROM_MEMORY and not retriever.empty:
                raise ValueError(
                    f"systems: {system.summarizer!r} answers from memory with retriever {system.retriever!r}, whose "
                    f"documents no prompt would show: expected a retriever of kind none, found {retriever.kind}"
                )
        return self

    @model_validator(mode="after")
    def _a_ranking_is_one_retriever(self) -> Experiment:
        known: dict[str, System] = {}
        for system in self.all_systems():
            first = known.setdefault(system.ranking, system)
            if (first.retriever, first.reranker) != (system.retriever, system.reranker):
                raise ValueError(
                    f"systems: two rankings would both be called {system.ranking!r}: {told(first)} and "
                    f"{told(system)}; rename a retriever or reranker"
                )
        return self

    def _references(self) -> Iterator[tuple[str, str, Collection[str]]]:
        """Yield the place of a name, the name, and the names defined for that place."""
        for grid in self.systems:
            yield from (("systems.retriever", name, self.retrievers) for name in grid.retriever)
            yield from (("systems.reranker", name, self.rerankers) for name in grid.reranker if name is not None)
            yield from (("systems.summarizer", name, self.summarizers) for name in grid.summarizer)
            yield from (("systems.method", name, self.all_methods()) for name in grid.method)
        yield "citations", self.citations, {*OWN_CITATIONS, *self.support_judges}
        yield from (("cards", name, self.judges) for name in self.cards)
        if self.faithfulness.attribution is not None:
            yield "faithfulness.attribution", self.faithfulness.attribution, self.support_judges
        for name, judge in self.judges.items():
            asking = [other for other, one in judges_of(judge.task, self.judges).items() if not one.members]
            yield from ((f"judges.{name}.of", member, asking) for member in judge.members)
        for name, writer in self.summarizers.items():
            named = writer.named_retrievers
            yield from ((f"summarizers.{name}.prompt_with", retriever, self.retrievers) for retriever in named)
        for name, retriever in self.retrievers.items():
            yield from ((f"retrievers.{name}.of", base, self.retrievers) for base in retriever.bases)

    @property
    def retrieval(self) -> RetrievalSettings:
        """Return the settings that ranking needs."""
        return RetrievalSettings(self.retrievers, self.query_text, self.ranking_depth)

    @property
    def used_retrievers(self) -> tuple[str, ...]:
        """The retrievers that systems begin with."""
        return tuple(dict.fromkeys(system.retriever for system in self.all_systems()))

    @property
    def used_rerankers(self) -> dict[str, RerankerSettings]:
        """The rerankers that systems name."""
        named = {system.reranker for system in self.all_systems()}
        return {name: reranker for name, reranker in self.rerankers.items() if name in named}

    @property
    def citing_judge(self) -> str | None:
        """
        Return the support judge whose verdicts drive the citations of twins; None if there are no
        twins, or by matrix.
        """
        return None if self.citations in OWN_CITATIONS else self.citations

    @property
    def shipped(self) -> dict[str, SummarizerSettings]:
        """The summarizers of systems without a retriever: all that the benchmark ships of them is judged."""
        named = dict.fromkeys(name for grid in self.systems if not grid.retriever for name in grid.summarizer)
        return {name: self.summarizers[name] for name in named}

    @property
    def ignoring_order(self) -> frozenset[str]:
        """The summarizers that say of themselves that the order of documents changes nothing."""
        ignoring = {name for name, summarizer in self.summarizers.items() if summarizer.ignores_order}
        return frozenset(ignoring - self.shipped.keys())

    def with_aligner(self) -> Experiment:
        """
        Add a support judge that says where sentences stand, if the configured ones may be unable to.

        It reads its texts in the process, and its numbers are graded. It is added if a chat model is asked about each
        document apart and no judge is named for attribution. The second aligner is added if it is asked for, and places
        are studied.
        """
        how, varied = self.faithfulness, self.summarizers.keys() - self.ignoring_order
        checking = self.support_judges.values()
        if not checking or not varied or self.support_mode != "document":
            return self
        asked, graded = any(judge.asked_model for judge in checking), any(judge.is_lexical for judge in checking)
        added = {ALIGNER: NEAREST_PLACE} if asked and not graded and how.attribution is None else {}
        added |= {SECOND_ALIGNER: SHARED_WORDS} if how.second_aligner else {}
        judges = {n: PythonJudgeSettings(kind="python", task="support", class_=path) for n, path in added.items()}
        return self.model_copy(update={"judges": {**self.judges, **judges}})

    @property
    def support_mode(self) -> SupportMode:
        """The mode of faithfulness; one that is left open follows from what else is asked for."""
        ordered = any(order != "given" for grid in self.systems for order in grid.order)
        asked = self._reads_all_cells or ordered or self.fidelity != "ours" or self.citations != "written"
        return self.faithfulness.mode or ("document" if asked else "cited")

    @property
    def _reads_all_cells(self) -> bool:
        """Return whether anything reads the verdict on every document of a prompt."""
        how = self.faithfulness
        merged = any(isinstance(one, str) and one.startswith(_OVER_ALL_DOCUMENTS) for one in self.measures or ())
        placed = how.attribution is not None or how.second_aligner
        return merged or placed or how.documents != "max" or self.citing_judge is not None

    @property
    def aligner(self) -> str | None:
        """The support judge that says where sentences stand if their own cannot: the one named, else one of ours."""
        able = (name for name, judge in self.support_judges.items() if name == ALIGNER or judge.is_lexical)
        return self.faithfulness.attribution or next(able, None)

    def judges_of(self, task: str) -> dict[str, JudgeSettings]:
        """Select the judges of one task."""
        return judges_of(task, self.judges)

    @property
    def support_judges(self) -> dict[str, JudgeSettings]:
        """The judges of task support."""
        return self.judges_of("support")

    def all_methods(self) -> dict[str, MethodSettings]:
        """Return the methods that ship, and those defined here."""
        return {**SHIPPED_METHODS, **self.methods}

    def _applies(self, system: System) -> bool:
        return self.all_methods()[system.method].plain or self.summarizers[system.summarizer].takes_methods

    def all_systems(self) -> tuple[System, ...]:
        """Every combination that the grids name and that can be had, each once, in the order they are written."""
        return tuple(self.repeats)

    def not_applicable(self) -> tuple[System, ...]:
        """The combinations whose summarizer cannot do what their method needs: they have no result."""
        every = (system for grid in self.systems for system in grid.systems(self.permutations.n_orders))
        return tuple(dict.fromkeys(system for system in every if not self._applies(system)))

    @property
    def repeats(self) -> dict[System, int]:
        """Return how often each system summarises each context: the largest number of any of its grids."""
        found: dict[System, int] = {}
        for grid in self.systems:
            for system in filter(self._applies, grid.systems(self.permutations.n_orders)):
                found[system] = max(grid.repeats, found.get(system, 1))
        return found
