"""
A run of chat summaries that a chat model judges, against its slower half alone.

Two fake providers that let in 100 and 800 calls a minute answer 200 summaries and eight judgements of each, so that
either half takes two minutes. Wall time of the calls: from the first that a provider was asked for to the last reply.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import yaml

from actors.rehearsal.fake_provider import fake_process
from jobs.files.write_benchmark import write_benchmark
from longform.rehearsal.settings import FakeSettings
from tests.bench.capacity_check import _haystack
from tests.bench.measure import Figure
from tests.places import ROOT

_QUERIES, _SYSTEMS, _TARGETS = 50, 4, 8
_A_MINUTE = {"writer": 100.0, "judge": 800.0}
_MOST = 1.1
_PRICES = {"date": "2026-01-01", "models": {"fake": {"input": 1.0, "output": 1.0}}}


def figures() -> list[Figure]:
    """Return one figure for a run in the command's own process, and one for a run on two workers."""
    return [_figure(workers) for workers in (0, 2)]


def _figure(workers: int) -> Figure:
    spans = _spans(workers)
    slower = max(end - begin for begin, end in spans.values())
    whole = max(end for _, end in spans.values()) - min(begin for begin, _ in spans.values())
    note = ", ".join(f"{name} {begin:.0f} to {end:.0f} s" for name, (begin, end) in spans.items())
    where = f"{workers} workers" if workers else "in the process"
    return Figure(f"Chat judged by chat, {where}", whole / slower, None, "x slower", None, _MOST, note, at_most=True)


def _spans(workers: int) -> Mapping[str, tuple[float, float]]:
    """Return when each provider was at work, in seconds since the first call of all."""
    os.environ.setdefault("OPENAI_API_KEY", "not-a-secret")
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        urls = {
            name: stack.enter_context(fake_process(FakeSettings(requests_per_minute=rpm, delay_s=0.5)))
            for name, rpm in _A_MINUTE.items()
        }
        haystacks = (_haystack(number, 5, _TARGETS) for number in range(_QUERIES // 5))
        write_benchmark(f"{place}/bench", haystacks, sources=[{"name": "made", "sha256": ""}])
        (place / "run.yaml").write_text(yaml.safe_dump(_experiment(urls)))
        (place / "prices.yaml").write_text(yaml.safe_dump(_PRICES))
        paths = ["--bench", f"{place}/bench", "--out", f"{place}/run", "--ledger", f"{place}/ledger"]
        command = [sys.executable, "-m", "jobs.evaluate", f"{place}/run.yaml", *paths]
        command += ["--prices", f"{place}/prices.yaml", "--workers", str(workers)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        served = {name: _served(url) for name, url in urls.items()}
    first = min(one["at"] for calls in served.values() for one in calls)
    return {
        name: (min(one["at"] for one in calls) - first, max(one["done"] for one in calls) - first)
        for name, calls in served.items()
    }


def _served(url: str) -> list[dict[str, float]]:
    with urlopen(f"{url.removesuffix('/v1')}/served") as answer:
        return [{"at": one["at_s"], "done": one["done_s"]} for one in json.load(answer)]


def _experiment(urls: Mapping[str, str]) -> dict[str, Any]:
    chats = {
        name: {"model": "fake", "base_url": url, "concurrency": 32, "requests_per_minute": _A_MINUTE[name]}
        for name, url in urls.items()
    }
    return {
        "name": "streaming",
        "seed": 1,
        "retrievers": {f"random-{seed}": {"kind": "random", "seed": seed} for seed in range(_SYSTEMS)},
        "summarizers": {"writer": {"kind": "chat", "chat": chats["writer"]}},
        "judges": {"judge": {"kind": "chat", "chat": chats["judge"]}},
        "systems": [
            {"retriever": f"random-{seed}", "budget_tokens": 100 + 20 * seed, "summarizer": "writer"}
            for seed in range(_SYSTEMS)
        ],
        "resamples": 100,
    }
