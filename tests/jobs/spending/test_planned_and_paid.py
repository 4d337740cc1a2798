"""
The price of every preset against what was then paid: a plan, the run at a rehearsal provider, and a plan behind it.

The models of a preset are replaced by the provider's, which keep its settings of calls. Benchmarks are small, and of
the preset's own format.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from actors.ledger.ledger import Ledger
from actors.rehearsal.fake_provider import fake_process
from jobs.command.calling import Calling, chat_models
from jobs.configs import preset_names, read_experiment
from jobs.evaluations.evaluation import Evaluation, evaluate
from jobs.ingest import main as ingest
from jobs.stages.cluster import Cluster
from longform.rehearsal.settings import FakeSettings
from longform.settings.experiment import Experiment
from tests.jobs.test_key_points import corpus, synthesize
from tests.made.demo import one_haystack

PRICES = "date: 2026-01-01\nmodels:\n  fake: {input: 2.5, output: 10}\n"
CORES: Cluster = Cluster(address=None, workers=0)
TOWNS = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gum", "Hazel", "Iris", "Juniper")
SAYS = "{0} built a bridge of {1} arches. The people of {0} paid for it in {1} years."


class Paying(NamedTuple):
    """The bench and the steps with which a preset is paid for here."""

    bench: str
    until: str = "judge"  # the last step that asks
    changes: tuple[str, ...] = ()


WAN = Paying("articles", until="summarize")
RANKED = Paying("stories", changes=("retrievers=[bm25,oracle,none]",))
PAID = {
    "demo": Paying("haystack", until="summarize"),
    "bias_paper": WAN,
    "bias_arxiv": WAN,
    "bias_pubmed": WAN,
    "bias_multinews": WAN,
    "bias_multixscience": WAN,
    "bias_diversesumm": WAN,
    "long2rag_chat": Paying("points"),
    "msrs_meet_chat": RANKED,
    "msrs_story_chat": RANKED,
    # rankings of the release's retrievers stand in the release alone
    "summhay_paper": Paying("haystack", changes=("retrievers=[KWs,Orac,Full]",)),
    "summhay_positions": Paying("haystack"),
    "summhay_verbosity": Paying("haystack", changes=("retrievers=[Orac]",)),
}
FREE = {"bias_summhay", "length", "length_tokens", "long2rag", "msrs_meet", "msrs_story", "positional_bias", "summhay"}
"""Presets whose parts compute here, or are released: a plan of them has no stage to price."""


def articles(folder: Path) -> str:
    """Two sets of ten articles, each with a reference and a ranking."""
    said = [SAYS.format(town, n) for n, town in enumerate(TOWNS, 2)]
    rows = [{"document": said[::way], "summary": said[0], "ranking": [*range(len(said))]} for way in (1, -1)]
    (folder / "articles.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert ingest(["longformfact", str(folder / "articles.jsonl"), "--out", str(folder / "bench")]) == 0
    return str(folder / "bench")


def stories(folder: Path) -> str:
    """Chapters of ten stories, and a question on each of the first three."""
    chapters = [{"id": town, "text": SAYS.format(town, n)} for n, town in enumerate(TOWNS, 2)]
    asked = [
        {"query_id": f"of {town}", "query": f"Who paid in {town}?", "gold_documents": [town], "answer": [f"{town}."]}
        for town in TOWNS[:3]
    ]
    for name, rows in (("documents", chapters), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert ingest(["msrs", str(folder), "--out", str(folder / "bench")]) == 0
    return str(folder / "bench")


def points(folder: Path) -> str:
    synthesize("long2rag", str(folder / "bench"), *corpus(folder), "rules.most=3")
    return str(folder / "bench")


MAKERS: dict[str, Callable[[Path], str]] = {
    "haystack": lambda _: one_haystack(),
    "articles": articles,
    "stories": stories,
    "points": points,
}


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with fake_process(FakeSettings(delay_s=0.0)) as url:
        yield url


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {name: make(tmp_path_factory.mktemp(name)) for name, make in MAKERS.items()}


def asked_of(preset: str, provider: str, changes: tuple[str, ...]) -> Experiment:
    """Return the preset with every chat model replaced by the provider's."""
    model = f"{{provider: openai, model: fake, base_url: '{provider}', script: null}}"
    asking = read_experiment(preset)
    parts = {
        "model": asking.summarizers.values(),
        "judge": asking.judges.values(),
        "reranker": asking.used_rerankers.values(),
    }
    models = [f"{key}={model}" for key, found in parts.items() if any(one.asked_model for one in found)]
    return read_experiment(preset, [*changes, *models])


def calling(folder: Path) -> Calling:
    (folder / "prices.yaml").write_text(PRICES)
    return Calling("test", ledger=str(folder / "ledger"), prices=str(folder / "prices.yaml"))


def planned(experiment: Experiment, bench: str, run: Path) -> dict[str, Any]:
    given = calling(run.parent)
    found = Evaluation(experiment, bench, str(run), cluster=CORES, calling=given, limit=1, planning=True)
    return found.spending()


def paid(experiment: Experiment, bench: str, run: Path, until: str) -> dict[str, tuple[int, float]]:
    """Stage -> its calls, and what they cost."""
    given = calling(run.parent)
    evaluate(experiment, bench, str(run), cluster=CORES, calling=given, limit=1, until=until)
    totals = Ledger.existing(given.ledger).totals_by_stage([given.job])
    assert all(not found.n_unknown_usd for found in totals.values())
    return {stage: (found.calls, found.known_usd) for (stage, _), found in totals.items()}


def test_every_preset_is_paid_for_here_or_asks_no_model() -> None:
    assert {*preset_names()} == PAID.keys() | FREE
    assert [name for name in FREE if chat_models(read_experiment(name))] == []


@pytest.mark.parametrize("preset", PAID)
def test_what_is_paid_lies_within_the_price(
    preset: str, provider: str, benches: dict[str, str], tmp_path: Path
) -> None:
    """
    Plan, write, plan, judge, plan.

    Dollars lie within the bounds. Calls about texts that are there are known exactly; about texts that a plan assumes
    there are at most so many, since two texts that come out alike are asked about once.
    """
    how = PAID[preset]
    bench, experiment = benches[how.bench], asked_of(preset, provider, how.changes)
    n_paid = 0

    for until in dict.fromkeys(("summarize", how.until)):
        plan = planned(experiment, bench, tmp_path / "run")
        spent = paid(experiment, bench, tmp_path / "run", until)
        n_paid += sum(n for n, _ in spent.values())
        assert spent
        for stage in plan["stages"]:
            n, usd = spent.pop(stage["stage"], (0, 0.0))
            if until == how.until or n:
                assert n == stage["calls"] or (stage["assumed"] and n <= stage["calls_at_most"]), stage
                assert stage["usd"]["low"] <= usd <= stage["usd"]["high"], stage
        assert spent == {}

    there = planned(experiment, bench, tmp_path / "other")
    assert there["total"]["usd"] == {"low": 0, "expected": 0, "high": 0}
    assert there["total"]["paid_already"] == n_paid
    assert paid(experiment, bench, tmp_path / "other", how.until) == {}
