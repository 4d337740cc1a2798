"""Any retriever or reranker by its settings: the one place that knows which settings mean which class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from actors.chat.opening import REPAIR_PROMPT, Asking, check_chat, check_endpoint, load_prompt, versions_of
from actors.local_models.checkpoints import changing_content, check_checkpoint
from actors.python_class import check_class, class_version
from actors.retrieval.chat_reranker import ChatReranker, check_prompt
from actors.retrieval.combined import FeedbackRetriever, FusionRetriever, ScoredOnce
from actors.retrieval.cross_encoder import CrossEncoderReranker
from actors.retrieval.encoders import check_encoder
from actors.retrieval.endpoint_reranker import KIND, EndpointReranker
from actors.retrieval.looked_up import GoldRetriever, OracleRetriever, ReleasedRetriever
from actors.retrieval.python_ranker import PythonReranker, PythonRetriever
from actors.retrieval.query_free import FullContext, NoDocuments, RandomRetriever, ShortFirstRetriever
from actors.retrieval.reranker import Reranker
from actors.retrieval.retriever import Resources, Retriever
from actors.retrieval.statements import ClusterFeedbackRetriever, StatementsRetriever
from actors.retrieval.vectors import EncoderRetriever
from actors.retrieval.word_match import Bm25Retriever, KeywordRetriever, OkapiRetriever
from actors.serving.endpoint import token_of
from longform.protocols import Ranker
from longform.retrieval.packing import BY_IMPORTANCE
from longform.retrieval.ranking import OTHERS_VERSION
from longform.retrieval.statements import statements_version
from longform.settings.experiment import Experiment
from longform.settings.importance import SimilarityImportanceSettings
from longform.settings.retrievers import (
    Bm25RetrieverSettings,
    ChatRerankerSettings,
    ClusterFeedbackRetrieverSettings,
    CrossEncoderRerankerSettings,
    EmbeddingsRetrieverSettings,
    EncoderRetrieverSettings,
    EndpointRerankerSettings,
    FeedbackRetrieverSettings,
    FullContextSettings,
    FusionRetrieverSettings,
    GoldRetrieverSettings,
    HttpRetrieverSettings,
    KeywordRetrieverSettings,
    NoDocumentsSettings,
    OkapiRetrieverSettings,
    OracleRetrieverSettings,
    PythonRerankerSettings,
    PythonRetrieverSettings,
    RandomRetrieverSettings,
    ReleasedRetrieverSettings,
    RerankerSettings,
    RetrieverSettings,
    ShortFirstRetrieverSettings,
    StatementsRetrieverSettings,
    with_bases,
)


def make_retrievers(
    settings: Mapping[str, RetrieverSettings], names: Iterable[str], resources: Resources
) -> dict[str, Retriever]:
    """
    Return the retrievers *names* and those that they build on, bases first; nothing is loaded.

    Raises:
        UsageError: One is not defined, or they build on each other in a circle.
    """
    made: dict[str, Retriever] = {}
    for name in with_bases(settings, names):
        made[name] = ScoredOnce(_made(settings[name], made, resources))
    return made


def _made(settings: RetrieverSettings, bases: Mapping[str, Retriever], resources: Resources) -> Retriever:  # noqa: C901, PLR0911, PLR0912  a line a kind
    match settings:
        case RandomRetrieverSettings():
            return RandomRetriever(settings)
        case ShortFirstRetrieverSettings():
            return ShortFirstRetriever()
        case GoldRetrieverSettings():
            return GoldRetriever(resources)
        case NoDocumentsSettings():
            return NoDocuments()
        case FullContextSettings():
            return FullContext()
        case KeywordRetrieverSettings():
            return KeywordRetriever(resources)
        case Bm25RetrieverSettings():
            return Bm25Retriever(settings, resources)
        case OkapiRetrieverSettings():
            return OkapiRetriever(settings, resources)
        case EncoderRetrieverSettings() | EmbeddingsRetrieverSettings():
            return EncoderRetriever(settings, resources)
        case ClusterFeedbackRetrieverSettings():
            return ClusterFeedbackRetriever(resources)
        case StatementsRetrieverSettings():
            return StatementsRetriever(settings, resources)
        case FusionRetrieverSettings():
            return FusionRetriever(settings, [bases[name] for name in settings.of])
        case FeedbackRetrieverSettings():
            return FeedbackRetriever(settings, bases[settings.of])
        case OracleRetrieverSettings():
            return OracleRetriever(resources)
        case ReleasedRetrieverSettings():
            return ReleasedRetriever(settings, resources)
        case PythonRetrieverSettings():
            return PythonRetriever(settings, resources)
        case HttpRetrieverSettings():
            raise AssertionError("rankings of a server are asked for by a stage of their own")


def made_by(settings: RetrieverSettings) -> list[str]:
    """Return versions of all that decides a ranking beside the settings."""
    match settings:
        case ClusterFeedbackRetrieverSettings() | StatementsRetrieverSettings():
            return [statements_version()]
        case EncoderRetrieverSettings():
            content = changing_content(settings.model)
            return [content] if content else []
        case PythonRetrieverSettings():
            return [class_version(settings), OTHERS_VERSION]
        case HttpRetrieverSettings():
            return [OTHERS_VERSION]
        case _:
            return []


def open_reranker(settings: RerankerSettings, *, threads: int, asking: Asking | None = None) -> Reranker:
    """
    Open the reranker that *settings* describe, and load its model here.

    Args:
        settings: Of the configuration.
        threads: Of a local model.
        asking: With what a chat model is asked; None: it is none.

    Raises:
        UsageError: Its model, its token or its class is missing.
    """
    match settings:
        case CrossEncoderRerankerSettings():
            return CrossEncoderReranker(settings, threads=threads)
        case EndpointRerankerSettings():
            return EndpointReranker(settings)
        case PythonRerankerSettings():
            return PythonReranker(settings)
        case ChatRerankerSettings():
            assert asking is not None, "a chat model is asked with something"
            return ChatReranker(settings, asking)


def reranker_identity(settings: RerankerSettings, prompts: str | None = None) -> dict[str, JsonValue]:
    """Return all that a reranker's orders depend on; a folder of *prompts* may have its own."""
    match settings:
        case ChatRerankerSettings():
            return settings.identity | {"prompts": versions_of([settings.prompt, REPAIR_PROMPT], prompts)}
        case PythonRerankerSettings():
            return settings.identity | {"version": class_version(settings), "scores": OTHERS_VERSION}
        case EndpointRerankerSettings():
            return settings.identity | {"scores": OTHERS_VERSION}
        case CrossEncoderRerankerSettings() if content := changing_content(settings.model):
            return settings.identity | {"content": content}
        case _:
            return settings.identity


