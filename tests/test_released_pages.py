"""Pages whose commands read the released files or ask a server: they run as written, and print what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import commands, pages_with, run_page


def pages_to_run() -> list[str]:
    """Return the pages with a command that no other page has: what pages say alike is run once."""
    lines = {page: set(commands(page, "released").splitlines()) for page in pages_with("released")}
    kept = list(lines)
    for page, said in lines.items():
        if said <= set().union(*(lines[other] for other in kept if other != page)):
            kept.remove(page)
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_to_run())
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
