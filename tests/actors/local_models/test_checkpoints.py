from __future__ import annotations

from pathlib import Path

import pytest

from actors.local_models.checkpoints import (
    CACHE_ENV,
    MINILM,
    cache_folder,
    changing_content,
    checkpoint_content,
    checkpoint_path,
    model_path,
)
from actors.storage.folder import Folder
from longform.errors import UsageError

pytest_plugins = ["tests.s3_server"]


def test_a_folder_a_package_and_a_hub_name_are_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "vocab.txt").write_text("a")
    assert checkpoint_path(str(tmp_path)) == str(tmp_path)
    assert checkpoint_path(MINILM) == model_path(MINILM)
    assert checkpoint_path("somebody/some-checker") == "somebody/some-checker"
    assert checkpoint_content("somebody/some-checker") == "somebody/some-checker"


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a folder with"):
        checkpoint_path(str(tmp_path))


def test_other_weights_are_another_content_wherever_they_stand(tmp_path: Path) -> None:
    for name, weights in (("one", b"1"), ("same", b"1"), ("other", b"2")):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "sub/weights").write_bytes(weights)
    one, same, other = (checkpoint_content(str(tmp_path / name)) for name in ("one", "same", "other"))
    assert one == same != other


def test_the_environment_says_where_copies_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_ENV, str(tmp_path))
    assert cache_folder() == tmp_path / "checkpoints"
    monkeypatch.delenv(CACHE_ENV)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg/longform/checkpoints"


def test_content_counts_where_a_name_may_come_to_mean_another_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert changing_content(str(tmp_path)) == checkpoint_content(str(tmp_path))
    assert changing_content(MINILM) is None
    assert changing_content("somebody/some-checker") is None


@pytest.mark.slow
def test_a_checkpoint_on_s3_is_copied_once_for_each_content(
    s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_ENV, str(tmp_path))
    url, cache = f"{s3_url}/checker", tmp_path / "checkpoints"
    folder = Folder(url)
    with pytest.raises(UsageError, match=r"expected a folder with modules.json or config.json there; found nothing"):
        checkpoint_path(url)
    folder.write_bytes("config.json", b"{}")
    folder.write_bytes("sub/weights", b"one")
    folder.write_bytes("vocab.txt", b"a")
    first, content = Path(checkpoint_path(url)), checkpoint_content(url)
    assert (first / "config.json").read_bytes() == b"{}"
    assert (first / "sub/weights").read_bytes() == b"one"

    (first / "sub/weights").write_bytes(b"mark")
    assert Path(checkpoint_path(f"{url}/")) == first
    assert (first / "sub/weights").read_bytes() == b"mark", "what is there is not copied again"

    folder.write_bytes("sub/weights", b"two")
    second = Path(checkpoint_path(url))
    assert (second / "sub/weights").read_bytes() == b"two"
    assert checkpoint_content(url) != content
    assert {path.name for path in cache.iterdir()} == {first.name, second.name, "locks"}, "nothing unfinished is left"
