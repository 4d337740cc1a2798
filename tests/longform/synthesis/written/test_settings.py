"""A configuration that cannot work is refused before the first call, with what was expected and found."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from longform.errors import UsageError
from longform.synthesis.asking import Form, Read, Reply, read_reply, schema_of
from longform.synthesis.written.replies import FORMS, Article, Pairs
from longform.synthesis.written.settings import ModelSynthesis, Sizes, assignment
from tests.longform.synthesis.synthesizing import CAPS, NEWS, SIZES, TALK

CHAT = {"model": "m"}


def config(**changes: Any) -> ModelSynthesis:
    content = {
        "name": "n",
        "seed": 1,
        "topics": [NEWS.model_dump()],
        "sizes": SIZES.model_dump(),
        "caps": CAPS.model_dump(),
        "writer": CHAT,
        "verifier": CHAT,
    }
    return ModelSynthesis.model_validate(content | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"topics": [NEWS.model_dump()] * 2}, "expected topics that differ", id="topic-twice"),
        pytest.param(
            {"topics": [{"domain": "letters", "title": "t"}]}, "expected tags: 'news', 'conversation'", id="domain"
        ),
        pytest.param({"topics": [TALK.model_dump() | {"participants": ["Ann"]}]}, "at least 2 items", id="alone"),
        pytest.param({"sizes": SIZES.model_dump() | {"least_insights": 9}}, "at most insights 4, found 9", id="least"),
        pytest.param(
            {"sizes": SIZES.model_dump() | {"insights_per_document": 8}},
            "8 / subtopics_per_document 2 = 4 insights of each subtopic",
            id="share",
        ),
        pytest.param({"judge": CHAT}, "Extra inputs", id="unknown-key"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        config(**changes)


def test_the_planner_is_the_writer_unless_named() -> None:
    models = {role: settings.model for role, settings in config(planner={"model": "p"}).chats.items()}
    assert models == {"planner": "p", "writer": "m", "verifier": "m"}
    assert config().chats["planner"].model == "m"


def test_the_assignment_meets_the_bounds_exactly() -> None:
    dealt = assignment(SIZES, [4, 3, 4, 4], np.random.default_rng(1))
    counts: dict[tuple[int, int], int] = {}
    for places in dealt:
        assert len(set(places)) == SIZES.insights_per_document
        assert len({subtopic for subtopic, _ in places}) == SIZES.subtopics_per_document
        counts |= {place: counts.get(place, 0) + 1 for place in places}
    assert len(counts) == 15
    assert min(counts.values()) >= SIZES.least_documents


def test_bounds_that_cannot_be_met_are_refused_with_the_arithmetic() -> None:
    more = Sizes.model_validate(SIZES.model_dump() | {"least_documents": 8})
    with pytest.raises(UsageError, match="4 insights x 8 documents each / 3 insights a document = 11; ask for 22"):
        assignment(more, [4] * 4, np.random.default_rng(1))
    with pytest.raises(UsageError, match="ask for 14 documents"):
        assignment(Sizes.model_validate(SIZES.model_dump() | {"documents": 13}), [4] * 4, np.random.default_rng(1))


@pytest.mark.parametrize("text", ['{"pairs": []}', '```json\n{"pairs": []}\n```', ' {"pairs": []}\n'])
def test_a_form_is_read_bare_or_fenced(text: str) -> None:
    assert read_reply(Reply(text, None), Pairs) == Read(Pairs(pairs=()), None, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('Sure: {"pairs": []}', "invalid_json"),
        ("", "invalid_json"),
        ('{"pairs": [[1, 2]]}', "wrong_form"),
        ('{"pairs": [], "why": "x"}', "wrong_form"),
        ("[]", "wrong_form"),
    ],
)
def test_what_is_no_form_has_a_reason(text: str, reason: str) -> None:
    assert read_reply(Reply(text, None), Pairs) == Read(None, reason, None)


def test_an_article_without_words_is_none() -> None:
    assert read_reply(Reply('{"title": "T", "text": "  "}', None), Article).reason == "wrong_form"


@pytest.mark.parametrize("form", FORMS.values())
def test_a_schema_is_one_that_strict_providers_take(form: type[Form]) -> None:
    """Every property required, none besides, and no least length."""
    schema = schema_of(form)
    objects = [schema, *schema.get("$defs", {}).values()]
    assert all(set(one["required"]) == set(one["properties"]) for one in objects)
    assert all(one["additionalProperties"] is False for one in objects)
    assert "minLength" not in json.dumps(schema)
