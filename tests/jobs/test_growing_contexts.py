"""Growing contexts of a query on SummHay: a provider computes little more than the longest prompt, by its own count."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from urllib.request import urlopen

import pytest

from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.ingest import main as ingest
from longform.rehearsal.settings import FakeSettings
from tests.actors.chat.test_matrix_llama import WORDS
from tests.actors.rehearsal.replies import PrefixCache
from tests.soak import ONLY_IN_SOAK

LENGTHS = (20, 40, 60, 80, 100)


@pytest.mark.parametrize("topic", ["news3", "conv5"])
def test_five_lengths_are_computed_as_little_more_than_one(released: Path, tmp_path: Path, topic: str) -> None:
    """At most 1.1 times the longest prompt; of the others more than nine tenths come from the cache."""
    bench, run = str(tmp_path / "bench"), Folder(str(tmp_path / "runs" / "lengths"))
    assert ingest(["summhay", str(released / f"summhay/topic_{topic}.json.gz"), "--out", bench]) == 0
    with fake_process(FakeSettings(delay_s=0.0), reply=PrefixCache(20_000)) as url:
        model = f"model={{model: m, base_url: '{url}', context_window: 200000}}"
        changes = [model, f"systems.0.n_documents={list(LENGTHS)}"]
        arguments = [part for change in changes for part in ("--set", change)]
        until = ["--limit", "1", "--until", "summarize"]
        assert main(["length", "--bench", bench, "--out", run.url, *until, *arguments]) == 0
        with urlopen(f"{url.removesuffix('/v1')}/counters") as reply:
            counted = json.load(reply)

    rows = run.read("summaries").to_pylist()
    tokens = {row["n_documents"]: row["input_tokens"] + row["cached_tokens"] for row in rows}
    cached = {row["n_documents"]: row["cached_tokens"] for row in rows}
    longest = max(tokens.values())
    assert sorted(tokens) == list(LENGTHS)
    assert longest == tokens[100] > 3 * tokens[20]
    assert counted["prompt_tokens"] == sum(tokens.values())
    assert counted["cached_tokens"] == sum(cached.values())
    computed = counted["prompt_tokens"] - counted["cached_tokens"]
    print(f"{topic}: longest {longest}, computed {computed} ({computed / longest:.3f})")
    assert computed <= 1.1 * longest
    behind = [n for n in LENGTHS if n != 100]
    share = sum(cached[n] for n in behind) / sum(tokens[n] for n in behind)
    print(f"{topic}: cached share of the shorter ones {share:.3f}")
    assert cached[100] == 0
    assert share > 0.9


@pytest.mark.slow
@ONLY_IN_SOAK
def test_a_local_model_reads_what_five_lengths_share_once(small_model: str, tmp_path: Path) -> None:
    """Tokens that llama.cpp itself counts as computed: at most 1.2 times the longest prompt, which is short here."""
    example = {"document": [_document(number) for number in range(5)], "summary": "The council voted."}
    (tmp_path / "town.jsonl").write_text(json.dumps(example))
    bench, run = str(tmp_path / "bench"), Folder(str(tmp_path / "runs" / "lengths"))
    assert ingest(["longformfact", str(tmp_path / "town.jsonl"), "--out", bench]) == 0
    model = f"provider: llama_cpp, model: '{small_model}', context_window: 8192, prefix_cache: slot, concurrency: 1"
    changes = [f"model={{{model}, max_tokens: 20, temperature: 0.0, timeout_s: 600}}", "units=sentences", "bullets=2"]
    arguments = [part for change in [*changes, "systems.0.n_documents=[1,2,3,4,5]"] for part in ("--set", change)]
    until = ["--until", "summarize"]
    assert main(["length", "--bench", bench, "--out", run.url, *until, *arguments]) in (0, 3)  # cut texts are failures

    rows = run.read("summaries").to_pylist()
    tokens = {row["n_documents"]: row["input_tokens"] + row["cached_tokens"] for row in rows}
    computed = sum(row["input_tokens"] for row in rows)
    share = 1 - (computed - tokens[5]) / (sum(tokens.values()) - tokens[5])
    print(
        f"longest {tokens[5]}, computed {computed} ({computed / tokens[5]:.3f}), share of the shorter ones {share:.3f}"
    )
    assert computed <= 1.2 * tokens[5]
    assert share > 0.9


def _document(number: int) -> str:
    drawn = Random(number)
    return " ".join(f"The {drawn.choice(WORDS)} of the {drawn.choice(WORDS)} was closed." for _ in range(130))
