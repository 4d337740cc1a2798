"""OpenAI's batch API as the fake provider offers it: files of requests in, files of replies and of errors out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic, time
from typing import TypedDict

from aiohttp import web

from actors.rehearsal.fake_bodies import json_response, misstated
from actors.rehearsal.fake_messages import Completion, FakeRequest
from actors.rehearsal.fake_replies import completion_body, read_asked
from longform.given import Json
from longform.rehearsal.settings import FakeSettings, batch_item_fails

JsonObject = dict[str, Json]

_ENDPOINT = "/v1/chat/completions"
_ENDED = ("completed", "expired", "cancelled", "failed")
_EXPIRED = {
    "code": "batch_expired",
    "message": "This request could not be executed before the completion window expired.",
}


class BatchLine(TypedDict):
    """A line of an input file."""

    custom_id: str
    url: str
    body: FakeRequest


class ItemResponse(TypedDict):
    status_code: int
    request_id: str
    body: Completion | JsonObject


class ItemLine(TypedDict):
    """A line of an output or error file."""

    id: str
    custom_id: str
    response: ItemResponse | None
    error: Mapping[str, Json] | None


@dataclass
class Batch:
    """A batch under way; `n_done` of its items have been made, in the order of the file."""

    id: str
    input_file_id: str
    metadata: Json
    items: list[BatchLine]
    started: float = field(default_factory=monotonic)
    created_at: int = field(default_factory=lambda: int(time()))
    status: str = "in_progress"
    n_done: int = 0
    replies: list[ItemLine] = field(default_factory=list)
    errors: list[ItemLine] = field(default_factory=list)
    faults: list[JsonObject] = field(default_factory=list)  # of the input file
    files: dict[str, str] = field(default_factory=dict)

    def document(self) -> JsonObject:
        """Return the batch as the API shows it."""
        counts = {"total": len(self.items), "completed": len(self.replies), "failed": len(self.errors)}
        shown: JsonObject = {
            "id": self.id,
            "object": "batch",
            "endpoint": _ENDPOINT,
            "input_file_id": self.input_file_id,
            "completion_window": "24h",
            "status": self.status,
            "created_at": self.created_at,
            "request_counts": counts,
            "metadata": self.metadata,
            "errors": {"object": "list", "data": self.faults} if self.faults else None,
            "output_file_id": self.files.get("output"),
            "error_file_id": self.files.get("error"),
        }
        return shown | ({f"{self.status}_at": int(time())} if self.status in _ENDED else {})


class FakeBatches:
    """
    Files and batches in memory. A batch makes its items evenly over `batch_s`, at every look.

    Its end is `completed`, or `expired` with the items done by then, or `cancelled` with the same.
    """

    def __init__(self, settings: FakeSettings) -> None:
        self._settings = settings
        self._files: dict[str, tuple[JsonObject, bytes]] = {}
        self._batches: dict[str, Batch] = {}
        self._made: Counter[str] = Counter()

    def counters(self) -> dict[str, int]:
        """Count items that were made; `made_again`: those of a content that was made before."""
        for batch in self._batches.values():
            self._advance(batch)
        batches = self._batches.values()
        return {
            "batches": len(self._batches),
            "items": sum(batch.n_done for batch in batches),
            "failed": sum(len(batch.errors) for batch in batches),
            "made_again": sum(self._made.values()) - len(self._made),
        }

    async def handle(self, request: web.BaseRequest) -> web.Response:
        """Answer a request under `/v1/files` or `/v1/batches`; 404 for any other."""
        parts = request.path.removeprefix("/v1/").split("/")
        if request.method == "POST" and parts == ["files"]:
            return await self._upload(request)
        if request.method == "POST" and parts == ["batches"]:
            return self._create(json.loads(await request.read()))
        if parts == ["batches"]:
            shown = [self._advance(batch).document() for batch in reversed(self._batches.values())]
            return json_response({"object": "list", "data": shown, "has_more": False})
        if parts == ["files"]:
            shown = [file for file, _ in reversed(self._files.values())]
            return json_response({"object": "list", "data": shown, "has_more": False})
        return self._one(request.method, parts)

    def _one(self, method: str, parts: list[str]) -> web.Response:
        """Return one batch or one file by its id."""
        kind, name, *action = (*parts, "", "")
        if kind == "files" and name in self._files:
            file, content = self._files[name]
            return web.Response(body=content) if action[0] == "content" else json_response(file)
        if kind != "batches" or name not in self._batches:
            return json_response(
                {"error": {"message": f"no {kind} {name}", "type": "invalid_request_error"}}, status=404
            )
        batch = self._advance(self._batches[name])
        if method == "POST" and action[0] == "cancel" and batch.status not in _ENDED:
            self._end(batch, "cancelled")
            return json_response(batch.document() | {"status": "cancelling"})
        return json_response(batch.document())

    async def _upload(self, request: web.BaseRequest) -> web.Response:
        form = await request.post()
        upload = form.get("file")
        if form.get("purpose") != "batch" or not isinstance(upload, web.FileField):
            return _refused("expected purpose=batch and a file")
        file_id = self._store(upload.file.read(), upload.filename, "batch")
        return json_response(self._files[file_id][0])

    def _store(self, content: bytes, filename: str, purpose: str) -> str:
        file_id = f"file-{len(self._files)}"
        file: JsonObject = {
            "id": file_id,
            "object": "file",
            "bytes": len(content),
            "created_at": int(time()),
            "filename": filename,
            "purpose": purpose,
            "status": "processed",
        }
        self._files[file_id] = file, content
        return file_id

    def _create(self, asked: Mapping[str, Json]) -> web.Response:
        file_id = asked.get("input_file_id")
        if not isinstance(file_id, str) or file_id not in self._files or asked.get("endpoint") != _ENDPOINT:
            return json_response(
                {"error": {"message": f"expected an uploaded file and endpoint {_ENDPOINT}"}}, status=400
            )
        items, faults = _read_items(self._files[file_id][1])
        batch = Batch(f"batch_{len(self._batches)}", file_id, asked.get("metadata"), items, faults=faults)
        if faults:
            batch.status = "failed"
        self._batches[batch.id] = batch
        return json_response(batch.document() | {"status": "validating"})

    def _advance(self, batch: Batch) -> Batch:
        """Make the items that are due by now."""
        if batch.status in _ENDED:
            return batch
        share = (monotonic() - batch.started) / self._settings.batch_s if self._settings.batch_s else 1.0
        last = self._settings.batch_done_share
        due = min(share, 1.0) if last is None else min(share, last)
        for item in batch.items[batch.n_done : int(due * len(batch.items))]:
            self._make(batch, item)
        if share >= 1:
            self._end(batch, "completed" if last is None else "expired")
        return batch

    def _make(self, batch: Batch, item: BatchLine) -> None:
        asked = read_asked(item["body"])
        fails = batch_item_fails(self._settings, asked.content, self._made[asked.content])
        self._made[asked.content] += 1
        batch.n_done += 1
        body: Completion | JsonObject
        if fails:
            body = {"error": {"message": "The server had an error.", "type": "server_error"}}
        else:
            headers = {"Authorization": f"Bearer {self._settings.key}"}
            body = misstated(completion_body(asked, item["body"], cached_tokens=None), self._settings, headers)
        response: ItemResponse = {
            "status_code": 500 if fails else 200,
            "request_id": f"req-{batch.n_done}",
            "body": body,
        }
        (batch.errors if fails else batch.replies).append(_line(batch, item, response, None))

    def _end(self, batch: Batch, status: str) -> None:
        batch.status = status
        unmade = batch.items[batch.n_done :]
        error = _EXPIRED if status == "expired" else {"code": "batch_cancelled", "message": "The batch was cancelled."}
        batch.errors += [_line(batch, item, None, error) for item in unmade]
        for kind, lines in (("output", batch.replies), ("error", batch.errors)):
            if lines:
                content = "".join(json.dumps(line) + "\n" for line in lines).encode()
                batch.files[kind] = self._store(content, f"{batch.id}_{kind}.jsonl", "batch_output")


def _read_items(content: bytes) -> tuple[list[BatchLine], list[JsonObject]]:
    """Return the requests of an input file, and its faults."""
    items: list[BatchLine] = []
    faults: list[JsonObject] = []
    seen: set[str] = set()
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            item: BatchLine = json.loads(line)
            read_asked(item["body"])
            custom_id, url = item["custom_id"], item["url"]
        except (KeyError, TypeError, ValueError, IndexError):
            faults.append({"code": "invalid_json_line", "message": "This line is no request.", "line": number})
            continue
        if custom_id in seen or url != _ENDPOINT:
            code = "duplicate_custom_id" if custom_id in seen else "mismatched_url"
            faults.append({"code": code, "message": f"custom_id {custom_id!r}, url {url!r}", "line": number})
        seen.add(custom_id)
        items.append(item)
    return items, faults


def _refused(message: str, *, status: int = 400) -> web.Response:
    return json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)


def _line(batch: Batch, item: BatchLine, response: ItemResponse | None, error: Mapping[str, Json] | None) -> ItemLine:
    line_id = f"batch_req_{batch.id}_{item['custom_id']}"
    return {"id": line_id, "custom_id": item["custom_id"], "response": response, "error": error}