def check_loadable(experiment: Experiment, *, bench_url: str, with_keys: bool = True) -> None:
    """
    Check that the models of the experiment's rankers are there, and their tables of the benchmark.

    Args:
        experiment: Names the rankers.
        bench_url: Of the benchmark.
        with_keys: Look for the tokens of endpoints, too.

    Raises:
        UsageError: Something is missing; no weights were read and no work was done.
    """
    systems = experiment.all_systems()
    resources = Resources(bench_url, query_text=experiment.query_text, threads=1)
    used = [system.retriever for system in systems]
    for name in dict.fromkeys(used):
        if (asked := experiment.retrievers[name].asked_model) is not None:
            check_endpoint(asked, with_key=with_keys)
    used = [name for name in used if not isinstance(experiment.retrievers[name], HttpRetrieverSettings)]
    for retriever in make_retrievers(experiment.retrievers, used, resources).values():
        retriever.check()
    for settings in experiment.used_rerankers.values():
        _check_reranker(settings, experiment.prompts, with_keys=with_keys)
    by_importance = any(system.order in BY_IMPORTANCE for system in systems)
    if by_importance and isinstance(experiment.importance, SimilarityImportanceSettings):
        check_encoder(experiment.importance)  # a plan packs, and so asks an endpoint


def _check_reranker(settings: RerankerSettings, prompts: str | None, *, with_keys: bool) -> None:
    match settings:
        case ChatRerankerSettings():
            check_chat(settings.chat, with_key=with_keys)
            check_prompt(load_prompt(settings.prompt, prompts))
        case CrossEncoderRerankerSettings():
            check_checkpoint(settings.model)
        case PythonRerankerSettings():
            check_class(settings, Ranker)
        case EndpointRerankerSettings():
            if with_keys:
                token_of(KIND, settings)
