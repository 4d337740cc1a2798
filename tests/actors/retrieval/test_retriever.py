from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from actors.retrieval.haystack_retriever import HaystackRetriever, check_loadable
from actors.storage.folder import Folder
from longform.errors import LongformError, UsageError
from longform.retrieval.ranking import z_sum
from longform.schemas import RANKINGS
from longform.settings.experiment import Experiment
from longform.summaries import extractive

TEXTS = {
    "north": [
        "The Fed raised interest rates. Banks reacted with caution.",
        "A zoo in Berlin welcomed two pandas this spring.",
        "Bank shares fell after the central bank lifted its rate. Deposits left small lenders.",
        "",
    ],
    "south": ["Cooking rice takes twenty minutes.", "Rates of interest rose."],
    "east": [
        "The library has news.\nDoors open at seven on exam days, two hours earlier than usual.",
        "Lorries queued for hours at the new tunnel under the strait.",
        "The library has news.\nDoors open at seven on exam days, two hours earlier than usual.",
        "A cold front brings heavy snow to the northern valleys tonight.",
        "Doors open at seven on exam days, two hours earlier than usual.",
        "Bakers in the old town doubled the price of rye bread.",
        "The library has news.\nDoors open at seven on exam days, two hours earlier than usual.",
        "A cold front brings heavy snow to the northern valleys tonight.",
        "A cold front brings heavy snow to the northern valleys tonight.",
        "",
    ],
}
TITLES = {"east": "Evening gazette"}
SAY_THE_SAME = {0, 2, 4, 6}  # document 4 never says library
QUERIES = {
    "rates": ("north", "Are interest rates discussed?", "interest rates of the Fed"),
    "pandas": ("north", "Are pandas discussed?", None),
    "rice": ("south", "How long does rice cook?", None),
    "library": ("east", "What changes for readers of the library?", "library"),
    "snow": ("east", "How is the weather?", "snowfall"),
}
RETRIEVERS: dict[str, Any] = {
    "random": {"kind": "random", "seed": 3},
    "keywords": {"kind": "keywords"},
    "bm25": {"kind": "bm25"},
    "words": {"kind": "bm25", "stem": False},
    "whole": {"kind": "encoder", "model": MINILM, "pooling": "whole"},
    "mean": {"kind": "encoder", "model": MINILM, "pooling": "mean", "chunk_tokens": 12},
    "max": {"kind": "encoder", "model": MINILM, "pooling": "max", "chunk_tokens": 12},
    "z": {"kind": "fusion", "of": ["bm25", "max"], "by": "z_sum"},
    "rrf": {"kind": "fusion", "of": ["bm25", "keywords"], "by": "reciprocal_rank"},
    "feedback": {"kind": "feedback", "of": "bm25", "documents": 1},
    "cluster": {"kind": "cluster_feedback"},
    "statements": {"kind": "statements", "n_statements": 1},
    "cluster-rm3": {"kind": "feedback", "of": "cluster"},
    "cluster-z": {"kind": "fusion", "of": ["cluster", "bm25"], "by": "z_sum"},
    "oracle": {"kind": "oracle"},
    "full": {"kind": "full"},
    "vector": {"kind": "released", "name": "vector"},
}


def experiment(retrievers: dict[str, Any] = RETRIEVERS, *, systems: list[str] | None = None, **keys: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "test",
            "seed": 1,
            "retrievers": retrievers,
            "summarizers": {"offline": {"kind": "offline"}},
            "judges": {},
            "systems": [{"retriever": systems or list(retrievers), "budget_tokens": None, "summarizer": "offline"}],
            **keys,
        }
    )


def doc_id(haystack_id: str, index: int) -> str:
    return f"{haystack_id}-{index}"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = Folder(str(tmp_path_factory.mktemp("bench")))
    for haystack_id, texts in TEXTS.items():
        rows = [
            {"doc_id": doc_id(haystack_id, i), "haystack_id": haystack_id, "doc_index": i, "text": text}
            | {"title": TITLES.get(haystack_id)}
            for i, text in enumerate(texts)
        ]
        folder.commit("documents", [folder.write_part("documents", rows, work_ids=(f"{haystack_id}#0",))])
    queries = [
        {"query_id": query_id, "haystack_id": haystack_id, "text": text, "subtopic": subtopic}
        for query_id, (haystack_id, text, subtopic) in QUERIES.items()
    ]
    qrels = [
        {"query_id": "rates", "target_id": target, "doc_id": doc_id("north", index), "relevance": 1}
        for target, index in [("a", 2), ("a", 0), ("b", 2)]
    ]
    rankings = [
        {"work_id": "w", "query_id": "rates", "haystack_id": "north", "system": "released:vector", **row}
        for row in [
            {"doc_id": doc_id("north", 1), "rank": 0, "score": 0.9},
            {"doc_id": doc_id("north", 0), "rank": 1, "score": 0.4},
        ]
    ]
    for table, rows in {"queries": queries, "qrels": qrels, "rankings": rankings}.items():
        folder.commit(table, [folder.write_part(table, rows, work_ids=("w",))])
    folder.write_json("benchmark.json", {})
    return folder.url


