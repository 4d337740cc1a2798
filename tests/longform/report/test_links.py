"""Addresses of the summaries behind a number."""

from urllib.parse import parse_qs

from longform.report.parts import haystack_name, split_caption
from longform.report.sections import sections
from longform.report.tables import summaries_fragment
from longform.studies.schema_1 import with_tables
from tests.longform.report.pages import only

ROW = {"summarizer": "a & b, c", "setting": "bm25/4000", "judge": "x=y#z", "dataset": None, "joint": 40.0}


def test_a_fragment_is_read_as_a_query_string_whatever_names_hold():
    fragment = summaries_fragment(ROW, "joint")
    assert fragment == "summarizer=a%20%26%20b%2C%20c&setting=bm25%2F4000&judge=x%3Dy%23z&measure=joint"
    assert parse_qs(fragment)["judge"] == ["x=y#z"]


def test_means_alone_have_an_address_of_their_summaries(results):
    (section,) = (one for one in sections(with_tables(only(results, "cells"))) if one.anchor == "scores")
    cells = [cell for table in section.tables[:1] for row in table.cells for cell in row]
    addresses = [cell.mean_of for cell in cells if cell.mean_of]
    assert len(addresses) == sum(cell.order is not None for cell in cells)
    assert "summarizer=alpha&setting=random&judge=offline&measure=coverage" in addresses
    heads = [column.head for column in section.tables[1].columns]
    shares = [row[heads.index("share unjudged")] for row in section.tables[1].cells]
    assert {cell.mean_of for cell in shares} == {None}


def test_a_haystack_is_named_by_its_topic_with_its_id_if_topics_repeat():
    results = {"haystack_topics": {"h1": "rail", "h2": "rail", "h3": "orchard", "h4": None}}
    named = [haystack_name(results, one) for one in ("h1", "h3", "h4", "h5")]
    assert named == ["rail (h1)", "orchard", "h4", "h5"]


def test_a_caption_is_cut_behind_a_sentence_and_loses_nothing():
    text = "Judge j (r 0.71, bias +3 points). " + "Told: at some length, for those who want it. " * 8
    shown, rest = split_caption(text.strip())
    assert shown.startswith("Judge j (r 0.71, bias +3 points). Told:")
    assert len(shown) < 200
    assert f"{shown} {rest}" == text.strip()
    assert split_caption("Short.") == ("Short.", "")
