"""The example of a job that asks a served judge finds what the judge finds in the process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actors.chat.model import CallContext
from actors.judges.opening import make_judge
from actors.serving.client import RefusedError, Reply
from actors.serving.messages import HeldBack
from jobs.served_judge import AskServer, JudgeUrl, judged, main
from longform.judges.kind import Group
from longform.settings.judges import OfflineJudgeSettings
from serve.engine import Engine
from serve.http.access import Access
from serve.http.app import Backends, ServedJudge, make_app
from serve.judges.items import judge_item
from serve.judges.workers import KindWorker
from serve.settings import ServedKind
from tests.bench.served_load import on_serve
from tests.serve.served import small_backends
from tests.serving import running

pytestmark = pytest.mark.own_vectors

DOCUMENTS = (
    "The council voted 7 to 2 to rebuild the bridge. Traffic was discussed at length.",
    "The bridge will cost 3.4 million euros, according to the treasurer.",
)
SENTENCES = ("The council voted to rebuild the bridge.", "The bridge will cost 3.4 million euros.", "Foxes bark.")
PAIRS = [(document, sentence) for document in DOCUMENTS for sentence in SENTENCES]


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps({"document": d, "sentence": s}) + "\n" for d, s in PAIRS))
    return str(path)


Expected = dict[tuple[str, str], tuple[str | None, float | None]]


async def in_process() -> Expected:
    context = CallContext(job="test", stage="judge", ledger="")
    judges = {"offline": OfflineJudgeSettings(kind="offline", task="support")}
    ask = make_judge("offline", judges).open(context, 1).ask
    groups = [Group(document, (document,), SENTENCES) for document in DOCUMENTS]
    found = await ask(groups)
    return {
        (group.text, sentence): (verdict.answer, verdict.probability)
        for group, row in zip(groups, found, strict=True)
        for sentence, verdict in zip(group.items, row, strict=True)
    }


class Echo:
    """A client of a judge that supports sentences which begin as their document does, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[Mapping[str, Any]]] = []

    async def judge(self, judge: str, items: list[Mapping[str, Any]]) -> dict[str, Any]:
        self.asked.append(items)
        return {
            "task": "support",
            "results": [{"verdicts": [self._verdict(item, s) for s in item["sentences"]]} for item in items],
        }

    def _verdict(self, item: Mapping[str, Any], sentence: str) -> dict[str, Any]:
        answer = "supported" if item["document"][:3] == sentence[:3] else "unsupported"
        return {"answer": answer, "probability": None, "failure": None}


async def test_batch_is_one_request_in_which_each_document_and_cell_stands_once() -> None:
    client = Echo()
    pairs = [("The a", "The b"), ("Not a", "The b"), ("The a", "Foxes"), ("The a", "The b")]

    found = await judged(client, "j", pairs)  # type: ignore[arg-type]

    assert [verdict.answer for verdict in found] == ["supported", "unsupported", "unsupported", "supported"]
    assert client.asked == [
        [{"document": "The a", "sentences": ["The b", "Foxes"]}, {"document": "Not a", "sentences": ["The b"]}]
    ]


async def test_batch_that_cannot_be_judged_keeps_its_rows_with_the_reason() -> None:
    app = make_app(small_backends(), Access(bind="127.0.0.1"))
    with running(app) as url:
        ask = AskServer(JudgeUrl(judge="no such judge", url=url))
        found = await ask(pa.table({"document": ["d", "e"], "sentence": ["s", "t"], "mine": [1, 2]}))

    assert found["mine"].to_pylist() == [1, 2]
    assert found["answer"].to_pylist() == found["probability"].to_pylist() == [None, None]
    assert all("answered 404" in failure for failure in found["failure"].to_pylist())


async def test_a_pair_that_the_server_refuses_costs_no_other_its_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    class Picky(Echo):
        async def judge(self, judge: str, items: list[Mapping[str, Any]]) -> dict[str, Any]:
            if any(item["document"] == "Long" for item in items):
                raise RefusedError(413, "items.0.document: expected a shorter text")
            return await super().judge(judge, items)

    ask = AskServer(JudgeUrl(judge="j", url="http://nowhere"))
    monkeypatch.setattr(ask, "_client", Picky())
    documents = ["The a", "Long", "The b", None, "Not d"]
    found = await ask(pa.table({"document": documents, "sentence": ["The x"] * 5}))

    assert found["answer"].to_pylist() == ["supported", None, "supported", None, "unsupported"]
    refused = "refused: items.0.document: expected a shorter text"
    no_text = "expected a document and a sentence that are texts"
    assert found["failure"].to_pylist() == [None, refused, None, no_text, None]