@pytest.fixture(scope="module")
def retriever(bench: str) -> HaystackRetriever:
    return HaystackRetriever(bench, experiment().retrieval, threads=1)


def order(rows: list[dict[str, Any]]) -> list[int]:
    return [int(row["doc_id"].rsplit("-", 1)[1]) for row in rows]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("keywords", 0),
        ("bm25", 0),
        ("words", 0),
        ("whole", 0),
        ("mean", 0),
        ("max", 0),
        ("z", 0),
        ("rrf", 0),
        ("feedback", 0),
        ("oracle", 2),
        ("full", 0),
        ("vector", 1),
    ],
)
def test_each_retriever_puts_the_right_document_first(retriever: HaystackRetriever, name: str, first: int) -> None:
    """The oracle prefers document 2, which states two targets; the release's list is not ours to question."""
    assert order(retriever.rank("north", ["rates"], [name]))[0] == first


def test_rows_fit_the_rankings_table(retriever: HaystackRetriever) -> None:
    rows = retriever.rank("north", ["rates", "pandas"], ["bm25", "full"])
    later = {"work_id", "retriever", "reranker", "failure", "passage"}
    assert {frozenset(row) for row in rows} == {frozenset(RANKINGS.names) - later}
    assert [(row["query_id"], row["system"], row["rank"]) for row in rows] == [
        (query_id, name, rank) for query_id in ("rates", "pandas") for name in ("bm25", "full") for rank in range(4)
    ]
    for before, after in pairwise(rows):
        assert after["rank"] == 0 or after["score"] <= before["score"]


def test_full_context_is_the_haystacks_order(retriever: HaystackRetriever) -> None:
    rows = retriever.rank("north", ["pandas"], ["full"])
    assert [(row["doc_id"], row["score"]) for row in rows] == [(doc_id("north", i), float(-i)) for i in range(4)]


def test_the_oracle_counts_the_targets_a_document_states(retriever: HaystackRetriever) -> None:
    rows = retriever.rank("north", ["rates"], ["oracle"])
    assert [(row["doc_id"], row["score"]) for row in rows] == [
        (doc_id("north", index), score) for index, score in [(2, 2.0), (0, 1.0), (1, 0.0), (3, 0.0)]
    ]


def test_random_depends_on_the_query_and_not_on_its_company(retriever: HaystackRetriever) -> None:
    together = retriever.rank("north", ["rates", "pandas"], ["random"])
    alone = retriever.rank("north", ["pandas"], ["random"])
    assert together[4:] == alone
    assert [row["score"] for row in together[:4]] != [row["score"] for row in together[4:]]


def test_fusion_is_the_z_sum_of_what_its_bases_score(retriever: HaystackRetriever) -> None:
    rows = retriever.rank("north", ["rates"], ["bm25", "max", "z"])
    scores = {name: {r["doc_id"]: r["score"] for r in rows if r["system"] == name} for name in ("bm25", "max", "z")}
    ids = [doc_id("north", index) for index in range(4)]
    expected = z_sum([[scores["bm25"][i] for i in ids], [scores["max"][i] for i in ids]])
    assert [scores["z"][i] for i in ids] == pytest.approx(expected, abs=1e-5)


def test_poolings_are_the_best_chunk_and_the_mean_weighted_by_words(retriever: HaystackRetriever) -> None:
    """Document 2 holds two sentences of unequal length, too long for one chunk of twelve tokens."""
    rows = retriever.rank("north", ["pandas"], ["mean", "max"])
    found = {row["system"]: row["score"] for row in rows if row["doc_id"] == doc_id("north", 2)}
    encoder = retriever._resources.encoder(MINILM)
    chunks = encoder.chunks(TEXTS["north"][2], max_tokens=12)
    assert len({len(chunk.split()) for chunk in chunks}) > 1
    vectors, query = encoder.embed(chunks), encoder.embed([QUERIES["pandas"][1]])[0]
    mean = sum(len(chunk.split()) * vector for chunk, vector in zip(chunks, vectors, strict=True))
    assert found["max"] == pytest.approx(max(vectors @ query), abs=2e-6)
    assert found["mean"] == pytest.approx(mean @ query / np.linalg.norm(mean), abs=2e-6)


