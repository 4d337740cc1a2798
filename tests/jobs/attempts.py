"""The attempts of a synthesis: its table and the account in its report have to agree."""

from __future__ import annotations

from collections import Counter
from typing import Any

from actors.storage.folder import Folder

VERDICTS = ("accepted", "rejected", "exhausted")


def counted_attempts(url: str, account: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Attempts by check and verdict, as the table of the benchmark at `url` and the account both count them."""
    attempts = Counter((row["check"], row["verdict"]) for row in Folder(url).read("attempts").to_pylist())
    counted = {(row["check"], verdict): row[verdict] for row in account["checks"] for verdict in VERDICTS}
    assert attempts == {key: n for key, n in counted.items() if n}
    return attempts
