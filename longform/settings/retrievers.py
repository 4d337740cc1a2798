"""Retrievers and rerankers, as a configuration names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from longform.errors import UsageError
from longform.settings.chat import ChatSettings, HttpSettings, MayAskSettings, OwnClassSettings
from longform.settings.endpoints import EmbeddingsEndpointSettings, EndpointSettings
from longform.settings.python_class import PythonClassSettings
from longform.settings.strict import ResourcesSettings


class _Retriever(MayAskSettings):
    """
    The facts of a kind of retriever.

    Attributes:
        loads_model: True if its worker loads something that takes a while.
        whole: True if it gives all documents, as they stand.
        empty: True if it gives none.
        bases: The names of the retrievers that it combines or expands.
    """

    loads_model: ClassVar[bool] = False
    whole: ClassVar[bool] = False
    empty: ClassVar[bool] = False

    @property
    def bases(self) -> tuple[str, ...]:
        of: str | tuple[str, ...] = getattr(self, "of", ())
        return (of,) if isinstance(of, str) else of


class RandomRetrieverSettings(_Retriever):
    """An order that a seed draws."""

    actor = "actors.retrieval.model_free:RandomRetriever"
    kind: Literal["random"]
    seed: int  # of the order that is drawn


class KeywordRetrieverSettings(_Retriever):
    """Counts keywords that a document shares with the query."""

    actor = "actors.retrieval.model_free:KeywordRetriever"
    kind: Literal["keywords"]


class Bm25RetrieverSettings(_Retriever):
    """BM25 over stemmed words."""

    actor = "actors.retrieval.model_free:Bm25Retriever"
    kind: Literal["bm25"]
    k1: float = Field(1.5, ge=0)  # how soon further occurrences of a word count less
    b: float = Field(0.75, ge=0, le=1)  # how far long documents are held back: 0 not at all, 1 in full
    stem: bool = True  # compare stems of words, not words


class OkapiRetrieverSettings(_Retriever):
    """BM25 as the package `rank_bm25` computes it (Okapi), over words that are split at single spaces, case kept."""

    actor = "actors.retrieval.model_free:OkapiRetriever"
    kind: Literal["bm25_okapi"]
    k1: float = Field(1.5, ge=0)  # how soon further occurrences of a word count less
    b: float = Field(0.75, ge=0, le=1)  # how far long documents are held back: 0 not at all, 1 in full
    epsilon: float = Field(0.25, ge=0)  # the least idf of a word, as a share of the mean idf


class _Vectors(_Retriever):
    """Compares vectors of texts. `whole`: of whole documents; `mean` and `max` pool chunks of them."""

    loads_model = True

    pooling: Literal["whole", "mean", "max"]  # whole documents, or the mean or the best of their chunks
    query_prefix: str = ""  # before each query, as the model was trained
    document_prefix: str = ""  # before each document or chunk, as the model was trained


class EncoderRetrieverSettings(_Vectors):
    """A Sentence Transformers model. `whole` cuts a document at the window; `mean` and `max` pool chunks within it."""

    actor = "actors.retrieval.vectors:EncoderRetriever"
    how_it_is_asked = frozenset({"resources"})

    kind: Literal["encoder"]
    model: str  # a hub name, a folder, s3://, or package:NAME for weights inside an installed package
    chunk_tokens: int | None = Field(None, gt=0)  # null: the encoder's window
    resources: ResourcesSettings | None = None  # of each worker that retrieves; null: a processor's


class EmbeddingsRetrieverSettings(_Vectors, EmbeddingsEndpointSettings):
    """A server that speaks OpenAI's dialect of embeddings, `serve/` among them."""

    actor = "actors.retrieval.vectors:EmbeddingsRetriever"
    how_it_is_asked = EmbeddingsEndpointSettings.how_it_is_asked

    kind: Literal["embeddings"]
    chunk_tokens: int | None = Field(None, gt=0)  # of cl100k; its window is not known here, so `mean` and `max` need it

    @model_validator(mode="after")
    def _chunks_have_a_size(self) -> EmbeddingsRetrieverSettings:
        if (self.pooling == "whole") != (self.chunk_tokens is None):
            found = f"found pooling {self.pooling} with chunk_tokens {self.chunk_tokens}"
            raise ValueError(f"expected chunk_tokens with pooling mean or max, and none with whole; {found}")
        return self


