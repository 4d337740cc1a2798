"""The names of models stand at the head of the first table, and a card in its first caption alone."""

from typing import Any

from longform.report.shown_names import models_told
from tests.longform.report.pages import html, markdown, only

CONFIG = {
    "summarizers": {
        "alpha": {"kind": "chat", "chat": {"model": "org/large-1", "provider": "openai"}},
        "beta": {"kind": "chat", "chat": {"model": "m", "provider": "scripted", "script": "obedient"}},
        "idle": {"kind": "chat", "chat": {"model": "never-asked"}},
        "unused": {"kind": "chat", "chat": {"model": "m", "provider": "scripted", "script": "obedient"}},
        "offline": {"kind": "offline"},
    },
    "judges": {"offline": {"kind": "offline"}},
}
CARD = "agrees with people: correlation 0.62 [0.58, 0.66] on 463 labels"


def with_config(results: dict[str, Any], config: object) -> dict[str, Any]:
    return results | {"run": results["run"] | {"config": config}}


def test_models_of_the_shown_summarizers_are_told_first(results):
    text = markdown(with_config(results, CONFIG))

    told = "Models: summarizer beta is scripted: a rehearsal, no language model; summarizer alpha is org/large-1."
    assert text.count(told) == 1
    assert text.index("## Coverage, citation and joint score") < text.index(told) < text.index("|")


def test_a_name_that_is_the_models_own_is_not_told_again(results):
    named = {"summarizers": {"alpha": {"kind": "chat", "chat": {"model": "alpha"}}}, "judges": {}}

    assert models_told(with_config(results, named)) == []
    assert models_told(with_config(results, None)) == []


def test_a_card_stands_whole_on_the_judges_alone(results):
    before, after = markdown(results).split("## Judges")

    assert CARD not in before
    assert before.count("Judge offline (its card stands under Judges)") >= 2
    assert CARD in after  # the table of judges
    assert "no card: its agreement with people" in before, "short as it is"


def test_a_caption_that_names_a_judge_leads_to_its_worth(results):
    page = html(only(results) | {"cells": results["cells"], "judges": results["judges"]})

    assert '<figure class="plot">' in page
    assert CARD not in page.split("Judges</h2>")[0]
    assert page.count('<a href="#table-judges">What the judge is worth</a>') >= 2
