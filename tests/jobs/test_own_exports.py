"""Exports of users write below their folder what they yield, or are refused before anything is written."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.python_class import UserCodeError
from jobs.evaluations.stored import export
from longform.formats.exported import Export, ExportedFile
from tests.made.demo import two_systems

PATH = f"{__name__}:YIELDS"
NAMES = ["a", "a.json", "...", ".a", "Ä b", "~", "a:", "*"]
NO_NAMES = ["..", ".", "", " ", "\\", "..\\a", "a\0", "\n"]


class Yields:
    values: ClassVar[list[Any]] = []


YIELDS = Export(lambda _: Yields.values, "what a test says")
ASKS = Export(lambda run: [ExportedFile("a", run.table("score").schema)], "a table")


@pytest.fixture(scope="module")
def made() -> str:
    return two_systems()


@given(st.lists(st.sampled_from([*NAMES, *NO_NAMES]), max_size=4))
@example(["", "etc", "passwd"])
def test_a_file_lies_below_the_folder_or_is_refused(made: str, parts: list[str]) -> None:
    name, is_below = "/".join(parts), bool(parts) and set(NAMES).issuperset(parts)
    Yields.values = [ExportedFile(name, b"ours")]
    with TemporaryDirectory() as folder:
        out = Path(folder, "runs", "out")
        if is_below:
            export(made, str(out), form=PATH, judge=None)
        else:
            with pytest.raises(UserCodeError, match=r": files: expected a name below the folder, .* as name, found "):
                export(made, str(out), form=PATH, judge=None)
        files = [file for file in Path(folder).rglob("*") if file.is_file()]

        assert files == ([out / name] if is_below else [])


FINE = ExportedFile("a/b.txt", b"", 1, {"places": 2})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("a.txt", r"expected ExportedFile\(name, bytes or a JSON document\), found str 'a.txt'"),
        (("a.txt", b"x"), r"expected ExportedFile\(name, .*\), found tuple \('a.txt', b'x'\)"),
        (None, "expected ExportedFile.* found NoneType None"),
        (FINE._replace(name=3), "expected a valid string as name, found int 3"),
        (FINE, "expected a name that no other file or its folder has as name, found str 'a/b.txt'"),
        (FINE._replace(name="a"), "expected a name that no other .* found str 'a'"),
        (FINE._replace(name="a/b.txt/c"), "expected a name that no other .* found str 'a/b.txt/c'"),
        (
            FINE._replace(name="c", content="words"),
            "expected bytes or a JSON document as content of 'c', found str 'words'",
        ),
        (ExportedFile("c", {"n": float("nan")}), "expected bytes or a JSON document as content of 'c', found dict"),
        (ExportedFile("c", {"n": {1}}), "expected bytes or a JSON document as content of 'c', found dict"),
        (ExportedFile("c", b"", -1), "expected greater than or equal to 0 as n_summaries, found int -1"),
        (FINE._replace(name="c", left_out=3), "expected a valid .* as left_out, found int 3"),
        (FINE._replace(name="c", left_out={"places": "many"}), "expected a valid .* as left_out, found str 'many'"),
    ],
)
def test_what_is_no_file_is_refused_before_any_is_written(made: str, tmp_path: Path, value: Any, said: str) -> None:
    Yields.values = [FINE, value]

    with pytest.raises(UserCodeError, match=f"^{PATH}: files: {said}"):
        export(made, str(tmp_path), form=PATH, judge=None)

    assert not list(tmp_path.iterdir())


def test_bytes_and_json_are_written_as_they_are(made: str, tmp_path: Path) -> None:
    Yields.values = [FINE, ExportedFile("a/c.json", {"words": "ä"}, 2, {"places": 3})]

    document = export(made, str(tmp_path), form=PATH, judge=None)

    assert (document["files"], document["left_out"]) == (["a/b.txt", "a/c.json"], {"places": 5})
    assert (tmp_path / "a" / "b.txt").read_bytes() == b""
    assert (tmp_path / "a" / "c.json").read_text() == '{\n "words": "ä"\n}\n'


def test_a_table_that_is_not_there_is_told_with_those_that_are(made: str, tmp_path: Path) -> None:
    with pytest.raises(UserCodeError, match=r"LookupError: table: expected one of .*summaries.*, found 'score'; did"):
        export(made, str(tmp_path), form=f"{__name__}:ASKS", judge=None)
