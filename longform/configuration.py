"""
What an experiment's YAML file may say; an unknown key is an error.

The sections `retrievers`, `rerankers`, `summarizers` and `judges` give names to components; `systems` combines names.
A list in a system multiplies: two retrievers and three orders are six systems.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Order = Literal["given", "top", "middle", "bottom", "random", "permuted"]
UnitKind = Literal["bullets", "sentences"]
"""What a summary is split into, and judged by: its lines, or its sentences."""


class Strict(BaseModel):
    """A frozen model that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# ---------------------------------------------------------------- retrievers


class RandomRetriever(Strict):
    kind: Literal["random"]
    seed: int


class KeywordRetriever(Strict):
    kind: Literal["keywords"]


class Bm25Retriever(Strict):
    kind: Literal["bm25"]
    k1: float = Field(1.5, ge=0)
    b: float = Field(0.75, ge=0, le=1)
    stem: bool = True


class EncoderRetriever(Strict):
    """A Sentence Transformers model. `whole` cuts a document at the window; `mean` and `max` pool chunks within it."""

    kind: Literal["encoder"]
    model: str  # a hub name, a folder, or package:NAME for weights inside an installed package
    pooling: Literal["whole", "mean", "max"]
    chunk_tokens: int | None = Field(None, gt=0)  # null: the encoder's window
    query_prefix: str = ""
    document_prefix: str = ""


class FusionRetriever(Strict):
    kind: Literal["fusion"]
    of: tuple[str, ...] = Field(min_length=2)
    by: Literal["z_sum", "reciprocal_rank"]
    rank_constant: int = Field(60, gt=0)
    weights: tuple[float, ...] | None = None  # of the z-scores; null: all 1

    @model_validator(mode="after")
    def _each_has_a_weight(self) -> FusionRetriever:
        if self.weights is not None and (self.by != "z_sum" or len(self.weights) != len(self.of)):
            msg = f"weights are for z_sum, one for each of {list(self.of)}; found {list(self.weights)} with {self.by}"
            raise ValueError(msg)
        return self


class ShortFirstRetriever(Strict):
    """Shorter documents first; in a fusion, because more of them fit a budget."""

    kind: Literal["short_first"]


class FeedbackRetriever(Strict):
    """RM3: expands the query by terms of the base retriever's best documents, adds the expansion's BM25 z-score."""

    kind: Literal["feedback"]
    of: str
    documents: int = Field(10, gt=0)
    terms: int = Field(50, gt=0)
    weight: float = Field(1.0, ge=0)


class ClusterFeedbackRetriever(Strict):
    """Documents that support the query's most relevant repeated sentences; learnt from no query."""

    kind: Literal["cluster_feedback"]


class StatementsRetriever(Strict):
    """Documents that support what the offline summarizer would quote, short ones first."""

    kind: Literal["statements"]
    n_statements: int = Field(12, gt=0)


StatementRetriever = ClusterFeedbackRetriever | StatementsRetriever
"""Their models were fitted with the vectors of one encoder, so that no other is offered."""


class OracleRetriever(Strict):
    kind: Literal["oracle"]


class FullContext(Strict):
    kind: Literal["full"]


class ReleasedRetriever(Strict):
    """Scores that the benchmark ships, by the name they have there."""

    kind: Literal["released"]
    name: str


Retriever = Annotated[
    RandomRetriever
    | KeywordRetriever
    | Bm25Retriever
    | EncoderRetriever
    | FusionRetriever
    | ShortFirstRetriever
    | FeedbackRetriever
    | StatementRetriever
    | OracleRetriever
    | FullContext
    | ReleasedRetriever,
    Field(discriminator="kind"),
]


def base_retrievers(retriever: Retriever) -> tuple[str, ...]:
    """The names of the retrievers that *retriever* combines or expands."""
    if isinstance(retriever, FusionRetriever):
        return retriever.of
    return (retriever.of,) if isinstance(retriever, FeedbackRetriever) else ()


class CrossEncoderReranker(Strict):
    kind: Literal["cross_encoder"]
    model: str  # a hub name or a folder
    depth: int = Field(20, gt=0)  # documents re-scored; the rest keep their order below


