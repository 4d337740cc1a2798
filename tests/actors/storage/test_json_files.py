"""A damaged file of JSON is told from a whole one, whatever was done to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from actors.storage.json_files import as_bytes, of_bytes

CONTENT = {"config": {"seed": 1, "share": 0.25}, "names": ["Zürich", "b"], "limit": None}
WHOLE = as_bytes(CONTENT, sealed=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (bytes(300), "it holds nothing but NUL bytes"),
        (WHOLE[:-40], "it ends too early"),
        (WHOLE[:40] + bytes(8) + WHOLE[48:], "no JSON"),
        (b"\xff\xfe" + WHOLE, "byte 1 is no UTF-8"),
        (b"[" * 200_000, "it is nested too deeply"),
        (b"null", "it holds no object"),
        (b"[]", "it holds no object"),
        (b'{"limit": 3}', "it has no 'config'"),
        (WHOLE.replace(b"0.25", b"0.75"), "it is not what was written"),
    ],
)
def test_damaged_file_is_one_sentence_with_its_name_and_what_to_do(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(StorageError) as told:
        Folder(str(tmp_path)).read_json("run.json", needs=["config"])
    assert str(told.value).startswith(f"{tmp_path}/run.json: expected JSON as it was written")
    assert said in str(told.value)
    assert "delete it and give the command that made the run again: it writes it anew" in str(told.value)
    assert told.value.lasts


@given(st.integers(0, len(WHOLE) * 8 - 1))
def test_changed_bit_of_a_sealed_file_is_noticed_or_changes_nothing(bit: int) -> None:
    changed = bytearray(WHOLE)
    changed[bit // 8] ^= 1 << bit % 8
    try:
        found = of_bytes(bytes(changed), needs=CONTENT.keys())
    except ValueError:
        return
    assert {name: found[name] for name in CONTENT} == CONTENT


def test_who_changes_a_sealed_file_removes_one_line() -> None:
    lines = WHOLE.decode().replace("0.25", "0.75").splitlines()
    kept = "\n".join(line for line in lines if '"digest"' not in line)
    assert of_bytes(kept.encode(), needs=["config"])["config"]["share"] == 0.75
    assert of_bytes(json.dumps([1]).encode()) == [1]
