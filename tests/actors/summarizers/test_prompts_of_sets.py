"""Prompts of the generation sets of Wan et al.: their size, and a scripted model that follows them."""

from __future__ import annotations

import pytest

from actors.local_models.tokenizer import TokenCounter
from actors.rehearsal.scripted_summaries import MergeTask, Sentences, Updating, faithful
from actors.rehearsal.scripted_tasks import read_sentence_task
from actors.summarizers.prompts import SEPARATOR, prompts_of
from jobs.configs import read_experiment
from longform.prompts import load_prompt
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from longform.settings.methods import SHIPPED_METHODS
from longform.text.sentences import sentences

OF_SETS = ("summarize_sections", "summarize_articles", "summarize_abstracts", "summarize_diverse")
DOCUMENTS = [f"The {place} harbour will be dredged in autumn by the council." for place in ("north", "south", "east")]
MOST_INPUT = 32768  # tokens; the paper's released code cuts inputs there


def rendered(name: str, **values: object) -> str:
    prompt = load_prompt(name)
    return prompt.render(**{field: values[field] for field in prompt.fields})


@pytest.mark.parametrize("name", ["summarize_sentences", *OF_SETS])
def test_a_budget_leaves_room_for_the_task_and_the_lines_between_ten_documents(name: str) -> None:
    focus = load_prompt("focus_bottom").text.strip()
    task = TokenCounter(threads=1).count(rendered(name, documents=SEPARATOR * 9, n_sentences=10, focus=focus))
    (budget,) = {system.budget_tokens for system in read_experiment("bias_arxiv").all_systems()}
    assert budget is not None
    assert 0 <= MOST_INPUT - budget - task < 100


@pytest.mark.parametrize("name", OF_SETS)
def test_growing_documents_share_all_that_stands_before_the_end_of_the_shorter_ones(name: str) -> None:
    short, long = (rendered(name, documents=SEPARATOR.join(DOCUMENTS[:n]), n_sentences=5, focus="") for n in (2, 3))
    shared = short.index(DOCUMENTS[1]) + len(DOCUMENTS[1])
    assert long.startswith(short[:shared])


@pytest.mark.parametrize("name", OF_SETS)
def test_a_scripted_model_summarizes_all_documents_by_each_of_them(name: str) -> None:
    focus = load_prompt("focus_top").text.strip()
    prompt = rendered(name, documents=SEPARATOR.join(DOCUMENTS), n_sentences=3, focus=focus)
    task = read_sentence_task(prompt, faithful, 1)
    assert isinstance(task, Sentences)
    assert (task.documents, task.focus) == (tuple(DOCUMENTS), "top")
    assert set(DOCUMENTS) == {found.text for found in sentences(task.reply().removeprefix("Summary: "))}


def test_a_scripted_model_merges_and_updates_what_is_diverse() -> None:
    merging = read_sentence_task(rendered("merge_diverse", summaries=SEPARATOR.join(DOCUMENTS)), faithful, 1)
    assert isinstance(merging, MergeTask)
    assert merging.summaries == tuple(DOCUMENTS)
    updating = read_sentence_task(rendered("update_diverse", summary=DOCUMENTS[0], document=DOCUMENTS[1]), faithful, 1)
    assert isinstance(updating, Updating)
    assert DOCUMENTS[0] in updating.reply()
    assert DOCUMENTS[1] in updating.reply()


@pytest.mark.parametrize(
    ("prompt", "method", "later"),
    [
        ("summarize_diverse", "incremental", "update_diverse"),
        ("summarize_diverse", "calibration-sampled", "merge_diverse"),
        ("summarize_diverse", "hierarchical-pairwise", "merge_diverse"),
        ("summarize_sections", "incremental", "update_summary"),
        ("summarize_articles", "calibration-rotations", "merge_summaries"),
    ],
)
def test_later_steps_name_a_number_of_sentences_if_the_first_one_does(prompt: str, method: str, later: str) -> None:
    settings = ChatSummarizerSettings(kind="chat", prompt=prompt, chat=ChatSettings(model="m"))
    assert prompts_of(settings, SHIPPED_METHODS[method]) == [prompt, later]