Reranker = CrossEncoderReranker

# ---------------------------------------------------------------- models, summarizers, judges


class ChatSettings(Strict):
    """
    A chat model: behind an OpenAI-compatible server, any that `litellm` knows, a local GGUF file, or the scripted one.

    `identity` leaves out what says only how it is asked: changing that makes no work anew.
    """

    provider: Literal["openai", "litellm", "llama_cpp", "scripted"] = "openai"
    model: str  # llama_cpp: the path of a GGUF file
    base_url: str | None = None  # null: the provider's own
    replicas: tuple[str, ...] = ()  # base URLs of equal servers of the model; calls that share a text go to one
    api_key_env: str = "OPENAI_API_KEY"  # the name of the variable; the key itself is never in a file
    context_window: int | None = Field(None, gt=0)  # tokens; overrides the capability table
    max_tokens: int = Field(1000, gt=0)
    temperature: float | None = Field(None, ge=0)  # null: not sent
    json_schema: bool | None = None  # null: as the capability table says
    script: str | None = None  # scripted only: the name of its behaviour
    timeout_s: float = Field(400.0, gt=0)  # the deadline of one attempt
    attempts: int = Field(6, gt=0)  # at what may pass: 5xx, resets, timeouts, bodies that are no reply
    concurrency: int = Field(16, gt=0)  # calls in flight a worker
    requests_per_minute: float | None = Field(None, gt=0)  # null: found out
    tokens_per_minute: float | None = Field(None, gt=0)  # null: found out
    in_flight: int | None = Field(None, gt=0)  # of all workers together; null: no limit but `concurrency`
    quota: str | None = None  # models that name one quota share one limit upstream
    prefix_cache: Literal["shared", "slot"] = "shared"  # slot: a server that keeps one prefix a slot (llama.cpp)
    batch: bool = False  # through the provider's batch API: cheaper, within a day

    @property
    def identity(self) -> dict[str, Any]:
        """What can change a reply, as JSON values."""
        return self.model_dump(mode="json", exclude=set(_HOW_IT_IS_ASKED))


_HOW_IT_IS_ASKED = (
    "replicas",
    "api_key_env",
    "timeout_s",
    "attempts",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "in_flight",
    "quota",
    "prefix_cache",
    "batch",
)


class OfflineSummarizer(Strict):
    kind: Literal["offline"]
    max_words: int = Field(300, gt=0)


class ChatSummarizer(Strict):
    kind: Literal["chat"]
    chat: ChatSettings
    prompt: str | None = None  # null: by the query's domain


Summarizer = Annotated[OfflineSummarizer | ChatSummarizer, Field(discriminator="kind")]


Calibration = Literal["people", "gpt-4o"]
"""Whose marks a judge's numbers are like: only scores of one calibration may be held against each other."""

_SCALES: Mapping[Calibration, str] = {"people": "marks as people do", "gpt-4o": "marks as GPT-4o does"}


class OfflineJudge(Strict):
    kind: Literal["offline"]
    calibration: Calibration  # people: like nothing that is printed; gpt-4o: like SummHay's printed tables

    @property
    def scale(self) -> str:
        """The calibration in words."""
        return _SCALES[self.calibration]


class ChatJudge(Strict):
    kind: Literal["chat"]
    chat: ChatSettings
    prompt: str = "judge_coverage_3"


class MeanJudge(Strict):
    """The mean of other judges' numbers for the same summary and target; it asks nothing itself."""

    kind: Literal["mean"]
    of: tuple[str, ...] = Field(min_length=2)
    cuts: tuple[float, float] = (0.25, 0.75)  # means from which the answer is partial, and full

    @model_validator(mode="after")
    def _means_something(self) -> MeanJudge:
        if len(set(self.of)) < len(self.of):
            msg = f"expected different judges, found {list(self.of)}"
            raise ValueError(msg)
        partial, full = self.cuts
        if not 0 < partial < full <= 1:
            msg = f"expected cuts 0 < partial < full <= 1, found {list(self.cuts)}"
            raise ValueError(msg)
        return self


AskedJudge = OfflineJudge | ChatJudge
Judge = Annotated[AskedJudge | MeanJudge, Field(discriminator="kind")]


