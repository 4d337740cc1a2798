"""
Start replicas for requests that are to come: autoscaling policies of Serve.

    autoscaling_config: {policy: {policy_function: "serve.backlog:with_backlog"}, min_replicas: 1, max_replicas: 8}

Every replica reads the callers' board and reports its number; the policy, which runs in Serve's controller and must not
wait for anybody, reads the reports. A deployment without a replica reports nothing, so that its first request wakes it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol

from ray.serve.config import AutoscalingContext

BACKLOG = "backlog"
"""The name of the report."""


def with_backlog(context: AutoscalingContext) -> tuple[float, dict[str, float]]:
    """
    Return the replicas that the requests of Serve and those held back want, at the target of each replica.

    Serve itself keeps to its limits and delays afterwards.
    """
    waiting = context.total_num_requests + newest((context.raw_metrics or {}).get(BACKLOG) or {})
    return math.ceil(waiting / context.config.get_target_ongoing_requests()), {}


def within_machine(context: AutoscalingContext) -> tuple[float, dict[str, float]]:
    """Return the same, and at most one for each core of the controller's machine: a replica computes on one."""
    wanted, state = with_backlog(context)
    return min(wanted, os.cpu_count() or 1), state


class Report(Protocol):
    """A replica's number, as Serve keeps it."""

    timestamp: float
    value: float


def newest(reports: Mapping[Hashable, Sequence[Report]]) -> float:
    """Return the value reported last; all replicas report the same board."""
    last = [series[-1] for series in reports.values() if series]
    return float(max(last, key=lambda report: report.timestamp).value) if last else 0.0
