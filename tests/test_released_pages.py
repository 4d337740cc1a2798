"""Pages whose commands read the released files or ask a server: they run as written, and print what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import pages_with, run_page


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("released"))
def test_commands_on_released_files_run_as_written(page: str, tmp_path: Path, released: Path) -> None:
    positional_bias = ("generation/multixscience", "generation/pubmed", "metric_benchmark/longeval_pubmed")
    named = [*(released / f"longformfact/{name}.jsonl.gz" for name in positional_bias), released / "msrs/story"]
    for file in [*(released / "summhay").glob("*.gz"), *named]:
        (tmp_path / file.name).symlink_to(file)
    run_page(page, "released", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("served"))
def test_commands_that_ask_a_server_run_as_written(page: str, tmp_path: Path) -> None:
    from tests.serve.served import offline_app
    from tests.serving import running

    with running(offline_app()) as url:
        run_page(page, "served", tmp_path, url=url)
