"""The laboratory is a checkout's: an installed package has the verb, and says where its work is."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs import train


def test_without_a_laboratory_the_verb_says_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train, "ROOT", tmp_path)

    assert train.main(["support", "bench", "--out", str(tmp_path)]) == 2
    assert f"expected the folder lab/ beside longform/ in {tmp_path}" in capsys.readouterr().err
