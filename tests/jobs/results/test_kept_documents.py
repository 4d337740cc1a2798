"""Documents beside the results: those that are wanted, or the reason why there are none."""

from __future__ import annotations

from pathlib import Path

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.results.documents import keep_documents, kept_documents
from tests.jobs.planted_bench import bench


def kept(place: Path, numbers: set[int], **most: int) -> tuple[list[int], str | None, bool]:
    """Return the numbers of the documents that are kept, why there are none, and whether passages are found in them."""
    benchmark = Benchmark(bench(place, n=2))
    (haystack, *_) = benchmark.haystack_ids
    finder = keep_documents(Folder(str(place / "run")), benchmark, {haystack: numbers}, **most)
    found = kept_documents(Folder(str(place / "run")))
    return [one["number"] for one in found.documents], found.reason, finder(haystack) is not None


def test_wanted_documents_are_kept_and_searched(tmp_path: Path) -> None:
    assert kept(tmp_path, {1, 3}) == ([1, 3], None, True)


def test_of_too_many_characters_the_reason_alone_is_kept(tmp_path: Path) -> None:
    numbers, reason, searched = kept(tmp_path, {1, 3}, most_characters=10)
    assert (numbers, searched) == ([], False)
    assert reason is not None
    assert "more than 10 characters" in reason


def test_of_none_wanted_the_reason_is_that_nothing_names_one(tmp_path: Path) -> None:
    numbers, reason, searched = kept(tmp_path, set())
    assert (numbers, searched) == ([], False)
    assert reason is not None
    assert "no summary cites one" in reason