DenseSettings = EncoderRetrieverSettings | EmbeddingsRetrieverSettings


class FusionRetrieverSettings(_Retriever):
    """The sum of other retrievers' rankings, by z-scores or by reciprocal ranks."""

    actor = "actors.retrieval.model_free:FusionRetriever"
    kind: Literal["fusion"]
    of: tuple[str, ...] = Field(min_length=2)  # names of other retrievers
    by: Literal["z_sum", "reciprocal_rank"]  # what is added up: z-scores, or 1 / (rank_constant + rank)
    rank_constant: int = Field(60, gt=0)  # of reciprocal ranks; a larger one makes first places count less
    weights: tuple[float, ...] | None = None  # of the z-scores; null: all 1

    @model_validator(mode="after")
    def _each_has_a_weight(self) -> FusionRetrieverSettings:
        if self.weights is not None and (self.by != "z_sum" or len(self.weights) != len(self.of)):
            raise ValueError(
                f"weights are for z_sum, one for each of {list(self.of)}; found {list(self.weights)} with {self.by}"
            )
        return self


class ShortFirstRetrieverSettings(_Retriever):
    """Shorter documents first; in a fusion, because more of them fit a budget."""

    actor = "actors.retrieval.model_free:ShortFirstRetriever"
    kind: Literal["short_first"]


class FeedbackRetrieverSettings(_Retriever):
    """RM3: expands the query by terms of the base retriever's best documents, adds the expansion's BM25 z-score."""

    actor = "actors.retrieval.model_free:FeedbackRetriever"
    kind: Literal["feedback"]
    of: str  # the retriever whose ranking is expanded
    documents: int = Field(10, gt=0)  # the first of its ranking, whose terms are taken
    terms: int = Field(50, gt=0)  # that the query is expanded by
    weight: float = Field(1.0, ge=0)  # of the expansion beside the ranking that is expanded


class ClusterFeedbackRetrieverSettings(_Retriever):
    """Documents that support the query's most relevant repeated sentences; learnt from no query."""

    actor = "actors.retrieval.vectors:ClusterFeedbackRetriever"
    loads_model = True
    fitted_models = frozenset({"support"})

    kind: Literal["cluster_feedback"]


class StatementsRetrieverSettings(_Retriever):
    """Documents that support the offline summarizer's quotes, short ones first."""

    actor = "actors.retrieval.vectors:StatementsRetriever"
    loads_model = True
    fitted_models = frozenset({"support", "ranker"})

    kind: Literal["statements"]
    n_statements: int = Field(12, gt=0)  # quotes whose documents are looked for


class OracleRetrieverSettings(_Retriever):
    """Ranks by the relevance that people gave."""

    actor = "actors.retrieval.model_free:OracleRetriever"
    kind: Literal["oracle"]


class GoldRetrieverSettings(_Retriever):
    """Ranks the documents that are judged relevant and no others; a query without them gets none."""

    actor = "actors.retrieval.model_free:GoldRetriever"
    kind: Literal["gold"]


class NoDocumentsSettings(_Retriever):
    """Ranks nothing: prompts hold the query alone, which shows what a model knows by heart."""

    actor = "actors.retrieval.model_free:NoDocuments"
    empty = True
    kind: Literal["none"]


class FullContextSettings(_Retriever):
    """All documents, as they stand in the haystack."""

    actor = "actors.retrieval.model_free:FullContext"
    whole = True
    kind: Literal["full"]


class ReleasedRetrieverSettings(_Retriever):
    """Scores that the benchmark ships, by the name they have there."""

    actor = "actors.retrieval.model_free:ReleasedRetriever"
    kind: Literal["released"]
    name: str  # the name of the scores in the benchmark


