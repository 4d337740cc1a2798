"""An encoder behind an endpoint, for importance and for a measure, does as the same encoder here, and is asked once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.local_models.checkpoints import MINILM
from actors.measures import check_listed
from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.ingest import ingest
from longform.errors import UsageError
from longform.settings.measures import EmbeddingSimilaritySettings
from longform.settings.systems import SimilarityImportanceSettings
from serve.engine import Engine
from serve.http.access import Access
from serve.http.app import Backends, make_app
from serve.settings import ServedEncoder
from serve.workers import EmbeddingWorker
from tests.jobs.test_served_kinds import files
from tests.serving import running

pytestmark = pytest.mark.own_vectors


class Counted:
    """Passes requests on, and counts those for vectors."""

    def __init__(self, app: Any) -> None:
        self._app, self.n = app, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.n += scope.get("path") == "/v1/embeddings"
        await self._app(scope, receive, send)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder, url = tmp_path_factory.mktemp("files"), str(tmp_path_factory.mktemp("bench"))
    for name, rows in files().items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ingest("jsonl", [str(folder)], url)
    return url


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Counted]]:
    served = ServedEncoder(model=MINILM)
    engine = Engine(EmbeddingWorker("minilm", served, threads=1), served.batching)
    app = Counted(make_app(Backends(embeddings={"minilm": engine}), Access(bind="127.0.0.1")))
    with running(app) as url:
        yield f"{url}/v1/embeddings", app


def content(importance: dict[str, Any], *measures: Any) -> dict[str, Any]:
    return {
        "name": "encoders",
        "seed": 1,
        "retrievers": {"full": {"kind": "full"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": {"words": {"task": "key_point", "kind": "offline"}},
        "systems": [
            {"retriever": "full", "budget_tokens": None, "summarizer": "offline", "order": order}
            for order in ("top", "bottom")
        ],
        "importance": importance,
        "measures": list(measures),
        "resamples": 100,
    }


def ends(folder: Path, bench: str, made: dict[str, Any], run: str, *more: str) -> int:
    path = folder / f"{run}.yaml"
    path.write_text(json.dumps(made))
    return main([str(path), "--bench", bench, "--out", str(folder / run), "--workers", "0", *more])


def scores(run: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in Folder(str(run)).read("scores").to_pylist():
        found.setdefault(row["measure"], {})[row["summary_id"]] = row["value"]
    return found


def test_orders_and_similarity_are_those_of_the_same_encoder_here(
    bench: str, tmp_path: Path, server: tuple[str, Counted]
) -> None:
    url, app = server
    far = {"model": "minilm", "url": url}
    measures = ("embedding_similarity", {"kind": "embedding_similarity", **far, "batch_texts": 3})
    by_here = {"kind": "reference", "model": MINILM}
    assert ends(tmp_path, bench, content(by_here, "words"), "here") in (0, 3)
    assert ends(tmp_path, bench, content({"kind": "reference", **far}, *measures), "far") in (0, 3)

    def orders(run: str) -> dict[tuple[str, str], list[str]]:
        rows = Folder(str(tmp_path / run)).read("contexts").to_pylist()
        return {(row["query_id"], row["order"]): row["doc_ids"] for row in rows}

    assert orders("far") == orders("here")
    assert orders("far")["q1", "top"] != orders("far")["q1", "bottom"]
    found = scores(tmp_path / "far")
    assert found["embedding_similarity_minilm"] == pytest.approx(found["embedding_similarity"], abs=2e-3)
    assert len(set(found["embedding_similarity"].values())) > 1

    n_asked = app.n
    assert n_asked > 0
    assert ends(tmp_path, bench, content({"kind": "reference", **far}, *measures), "again") in (0, 3)
    assert app.n == n_asked, "vectors stand beside the benchmark"
    told = (tmp_path / "far" / "report" / "report.md").read_text()
    assert "embedding similarity (minilm)" in told


def test_a_missing_token_ends_the_command_before_any_work(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    far = {"model": "m", "url": "http://127.0.0.1:9/v1/embeddings", "api_key_env": "NO_SUCH_KEY"}
    by_relevance = {"kind": "relevance"}
    for made in (content({"kind": "reference", **far}), content(by_relevance, {"kind": "embedding_similarity", **far})):
        assert ends(tmp_path, bench, made, "run") == 2
        assert "expected its token in NO_SUCH_KEY" in capsys.readouterr().err
        assert not (tmp_path / "run" / "run.json").exists()


def test_what_is_of_an_endpoint_needs_a_url_and_changes_no_identity() -> None:
    with pytest.raises(ValueError, match="expected a `url` with api_key_env, which are of an endpoint"):
        SimilarityImportanceSettings.model_validate({"kind": "reference", "model": "m", "api_key_env": "K"})
    here = SimilarityImportanceSettings.model_validate({"kind": "reference", "model": "m"})
    assert here.identity == {"kind": "reference", "model": "m"}, "stored contexts are found by it"
    far = {"kind": "reference", "model": "m", "url": "http://a/v1/embeddings"}
    slower = {**far, "in_flight": 1, "api_key_env": "K"}
    assert SimilarityImportanceSettings.model_validate(slower).identity == far


def test_two_measures_of_one_encoder_s_name_are_refused_by_name() -> None:
    one = EmbeddingSimilaritySettings.model_validate({"kind": "embedding_similarity", "model": "org/Big-Model_v2"})
    assert one.measure == "embedding_similarity_big_model_v2"
    far = {"kind": "embedding_similarity", "url": "http://a/v1/embeddings", "model": "m"}
    twice = [EmbeddingSimilaritySettings.model_validate({**far, **more}) for more in ({}, {"batch_texts": 2})]
    with pytest.raises(UsageError, match="found embedding_similarity_m more than once"):
        check_listed(twice)
