"""Cards of judges, as files."""

from __future__ import annotations

from actors.storage.folder import file_place
from longform.errors import UsageError
from longform.judges.card_columns import Card
from longform.judges.cards import read_card


def card_of_file(url: str, task: str, *, expected: str) -> Card:
    """
    Read the card of a judge of *task* from a file, a path or `s3://` URL.

    Args:
        url: Of the file.
        task: Of the judge.
        expected: What the file is to be, for messages.

    Raises:
        UsageError: The file is no card, or one of another task.
    """
    folder, name = file_place(url)
    try:
        return read_card(folder.read_bytes(name), task)
    except (OSError, ValueError) as error:
        raise UsageError(f"{url}: expected {expected}: {error}") from error