def test_documents_a_release_does_not_rank_are_left_out(retriever: HaystackRetriever) -> None:
    assert order(retriever.rank("north", ["rates"], ["vector"])) == [1, 0]


def test_a_query_the_release_does_not_rank_is_an_error(retriever: HaystackRetriever) -> None:
    with pytest.raises(LongformError, match="no rows for query 'pandas'"):
        retriever.rank("north", ["pandas"], ["vector"])


def test_the_depth_cuts_every_list(bench: str) -> None:
    shallow = HaystackRetriever(bench, experiment(ranking_depth=2).retrieval, threads=1)
    assert [row["rank"] for row in shallow.rank("north", ["rates"], ["bm25", "full"])] == [0, 1, 0, 1]


def test_another_haystack_is_another_index(retriever: HaystackRetriever) -> None:
    first = retriever.rank("north", ["rates"], ["bm25", "max"])
    assert order(retriever.rank("south", ["rice"], ["bm25"]))[0] == 0
    assert retriever.rank("north", ["rates"], ["bm25", "max"]) == first


def test_the_query_text_is_the_experiments(bench: str) -> None:
    """`Fed` stands in the subtopic only, so without it document 0 loses a match."""
    longer, shorter = (
        HaystackRetriever(bench, experiment(query_text=text).retrieval, threads=1).rank("north", ["rates"], ["bm25"])
        for text in ("query_subtopic", "query")
    )
    assert longer[0]["score"] > shorter[0]["score"]


