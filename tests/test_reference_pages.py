"""Pages that repeat what stands elsewhere: names of the package, versions to cite, pictures of the gallery."""

from __future__ import annotations

import re
from importlib import import_module
from typing import NamedTuple, get_args

import pytest
import yaml

import longform
from longform.records import Document, Qrel, Query, Target
from longform.tables.table import Form
from tests.pages import links, text_of
from tests.pictures import PICTURES
from tests.places import ROOT


def test_the_reference_has_every_public_name_at_its_place() -> None:
    paths = re.findall(r"^::: (\S+)$", text_of("docs/reference.md"), re.MULTILINE)
    found = {name: import_module(module) for module, _, name in (path.rpartition(".") for path in paths)}

    assert set(found) == set(longform.__all__)
    assert all(getattr(module, name) is getattr(longform, name) for name, module in found.items())


def test_what_is_cited_is_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())

    assert citation["version"] == longform.__version__
    assert f"version = {{{longform.__version__}}}" in text_of("docs/citing.md")


def test_both_citations_name_the_same_papers_and_people() -> None:
    page = re.sub(r"[{}$^\\]", "", text_of("docs/citing.md"))
    for paper in yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]:
        assert paper["title"] in page
        assert " and ".join(f"{one['family-names']}, {one['given-names']}" for one in paper["authors"]) in page


@pytest.mark.parametrize("record", [Document, Query, Target, Qrel])
def test_the_page_on_formats_of_ones_own_has_the_fields_of_each_record(record: type[NamedTuple]) -> None:
    row = re.search(rf"^\| `{record.__name__}` \| ([^|]+) \|", text_of("docs/extending.md"), re.MULTILINE)

    assert row is not None
    assert re.findall(r"`(\w+)`", row[1]) == list(record._fields)


def test_the_page_on_studies_of_ones_own_names_the_forms_of_figures() -> None:
    named = re.search(r"forms are (.*?), which", " ".join(text_of("docs/extending.md").split()))

    assert named is not None
    assert tuple(re.findall(r"`(\w+)`", named[1])) == get_args(Form)


@pytest.mark.parametrize("name", list(PICTURES))
def test_the_gallery_shows_every_picture_that_is_drawn(name: str) -> None:
    picture = PICTURES[name]
    assert picture.path.relative_to(ROOT / "docs").as_posix() in links("docs/gallery.md")
    assert picture.path.read_text().startswith("<svg ")
