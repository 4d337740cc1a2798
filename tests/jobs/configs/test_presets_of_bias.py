"""Presets of the generation sets of Wan et al., and configurations on the base of a preset."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.configs import read_experiment
from longform.errors import UsageError
from longform.settings.chat import ChatSummarizerSettings

SETS = {
    "arxiv": (6, "summarize_sections"),
    "pubmed": (7, "summarize_sections"),
    "multinews": (10, "summarize_articles"),
    "multixscience": (5, "summarize_abstracts"),
}
LLAMA = "model={model: llama, base_url: 'http://127.0.0.1:1/v1', temperature: 0.6, top_p: 0.9}"


@pytest.mark.parametrize("name", SETS)
def test_each_set_asks_for_its_own_number_of_sentences_by_its_own_prompt(name: str) -> None:
    found = read_experiment(f"bias_{name}")
    summarizer = found.summarizers["model"]
    assert isinstance(summarizer, ChatSummarizerSettings)
    assert (found.bullets, summarizer.prompt) == SETS[name]
    assert found.importance.kind == "released"
    chat = summarizer.chat
    assert (chat.temperature, chat.top_p, chat.seed, chat.max_tokens) == (1, 1, 1, 1024)


@pytest.mark.parametrize("name", [*SETS, "diversesumm"])
def test_each_set_has_the_papers_systems(name: str) -> None:
    systems = read_experiment(f"bias_{name}").all_systems()
    most = 10 if name == "diversesumm" else 5
    assert {system.n_documents for system in systems} == {None, *range(1, most + 1)}
    assert {system.method for system in systems} == {
        "plain", "focus-top", "focus-middle", "focus-bottom", "hierarchical-pairwise", "hierarchical-once",
        "incremental", "calibration-rotations", "calibration-sampled",
    }  # fmt: skip
    orders = {system.order for system in systems}
    assert orders == ({"given"} if name == "diversesumm" else {"given", "top", "middle", "bottom"})
    assert {system.budget_tokens for system in systems} == {32600}


def test_another_model_has_the_settings_that_are_named_and_keeps_the_prompt() -> None:
    summarizer = read_experiment("bias_arxiv", [LLAMA]).summarizers["model"]
    assert isinstance(summarizer, ChatSummarizerSettings)
    assert summarizer.prompt == "summarize_sections"
    assert (summarizer.chat.temperature, summarizer.chat.top_p, summarizer.chat.max_tokens) == (0.6, 0.9, 1024)


def test_a_file_may_stand_on_a_preset_and_change_keys_of_it(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("base: bias_arxiv\nname: mine\nbullets: 3\n")
    found, preset = read_experiment(str(own)), read_experiment("bias_arxiv")
    assert (found.name, found.bullets) == ("mine", 3)
    assert found.systems == preset.systems
    assert found.summarizers == preset.summarizers


@pytest.mark.parametrize(
    ("base", "told"), [("bias_moon", "no configuration 'bias_moon'"), ("other.yaml", "expected the name of a preset")]
)
def test_a_base_that_is_no_preset_is_an_error(tmp_path: Path, base: str, told: str) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(f"base: {base}\n")
    with pytest.raises(UsageError, match=told):
        read_experiment(str(own))
