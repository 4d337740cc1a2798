"""
A provider's batch API (OpenAI's), and notes about batches under way, beside the ledger.

    LEDGER/batches/<hash>.json    {"batch_id": null or its id, "attempts": {call id: attempt id}}

A note is durable before its batch is made, and the batch carries the note's name: one that was made and not noted down
is found again by that.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from actors.chat.openai_client import PROVIDER_URL, api_key
from actors.secret_values import redacted, redaction
from actors.storage.folder import Folder, open_location
from longform.chat.answers import http_failure, redirect_words
from longform.chat.batch_files import ENDPOINT, read_replies
from longform.chat.call import ChatReply
from longform.chat.failures import backoff_s, may_pass
from longform.errors import LongformError
from longform.keys import content_key
from longform.settings.chat import ChatSettings

if TYPE_CHECKING:
    from openai import APIError, AsyncOpenAI
    from openai.types import Batch

_MARK = "longform"  # the key of a batch's metadata that holds the name of its note
_RETRIES = 6  # of one request, with pauses of up to 8 s in between (the client's own)
_PATIENT_RETRIES = 40  # the same of one that looks at a batch: who waits for a day outlasts five minutes of outage
_CREATIONS = 4
_PAGE = 100  # batches a page of the list; the most there is
_ENDED = ("completed", "expired", "cancelled", "failed")


class BatchProgress(NamedTuple):
    """Progress of a batch."""

    status: str  # the provider's word
    n_done: int  # items with a reply
    n_failed: int  # items with an error
    files: tuple[str, ...]  # ids of the files that hold both, once it has ended
    faults: tuple[str, ...]  # the provider's codes for what is wrong with the whole batch, sorted

    @property
    def has_ended(self) -> bool:
        return self.status in _ENDED


class ProviderBatches:
    """
    The batches of one account.

    Every method raises a `LongformError` if the provider cannot be reached or refuses; passing failures are asked again
    a few times before.
    """

    def __init__(self, settings: ChatSettings) -> None:
        self._settings, self._key = settings, api_key(settings)
        self._connection: AsyncOpenAI | None = None

    async def upload(self, name: str, lines: Sequence[bytes]) -> str:
        """Upload *lines*, and return the id of their file; nothing is made of it yet."""
        with _told("the upload of a batch's requests"):
            file = await self._client.files.create(file=(f"{name}.jsonl", b"".join(lines)), purpose="batch")
        return file.id

    async def create(self, name: str, file_id: str) -> str:
        """Make one batch of that file, however often the answer gets lost, and return its id."""
        import openai

        for n_failed in range(1, _CREATIONS + 1):
            try:
                made = await self._client.with_options(max_retries=0).batches.create(
                    input_file_id=file_id, endpoint=ENDPOINT, completion_window="24h", metadata={_MARK: name}
                )
            except openai.APIError as error:
                if n_failed == _CREATIONS or not may_pass(_failure(error)):
                    raise _error("the creation of a batch", error) from None
            else:
                return made.id
            await asyncio.sleep(backoff_s(n_failed, 1.0))
            if (found := await self.find(name)) is not None:
                return found
        raise AssertionError

    async def find(self, name: str) -> str | None:
        """Return the id of the batch that carries *name*; None if none was made."""
        with _told("the list of batches"):
            async for batch in self._client.batches.list(limit=_PAGE):
                if (batch.metadata or {}).get(_MARK) == name:
                    return batch.id
        return None

    async def progress(self, batch_id: str) -> BatchProgress:
        with _told(f"batch {batch_id}"):
            client = self._client.with_options(max_retries=_PATIENT_RETRIES)
            return _progress(await client.batches.retrieve(batch_id))

    async def replies(self, progress: BatchProgress) -> dict[str, ChatReply]:
        """Call id -> reply, of the items that a batch which has ended says anything about."""
        found: dict[str, ChatReply] = {}
        for file_id in progress.files:
            with _told(f"file {file_id} of a batch"):
                content = await self._client.files.content(file_id)
            found |= read_replies(content.content)
        return {called: redaction().reply(reply) for called, reply in found.items()}

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    @property
    def _client(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        if self._connection is None:
            url = self._settings.base_url or PROVIDER_URL
            client = DefaultAsyncHttpxClient(follow_redirects=False)
            self._connection = AsyncOpenAI(base_url=url, api_key=self._key, max_retries=_RETRIES, http_client=client)
        return self._connection


def _progress(batch: Batch) -> BatchProgress:
    counts, errors = batch.request_counts, batch.errors.data if batch.errors else None
    return BatchProgress(
        status=batch.status,
        n_done=counts.completed if counts else 0,
        n_failed=counts.failed if counts else 0,
        files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
        faults=tuple(sorted({redacted(error.code or "unknown") for error in errors or []})),
    )


@contextmanager
def _told(what: str) -> Iterator[None]:
    import openai

    try:
        yield
    except openai.APIError as error:
        raise _error(what, error) from None


def _error(what: str, error: APIError) -> LongformError:
    """Return an error about the provider's refusal, without its words: they may quote a key."""
    return LongformError(
        f"{what}: the provider answered {_failure(error)}; batches under way are kept and noted beside the ledger. "
        "Go on with the same command and the same key"
    )