def judge_scale(name: str, judges: Mapping[str, Judge]) -> str | None:
    """What a reader must know to compare the scores of judge *name*, in words; None: its name and card say it all."""
    judge = judges.get(name)
    if isinstance(judge, OfflineJudge):
        return judge.scale
    if isinstance(judge, MeanJudge):
        return f"mean of {' and '.join(_with_scale(member, judges) for member in judge.of)}"
    return None


def _with_scale(name: str, judges: Mapping[str, Judge]) -> str:
    scale = judge_scale(name, judges)
    return name if scale is None else f"{name} ({scale})"


SHIPPED_JUDGES: Mapping[str, Judge] = {
    f"offline-{calibration}": OfflineJudge(kind="offline", calibration=calibration) for calibration in _SCALES
}
"""Judges that need no definition: their models and their cards ship with the project."""

# ---------------------------------------------------------------- support judges


class OfflineSupportJudge(Strict):
    """Shared words, word pairs and meaning of a few sentences: lexical support, blind to what is denied or swapped."""

    kind: Literal["offline"]


class ChatSupportJudge(Strict):
    """A prompted chat model: yes or no with a reason, and P(yes) where it gives the log probabilities of tokens."""

    kind: Literal["chat"]
    chat: ChatSettings
    prompt: str = "judge_support"
    probability: bool = False  # read from log probabilities; a model without them is refused
    fidelity: Literal["ours", "release"] = "ours"  # how replies are read; release: as the authors' code does


class CheckpointSupportJudge(Strict):
    """A checkpoint that was trained to check facts: MiniCheck's families, or any entailment cross-encoder."""

    kind: Literal["checkpoint"]
    model: str  # a hub name, a folder, package:NAME, or s3://
    family: Literal["classifier", "flan_t5"] = "classifier"
    supported_label: int | None = Field(None, ge=0)  # classifier: the output that means supported; null: by its label
    prefix: str = ""  # before each document, as the checkpoint was trained
    joined: Literal["pair", "eos"] = "pair"  # of a classifier, as it was trained; MiniCheck's put one eos token between
    chunk_tokens: int | None = Field(None, gt=0)  # of the document; null: what the model's window leaves
    batch_tokens: int = Field(16384, gt=0)  # padded tokens of one forward pass
    threshold: float = Field(0.5, gt=0, lt=1)


SupportJudge = Annotated[OfflineSupportJudge | ChatSupportJudge | CheckpointSupportJudge, Field(discriminator="kind")]

# ---------------------------------------------------------------- methods


class PlainMethod(Strict):
    """One prompt over all documents."""

    kind: Literal["plain"]


class FocusMethod(Strict):
    """The plain prompt, and the wish to attend to the documents at one place (Wan et al., section 5.1)."""

    kind: Literal["focus"]
    at: Literal["top", "middle", "bottom"]


class HierarchicalMethod(Strict):
    """A summary of each document, then merges: two at a time until one is left, or all in one pass."""

    kind: Literal["hierarchical"]
    merge: Literal["pairwise", "once"]


class IncrementalMethod(Strict):
    """A summary of the first document, updated with each next one."""

    kind: Literal["incremental"]


class CalibrationMethod(Strict):
    """
    Permutation calibration: summaries of several orders of the documents, merged.

    `rotations` are the n cyclic ones (as released); `all` are n! (as the paper says), refused above `most` orders;
    `sampled` draws `n_orders` different ones.
    """

    kind: Literal["calibration"]
    orders: Literal["rotations", "all", "sampled"]
    n_orders: int | None = Field(None, gt=1)  # sampled only
    most: int = Field(24, gt=0)  # all only
    seed: int = 0

    @model_validator(mode="after")
    def _says_how_many(self) -> CalibrationMethod:
        if (self.n_orders is not None) != (self.orders == "sampled"):
            msg = f"n_orders is for sampled orders, and needed there; found {self.n_orders} with {self.orders}"
            raise ValueError(msg)
        return self


Method = Annotated[
    PlainMethod | FocusMethod | HierarchicalMethod | IncrementalMethod | CalibrationMethod, Field(discriminator="kind")
]

