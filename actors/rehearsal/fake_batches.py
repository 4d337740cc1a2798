"""OpenAI's batch API as the fake provider offers it: files of requests in, files of replies and of errors out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic, time
from typing import Any

from aiohttp import web

from actors.rehearsal.fake_replies import Body, Reply, content_of, error_response
from longform.rehearsal.settings import FakeSettings, batch_item_fails

_ENDPOINT = "/v1/chat/completions"
_ENDED = ("completed", "expired", "cancelled", "failed")
_UNMADE = {
    "expired": "This request could not be executed before the completion window expired.",
    "cancelled": "The batch was cancelled.",
}
"""The end of a batch -> the error of an item that was not made by then."""


@dataclass
class Batch:
    """A batch under way; `n_made` of its items have been made, in the order of the file."""

    id: str
    input_file_id: str
    metadata: object
    items: list[Body]
    faults: list[Body]  # of the input file
    started: float = field(default_factory=monotonic)
    created_at: int = field(default_factory=lambda: int(time()))
    status: str = "in_progress"
    n_made: int = 0
    replies: list[Body] = field(default_factory=list)
    errors: list[Body] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    def document(self) -> Body:
        """Return the batch as the API shows it."""
        counts = {"total": len(self.items), "completed": len(self.replies), "failed": len(self.errors)}
        shown: Body = {
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

    def line(self, item: Body, response: Body | None, error: Body | None) -> Body:
        """Return the line of an output or error file for *item*."""
        line_id = f"batch_req_{self.id}_{item['custom_id']}"
        return {"id": line_id, "custom_id": item["custom_id"], "response": response, "error": error}


class FakeBatches:
    """
    Files and batches in memory. A batch makes its items evenly over `batch_s`, at every look.

    Its end is `completed`, or `expired` with the items done by then, or `cancelled` with the same.
    """

    def __init__(self, settings: FakeSettings, reply: Reply) -> None:
        self._settings, self._reply = settings, reply
        self._files: dict[str, tuple[Body, bytes]] = {}
        self._batches: dict[str, Batch] = {}
        self._made: Counter[str] = Counter()

    def counters(self) -> dict[str, int]:
        """Count items that were made; `made_again`: those of a content that was made before."""
        batches = [self._advance(batch) for batch in self._batches.values()]
        return {
            "batches": len(batches),
            "items": sum(batch.n_made for batch in batches),
            "failed": sum(len(batch.errors) for batch in batches),
            "made_again": sum(self._made.values()) - len(self._made),
        }

    async def handle(self, request: web.Request) -> web.Response:
        """Answer a request under `/v1/files` or `/v1/batches`; 404 for any other."""
        match request.method, request.path.removeprefix("/v1/").split("/"):
            case "POST", ["files"]:
                return await self._upload(request)
            case "POST", ["batches"]:
                return self._create(json.loads(await request.read()))
            case _, ["files", name, "content"] if name in self._files:
                return web.Response(body=self._files[name][1])
            case method, parts:
                shown = self._shown(method, parts)
                return web.json_response(shown) if shown else error_response(404, f"there is no {request.path}")

    def _shown(self, method: str, parts: list[str]) -> Body | None:
        """Return all files or batches, newest first, or one, or a batch that is cancelled; None: there is no such."""
        match parts:
            case ["batches"]:
                return _listed([self._advance(batch).document() for batch in self._batches.values()])
            case ["files"]:
                return _listed([file for file, _ in self._files.values()])
            case ["files", name] if name in self._files:
                return self._files[name][0]
            case ["batches", name, *action] if name in self._batches:
                batch = self._advance(self._batches[name])
                if (method, action) != ("POST", ["cancel"]) or batch.status in _ENDED:
                    return batch.document()
                self._end(batch, "cancelled")
                return batch.document() | {"status": "cancelling"}
        return None

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        upload = form.get("file")
        if form.get("purpose") != "batch" or not isinstance(upload, web.FileField):
            return error_response(400, "expected purpose=batch and a file")
        file_id = self._store(upload.file.read(), upload.filename, "batch")
        return web.json_response(self._files[file_id][0])

    def _store(self, content: bytes, filename: str, purpose: str) -> str:
        file_id = f"file-{len(self._files)}"
        stated = {"bytes": len(content), "filename": filename, "purpose": purpose, "created_at": int(time())}
        self._files[file_id] = {"id": file_id, "object": "file", "status": "processed", **stated}, content
        return file_id

    def _create(self, asked: Mapping[str, Any]) -> web.Response:
        file_id = asked.get("input_file_id")
        if file_id not in self._files or asked.get("endpoint") != _ENDPOINT:
            return error_response(400, f"expected an uploaded file and endpoint {_ENDPOINT}")
        items, faults = _read_items(self._files[file_id][1], self._reply)
        batch = Batch(f"batch_{len(self._batches)}", file_id, asked.get("metadata"), items, faults)
        if faults:
            batch.status = "failed"
        self._batches[batch.id] = batch
        return web.json_response(batch.document() | {"status": "validating"})

    def _advance(self, batch: Batch) -> Batch:
        """Make the items that are due by now."""
        if batch.status in _ENDED:
            return batch
        share = (monotonic() - batch.started) / self._settings.batch_s if self._settings.batch_s else 1.0
        last = self._settings.batch_done_share
        due = min(share, 1.0) if last is None else min(share, last)
        for item in batch.items[batch.n_made : int(due * len(batch.items))]:
            self._make(batch, item)
        if share >= 1:
            self._end(batch, "completed" if last is None else "expired")
        return batch

    def _make(self, batch: Batch, item: Body) -> None:
        completed = self._reply(item["body"])
        content = content_of(completed)
        fails = batch_item_fails(self._settings, content, self._made[content])
        self._made[content] += 1
        batch.n_made += 1
        error = {"error": {"message": "The server had an error.", "type": "server_error"}}
        made: Body = {"status_code": 500, "body": error} if fails else {"status_code": 200, "body": completed}
        response = made | {"request_id": f"req-{batch.n_made}"}
        (batch.errors if fails else batch.replies).append(batch.line(item, response, None))

    def _end(self, batch: Batch, status: str) -> None:
        batch.status = status
        error = {"code": f"batch_{status}", "message": _UNMADE.get(status)}
        batch.errors += [batch.line(item, None, error) for item in batch.items[batch.n_made :]]
        for kind, lines in (("output", batch.replies), ("error", batch.errors)):
            if lines:
                content = "".join(json.dumps(line) + "\n" for line in lines).encode()
                batch.files[kind] = self._store(content, f"{batch.id}_{kind}.jsonl", "batch_output")


def _read_items(content: bytes, reply: Reply) -> tuple[list[Body], list[Body]]:
    """Return the requests of an input file, and its faults."""
    items: list[Body] = []
    faults: list[Body] = []
    seen: set[str] = set()
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            item = json.loads(line)
            reply(item["body"])
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


def _listed(shown: list[Body]) -> Body:
    return {"object": "list", "data": shown[::-1], "has_more": False}
