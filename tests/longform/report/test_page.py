"""Pages of a report: texts that cannot become markup, Markdown that is well formed, and the drill-down."""

import copy
import json
import re

import pytest

from longform.errors import LongformError
from longform.report.findings import findings
from longform.report.page_data import script_json
from longform.report.site import SUMMARIES, site_of
from longform.report.text_pages import packed_summaries, summary_pages
from longform.results.evidence import unfolded_of
from longform.studies.schema_1 import with_tables
from longform.tables.packed import values_of
from tests.longform.report.pages import FIXTURE, HOSTILE, Page, html, markdown, pipe_tables


def compact(drilldown, points):
    (page,) = packed_summaries(unfolded_of(drilldown), points)
    return [json.loads(block.data)["queries"] for block in page]


def test_drilldown_has_scores_in_points_as_tables_have_them(results):
    summary = results["drilldown"]["summaries"][0] | {"scores": {"j": {"joint": 0.4321, "words_per_bullet": 21.5}}}
    data = compact(results["drilldown"] | {"summaries": [summary]}, ["joint"])

    ((query,),) = map(values_of, data)
    (shown,) = query["summaries"]
    assert [score["value"] for score in shown["scores"]] == [43.21, 21.5]


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


def test_markdown_begins_with_the_findings_of_the_first_page(results):
    text, (first, *_) = markdown(results), findings(results)
    head, best = text.split("\n\n")[1:3]
    assert head == "## Findings"
    assert first.best.split(";")[0] in best.replace("\\", "")


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
    packed = packed_summaries(unfolded_of(results["drilldown"]), [])
    ((_, text),) = summary_pages(site_of(results, beside=[SUMMARIES]), results, packed)
    page = Page(text)
    assert page.open == []
    assert "img" not in page.tags
    blocks = json.JSONDecoder().raw_decode(page.script)[0]
    queries = [query for block in blocks for query in values_of(block.get("queries", []))]
    first, second, *_ = (summary for query in queries for summary in query["summaries"])
    assert [query["query_id"] for query in queries] == ["q1", "q2"]
    fare = {"target_id": "t1", "name": "Fare cut", "text": "Fares fall by 12 % in May.", "gold": [2, 5, 9]}
    assert queries[0]["targets"][0] == {**fare, "kind": "insight", "passages": None}
    named = [first[name] for name in ("summary_id", "setting", "summarizer", "failure")]
    assert named == ["s1", "oracle", "alpha", None]
    assert (first["bullets"][0]["text"], first["bullets"][0]["citations"]) == ("Fares fell by 12 % [2][7]", [2, 7])
    verdict = {"judge": "offline", "target_id": "t1", "answer": "full", "linked_unit": 0, "probability": 0.9123}
    assert first["verdicts"][0] == {**verdict, "reply": None, "failure": None}
    assert first["verdicts"][3]["failure"] == "not_json"
    assert second["failure"] == results["drilldown"]["summaries"][1]["failure"] is not None


def test_json_in_a_script_cannot_end_it():
    hostile = ["</script>", "<!--<script>", "\u2028"]
    packed = script_json(hostile)
    assert "<" not in packed
    assert json.loads(packed) == hostile


def test_repeated_texts_are_stored_once(results):
    one = results["drilldown"]["summaries"][0]
    many = {**results["drilldown"], "summaries": [{**one, "summary_id": f"s{place}"} for place in range(50)]}
    (queries,) = compact(many, [])
    bullets = queries["parts"]["summaries"]["items"]["parts"]["bullets"]["items"]["parts"]["text"]
    assert len(bullets["places"]) == 50 * len(bullets["texts"]) == 50 * len(one["bullets"])


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
