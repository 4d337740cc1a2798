"""The main job beside models whose replies are odd: read, or named where people look, and none ends the command."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main
from tests.completion import completion

N_QUERIES = 2
SUMMARY = "- Swans nest by the lake [1, 2].\n- Nobody was asked [1]."
VERDICT = {"coverage": "FULL_COVERAGE", "bullet_id": 1}
SAID = json.dumps(VERDICT)
ODD: dict[str, Any] = {
    "parts": completion(
        message={"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": SUMMARY}]}
    ),
    "stream": f"data: {json.dumps({'choices': [{'delta': {'content': SUMMARY}}]})}\n\ndata: [DONE]\n\n",
    "unsaid": completion(message={"content": SUMMARY}, finish_reason=None),
    "cut": completion(message={"content": SUMMARY[:9]}, finish_reason="MAX_TOKENS"),
    "filtered": (400, {"error": {"code": "content_filter", "message": "managed"}}),
    "blank": completion(message={"content": " \n"}),
    "deep": (400, "[" * 200_000),
    "moved": (302, ""),
    "thinks": completion(message={"content": f'<think>{{"coverage": "NO_COVERAGE"}}</think>Verdict: {SAID}.'}),
    "words": completion(message={"content": json.dumps({"coverage": "full_coverage", "bullet_id": "1"})}),
    "mute": completion(message={"content": "I would rather not say."}),
}
WRITERS, JUDGES = list(ODD)[:8], list(ODD)[8:]


class Odd(BaseHTTPRequestHandler):
    """Answers as the model's name says, and counts who was asked."""

    asked: ClassVar[Counter[str]] = Counter()

    def do_POST(self) -> None:
        model = json.loads(self.rfile.read(int(self.headers["content-length"])))["model"]
        self.asked[model if self.path.startswith("/v1") else "elsewhere"] += 1
        found = completion(message={"content": SUMMARY}) if model == "moved" and self.asked[model] > 1 else ODD[model]
        status, stated = found if isinstance(found, tuple) else (200, found)
        body = (stated if isinstance(stated, str) else json.dumps(stated)).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("location", f"http://localhost:{self.server.server_address[1]}/elsewhere?key=secret")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


class Outcome(NamedTuple):
    code: int
    said: str
    failures: dict[str, dict[str | None, int]]  # of a writer's summaries, of a judge's verdicts
    linked: dict[str, set[int | None]]


@pytest.fixture(scope="module")
def outcome(bench: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    Odd.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = tmp_path_factory.mktemp("odd")
    address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    models = {name: {"kind": "chat", "chat": {"model": name, "base_url": address}} for name in ODD}
    config = {
        "name": "odd",
        "seed": 1,
        "retrievers": {"oracle": {"kind": "oracle"}},
        "summarizers": {name: models[name] for name in WRITERS},
        "judges": {name: models[name] for name in JUDGES},
        "systems": [{"retriever": "oracle", "budget_tokens": 600, "summarizer": WRITERS}],
        "resamples": 100,
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    yield _run(folder, bench)
    server.shutdown()
    server.server_close()


def _run(folder: Path, bench: str) -> Outcome:
    run, said = Folder(str(folder / "run")), folder / "said"
    words = [str(folder / "config.yaml"), "--bench", bench, "--out", run.url, "--workers", "0"]
    with said.open("w") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", file)
        code = main([*words, "--limit", str(N_QUERIES)])
    failures: dict[str, Counter[str | None]] = {name: Counter() for name in ODD}
    linked: dict[str, set[int | None]] = {name: set() for name in JUDGES}
    for row in run.read("summaries").to_pylist():
        failures[row["summarizer"]][row["failure"]] += 1
    for row in run.read("verdicts").to_pylist():
        if not (row["failure"] or "").startswith("summary_failed"):
            failures[row["judge"]][row["failure"]] += 1
            linked[row["judge"]].add(row["linked_unit"])
    return Outcome(code, said.read_text(), {name: dict(of) for name, of in failures.items()}, linked)


@pytest.mark.parametrize(
    ("writer", "failure"),
    [
        *((name, None) for name in ("parts", "stream", "unsaid")),
        ("cut", "not_finished_MAX_TOKENS"),
        ("filtered", "content_filter"),
        ("blank", "empty_reply"),
        ("deep", "http_400"),
    ],
)
def test_a_summary_is_read_or_its_reason_is_told(outcome: Outcome, writer: str, failure: str | None) -> None:
    assert outcome.failures[writer] == {failure: N_QUERIES}
    assert Odd.asked[writer] == N_QUERIES, "what was paid for is not paid for again"
    assert failure is None or f"{failure} {N_QUERIES}" in outcome.said


def test_a_way_out_of_paid_replies_without_a_text_is_named(outcome: Outcome) -> None:
    assert f"Replies in which no text can be read (empty_reply {N_QUERIES}) are paid" in outcome.said
    assert "one with another --out does, and a larger max_tokens, another server, or a --ledger of its" in outcome.said


@pytest.mark.parametrize("judge", ["thinks", "words"])
def test_a_verdict_is_read_wherever_it_stands(outcome: Outcome, judge: str) -> None:
    assert set(outcome.failures[judge]) == {None}
    assert outcome.linked[judge] == {0}


def test_verdicts_that_cannot_be_read_are_told_with_what_they_cost(outcome: Outcome) -> None:
    (n,) = outcome.failures["mute"].values()
    assert outcome.failures["mute"] == {"no_json_object": n}
    n_calls = Odd.asked["mute"] // 2  # equal pairs are one call
    assert f"Judge mute gave {n} pairs no answer (no_json_object {n})." in outcome.said
    assert (
        f"{n_calls} replies of model 'mute' could not be read and were asked for, and paid, once more" in outcome.said
    )


def test_nothing_is_sent_where_a_redirect_points_to(outcome: Outcome) -> None:
    assert outcome.failures["moved"] == {"http_302": 1, None: 1}
    assert Odd.asked["elsewhere"] == 0
    assert "a redirect to http://localhost:" in outcome.said
    assert "secret" not in outcome.said
    assert outcome.code == 3
