"""`longform synthesize` with a chat model that writes around planted sentences: the counts, and a real small model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.chat.pool import ChatPool
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.synthesis.haystacks import make_benchmark, prose_key, read_config, synthesize
from jobs.synthesize import main
from longform.errors import UsageError
from tests.soak import ONLY_IN_SOAK


def scripted(faults: str, tries: int = 2) -> str:
    chat = f"{{provider: scripted, script: synthesis, model: 'scripted-writer:seed=1{faults}', max_tokens: 300}}"
    return f"prose={{chat: {chat}, tries: {tries}}}"


def made(url: str, *changes: str) -> dict[str, Any]:
    """The audit's line on the one haystack."""
    make_benchmark(read_config("prose", changes), url)
    (haystack,) = Folder(url).read_json("audit.json")["haystacks"]
    return haystack


@pytest.mark.parametrize(
    ("faults", "reasons", "by_model", "by_template"),
    [
        pytest.param("", set(), 6, 0, id="keeps"),
        pytest.param(",omissions=1", {"statement_lost"}, 0, 6, id="breaks"),
        pytest.param(",leaks=1", {"number"}, 0, 6, id="leaks"),
        pytest.param(",refusals=1", {"refusal"}, 0, 6, id="refuses"),
    ],
)
def test_the_audit_counts_what_the_model_wrote_and_what_fell_back(
    faults: str, reasons: set[str], by_model: int, by_template: int, tmp_path: Path
) -> None:
    haystack = made(str(tmp_path / "bench"), scripted(faults))
    prose = haystack["prose"]

    assert set(prose["rejected"]) == reasons
    assert (prose["by_model"], prose["by_template"], prose["passages"]) == (by_model, by_template, 18)
    assert prose["replies"] == (36 if reasons else 18)
    assert haystack["exact_search"]["found"] == haystack["exact_search"]["planted"] == 18


def test_a_model_that_errs_now_and_then_is_asked_again(tmp_path: Path) -> None:
    prose = made(str(tmp_path / "bench"), scripted(",omissions=0.3,leaks=0.2,refusals=0.1", tries=3))["prose"]

    assert prose["kept"] > 12
    assert prose["replies"] == prose["kept"] + sum(prose["rejected"].values()) > 18
    assert {"statement_lost", "number"} <= set(prose["rejected"])


def test_again_it_asks_nobody_and_another_model_is_another_benchmark(tmp_path: Path) -> None:
    url = str(tmp_path / "bench")
    made(url, scripted(",omissions=0.3"))
    before = Folder(url).read_bytes("benchmark.json")
    synthesize(read_config("prose", [scripted(",omissions=0.3")]), url)

    assert Folder(url).read_bytes("benchmark.json") == before
    with pytest.raises(UsageError, match="stands here"):
        synthesize(read_config("prose", [scripted("")]), url)


@pytest.mark.parametrize("n_calls", [None, 5])
def test_clients_of_the_model_are_closed_however_it_ends(
    n_calls: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls left open would hold up another command of this process that asks the same."""
    closed = []
    close = ChatPool.close

    async def noted(self: ChatPool) -> None:
        closed.append(self)
        await close(self)

    monkeypatch.setattr(ChatPool, "close", noted)
    options = [] if n_calls is None else ["--max-calls", str(n_calls)]
    arguments = ["prose", "--out", str(tmp_path / "bench"), "--set", scripted(",omissions=0.3"), *options]

    assert main(arguments) == (0 if n_calls is None else 4)
    assert len(closed) == 1
    assert main(arguments[:5]) == 0


def test_limits_and_deadlines_make_no_other_documents() -> None:
    one, other, third = (
        read_config("prose", [scripted(""), f"prose.chat.{change}"])
        for change in ("concurrency=2", "concurrency=9", "temperature=0.5")
    )
    keys = [prose_key(config.prose) for config in (one, other, third) if config.prose]

    assert keys[0] == keys[1] != keys[2]


def test_a_model_that_cannot_be_used_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["prose", "--out", str(tmp_path / "bench"), "--set", "prose.chat.script=novel"]

    assert main(arguments) == 2
    assert "one of" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@ONLY_IN_SOAK
@pytest.mark.slow
def test_a_real_small_model_fills_one_haystack_and_the_audit_says_what_fell_back(
    llama_server: str, tmp_path: Path
) -> None:
    """135 million parameters rarely keep a sentence word for word: most documents are the template's, as it says."""
    chat = f"{{model: smollm2, base_url: '{llama_server}', max_tokens: 90, temperature: 0.3, concurrency: 1}}"
    haystack = made(str(tmp_path / "bench"), "insights_per_document=2", f"prose={{chat: {chat}, tries: 2}}")
    prose, search = haystack["prose"], haystack["exact_search"]

    assert prose["by_model"] + prose["in_part"] + prose["by_template"] == haystack["documents"] == 6
    assert prose["passages"] == search["planted"] == search["found"] == 12
    assert search["elsewhere"] == search["unlisted"] == search["unplanted"] == 0
    assert 12 <= prose["replies"] == prose["kept"] + sum(prose["rejected"].values()) <= 24
    assert len(Benchmark(str(tmp_path / "bench")).qrels) == 12
