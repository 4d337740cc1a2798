"""SummHay's haystacks as a recipe: their keys are those of before there were recipes."""

from __future__ import annotations

from longform.keys import content_key
from longform.settings.chat import ChatSettings
from longform.synthesis.written.recipe import written_recipe
from longform.synthesis.written.settings import ModelSynthesis
from tests.longform.synthesis.synthesizing import CAPS, NEWS, SIZES, TALK

CHAT = ChatSettings(model="m", max_tokens=2000)
SETTINGS = ModelSynthesis(name="n", seed=1, topics=(NEWS, TALK), sizes=SIZES, caps=CAPS, writer=CHAT, verifier=CHAT)
PROMPTS = ["one@1", "two@2"]


def nothing(name: str) -> bytes:
    raise AssertionError(name)


def test_the_kind_of_a_configuration_is_no_part_of_its_keys() -> None:
    recipe = written_recipe(SETTINGS, nothing, PROMPTS)
    said = {
        "seed": 1,
        "sizes": SIZES.model_dump(mode="json"),
        "caps": CAPS.model_dump(mode="json"),
        "withheld": 0,
        "reread": True,
        **dict.fromkeys(("planner", "writer", "verifier"), CHAT.identity),
    }
    keys = [content_key("synthesis", 1, topic.model_dump(mode="json"), said, PROMPTS) for topic in (NEWS, TALK)]

    assert [one["sha256"] for one in recipe.sources] == keys
    assert [work.key for work in recipe.works("outline", {})] == [content_key("outlines", key) for key in keys]


def test_seed_files_are_read_once_and_are_seed_articles_from_then_on() -> None:
    seeded = NEWS.model_copy(update={"seed_files": ("a.txt",)})
    recipe = written_recipe(SETTINGS.model_copy(update={"topics": (seeded,)}), {"a.txt": b"Told."}.__getitem__, PROMPTS)

    (topic,) = recipe.settings.topics
    assert topic.model_dump()["seed_articles"] == (*NEWS.seed_articles, "Told.")
    assert topic.model_dump()["seed_files"] == ()
