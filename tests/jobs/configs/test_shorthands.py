"""Short names on the command line for what a configuration says at length."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from jobs.configs import read_experiment
from jobs.evaluate import main
from longform.errors import UsageError
from longform.settings.chat import ChatSummarizerSettings
from longform.settings.judges import ChatJudgeSettings
from longform.settings.named_judges import SHIPPED_CHECKER
from longform.settings.retrievers import ChatRerankerSettings


def test_budget_and_retrievers_narrow_the_preset() -> None:
    experiment = read_experiment("summhay", ["budget=2000", "retrievers=[bm25, oracle]"])
    systems = [(system.retriever, system.budget_tokens) for system in experiment.all_systems()]
    assert systems == [("bm25", 2000), ("oracle", 2000)]


def test_a_model_writes_every_summary_and_another_judges() -> None:
    changes = ["model={model: small, base_url: 'http://127.0.0.1:1/v1'}", "judge=gpt-4o"]
    experiment = read_experiment("summhay", changes)
    (summarizer,), (judge,) = experiment.summarizers.values(), experiment.judges.values()
    assert isinstance(summarizer, ChatSummarizerSettings)
    assert isinstance(judge, ChatJudgeSettings)
    assert (summarizer.chat.base_url, judge.chat.model) == ("http://127.0.0.1:1/v1", "gpt-4o")
    assert {system.summarizer for system in experiment.all_systems()} == {"chat"}


def test_a_retriever_that_no_system_has_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"no system of the configuration has \['colbert'"):
        read_experiment("summhay", ["retrievers=[bm25, colbert]"])


def test_a_mapping_of_retrievers_is_no_short_name() -> None:
    experiment = read_experiment("demo", ["retrievers.bm25.k1=2.0"])
    assert experiment.retrievers["bm25"].model_dump()["k1"] == 2.0


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ([], ["lexical"]),
        (["support_judge=checker"], ["checker"]),
        (["judge=gpt-4o"], ["chat", "lexical"]),
        (["judge=offline-people"], ["offline-people", "lexical"]),
        (["judge=gpt-4o", "support_judge=gpt-4o"], ["chat", "chat-support"]),
        (["support_judge=gpt-4o", "judge=gpt-4o"], ["chat", "chat-support"]),
        (["support_judges={told: {kind: offline}}"], ["told"]),
        (["support_judges.told={kind: offline}"], ["lexical", "told"]),
        (["judges.told={task: support, kind: offline}"], ["lexical", "told"]),
    ],
)
def test_changes_of_judges_keep_those_of_the_other_task(changes: list[str], names: list[str]) -> None:
    """The key of older files changes what a preset lists with its task, too."""
    found = read_experiment("positional_bias", changes).judges
    assert [*found] == names
    assert {judge.task for name, judge in found.items() if name not in ("chat", "offline-people")} <= {"support"}


OWN = """
name: own
seed: 1
retrievers: {bm25: {kind: bm25}, full: {kind: full}}
summarizers: {offline: {kind: offline}}
systems:
  - {retriever: bm25, budget_tokens: 100, summarizer: offline}
  - {retriever: full, budget_tokens: null, summarizer: offline}
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "own.yaml"
    path.write_text(OWN)
    return str(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("budget=5", ["--set systems.0.budget_tokens=5 --set systems.1.budget_tokens=5", "leave out the systems"]),
        ("retrievers=[bm25]", ['--set \'systems=[{"retriever": ["bm25"], ']),
        ("model=gpt-4o", ["--set 'summarizers.chat={kind: chat, chat: {model: gpt-4o}}'", "systems.1.summarizer=chat"]),
        ("model={model: m}", ["--set 'summarizers.chat={kind: chat, chat: {model: m}}'"]),
        ("judge=gpt-4o", ["--set 'judges.chat={kind: chat, chat: {model: gpt-4o}}'"]),
        ("support_judge=gpt-4o", ["--set 'judges.chat-support={task: support, kind: chat, chat: {model: gpt-4o}}'"]),
        ("support_judge=checker", ['--set \'judges.checker={"task": "support", "kind": "checkpoint"']),
    ],
)
def test_a_file_of_ones_own_takes_no_short_name_and_the_full_keys_are_named(
    own: str, change: str, told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One short name would change every system without a word."""
    assert main([own, "--bench", str(tmp_path / "bench"), "--out", str(tmp_path / "run"), "--set", change]) == 2

    said = capsys.readouterr().err
    assert all(words in said for words in told), said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "change", ["model={model: m}", "judge=gpt-4o", "support_judge=checker", "retrievers=[bm25]", "budget=5"]
)
def test_the_keys_that_a_refusal_names_do_what_the_short_name_says(own: str, change: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_experiment(own, [change])
    words = shlex.split(str(refused.value).removeprefix("--set").replace(";", " "))
    found = read_experiment(own, [words[place + 1] for place, word in enumerate(words) if word == "--set"])

    systems = found.all_systems()
    assert {
        "model": {system.summarizer for system in systems} == {"chat"},
        "judge": list(found.judges) == ["chat"],
        "support_judge": found.support_judges == {"checker": SHIPPED_CHECKER},
        "retrievers": {system.retriever for system in systems} == {"bm25"},
        "budget": {system.budget_tokens for system in systems} == {5},
    }[change.partition("=")[0]]


def test_full_keys_change_one_system_of_ones_own_file(own: str) -> None:
    experiment = read_experiment(own, ["systems.0.budget_tokens=5"])
    assert [system.budget_tokens for system in experiment.all_systems()] == [5, None]


@pytest.mark.parametrize("change", ["seed", "seed={", "budget={"])
def test_a_change_that_cannot_be_read_is_one_message(own: str, change: str) -> None:
    with pytest.raises(UsageError, match=f"--set '?{change.partition('=')[0]}'?: expected"):
        read_experiment(own, [change])


def test_chat_models_of_a_preset_keep_their_prompts_and_settings() -> None:
    changes = ["model=mine", "judge={model: other, provider: litellm}", "reranker=third"]
    found = read_experiment("msrs_story_chat", changes)

    writer, judge, scored = found.summarizers["model"], found.judges["geval"], found.rerankers["scored"]
    assert isinstance(writer, ChatSummarizerSettings)
    assert (writer.prompt, writer.chat.model, writer.chat.top_p) == ("summarize_story", "mine", 0.9)
    assert isinstance(judge, ChatJudgeSettings)
    assert (judge.task, judge.chat.model, judge.chat.provider, judge.chat.max_tokens) == (
        "reference",
        "other",
        "litellm",
        5,
    )
    assert isinstance(scored, ChatRerankerSettings)
    assert (scored.depth, scored.chat.model, scored.chat.temperature) == (20, "third", 0.7)


def test_a_preset_without_a_chat_reranker_has_none_to_rename() -> None:
    with pytest.raises(UsageError, match="no reranker of kind chat"):
        read_experiment("summhay", ["reranker=gpt-4o"])


MODELS = (
    "[org/alpha, {model: beta.1, base_url: 'http://127.0.0.1:1/v1'}, {name: warm, model: org/alpha, temperature: 1}]"
)


def test_each_model_of_a_list_writes_and_judges_in_rows_of_its_own() -> None:
    changes = [f"model={MODELS}", "judge=[one, two]", "support_judge=[one, checker]"]
    found = read_experiment("summhay", changes)

    assert [*found.summarizers] == ["alpha", "beta-1", "warm"]
    assert {system.summarizer for system in found.all_systems()} == {"alpha", "beta-1", "warm"}
    assert {name: judge.task for name, judge in found.judges.items()} == {
        "one": "coverage",
        "two": "coverage",
        "one-support": "support",
        "checker": "support",
    }
    assert found.judges["checker"] == SHIPPED_CHECKER


def test_models_of_a_list_keep_the_prompts_of_each_component_of_a_preset() -> None:
    found = read_experiment("msrs_story_chat", ["model=[a, b]", "judge=[c]"])

    writers = [found.summarizers[name] for name in ("a", "b")]
    assert all(isinstance(one, ChatSummarizerSettings) and one.prompt == "summarize_story" for one in writers)
    assert {system.summarizer for system in found.all_systems()} >= {"a", "b"}
    judge = found.judges["c"]
    assert isinstance(judge, ChatJudgeSettings)
    assert (judge.task, judge.chat.max_tokens) == ("reference", 5)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("model=[a, x/a]", "two entries would both be called 'a'"),
        ("model=[]", "expected one model or more, found an empty list"),
        ("judge=[{base_url: x}]", "expected names of models, or mappings"),
    ],
)
def test_a_list_that_names_no_rows_is_refused(change: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        read_experiment("summhay", [change])


def test_a_refused_list_names_the_keys_that_do_the_same(own: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_experiment(own, ["model=[a, b]"])
    words = shlex.split(str(refused.value).removeprefix("--set").replace(";", " "))
    found = read_experiment(own, [words[place + 1] for place, word in enumerate(words) if word == "--set"])
    assert {system.summarizer for system in found.all_systems()} == {"a", "b"}
