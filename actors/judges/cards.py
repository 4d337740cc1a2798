"""Cards of judges, as files."""

from __future__ import annotations

import json

from actors.storage.folder import file_place
from longform.errors import UsageError
from longform.judges.card_columns import Card
from longform.judges.cards import read_card


def card_of_file(url: str, task: str, *, expected: str) -> Card:
    """
    Read the card of a judge of *task* from a file, a path or `s3://` URL; *expected* says what it should be, for
    messages.

    Raises:
        UsageError: The file is no card, or one of another task.
    """
    folder, name = file_place(url)
    try:
        return read_card(folder.read_bytes(name), task)
    except (OSError, ValueError) as error:
        raise UsageError(f"{url}: expected {expected}: {error}") from error


def write_card(card: Card, out: str) -> None:
    folder, name = file_place(out)
    folder.write_bytes(name, card_bytes(card))


def card_bytes(card: Card) -> bytes:
    return (json.dumps(card, indent=1, allow_nan=False) + "\n").encode()
