"""The context of a worker's model calls: its job, and the pool's ledger, keeper and prices."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CallContext:
    """
    Attributes:
        job: The command that calls; its keeper goes by this name.
        stage: The job's stage.
        ledger: URL of the ledger's folder.
        prices: A price list's path or URL; None: the one that ships with `litellm`.
    """

    job: str
    stage: str
    ledger: str
    prices: str | None = None
