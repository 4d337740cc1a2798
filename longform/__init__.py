"""
The science: pure functions and types. No Ray, no network, no clock, no environment.

The names below are for use from Python (docs/python.md). They stand in `actors.surface`, which loads models and reads
folders, and each is imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.6.0"

__all__ = [
    "Benchmark",
    "CitedSummary",
    "Coverage",
    "Insight",
    "JudgedInsight",
    "Run",
    "Sentence",
    "Support",
    "check",
    "cite",
    "judge",
    "summarize",
]

_MODULES = {
    "Benchmark": "folders",
    "CitedSummary": "citations",
    "Coverage": "coverage",
    "Insight": "coverage",
    "JudgedInsight": "coverage",
    "Run": "folders",
    "Sentence": "support",
    "Support": "support",
    "check": "support",
    "cite": "citations",
    "judge": "coverage",
    "summarize": "summaries",
}
"""Name -> module of `actors.surface`."""

if TYPE_CHECKING:
    from actors.surface.citations import CitedSummary, cite
    from actors.surface.coverage import Coverage, Insight, JudgedInsight, judge
    from actors.surface.folders import Benchmark, Run
    from actors.surface.summaries import summarize
    from actors.surface.support import Sentence, Support, check
else:

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for."""
        from importlib import import_module

        if name not in _MODULES:
            raise AttributeError(f"module 'longform' has no attribute {name!r}; it offers {', '.join(__all__)}")
        value = getattr(import_module(f"actors.surface.{_MODULES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