def test_each_text_is_embedded_once_for_all_retrievers_of_a_model(
    retriever: HaystackRetriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever.rank("south", ["rice"], ["whole"])
    seen: list[str] = []
    encode = Encoder._encode

    def spy(self: Encoder, texts: list[str]) -> np.ndarray:
        seen.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(Encoder, "_encode", spy)
    retriever.rank("north", ["rates", "pandas"], ["mean", "max", "z", "whole"])
    retriever.rank("north", ["rates"], ["z", "mean"])
    assert len(seen) == len(set(seen))
    assert len(seen) > len(TEXTS["north"])


STATEMENT_RETRIEVERS = pytest.mark.parametrize("name", ["cluster", "statements"])


@pytest.mark.parametrize("name", ["cluster", "statements", "cluster-rm3", "cluster-z"])
def test_a_document_is_found_by_what_others_say_in_its_words(retriever: HaystackRetriever, name: str) -> None:
    """Document 4 has no word of the query, so BM25 leaves it among those it knows nothing of."""
    rows = retriever.rank("east", ["library"], [name, "bm25"])
    scores = {row["system"]: row["score"] for row in rows if row["doc_id"] == doc_id("east", 4)}
    assert scores["bm25"] == 0
    assert set(order([row for row in rows if row["system"] == name])[:4]) == SAY_THE_SAME


@STATEMENT_RETRIEVERS
def test_statement_retrievers_score_every_document_and_alike_each_time(
    retriever: HaystackRetriever, bench: str, name: str
) -> None:
    together = retriever.rank("east", ["library", "snow"], [name])
    assert sorted(order(together[:10])) == sorted(order(together[10:])) == list(range(10))
    assert order(together[:10]) != order(together[10:])
    assert HaystackRetriever(bench, experiment().retrieval, threads=1).rank("east", ["snow"], [name]) == together[10:]


def test_statement_retrievers_read_a_haystack_once_and_without_titles(
    retriever: HaystackRetriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever.rank("south", ["rice"], ["bm25"])
    seen: list[str] = []

    class Spy(extractive.Extractor):
        def __init__(self, documents: Any, *arguments: Any, **keys: Any) -> None:
            seen.extend(text for _, text in documents)
            super().__init__(documents, *arguments, **keys)

    monkeypatch.setattr("actors.retrieval.retriever.Extractor", Spy)
    retriever.rank("east", ["library", "snow"], ["cluster", "statements"])
    retriever.rank("east", ["snow"], ["statements"])
    assert seen == TEXTS["east"]


@pytest.mark.parametrize(("query_text", "shown"), [("query_subtopic", True), ("query", False)])
def test_queries_and_their_subtopics_are_embedded_in_one_batch(
    bench: str, monkeypatch: pytest.MonkeyPatch, query_text: str, shown: bool
) -> None:
    """If the experiment searches without subtopics, statements are chosen without them too."""
    batches: list[list[str]] = []
    encode = Encoder._encode

    def spy(self: Encoder, texts: list[str]) -> np.ndarray:
        batches.append(texts)
        return encode(self, texts)

    monkeypatch.setattr(Encoder, "_encode", spy)
    retriever = HaystackRetriever(bench, experiment(query_text=query_text).retrieval, threads=1)
    retriever.rank("east", ["library", "snow"], ["cluster", "statements"])
    query_batch, *others = batches
    assert any("snowfall" in text for text in query_batch) == shown
    assert ("snowfall" in query_batch) == shown
    assert {QUERIES["snow"][1], QUERIES["library"][1]} <= {
        text.removesuffix(" snowfall").removesuffix(" library") for text in query_batch
    }
    assert not {text for batch in others for text in batch} & set(query_batch)


@STATEMENT_RETRIEVERS
def test_the_encoder_of_statement_retrievers_is_checked(bench: str, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    checked: list[str] = []
    monkeypatch.setattr("actors.retrieval.vectors.check_checkpoint", checked.append)
    check_loadable(experiment({"bm25": RETRIEVERS["bm25"], name: RETRIEVERS[name]}), bench_url=bench)
    assert checked == [MINILM]


def test_no_model_is_loaded_for_retrievers_without_one(bench: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.retrieval.retriever.Encoder", None)
    assert HaystackRetriever(bench, experiment().retrieval, threads=1).rank("north", ["rates"], ["feedback", "rrf"])


@pytest.mark.parametrize(
    ("haystack_id", "query_id", "message"),
    [("nowhere", "rates", "no documents of haystack 'nowhere'"), ("north", "rice", "no query 'rice' of haystack")],
)
def test_what_the_benchmark_lacks_is_named(
    retriever: HaystackRetriever, haystack_id: str, query_id: str, message: str
) -> None:
    with pytest.raises(LongformError, match=message):
        retriever.rank(haystack_id, [query_id], ["bm25"])


def test_an_unknown_retriever_lists_the_known_ones(retriever: HaystackRetriever) -> None:
    with pytest.raises(UsageError, match=r"'bm52'.*'bm25'"):
        retriever.rank("north", ["rates"], ["bm52"])


def test_retrievers_that_build_on_each_other_in_a_circle_are_refused(bench: str) -> None:
    circle = {
        "a": {"kind": "feedback", "of": "b"},
        "b": {"kind": "fusion", "of": ["c", "a"], "by": "z_sum"},
        "c": {"kind": "full"},
    }
    with pytest.raises(UsageError, match="circle: a -> b -> a"):
        check_loadable(experiment(circle), bench_url=bench)
    with pytest.raises(UsageError, match="circle"):
        HaystackRetriever(bench, experiment(circle).retrieval, threads=1)


def test_what_systems_use_is_checked_also_behind_a_fusion(bench: str) -> None:
    broken = {"kind": "encoder", "model": "/no/such/model", "pooling": "max"}
    retrievers = {
        "bm25": {"kind": "bm25"},
        "broken": broken,
        "z": {"kind": "fusion", "of": ["bm25", "broken"], "by": "z_sum"},
    }
    check_loadable(experiment(retrievers, systems=["bm25"]), bench_url=bench)
    with pytest.raises(UsageError, match="/no/such/model"):
        check_loadable(experiment(retrievers, systems=["z"]), bench_url=bench)


def test_a_missing_reranker_is_found_before_any_work(bench: str) -> None:
    cross = {"cross": {"kind": "cross_encoder", "model": "/no/such/reranker"}}
    systems = [{"retriever": "bm25", "reranker": "cross", "budget_tokens": None, "summarizer": "offline"}]
    content = {**experiment().model_dump(), "rerankers": cross, "systems": systems}
    with pytest.raises(UsageError, match="/no/such/reranker"):
        check_loadable(Experiment.model_validate(content), bench_url=bench)


def test_released_scores_the_benchmark_lacks_are_found_before_any_work(bench: str) -> None:
    check_loadable(experiment(), bench_url=bench)
    unknown = {"rerank3": {"kind": "released", "name": "rerank3"}}
    with pytest.raises(UsageError, match=r"'released:rerank3'.*'released:vector'"):
        check_loadable(experiment(unknown), bench_url=bench)


def test_an_oracle_without_qrels_is_refused(tmp_path: Path) -> None:
    Folder(str(tmp_path)).write_json("benchmark.json", {})
    with pytest.raises(UsageError, match="qrels"):
        check_loadable(experiment({"oracle": {"kind": "oracle"}}), bench_url=str(tmp_path))
