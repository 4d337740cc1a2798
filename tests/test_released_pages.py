"""Pages whose commands read the released files or ask a server: they run as written, and print what the page shows."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.pages import commands, pages_with, run_commands, run_page


def pages_to_run() -> list[str]:
    """Return the pages with a command that no other page has: what pages say alike is run once."""
    lines = {page: set(commands(page, "released").splitlines()) for page in pages_with("released")}
    kept = list(lines)
    for page, said in lines.items():
        if said <= set().union(*(lines[other] for other in kept if other != page)):
            kept.remove(page)
    return kept


def shared_commands() -> list[str]:
    """Return the commands of one line that several pages have, and that want no variable, in their order."""
    lines = [line for page in pages_to_run() for line in dict.fromkeys(commands(page, "released").splitlines())]
    counts = Counter(line for line in lines if line.startswith("longform ") and not {"\\", "$"} & {*line})
    return [line for line, n_pages in counts.items() if n_pages > 1]


@pytest.fixture(scope="module")
def begun(released: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapping[str, str]]:
    """A folder with the released files in which the shared commands have run, and what each printed."""
    folder = tmp_path_factory.mktemp("released")
    positional_bias = ("generation/multixscience", "generation/pubmed", "metric_benchmark/longeval_pubmed")
    named = [*(released / f"longformfact/{name}.jsonl.gz" for name in positional_bias), released / "msrs/story"]
    for file in [*(released / "summhay").glob("*.gz"), *named]:
        (folder / file.name).symlink_to(file)
    found = {line: run_commands(line, folder) for line in shared_commands()}
    assert {line: done.stderr for line, done in found.items() if done.returncode} == {}
    return folder, {line: done.stdout for line, done in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_to_run())
def test_commands_on_released_files_run_as_written(
    page: str, begun: tuple[Path, Mapping[str, str]], tmp_path: Path
) -> None:
    folder, before = begun
    shutil.copytree(folder, tmp_path, symlinks=True, dirs_exist_ok=True)
    run_page(page, "released", tmp_path, before=before)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("served"))
def test_commands_that_ask_a_server_run_as_written(page: str, tmp_path: Path) -> None:
    from tests.serve.served import offline_app
    from tests.serving import running

    with running(offline_app()) as url:
        run_page(page, "served", tmp_path, url=url)
