"""The folder of a run is no benchmark and no empty name; numbers of the command line are told before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.storage.benchmark import MANIFEST
from actors.storage.json_files import RECORD
from jobs.command_line import main
from jobs.runs.record import check_no_benchmark
from longform.errors import UsageError


def test_a_run_is_not_written_into_a_benchmark(tmp_path: Path) -> None:
    check_no_benchmark(str(tmp_path / "new"))
    (tmp_path / MANIFEST).write_text("{}")
    with pytest.raises(UsageError, match="holds a benchmark"):
        check_no_benchmark(str(tmp_path))
    (tmp_path / RECORD).write_text("{}")
    check_no_benchmark(str(tmp_path))  # a run whose folder is a copy of its benchmark goes on


@pytest.mark.parametrize(
    "wrong",
    [
        ["--limit", "0"],
        ["--limit=-1"],
        ["--limit", "1.5"],
        ["--limit", "9" * 5000],
        ["--max-calls=-1"],
        ["--max-cost=-1"],
        ["--max-cost", "nan"],
        ["--max-cost", "inf"],
        ["--workers=-1"],
        ["--workers", "two"],
        ["--vectors-mb", "0"],
        ["--queries", "0"],
        ["--depth", "0"],
        ["--out", ""],
        ["--out", " "],
        ["--bench", ""],
        ["--ledger", ""],
        ["--prices", ""],
    ],
)
def test_a_value_that_is_none_ends_the_command_at_once(
    wrong: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", "demo", "--out", str(tmp_path / "run"), *wrong])
    assert ended.value.code == 2
    assert f"argument {wrong[0].partition('=')[0]}: expected" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