def _failure(error: APIError) -> str:
    import openai

    if not isinstance(error, openai.APIStatusError):
        return "connection"
    if 300 <= error.status_code < 400:
        return redirect_words(error.status_code, str(error.request.url), error.response.headers.get("location"))
    return http_failure(error.status_code, error.body)


# ---------------------------------------------------------------- notes


class BatchNote(NamedTuple):
    """A batch that was made, or is about to be (`batch_id` None), and which attempt of which call it makes."""

    name: str
    attempts: Mapping[str, str]
    batch_id: str | None


def batch_note(attempts: Mapping[str, str]) -> BatchNote:
    """Return a new note. Its name has the attempts, so that a second batch of the same calls is another one."""
    return BatchNote(content_key("batch", sorted(attempts.items())), attempts, None)


class BatchNotes:
    """The notes of one ledger."""

    def __init__(self, ledger_url: str) -> None:
        self._folder = Folder(ledger_url).child("batches")

    def all(self) -> list[BatchNote]:
        """Return the notes of all commands."""
        notes = []
        for file in self._folder.names():
            if file.endswith(".json"):
                with suppress(FileNotFoundError):  # another command has just finished with it
                    content = self._folder.read_json(file)
                    notes.append(BatchNote(file.removesuffix(".json"), content["attempts"], content["batch_id"]))
        return notes

    def add(self, note: BatchNote) -> None:
        """Write a new one, durably."""
        self._folder.create_bytes(f"{note.name}.json", _content(note))

    def set_made(self, note: BatchNote) -> None:
        """Write down the id of its batch."""
        self._folder.write_bytes(f"{note.name}.json", _content(note))

    def remove(self, note: BatchNote) -> None:
        """Forget a batch, all of whose attempts have receipts."""
        filesystem, root = open_location(self._folder.url)
        with suppress(FileNotFoundError):
            filesystem.delete_file(f"{root}/{note.name}.json")


def _content(note: BatchNote) -> bytes:
    return json.dumps({"batch_id": note.batch_id, "attempts": dict(note.attempts)}).encode()


class FoundBatches:
    """Notes of earlier and other commands, and which of their batches make calls that we want."""

    def __init__(self, notes: Iterable[BatchNote], batches: ProviderBatches, written: BatchNotes) -> None:
        self.under_way: dict[str, BatchNote] = {}
        self._batches, self._written = batches, written
        self._notes = {key: note for note in notes for key in note.attempts}
        self._never_made: dict[str, BatchNote] = {}

    async def attach(self, key: str) -> bool:
        """Return whether a batch makes this call; its end is then waited for."""
        note = self._notes.get(key)
        if note is None or note.name in self._never_made:
            return False
        if note.name not in self.under_way:
            batch_id = note.batch_id or await self._batches.find(note.name)
            if batch_id is None:
                self._never_made[note.name] = note
                return False
            self.under_way[note.name] = made = note._replace(batch_id=batch_id)
            if note.batch_id is None:
                self._written.set_made(made)
        return True

    def never_made(self, keys: Iterable[str]) -> list[BatchNote]:
        """Return the notes of these calls that no batch was made of; their writers are gone, since the calls may go."""
        names = {note.name for key in keys if (note := self._notes.get(key)) is not None}
        return [self._never_made.pop(name) for name in sorted(names & self._never_made.keys())]
