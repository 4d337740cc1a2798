"""Prompts of the generation sets of Wan et al.: their size, and a scripted model that follows them."""

from __future__ import annotations

from collections import Counter

import pytest

from actors.local_models.tokenizer import TokenCounter
from actors.rehearsal.scripted_summaries import FOCUSED, LABEL, Profile, faithful
from actors.rehearsal.scripted_tasks import read_task
from actors.summarizers.prompts import SEPARATOR, prompts_of
from jobs.configs import read_experiment
from longform.prompts import load_prompt
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from longform.settings.methods import SHIPPED_METHODS
from longform.text.sentences import sentences

OF_SETS = ("summarize_sections", "summarize_articles", "summarize_abstracts", "summarize_diverse")
DOCUMENTS = [f"The {place} harbour will be dredged in autumn by the council." for place in ("north", "south", "east")]
PLACES = ("top", "middle", "bottom")
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


def said(prompt: str, profile: Profile = faithful, seed: int = 1) -> list[str]:
    """Return the sentences of a scripted model's reply."""
    task = read_task(prompt, profile, seed)
    assert task is not None
    return [found.text for found in sentences(task.reply.removeprefix(LABEL).strip())]


@pytest.mark.parametrize("name", OF_SETS)
def test_a_scripted_model_summarizes_all_documents_by_each_of_them(name: str) -> None:
    assert set(said(rendered(name, documents=SEPARATOR.join(DOCUMENTS), n_sentences=3, focus=""))) == set(DOCUMENTS)


@pytest.mark.parametrize("name", OF_SETS)
@pytest.mark.parametrize("place", PLACES)
def test_a_scripted_model_is_faithful_where_it_is_asked_to_be(name: str, place: str) -> None:
    """It changes every sentence elsewhere, and two of a hundred there."""
    focus = load_prompt(f"focus_{place}").text.strip()
    prompt = rendered(name, documents=SEPARATOR.join(DOCUMENTS), n_sentences=3, focus=focus)
    kept = Counter(sentence for seed in range(50) for sentence in said(prompt, lambda _: 0.0, seed))
    focused = DOCUMENTS[PLACES.index(place)]
    assert kept[focused] > 50 * (FOCUSED - 0.1)
    assert not {*DOCUMENTS} - {focused} & kept.keys()


def test_a_scripted_model_merges_and_updates_what_is_diverse() -> None:
    assert set(said(rendered("merge_diverse", summaries=SEPARATOR.join(DOCUMENTS)))) == set(DOCUMENTS)
    assert said(rendered("update_diverse", summary=DOCUMENTS[0], document=DOCUMENTS[1])) == DOCUMENTS[:2]


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