class PythonRetrieverSettings(OwnClassSettings, _Retriever):
    """A class that scores documents."""

    actor = "actors.retrieval.own_ranker:PythonRetriever"
    loads_model = True


class HttpRetrieverSettings(HttpSettings, _Retriever):
    """A server of one's own that scores documents."""

    actor = "actors.retrieval.own_ranker:HttpRetriever"


RetrieverSettings = Annotated[
    RandomRetrieverSettings
    | KeywordRetrieverSettings
    | Bm25RetrieverSettings
    | OkapiRetrieverSettings
    | EncoderRetrieverSettings
    | EmbeddingsRetrieverSettings
    | FusionRetrieverSettings
    | ShortFirstRetrieverSettings
    | FeedbackRetrieverSettings
    | ClusterFeedbackRetrieverSettings
    | StatementsRetrieverSettings
    | OracleRetrieverSettings
    | GoldRetrieverSettings
    | NoDocumentsSettings
    | FullContextSettings
    | ReleasedRetrieverSettings
    | PythonRetrieverSettings
    | HttpRetrieverSettings,
    Field(discriminator="kind"),
]


def with_bases(retrievers: Mapping[str, RetrieverSettings], names: Iterable[str]) -> list[str]:
    """
    Return *names* and the retrievers they build on, bases first, each once.

    Raises:
        UsageError: One is not defined, or they build on each other in a circle.
    """
    found: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise UsageError(f"retrievers build on each other in a circle: {' -> '.join([*above, name])}")
        if name not in retrievers:
            raise UsageError(f"no retriever is called {name!r}; defined are {sorted(retrievers)}")
        for base in retrievers[name].bases:
            visit(base, (*above, name))
        found[name] = None

    for name in names:
        visit(name, ())
    return list(found)


class RetrievalSettings(NamedTuple):
    """A configuration's slice for ranking."""

    retrievers: Mapping[str, RetrieverSettings]  # by their names
    query_text: str  # what they search with
    ranking_depth: int  # documents kept of each ranking


class CrossEncoderRerankerSettings(MayAskSettings):
    """A cross-encoder that reads query and document together."""

    actor = "actors.retrieval.reranker:CrossEncoderReranker"
    how_it_is_asked = frozenset({"resources"})

    kind: Literal["cross_encoder"]
    model: str  # a hub name, a folder, s3:// or package:NAME
    depth: int = Field(20, gt=0)  # documents re-scored; the rest keep their order below
    resources: ResourcesSettings | None = None  # of each worker that holds it; null: a processor's


class EndpointRerankerSettings(MayAskSettings, EndpointSettings):
    """A server that speaks Cohere's or Jina's dialect, `serve/` among them; one request holds all documents."""

    actor = "actors.retrieval.reranker:EndpointReranker"
    kind: Literal["endpoint"]
    depth: int = Field(20, gt=0)  # as above


class PythonRerankerSettings(MayAskSettings, PythonClassSettings):
    """A class that scores documents as a retriever's does."""

    actor = "actors.retrieval.own_ranker:PythonReranker"

    depth: int = Field(20, gt=0)  # as above


class ChatRerankerSettings(MayAskSettings):
    """A prompted chat model that gives each document a whole number, one call each (MSRS, section 4.1)."""

    actor = "actors.retrieval.chat_reranker:ChatReranker"
    kind: Literal["chat"]
    chat: ChatSettings  # the model that is asked
    depth: int = Field(20, gt=0)  # as above
    scale: int = Field(20, ge=2)  # the highest score; the lowest is 1
    prompt: str = "rerank_documents"  # the name of a prompt, of the project or of the folder `prompts`


RerankerSettings = Annotated[
    CrossEncoderRerankerSettings | EndpointRerankerSettings | PythonRerankerSettings | ChatRerankerSettings,
    Field(discriminator="kind"),
]
