"""The account key is in no file, log or error that a run leaves."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.synthesis.haystacks import read_config, synthesize
from longform.rehearsal.settings import FakeSettings
from tests.actors.rehearsal.replies import echoing
from tests.places import ROOT

KEY = "sk-a-key-that-must-not-be-seen-4711"


def evaluate(
    tmp_path: Path, url: str, key: str, run: str, ray_folder: str, *, workers: int
) -> subprocess.CompletedProcess[str]:
    chat = {"model": "fake", "base_url": url, "api_key_env": "THE_KEY", "attempts": 2, "timeout_s": 5}
    config = {
        "name": "secret",
        "seed": 1,
        "retrievers": {"oracle": {"kind": "oracle"}},
        "summarizers": {"m": {"kind": "chat", "chat": chat}},
        "judges": {"j": {"kind": "chat", "chat": chat}},
        "systems": [{"retriever": "oracle", "budget_tokens": 1000, "summarizer": "m"}],
        "resamples": 100,
        "unjudged_threshold": 1.0,
    }
    (tmp_path / "config.yaml").write_text(json.dumps(config))
    command = [
        sys.executable,
        "-m",
        "jobs.evaluate",
        "config.yaml",
        "--bench",
        "bench",
        "--out",
        run,
        "--limit",
        "3",
        "--ledger",
        f"{run}-ledger",
        "--workers",
        str(workers),
    ]
    environment = os.environ | {"THE_KEY": key, "PYTHONPATH": str(ROOT), "RAY_TMPDIR": ray_folder}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


def _sockets(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if stat.S_ISSOCK((Path(folder) / name).lstat().st_mode)]


@pytest.mark.slow
def test_no_file_log_or_error_holds_the_key(tmp_path: Path) -> None:
    """The server has faults, repeats the key in its replies or refuses it, and everything is logged."""
    synthesize(read_config("demo", ["haystacks=1"]), str(tmp_path / "bench"))
    faults = {"http_500": 0.1, "garbage": 0.1, "reset": 0.1}
    settings = FakeSettings(key=KEY, delay_s=0.01, slow_share=0, faults=faults)
    reply = partial(echoing, KEY, "content")
    # Ray's sockets want a short path
    with fake_process(settings, reply=reply) as url, TemporaryDirectory() as ray_folder:
        good = evaluate(tmp_path, url, KEY, "good", ray_folder, workers=2)  # on Ray, whose logs are looked at, too
        wrong = evaluate(tmp_path, url, KEY + "-wrong", "wrong", ray_folder, workers=0)
        shutil.copytree(ray_folder, tmp_path / "ray", ignore=_sockets, symlinks=True)

    assert good.returncode == 0, good.stderr[-2000:]
    assert Folder(str(tmp_path / "good")).read("summaries")["text"].null_count < 3
    assert set(Folder(str(tmp_path / "wrong")).read("summaries")["failure"].to_pylist()) == {"http_401"}
    said = "".join(done.stdout + done.stderr for done in (good, wrong))
    assert KEY not in said
    assert any((tmp_path / "ray").rglob("*.log"))
    written = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name == "calls.sqlite" for path in written)
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
