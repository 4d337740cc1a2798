"""The part of a run that its live report shows: the queries that are judged so far, and the banner that says so."""

from __future__ import annotations

from typing import TypedDict


class SoFar(TypedDict):
    """A part of a run that a report shows while the run goes on."""

    judged: int  # queries; the report shows these
    queries: int  # of the run
    waiting: list[str]  # judges that have not judged all of these, and are not shown yet
    as_of: str  # a time, such as 2026-11-25 13:05:22 UTC
    goes_on: bool  # False: the command has ended, or was killed, before the run was done


LIVE = "report/live"
"""The folder of its pages, in the run's."""

REFRESH_S = 30
"""Seconds after which a first page loads itself anew, as long as the run goes on."""


def banner(so_far: SoFar, *, anew: bool = False) -> str:
    """Return the line at the head of a page; *anew* if the page loads itself anew."""
    judged = f"{so_far['judged']:,} of {so_far['queries']:,} queries judged, as of {so_far['as_of']}"
    later = f" Not shown yet: judge {', '.join(so_far['waiting'])}." if so_far["waiting"] else ""
    if so_far["goes_on"]:
        again = f"This page loads itself every {REFRESH_S} seconds." if anew else "Load this page again to see more."
        return f"This run goes on: {judged}; figures move.{later} {again}"
    return f"This run has stopped before its end: {judged}.{later} The same command goes on, and figures will move."


def live_page(run: str) -> str:
    """Return the address of its first page, of the run at the address *run*."""
    return f"{run.rstrip('/')}/{LIVE}/index.html"
