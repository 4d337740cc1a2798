"""
The science: pure functions and types. No Ray, no network, no clock, no environment.

The names below are for use from Python (docs/python.md). They stand in `actors.surface`, which loads models and reads
folders, and in `jobs.compare`; each is imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.6.0"

__all__ = [
    "Benchmark",
    "CitedSummary",
    "ComparedRuns",
    "Coverage",
    "Insight",
    "JudgedInsight",
    "Run",
    "Sentence",
    "Support",
    "check",
    "cite",
    "compare",
    "judge",
    "summarize",
]

_MODULES = {
    "Benchmark": "actors.surface.folders",
    "CitedSummary": "actors.surface.citations",
    "ComparedRuns": "jobs.compare",
    "Coverage": "actors.surface.coverage",
    "Insight": "actors.surface.coverage",
    "JudgedInsight": "actors.surface.coverage",
    "Run": "actors.surface.folders",
    "Sentence": "actors.surface.support",
    "Support": "actors.surface.support",
    "check": "actors.surface.support",
    "cite": "actors.surface.citations",
    "compare": "jobs.compare",
    "judge": "actors.surface.coverage",
    "summarize": "actors.surface.summaries",
}
"""Name -> the module that has it."""

if TYPE_CHECKING:
    from actors.surface.citations import CitedSummary, cite
    from actors.surface.coverage import Coverage, Insight, JudgedInsight, judge
    from actors.surface.folders import Benchmark, Run
    from actors.surface.summaries import summarize
    from actors.surface.support import Sentence, Support, check
    from jobs.compare import ComparedRuns, compare
else:

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for."""
        from importlib import import_module

        from longform.halls import hold_halls

        if name not in _MODULES:
            raise AttributeError(f"module 'longform' has no attribute {name!r}; it offers {', '.join(__all__)}")
        hold_halls()
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
