"""The part of a run that its live report shows: the queries that are judged so far."""

from __future__ import annotations

from typing import TypedDict


class SoFar(TypedDict):
    """A part of a run that a report shows while the run goes on."""

    judged: int  # queries; the report shows these
    queries: int  # of the run
    waiting: list[str]  # judges that have not judged all of these, and are not shown yet
    as_of: str  # a time, such as 2026-11-25 13:05:22 UTC
    goes_on: bool  # False: the command has ended, or was killed, before the run was done
