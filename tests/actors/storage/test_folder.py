"""Parts count once a commit names them."""

from __future__ import annotations

import gzip
import os
import pickle
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from actors.storage.tables import Part
from longform.errors import UsageError
from tests.s3_requests import counted, writes

pytest_plugins = ["tests.s3_server"]


def row(work_id: str, text: str = "t") -> dict[str, object]:
    return {"work_id": work_id, "summary_id": work_id, "text": text}


def test_part_without_a_commit_is_not_read(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    folder.write_part("units", [row("a")], work_ids=["a"])

    assert folder.read("units").num_rows == 0
    assert folder.locate("units") == {}


def test_later_commit_wins_a_work_id(tmp_path: Path) -> None:
    """A piece of work done again replaces its rows, and leaves its neighbours in the old part."""
    folder = Folder(str(tmp_path))
    folder.commit("units", [folder.write_part("units", [row("a", "old"), row("b", "kept")], work_ids=["a", "b"])])
    folder.commit("units", [folder.write_part("units", [row("a", "new")], work_ids=["a"])])

    assert sorted(folder.read("units")["text"].to_pylist()) == ["kept", "new"]


def test_read_gives_the_work_ids_asked_for_and_the_columns(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    folder.commit("units", [folder.write_part("units", [row("a", "x"), row("b", "y")], work_ids=["a", "b"])])

    assert folder.read("units", work_ids=["b"], columns=["text"]).to_pylist() == [{"text": "y"}]


def test_work_that_made_no_rows_is_done_all_the_same(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    folder.commit("units", [folder.write_part("units", [], work_ids=["empty"])])

    assert "empty" in folder.locate("units")
    assert folder.read("units").num_rows == 0


def test_two_writers_commit_without_losing_each_other(tmp_path: Path) -> None:
    first, second = Folder(str(tmp_path)), Folder(str(tmp_path))
    a = first.write_part("units", [row("a")], work_ids=["a"])
    b = second.write_part("units", [row("b")], work_ids=["b"])
    first.commit("units", [a])
    second.commit("units", [b])

    assert set(Folder(str(tmp_path)).locate("units")) == {"a", "b"}


def test_folder_goes_to_workers_by_its_url(tmp_path: Path) -> None:
    assert pickle.loads(pickle.dumps(Folder(str(tmp_path)))).url == str(tmp_path)


def test_unknown_scheme_is_an_error_that_says_what_is_expected() -> None:
    with pytest.raises(UsageError, match="expected a local path or an s3:// URL"):
        Folder("gopher://x/y")


def test_bytes_come_back_as_they_were_written_whatever_the_name_ends_in(tmp_path: Path) -> None:
    """The file system would unpack a .gz on its own."""
    folder = Folder(str(tmp_path))
    packed = gzip.compress(b"content", mtime=0)
    folder.write_bytes("a.gz", packed)

    assert folder.read_bytes("a.gz") == packed
    assert (tmp_path / "a.gz").read_bytes() == packed
    assert folder.names() == ["a.gz"]


# ---------------------------------------------------------------- creating, and S3


@pytest.fixture(params=["local", "s3"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    """A new folder, local and on a real S3 server."""
    return Folder(str(tmp_path / "new") if request.param == "local" else request.getfixturevalue("s3_url"))


def test_of_all_who_create_a_file_at_once_one_succeeds(anywhere: Folder) -> None:
    contents = [bytes([n]) * 100_000 for n in range(8)]
    with ThreadPoolExecutor(8) as writers:
        created = list(writers.map(lambda content: anywhere.create_bytes("log/1", content), contents))

    assert created.count(True) == 1
    assert anywhere.read_bytes("log/1") == contents[created.index(True)]
    assert anywhere.names("log") == ["1"]


def test_small_file_on_s3_is_one_request(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A multipart upload would be three, each billed as a write."""
    with counted(os.environ["AWS_ENDPOINT_URL"]) as (endpoint, requests):
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        folder = Folder(s3_url)
        folder.write_bytes("units/first", b"makes the folder, too")
        before = writes(requests)
        folder.write_bytes("units/second", b"x" * 1_000_000)
        after = writes(requests)
        assert folder.read_bytes("units/second") == b"x" * 1_000_000

    assert after - before == 1


def test_file_that_cannot_be_created_is_an_error_and_not_one_that_stands_there(
    anywhere: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "://" in anywhere.url:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    else:
        anywhere.write_bytes("log", b"a file where the folder should be")

    with pytest.raises(OSError, match="log"):
        anywhere.create_bytes("log/1", b"x")


def test_tables_work_alike_anywhere(anywhere: Folder) -> None:
    assert not anywhere.exists()
    assert anywhere.read("units").num_rows == 0
    anywhere.commit("units", [anywhere.write_part("units", [row("a", "old"), row("b")], work_ids=["a", "b"])])
    anywhere.commit("units", [anywhere.write_part("units", [row("a", "new")], work_ids=["a"])])

    assert sorted(anywhere.read("units")["text"].to_pylist()) == ["new", "t"]
    assert sum(batch.num_rows for batch in anywhere.batches("units", columns=["text"])) == 2
    assert set(anywhere.locate("units")) == {"a", "b"}
    assert anywhere.exists()
    anywhere.delete_table("units")
    anywhere.delete_table("units")
    assert anywhere.parts("units") == []


def test_files_work_alike_anywhere(anywhere: Folder, tmp_path: Path) -> None:
    anywhere.write_json("run.json", {"a": 1})
    anywhere.write_json("run.json", {"a": 2})
    (tmp_path / "big").write_bytes(b"0123456789" * 100_000)
    anywhere.upload(tmp_path / "big", "packs/big")
    anywhere.download("packs/big", tmp_path / "back")

    assert anywhere.read_json("run.json") == {"a": 2}
    assert (anywhere.names(), anywhere.names("packs"), anywhere.names("nothing")) == (["run.json"], ["big"], [])
    assert anywhere.has("run.json")
    assert not anywhere.has("packs")
    assert (tmp_path / "back").read_bytes() == (tmp_path / "big").read_bytes()
    with pytest.raises(FileNotFoundError):
        anywhere.read_bytes("absent")


def test_forgotten_rows_are_not_there_until_they_are_written_again(tmp_path: Path) -> None:
    """Also where a part holds others beside them, and where the same part is written again."""
    folder = Folder(str(tmp_path))

    def write(*work_ids: str, text: str) -> None:
        rows = [{"work_id": w, "summary_id": w, "unit_index": 0, "text": text} for w in work_ids]
        folder.commit("units", [folder.write_part("units", rows, work_ids=work_ids)])

    write("a", "b", text="old")
    write("c", text="old")
    folder.forget("units", ["a", "c"])
    assert [row["work_id"] for row in folder.read("units").to_pylist()] == ["b"]
    assert folder.locate("units").keys() == {"b"}
    write("a", text="new")
    write("c", text="new")
    found = {row["work_id"]: row["text"] for row in folder.read("units").to_pylist()}
    assert found == {"a": "new", "b": "old", "c": "new"}


def test_columns_that_an_older_part_lacks_are_null_whatever_is_asked_for(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    old, new = ({"work_id": name, "summary_id": name, "dataset": "d", "text": "t"} for name in ("old", "new"))
    written = folder.write_part("summaries", [old], work_ids=["old"])
    of_before = Part(path="summaries/part-0123456789abcdef0123.parquet", rows=1, work_ids=("old",))
    whole = pq.read_table(tmp_path / written.path)
    pq.write_table(whole.drop_columns(["dataset", "repeat"]), tmp_path / of_before.path)
    folder.commit("summaries", [of_before])
    folder.commit("summaries", [folder.write_part("summaries", [new], work_ids=["new"])])

    for columns in (None, ["dataset", "repeat", "text"], ["dataset"]):
        found = folder.read("summaries", columns=columns).to_pylist()
        assert [row["dataset"] for row in found] == [None, "d"]
    assert folder.read("summaries", work_ids=["old"], columns=["repeat"]).to_pylist() == [{"repeat": None}]


def test_every_changed_bit_of_a_part_or_a_commit_is_an_error(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    rows = [{"work_id": f"w{n}", "summary_id": "s", "unit_index": n, "text": f"Fact {n}."} for n in range(40)]
    folder.commit("units", [folder.write_part("units", rows, work_ids=[f"w{n}" for n in range(40)])])
    chance = random.Random(20)
    for file in (next(tmp_path.glob("units/*.parquet")), next(tmp_path.glob("units/_commits/*"))):
        whole = file.read_bytes()
        for bit in chance.sample(range(len(whole) * 8), 150):
            changed = bytearray(whole)
            changed[bit // 8] ^= 1 << bit % 8
            file.write_bytes(changed)
            with pytest.raises(StorageError, match=re.escape(f"{file}: expected a ")):
                folder.read("units")
        file.write_bytes(whole)
    assert folder.read("units").num_rows == 40


def test_part_that_is_missing_is_named(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    part = folder.write_part("units", [], work_ids=["w"])
    folder.commit("units", [part])
    folder.delete(part.path)
    with pytest.raises(StorageError, match=re.escape(f"{part.path}: expected a Parquet file") + ".*it is missing"):
        folder.read("units")
    with pytest.raises(FileNotFoundError) as error:
        folder.read_json("nothing.json")
    assert error.value.filename == f"{tmp_path}/nothing.json"


def test_pages_of_a_part_have_checksums_for_other_readers(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    texts = [
        {"work_id": "w", "summary_id": "s", "unit_index": 0, "text": "".join(random.Random(1).choices("abcdef", k=900))}
    ]
    file = tmp_path / folder.write_part("units", texts, work_ids=["w"]).path
    said = list[str]()
    for place in range(0, 400, 20):
        changed = bytearray(file.read_bytes())
        changed[place] ^= 1
        said += _refusal(bytes(changed))
    assert any("CRC" in words for words in said)


def _refusal(content: bytes) -> list[str]:
    try:
        pq.read_table(pa.BufferReader(content), page_checksum_verification=True)
    except (OSError, ValueError) as error:
        return [str(error)]
    return []
