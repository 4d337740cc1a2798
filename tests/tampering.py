"""Change what a folder holds as an older version or a kill would have left it: names are those of the new content."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from longform.keys import content_key


def change_commit(commit: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the body of a commit."""
    body = json.loads(commit.read_text())
    change(body)
    commit.unlink()
    commit.with_name(f"{commit.name[:6]}-{content_key(body)}.json").write_text(json.dumps(body))


def rename_parts(table: Path) -> None:
    """Give the parts of a table the names that older versions gave them, which say nothing of their content."""

    def renamed(body: dict[str, Any]) -> None:
        for part in body["parts"]:
            part["path"] = older(part["path"])

    for part in table.glob("*.parquet"):
        part.rename(part.with_name(older(part.name)))
    for commit in sorted(table.glob("_commits/*.json")):
        change_commit(commit, renamed)


def older(name: str) -> str:
    """Return the name of a part without the hash of its content."""
    return f"{name.rpartition('-')[0]}.parquet"
