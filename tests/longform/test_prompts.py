import re

import pytest

from longform import prompts
from longform.errors import UsageError
from longform.judges.kinds.coverage import COVERAGE, parse_coverage

SUMMARIZE = ["summarize_conversation", "summarize_documents", "summarize_news"]
JUDGE = ["judge_coverage_3", "judge_coverage_9"]


def prompt_file(text: str, fields: str, extra: str = "") -> str:
    return f'+++\nsource = "s"\nchanges = "c"\nfields = {fields}\n{extra}+++\n{text}'


def test_every_prompt_that_ships_loads() -> None:
    """A file that is not packaged, or whose header lies, must not wait for a paid run to be found."""
    assert set(prompts.prompt_names()) >= {*SUMMARIZE, *JUDGE}
    for name in prompts.prompt_names():
        prompt = prompts.load_prompt(name)
        assert re.fullmatch(rf"{name}@[0-9a-f]{{8}}", prompt.version)
        assert "{{" not in prompt.render(**dict.fromkeys(prompt.fields, "x"))


def test_a_value_is_never_read_as_a_field() -> None:
    """A document that holds `{{query}}` is data; chained replacement would fill it."""
    prompt = prompts.parse_prompt("p", prompt_file("{{documents}} | {{query}}", '["documents", "query"]'))
    assert prompt.render(documents="{{query}} {{documents}}", query="Q") == "{{query}} {{documents}} | Q\n"


@pytest.mark.parametrize("given", [{"a": 1}, {"a": 1, "b": 2, "c": 3}, {}])
def test_rendering_takes_exactly_the_fields(given: dict[str, int]) -> None:
    prompt = prompts.parse_prompt("p", prompt_file("{{a}}{{b}}", '["a", "b"]'))
    with pytest.raises(ValueError, match=r"takes \['a', 'b'\]"):
        prompt.render(**given)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("Just text {{a}}", "TOML header", id="no-header"),
        pytest.param("+++\nsource = \n+++\nx", "no TOML", id="broken-header"),
        pytest.param(prompt_file("{{a}} {{b}}", '["a"]'), r"fields \['a'\], the text has \['a', 'b'\]", id="unnamed"),
        pytest.param(prompt_file("{{a}}", '["a", "b"]'), "the text has", id="field-not-in-text"),
        pytest.param('+++\nsource = "s"\nfields = []\n+++\nx', r"missing \['changes'\]", id="missing-key"),
        pytest.param(prompt_file("x", "[]", 'answer = "yes"\n'), r"unknown or of a wrong type \['answer'\]", id="typo"),
        pytest.param(prompt_file("x", "[1]"), r"wrong type \['fields'\]", id="fields-no-strings"),
    ],
)
def test_a_prompt_file_that_is_not_one_is_refused(content: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        prompts.parse_prompt("p", content)


def test_the_version_follows_the_content_and_not_the_line_endings() -> None:
    content = prompt_file("one\ntwo {{a}}\n", '["a"]')
    version = prompts.parse_prompt("p", content).version
    assert prompts.parse_prompt("p", content.replace("\n", "\r\n")).version == version
    assert prompts.parse_prompt("p", content.replace("two", "too")).version != version


def test_a_replacement_takes_the_place_of_ours() -> None:
    replaced = prompts.load_prompt(
        "judge_coverage_3", prompt_file("B {{bullets}} I {{insight}}", '["insight", "bullets"]')
    )
    assert replaced.render(bullets="b", insight="i") == "B b I i\n"
    assert replaced.version != prompts.load_prompt("judge_coverage_3").version


def test_a_replacement_with_other_fields_is_refused_and_both_sets_are_named() -> None:
    with pytest.raises(UsageError, match=r"expected the fields \['bullets', 'insight'\], found \['insight'\]"):
        prompts.load_prompt("judge_coverage_3", prompt_file("{{insight}}", '["insight"]'))


def test_an_unknown_prompt_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UsageError, match="judge_coverage_9"):
        prompts.load_prompt("judge_coverage_4")


@pytest.mark.parametrize("name", SUMMARIZE)
def test_what_differs_between_queries_stands_after_the_documents(name: str) -> None:
    """Providers cache prompts by prefix: queries about the same documents must share all of them."""
    text = prompts.load_prompt(name).text
    asked = {"query", "subtopic", "n_insights"} & prompts.load_prompt(name).fields
    assert asked
    assert all(text.index("{{documents}}") < text.index(f"{{{{{field}}}}}") for field in asked)


@pytest.mark.parametrize("name", JUDGE)
def test_the_insight_stands_after_the_bullets(name: str) -> None:
    text = prompts.load_prompt(name).text
    assert text.index("{{bullets}}") < text.index("{{insight}}")


def test_the_news_prompt_names_the_subtopic_and_not_the_query() -> None:
    """The released code of SummHay does so; its published numbers rest on it."""
    fields = prompts.load_prompt("summarize_news").fields
    assert {"topic", "subtopic"} <= fields
    assert "query" not in fields


@pytest.mark.parametrize(("name", "each"), [("judge_coverage_3", 1), ("judge_coverage_9", 3)])
def test_the_examples_show_each_class_alike_and_are_answers_we_can_read(name: str, each: int) -> None:
    prompt = prompts.load_prompt(name)
    shown = re.findall(r"^Answer: (.+)$", prompt.text, re.MULTILINE)
    verdicts = [parse_coverage(answer, n_bullets=3) for answer in shown]
    assert sorted(v.answer or "unread" for v in verdicts) == sorted(["full", "none", "partial"] * each)
    assert all(verdict.failure is None and verdict.link_failure is None for verdict in verdicts)
    assert list(prompt.answers) == COVERAGE.schema["properties"]["coverage"]["enum"]
