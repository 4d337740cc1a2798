"""
`longform synthesize-models` over HTTP with a writer and a verifier that err: what it gives up, and what its audit says.

What is truly stated is found by the numbers of the scripted writer's facts, which neither verifier nor audit is told.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Any

import pytest
import yaml
from scipy.stats import binom

from actors.rehearsal.fake_provider import fake_process
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.synthesis.scripted_writer import count_of
from jobs.synthesis.model_synthesis import read_config
from jobs.synthesize_models import main
from longform.rehearsal.settings import FakeSettings
from tests.jobs.killing import Fake

FAULTS = "leaks=0.4,omissions=0.25,duplicates=0.15,strays=0.1,vague=0.1,invalid_json=0.08,refusals=0.05"
WRITER = f"scripted-writer:seed=3,{FAULTS}"
CAPS = {"subtopics": 5, "insights": 5, "edits": 1, "chapters": 3, "queries": 2, "replies": 3}
SIZES = {"least_documents": 3}
MOST = {  # attempts at one thing; what is asked anew in each list or after each edit has no cap of its own
    "subtopics complete": CAPS["subtopics"],
    "insights complete": CAPS["insights"],
    "query on subtopic": CAPS["queries"],
    "article leaks": CAPS["edits"] + 1,
    "article omissions": CAPS["edits"] + 1,
    "article leaks after additions": 1,
    "chapter classified": CAPS["chapters"],
}
OF_TEXTS = {"article leaks", "article omissions", "article leaks after additions", "chapter classified"}

Pair = tuple[str, str]
"""A document and an insight, by their ids."""

pytestmark = [pytest.mark.ray, pytest.mark.slow]


@dataclass
class Made:
    """A benchmark that was made over HTTP, and what the command and the provider said of it."""

    errors: float
    bench: str
    code: int
    said: str
    n_served: int
    n_most: int

    @cached_property
    def account(self) -> dict[str, Any]:
        return dict(Folder(self.bench).read_json("synthesis.json"))

    @cached_property
    def audit(self) -> dict[str, Any]:
        return dict(Folder(self.bench).read_json("audit.json"))

    @cached_property
    def attempts(self) -> list[dict[str, Any]]:
        return list(Folder(self.bench).read("attempts").to_pylist())

    @cached_property
    def pairs(self) -> set[Pair]:
        """Every document with every insight of its haystack."""
        return self._pairs(lambda text, fact: True)

    @cached_property
    def stated(self) -> set[Pair]:
        """Return the pairs in whose document the number of the writer's fact stands."""
        return self._pairs(lambda text, fact: (count_of(fact) or fact) in text)

    @cached_property
    def listed(self) -> set[Pair]:
        """The gold map."""
        return {(qrel.doc_id, str(qrel.target_id)) for qrel in Benchmark(self.bench).qrels}

    def _pairs(self, holds: Callable[[str, str], bool]) -> set[Pair]:
        bench = Benchmark(self.bench)
        return {
            (document.doc_id, target.target_id)
            for haystack_id in bench.haystack_ids
            for document in bench.documents(haystack_id)
            for target in bench.haystack_targets(haystack_id)
            if holds(document.text, target.text)
        }


@pytest.fixture(scope="module")
def provider() -> Iterator[Fake]:
    with fake_process(FakeSettings(delay_s=0.0)) as url:
        yield Fake(url)


@pytest.fixture(scope="module", params=[0.0, 0.05], ids=["right-verifier", "5-in-100-wrong"])
def made(
    request: pytest.FixtureRequest, provider: Fake, ray_session: None, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    folder = tmp_path_factory.mktemp("served")
    config = read_config("rehearsal").model_dump(mode="json", exclude_none=True)
    served = {"base_url": provider.url, "max_tokens": 2000, "concurrency": 16}
    config |= {"caps": CAPS, "sizes": config["sizes"] | SIZES, "writer": {"model": WRITER, **served}}
    config["verifier"] = {"model": f"scripted-verifier:seed=2,errors={request.param}", **served}
    del config["outsider"]
    (folder / "served.yaml").write_text(yaml.safe_dump(config))
    command = [str(folder / "served.yaml"), "--out", str(folder / "bench")]
    provider.reset()
    code, planned = said(*command, "--plan", "--json")
    assert (code, provider.counters()["accepted"]) == (0, 0)
    code, words = said(*command)
    assert code in (0, 3), words
    most = json.loads(planned)["highest"]["total"]["calls"]
    return Made(request.param, str(folder / "bench"), code, words, provider.counters()["accepted"], most)


def said(*arguments: str) -> tuple[int, str]:
    """The exit code of the command, and what it prints."""
    with redirect_stdout(StringIO()) as printed:
        return main(arguments), printed.getvalue()


# ---------------------------------------------------------------- what is given up


def test_every_loop_ends_at_its_cap(made: Made) -> None:
    ends = {check: max((row["number"] for row in made.attempts if row["check"] == check), default=0) for check in MOST}
    given_up = {(row["check"], row["number"]) for row in made.attempts if row["verdict"] == "exhausted"}

    assert all(ends[check] <= most for check, most in MOST.items()), ends
    assert {(check, number) for check, number in given_up if check in MOST} <= set(MOST.items())
    of_each_loop = {"article omissions", "article leaks after additions", "chapter classified"}
    assert of_each_loop <= {check for check, _ in given_up}
    assert made.n_served <= made.n_most


def test_what_was_given_up_is_named_with_its_reason(made: Made) -> None:
    given_up = Counter(
        (row["haystack_id"], row["check"], row["subject"], row["number"], row["reason"])
        for row in made.attempts
        if row["verdict"] == "exhausted"
    )
    fields = ("haystack_id", "check", "subject", "attempt", "reason")
    first = made.account["exhausted"][0]

    assert Counter(tuple(row[name] for name in fields) for row in made.account["exhausted"]) == given_up
    assert all(reason for *_, reason in given_up)
    assert f"given up: {given_up.total()}" in made.said.splitlines()[0]
    short = ("documents_not_written", "insights_below_least_documents")
    assert (made.code == 3) == any(one[name] for one in made.account["haystacks"] for name in short)
    assert any(first["subject"] in line and first["reason"] in line for line in made.said.splitlines())


# ---------------------------------------------------------------- what the gold map is worth


def test_the_gold_map_is_wrong_where_the_verifier_was_and_nowhere_else(made: Made) -> None:
    """Each verdict on a text may be wrong in one pair; the last one of its text decides."""
    n_verdicts = sum(row["check"] in OF_TEXTS for row in made.attempts)
    wrong = made.listed ^ made.stated

    assert len(wrong) <= binom.ppf(0.999, n_verdicts, made.errors)
    assert made.listed <= made.pairs
    assert len(made.listed & made.stated) > len(made.stated) / 2


def test_the_audit_covers_the_share_of_wrong_labels(made: Made) -> None:
    left_out = made.pairs - made.listed
    shares = {
        "false_positives": len(made.listed - made.stated) / len(made.listed),
        "missed": len(made.stated - made.listed) / len(left_out),
    }
    assert made.audit["cells"] == {"listed": len(made.listed), "left_out": len(left_out)}
    for name, share in shares.items():
        estimate = made.audit[name]
        assert estimate["low"] <= share <= estimate["high"], (name, share, estimate)
        assert estimate["high"] < share + 0.15, (name, share, estimate)
