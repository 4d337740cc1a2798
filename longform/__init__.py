"""
The science: pure functions and types. No Ray, no network, no clock, no environment.

The names below are for use from Python (docs/python.md). They stand in `actors.surface`, which loads models and reads
folders, and in `jobs.results.compared`; each is imported when it is first asked for. `__init__.pyi` has their types.
"""

from __future__ import annotations

_MODULES = {
    "Benchmark": "actors.surface.folders",
    "CitedSummary": "actors.surface.summaries",
    "ComparedRuns": "jobs.results.compared",
    "Coverage": "actors.surface.coverage",
    "Insight": "actors.surface.coverage",
    "JudgedInsight": "actors.surface.coverage",
    "Run": "actors.surface.folders",
    "Sentence": "actors.surface.support",
    "Support": "actors.surface.support",
    "check": "actors.surface.support",
    "cite": "actors.surface.summaries",
    "compare": "jobs.results.compared",
    "judge": "actors.surface.coverage",
    "summarize": "actors.surface.summaries",
}
"""Name -> the module that has it."""

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for; the version is that of the installed package."""
    if name == "__version__":
        from importlib.metadata import version

        value: object = version(__name__)
    elif name in _MODULES:
        from importlib import import_module

        from longform.halls import hold_halls

        hold_halls()
        value = getattr(import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module 'longform' has no attribute {name!r}; it offers {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
