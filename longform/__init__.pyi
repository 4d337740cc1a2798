from actors.surface.coverage import Coverage, Insight, JudgedInsight, judge
from actors.surface.folders import Benchmark, Run
from actors.surface.summaries import CitedSummary, cite, summarize
from actors.surface.support import Sentence, Support, check
from jobs.results.compared import ComparedRuns, compare

__version__: str

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
