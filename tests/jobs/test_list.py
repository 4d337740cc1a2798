"""Every name that can be listed is one that is taken, and has a meaning."""

from __future__ import annotations

import json

import pytest

from jobs.list import LISTS, main
from longform.formats.names import EXPORTS, FORMATS


@pytest.mark.parametrize("what", LISTS)
def test_every_name_has_a_meaning(what: str) -> None:
    names = list(LISTS[what]())

    assert names
    assert [name.name for name in names if not name.meaning] == []


def test_lists_name_every_format() -> None:
    assert {*FORMATS, *EXPORTS} == {name.name for name in LISTS["formats"]()}


def test_words_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["retrievers"]) == 0
    assert "  bm25 " in capsys.readouterr().out
    assert main(["presets", "--json"]) == 0
    presets = json.loads(capsys.readouterr().out)["presets"]
    assert {"demo", "summhay_paper"} <= {preset["name"] for preset in presets}


def test_a_slip_is_mended(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["retriever"])
    assert ended.value.code == 2
    assert "did you mean 'retrievers'" in capsys.readouterr().err