SHIPPED_METHODS: Mapping[str, Method] = {
    "plain": PlainMethod(kind="plain"),
    "focus-top": FocusMethod(kind="focus", at="top"),
    "focus-middle": FocusMethod(kind="focus", at="middle"),
    "focus-bottom": FocusMethod(kind="focus", at="bottom"),
    "hierarchical-pairwise": HierarchicalMethod(kind="hierarchical", merge="pairwise"),
    "hierarchical-once": HierarchicalMethod(kind="hierarchical", merge="once"),
    "incremental": IncrementalMethod(kind="incremental"),
    "calibration-rotations": CalibrationMethod(kind="calibration", orders="rotations"),
    "calibration-all": CalibrationMethod(kind="calibration", orders="all"),
}
"""Methods that need no definition."""

# ---------------------------------------------------------------- systems


class SystemGrid(Strict):
    """One or many systems: every list multiplies."""

    retriever: tuple[str, ...]
    reranker: tuple[str | None, ...] = (None,)
    budget_tokens: tuple[Annotated[int, Field(gt=0)] | None, ...]  # null: no limit
    n_documents: tuple[Annotated[int, Field(gt=0)] | None, ...] = (None,)  # the first of them; null: all
    order: tuple[Order, ...] = ("given",)
    method: tuple[str, ...] = ("plain",)
    summarizer: tuple[str, ...]

    @field_validator("*", mode="before")
    @classmethod
    def _one_is_a_list_of_one(cls, value: Any) -> Any:
        return value if isinstance(value, list | tuple) else (value,)


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
    rerankers: dict[str, Reranker] = {}
    summarizers: dict[str, Summarizer]
    judges: dict[str, Judge] = {}
    support_judges: dict[str, SupportJudge] = {}
    methods: dict[str, Method] = {}  # beside those that ship
    cards: dict[str, str] = {}  # of judges and support judges: the files that `longform calibrate --out` writes
    systems: tuple[SystemGrid, ...] = Field(min_length=1)
    query_text: Literal["query", "query_subtopic"] = "query_subtopic"
    ranking_depth: int = Field(1000, gt=0)  # documents kept of each ranking
    cutoffs: tuple[int, ...] = (5, 10, 20)  # K of P@K, R@K, nDCG@K, MAP@K
    bullets: Literal["targets"] | int = "targets"  # bullets asked for: as many as the query has targets, or a number
    units: UnitKind = "bullets"  # what a summary is judged by
    importance: Importance = RelevanceImportance(kind="relevance")
    faithfulness: Faithfulness = Faithfulness()
    permutations: Permutations = Permutations()
    partial_score: float = Field(0.5, ge=0, le=1)  # what partial coverage counts
    aggregate: Literal["pooled", "per_summary"] = "pooled"
    resamples: int = Field(2000, ge=100)
    unjudged_threshold: float = Field(0.02, ge=0, le=1)
    citations: Literal["written", "matrix"] = "written"  # matrix: beside each summary, one whose citations are repaired
    prompts: str | None = None  # a folder whose files replace the project's own of the same name

    @model_validator(mode="after")
    def _names_are_defined(self) -> Experiment:
        for place, name, known in self._references():
            if name not in known:
                msg = f"{place} names {name!r}; defined are {sorted(known)}"
                raise ValueError(msg)
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
        yield from (("cards", name, {*self.judges, *self.support_judges}) for name in self.cards)
        if self.faithfulness.attribution is not None:
            yield "faithfulness.attribution", self.faithfulness.attribution, self.support_judges
        asking = [name for name, judge in self.judges.items() if not isinstance(judge, MeanJudge)]
        for name, judge in self.judges.items():
            if isinstance(judge, MeanJudge):
                yield from ((f"judges.{name}.of", member, asking) for member in judge.of)
        for name, retriever in self.retrievers.items():
            yield from ((f"retrievers.{name}.of", base, self.retrievers) for base in base_retrievers(retriever))

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
            System(*parts, permutation=permutation, several_budgets=len(grid.budget_tokens) > 1)
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
            for permutation in (range(self.permutations.n_orders) if "permuted" in parts else (None,))
        ]
        return tuple(dict.fromkeys(systems))
