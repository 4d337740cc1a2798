"""
The pages of a run's live report, in a folder of their own: the run's report is never written by anybody but the run.

    RUN/report/live/index.html     and the other pages, written by `status --watch` while the run goes on
    RUN/report/live/so_far.json    how much of the run they show

Once the run has written its report, the first page leads there, and the others are removed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from actors.storage.folder import Folder
from longform.report.page import INDEX
from longform.report.site import is_page, moved_html
from longform.results.run_status import LIVE, Status

MARKDOWN = "report.md"
_SO_FAR = "so_far.json"


def stored_so_far(run: Folder) -> dict[str, Any] | None:
    """Return how much of a run its live report shows; None if there is none."""
    if not run.has(f"{LIVE}/{_SO_FAR}"):
        return None
    try:
        found: dict[str, Any] = run.read_json(f"{LIVE}/{_SO_FAR}")
    except FileNotFoundError:  # removed meanwhile
        return None
    return found


def publish(run: Folder, made: Folder, so_far: Status) -> None:
    """Put the pages in the folder *made* into the run, the first page last; older ones are removed."""
    live = run.child(LIVE)
    files = [name for name in made.names() if (is_page(name) and name != INDEX) or name == MARKDOWN]
    for name in [*files, INDEX]:
        live.write_bytes(name, made.read_bytes(name))
    live.write_json(_SO_FAR, so_far)
    remove_pages(live, but={*files, INDEX})


def retire(run: Folder) -> None:
    """Let the first page of a live report, if there is one, lead to the run's own report; the others are removed."""
    live = run.child(LIVE)
    if live.has(_SO_FAR):
        live.write_bytes(INDEX, moved_html("This run is done", f"../{INDEX}").encode())
        live.delete(_SO_FAR)
        live.delete(MARKDOWN)
        remove_pages(live, but={INDEX})


def remove_pages(folder: Folder, *, but: Collection[str]) -> None:
    """Remove the pages of a report that stood there before, except those named; other files stay."""
    for file in folder.names():
        if is_page(file) and file not in but:
            folder.delete(file)
