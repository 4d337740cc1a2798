"""
Notes about batches under way, beside the ledger.

    LEDGER/batches/<hash>.json    {"batch_id": null or its id, "attempts": {call id: attempt id}}

A note is durable before its batch is made, and the batch carries the note's name: one that was made and not noted down
is found again by that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from actors.chat.provider_batches import ProviderBatches
from actors.storage.folder import Folder, open_location
from longform.keys import content_key


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
