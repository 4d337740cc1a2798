"""SummHay's presets: what they name, and that each line of the page on the papers is a configuration."""

from __future__ import annotations

import json
import re

import pytest

from jobs.configs import read_experiment
from longform.settings.experiment import Experiment
from tests.pages import command_lines, commands, text_of

PAGE = "docs/papers/summhay.md"
SCRIPTED = "{provider: scripted, model: m, script: obedient}"


def experiments() -> list[Experiment]:
    """Return the experiment of each `evaluate` of the page that needs a key."""
    found = []
    for words in command_lines(commands(PAGE, "key")):
        if words[:2] == ["longform", "evaluate"]:
            changes = [words[at + 1] for at, word in enumerate(words) if word == "--set"]
            found.append(read_experiment(words[2], changes))
    return found


def test_the_paper_s_systems_have_its_names_and_its_budget() -> None:
    paper = read_experiment("summhay_paper")

    settings = {system.setting: system.budget_tokens for system in paper.all_systems()}
    assert settings == dict.fromkeys(["Rand", "Vect", "LongE", "KWs", "RR3", "Orac"], 15000) | {"Full": None}
    released = {name: one.name for name, one in paper.retrievers.items() if one.kind == "released"}
    assert released == {"Vect": "vector", "LongE": "longembed", "RR3": "rerank3"}
    assert {"precision", "recall", "words_per_bullet"} <= set(paper.measures or ())


@pytest.mark.parametrize("preset", ["summhay_paper", "summhay_positions", "summhay_verbosity"])
def test_another_model_keeps_the_paper_s_settings_of_calls(preset: str) -> None:
    found = read_experiment(preset, [f"model={SCRIPTED}", f"judge={SCRIPTED}"])

    for part in (*found.summarizers.values(), *found.judges.values()):
        assert (part.chat.provider, part.chat.max_tokens, part.chat.timeout_s) == ("scripted", 1000, 400)


def test_positions_are_table_3_s() -> None:
    orders = [system.order for system in read_experiment("summhay_positions").all_systems()]
    assert orders == ["given", "top", "middle", "bottom"]


def test_one_writer_is_told_the_number_and_one_is_not() -> None:
    found = read_experiment("summhay_verbosity")
    told, withheld = (found.summarizers[name].identity for name in ("told", "withheld"))
    assert withheld == {**told, "bullets": "free"}


def test_each_line_of_the_page_is_a_configuration() -> None:
    ranked = {system.ranking for one in experiments() for system in one.all_systems()}
    kinds = {(name, one.kind) for found in experiments() for name, one in found.retrievers.items()}
    assert "KWs+RR3" in ranked
    assert {("Vect", "encoder"), ("Vect", "embeddings"), ("LongE", "encoder")} <= kinds


def test_the_page_has_a_row_for_every_item() -> None:
    rows = re.findall(r"^\| SH-(\d\d) \|", text_of(PAGE), re.MULTILINE)
    assert sorted({int(number) for number in rows}) == list(range(1, 45))


def test_presets_are_whole_when_they_are_written_down() -> None:
    for preset in ("summhay_paper", "summhay_positions", "summhay_verbosity"):
        found = read_experiment(preset)
        assert Experiment.model_validate(json.loads(found.model_dump_json(by_alias=True))) == found
