"""A GGUF file on S3 comes whole, once for each content."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.chat.llama_cpp_client import LlamaChat
from actors.local_models.checkpoints import CACHE_ENV, gguf_content, gguf_path
from actors.storage.folder import Folder
from longform.chat.call import ChatRequest, Message
from longform.errors import UsageError
from longform.settings.chat import ChatSettings

pytest_plugins = ["tests.s3_server"]


def test_a_local_file_is_itself_and_its_content_changes_with_it(tmp_path: Path) -> None:
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF one")
    before = gguf_content(str(file))
    assert gguf_path(str(file)) == str(file)
    file.write_bytes(b"GGUF another")
    assert gguf_content(str(file)) != before
    with pytest.raises(UsageError, match="expected the path of a GGUF file"):
        gguf_path(str(tmp_path / "other.gguf"))


@pytest.mark.slow
def test_a_file_on_s3_is_copied_once_for_each_content(
    s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_ENV, str(tmp_path))
    folder, url = Folder(f"{s3_url}/models"), f"{s3_url}/models/small.gguf"
    folder.write_bytes("small.gguf.old", b"GGUF that another file begins like")
    with pytest.raises(UsageError, match="expected a file there, found none"):
        gguf_path(url)
    folder.write_bytes("small.gguf", b"GGUF one")
    first, content = Path(gguf_path(url)), gguf_content(url)
    assert first.read_bytes() == b"GGUF one"

    first.write_bytes(b"mark")
    assert Path(gguf_path(url)).read_bytes() == b"mark", "what is there is not copied again"

    folder.write_bytes("small.gguf", b"GGUF two")
    assert Path(gguf_path(url)).read_bytes() == b"GGUF two"
    assert gguf_content(url) != content
    folder.write_bytes("small.gguf", b"version https://git-lfs")
    with pytest.raises(UsageError, match="expected a file of GGUF, found one that begins with b'vers'"):
        gguf_path(url)


@pytest.mark.slow
async def test_a_model_on_s3_answers(
    s3_url: str, small_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFORM_CACHE", str(tmp_path))
    Folder(f"{s3_url}/models").upload(Path(small_model), "small.gguf")
    settings = {"provider": "llama_cpp", "context_window": 512}
    asked = ChatRequest(messages=(Message("user", "Say yes."),), max_tokens=200, temperature=0.0)
    replies = []
    for model in (small_model, f"{s3_url}/models/small.gguf"):
        chat = LlamaChat(ChatSettings.model_validate(settings | {"model": model}))
        replies.append((await chat.complete(asked)).text)
        await chat.close()
    assert replies[0] == replies[1]
    assert replies[0]