async def test_a_worker_states_the_requests_of_its_batch_that_are_not_in_flight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = []

    async def send(_path: str, body: Mapping[str, Any], now: HeldBack) -> Reply:
        held.append(now.n_requests)
        return Reply(200, await Echo().judge("j", body["items"]))

    def over(_url: str, *, token: str | None) -> Any:
        assert token is None
        return send

    monkeypatch.setattr("actors.judges.served.over_http", over)
    ask = AskServer(JudgeUrl(judge="j", url="http://nowhere"))
    found = await ask(pa.table({"document": [f"The {n}" for n in range(640)], "sentence": ["The x"] * 640}))

    assert set(found["answer"].to_pylist()) == {"supported"}
    assert (len(held), max(held), held[-1]) == (10, 6, 0)


@pytest.mark.slow
async def test_served_judge_gives_what_the_judge_gives_in_the_process() -> None:
    """Over real HTTP, without Ray."""
    expected = await in_process()
    served = ServedKind.model_validate({"task": "support", "judge": {"kind": "offline"}})
    engine = Engine(KindWorker("offline-support", served, threads=1, ledger=None), served.batching)
    app = make_app(
        Backends(judges={"offline-support": ServedJudge(engine, judge_item("support"))}), Access(bind="127.0.0.1")
    )
    with running(app) as url:
        documents, sentences = zip(*PAIRS, strict=True)
        ask = AskServer(JudgeUrl(judge="offline-support", url=url))
        found = await ask(pa.table({"document": documents, "sentence": sentences}))

    assert_as_expected(found.to_pylist(), expected)


def assert_as_expected(rows: list[dict[str, Any]], expected: Expected) -> None:
    assert len({probability for _, probability in expected.values()}) > 1, "else equal answers would say nothing"
    assert {(row["document"], row["sentence"]) for row in rows} == expected.keys()
    for row in rows:
        answer, probability = expected[row["document"], row["sentence"]]
        assert (row["answer"], row["failure"]) == (answer, None)
        assert row["probability"] == pytest.approx(probability, abs=1e-4)


@pytest.fixture(scope="module")
def served(ray_session: None) -> Iterator[str]:
    """The URL of one judge on Ray Serve, in the application `judging`."""
    from ray import serve

    from serve.deployments import build

    judges = {"offline-support": {"task": "support", "judge": {"kind": "offline"}}}
    with on_serve() as url:
        serve.run(build({"judges": judges}), name="judging", route_prefix="/")
        yield url


@pytest.mark.slow
@pytest.mark.ray
def test_url_and_handle_give_what_the_judge_gives_in_the_process(served: str, pairs: str, tmp_path: Path) -> None:
    expected = asyncio.run(in_process())
    places: dict[str, list[str]] = {"url": ["--url", served], "handle": ["--app", "judging"]}
    for name, place in places.items():
        out = tmp_path / name
        assert main([pairs, "--judge", "offline-support", "--out", str(out), "--workers", "1", *place]) == 0
        assert_as_expected(pq.read_table(out).to_pylist(), expected)
    assert main([pairs, "--judge", "offline-support", "--out", str(out), "--url", served]) == 2, "the folder is taken"


@pytest.mark.ray
def test_wrong_address_ends_the_job_before_any_row(
    ray_session: None, pairs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong name, here: the server says which there are."""
    with running(make_app(small_backends(), Access(bind="127.0.0.1"))) as url:
        assert main([pairs, "--judge", "other", "--url", url, "--out", str(tmp_path / "out")]) == 1

    assert "answered 404" in capsys.readouterr().err
    assert main([pairs, "--judge", "other", "--app", "nowhere", "--out", str(tmp_path / "out")]) == 2
    assert "expected a judge 'other' in the application 'nowhere'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
