"""Pages of a report: texts that cannot become markup, Markdown that is well formed, and the drill-down."""

import copy
import json
import re

import pytest

from longform.errors import LongformError
from longform.report.document_pages import summary_pages
from longform.report.site import SUMMARIES, site_of
from longform.results.drilldown import Packing, packed_pages, script_json, unfolded_of
from longform.studies.schema_1 import with_tables
from tests.longform.report.pages import FIXTURE, HOSTILE, Page, html, markdown, pipe_tables


def compact(drilldown, points):
    packing = Packing(points)
    for one in unfolded_of(drilldown):
        packing.add(one)
    return json.loads(packing.json())


def test_drilldown_has_scores_in_points_as_tables_have_them(results):
    summary = results["drilldown"]["summaries"][0] | {"scores": {"j": {"joint": 0.4321, "words_per_bullet": 21.5}}}
    data = compact(results["drilldown"] | {"summaries": [summary]}, ["joint"])

    assert [value for *_, value in data["summaries"][0][8]] == [43.21, 21.5]


@pytest.mark.parametrize("field", ["title", "aggregate"])
def test_results_without_their_head_are_refused(results, field):
    with pytest.raises(LongformError, match=field):
        html({**results, field: None})


def test_texts_never_become_elements(text, page):
    assert HOSTILE not in text
    assert "img" not in page.tags
    assert page.tags.count("script") == 1
    assert page.open == []


def test_the_page_loads_nothing(page):
    loading = [item for item in page.attributes if item[1] in {"src", "href", "xlink:href", "action", "srcset", "data"}]
    assert loading
    assert all(value.startswith("#") for _, _, value in loading)
    assert "link" not in page.tags
    assert any("default-src 'none'" in value for _, _, value in page.attributes)


def test_no_handler_stands_in_an_attribute(page):
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def test_the_same_results_give_the_same_bytes(results, text):
    """The second time from a copy made before the first: reporting changes nothing in what it reports."""
    assert html(results) == text
    assert results == with_tables(json.loads(FIXTURE.read_text("utf-8")))


def test_ids_of_a_page_are_unique(page):
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_markdown_tables_are_well_formed(results):
    tables = pipe_tables(markdown(results))
    assert len(tables) > 10
    for head, rule, *rows in tables:
        assert {len(head)} == {len(row) for row in [rule, *rows]}
        assert all(re.fullmatch("-+:?", mark) for mark in rule)


def test_markdown_holds_the_same_numbers_under_flat_heads(results):
    first, _, (head, _, *rows) = pipe_tables(markdown(results))[:3]
    settings = ("random", "oracle", "full")
    assert first[0] == ["summarizer", *(f"coverage: {one}" for one in settings)]
    assert head == ["summarizer", *(f"joint: {one}" for one in settings)]
    assert next(row for row in rows if row[0] == "alpha")[1:4] == ["5.6", "40.4", "13.9"]


def test_markdown_texts_are_no_tags_and_do_not_break_a_row(results):
    outside, listing = markdown(results).rsplit("````json", 1)
    assert "<" not in outside
    assert "gpt\\_x\\|&lt;/script" in outside
    assert listing.rstrip().endswith("````")


def test_drilldown_data_is_what_went_in(results):
    packed = packed_pages(unfolded_of(results["drilldown"]), [])
    (written,) = summary_pages(site_of(results, beside=[SUMMARIES]), results, packed)
    page = Page(written.html)
    assert page.open == []
    assert "img" not in page.tags
    data = json.JSONDecoder().raw_decode(page.script)[0]
    text = data["strings"].__getitem__
    assert [row[0] for row in data["queries"]] == ["q1", "q2"]
    assert data["queries"][0][5][0] == ["t1", "Fare cut", "Fares fall by 12 % in May.", [2, 5, 9]]
    first = data["summaries"][0]
    assert (first[0], first[1], text(first[2]), text(first[3]), first[5]) == ("s1", 0, "oracle", "alpha", None)
    assert first[6][0] == ["Fares fell by 12 % [2][7]", [2, 7]]
    judge, target, answer, unit, probability, reply, failure = first[7][0]
    assert (text(judge), target, text(answer), unit, probability, reply, failure) == (
        "offline",
        0,
        "full",
        0,
        0.9123,
        None,
        None,
    )
    assert text(first[7][3][6]) == "not_json"
    assert data["summaries"][1][5] is not None
    assert text(data["summaries"][1][5]) == results["drilldown"]["summaries"][1]["failure"]


def test_json_in_a_script_cannot_end_it():
    hostile = ["</script>", "<!--<script>", "\u2028"]
    packed = script_json(hostile)
    assert "<" not in packed
    assert json.loads(packed) == hostile


def test_repeated_texts_are_stored_once(results):
    one = results["drilldown"]["summaries"][0]
    many = {**results["drilldown"], "summaries": [{**one, "summary_id": f"s{place}"} for place in range(50)]}
    strings = compact(many, [])["strings"]
    assert len(strings) == len(set(strings)) < 20


def test_a_verdict_on_a_target_of_another_query_is_refused(results):
    drilldown = copy.deepcopy(results["drilldown"])
    drilldown["summaries"][0]["verdicts"][0]["target_id"] = "t4"
    with pytest.raises(LongformError, match=r"summary s1: verdict on target.*'t4'"):
        compact(drilldown, [])


def test_a_summary_of_an_unlisted_query_is_refused(results):
    drilldown = copy.deepcopy(results["drilldown"])
    drilldown["summaries"][0]["query_id"] = "q9"
    with pytest.raises(LongformError, match=r"summary s1: query.*'q9'"):
        compact(drilldown, [])
