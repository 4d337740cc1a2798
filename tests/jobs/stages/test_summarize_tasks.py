"""Division of summaries into tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from actors.chat.opening import open_chat
from actors.storage.benchmark import Benchmark, part_work_id
from actors.storage.folder import Folder
from jobs import ingest
from jobs.command.calling import Calling
from jobs.runs.stage_order import stages_of
from jobs.stages.items import Item
from jobs.stages.pack import Packed
from jobs.stages.stage import Plan, Site
from longform.settings.experiment import Experiment
from tests.actors.summarizers.contexts import asked_context
from tests.actors.summarizers.summarizing import Writer, first_requests

SCRIPTED = {"provider": "scripted", "model": "scripted", "script": "obedient"}
LENGTHS = [2, None, 10, 1]
Grouped = Sequence[Item[Any]]


def experiment(*, bullets: int | str = 3, **system: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "lengths",
            "seed": 1,
            "bullets": bullets,
            "retrievers": {"full": {"kind": "full"}, "random": {"kind": "random", "seed": 1}},
            "summarizers": {"chat": {"kind": "chat", "chat": SCRIPTED}, "offline": {"kind": "offline"}},
            "methods": {"ours": {"kind": "plain"}},
            "systems": [
                {"retriever": "full", "budget_tokens": None, "n_documents": LENGTHS, "summarizer": "chat"} | system
            ],
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A run, and a benchmark without anything in it."""
    made = Folder(str(tmp_path / "run"))
    made.write_json("benchmark.json", {"dataset_hash": "d"})
    return made


def tasks(folder: Folder, asked: Experiment, *, queries: tuple[str, ...] = ("q",), done: int = 0) -> list[Grouped]:
    """The tasks where all contexts are packed, a part each, and the first *done* summaries are made."""
    if not folder.parts("queries"):
        rows = [{"query_id": query, "haystack_id": query, "text": "?"} for query in queries]
        folder.commit("queries", [folder.write_part("queries", rows, work_ids=["h"])])
    site = Site(folder.url, folder.url, 1, Calling("test", ledger=f"{folder.url}/ledger"))
    plan = Plan(stages_of(asked, site), Benchmark(folder.url))
    packed = sorted(item.work_id for item in plan.of(Packed))
    folder.commit("contexts", [folder.write_part("contexts", [], work_ids=[work_id]) for work_id in packed])
    (name,) = asked.systems[0].summarizer
    (stage,) = (stage for stage in plan.stages if stage.name == f"summarize {name}")
    made = [item.work_id for item in plan.items(stage)][:done]
    folder.commit("summaries", [folder.write_part("summaries", [], work_ids=made)])
    return stage.tasks(folder, plan.items(stage))


def settings_of(found: list[Grouped]) -> list[list[str]]:
    return [[given.key.setting for given in task] for task in found]


ALL_LENGTHS = ["full", "full/first 10", "full/first 2", "full/first 1"]


def test_the_lengths_of_one_query_are_one_task_the_longest_first(folder: Folder) -> None:
    found = tasks(folder, experiment(), queries=("q", "r"))
    assert settings_of(found) == [ALL_LENGTHS, ALL_LENGTHS]
    assert len({given.work_id for task in found for given in task}) == 2 * len(LENGTHS)


@pytest.mark.parametrize(
    ("system", "n_tasks"),
    [
        pytest.param({"retriever": ["full", "random"]}, 2, id="retrievers"),
        pytest.param({"budget_tokens": [1000, 2000, None]}, 3, id="budgets"),
        pytest.param({"order": ["given", "random"]}, 2, id="orders"),
        pytest.param({"method": ["plain", "ours"]}, 2, id="plain-methods"),
        pytest.param({"method": ["plain", "focus-top"]}, 1 + len(LENGTHS), id="another-method"),
        pytest.param({"method": "incremental"}, len(LENGTHS), id="several-steps"),
        pytest.param({"n_documents": None, "order": ["given", "random"]}, 2, id="one-length"),
    ],
)
def test_what_differs_in_more_than_length_stays_apart(folder: Folder, system: dict[str, Any], n_tasks: int) -> None:
    found = tasks(folder, experiment(**system))
    assert len(found) == n_tasks
    for settings in settings_of(found):
        assert len({re.sub(r"/first \d+", "", setting) for setting in settings}) == 1


def test_repeats_are_summaries_of_their_own_and_the_first_has_the_key_it_always_had(folder: Folder) -> None:
    (once,) = tasks(folder, experiment(n_documents=2))
    (all_three,) = tasks(folder, experiment(n_documents=2, repeats=3))

    assert [given.key.repeat for given in all_three] == [0, 1, 2]
    assert all_three[0].work_id == once[0].work_id == "42814a97b8e861296ce0"
    assert len({given.work_id for given in all_three}) == 3


def test_lengths_that_are_made_already_are_left_out(folder: Folder) -> None:
    """The first two of the grid: 2, and all documents."""
    assert settings_of(tasks(folder, experiment(), done=2)) == [["full/first 10", "full/first 1"]]
    assert tasks(folder, experiment(), done=len(LENGTHS)) == []


def test_the_offline_summarizer_takes_many_contexts_a_task(folder: Folder) -> None:
    queries = tuple(f"q{number}" for number in range(9))
    found = tasks(folder, experiment(summarizer="offline"), queries=queries)
    assert [len(task) for task in found] == [8, 8, 8, 8, 4]


def test_papers_own_sets_are_asked_for_as_many_sentences_as_their_paper_asks(folder: Folder) -> None:
    """Their only target is a reference, which is not one bullet. A set that no paper names: as the reference has."""
    datasets = {"q1": "multixscience", "q2": "pubmed", "q3": "mine", "q4": None}
    queries = [{"query_id": q, "haystack_id": q, "text": "?", "dataset": dataset} for q, dataset in datasets.items()]
    targets = [
        {"target_id": f"{q}/{n}", "kind": kind, "query_id": q, "haystack_id": q, "target_index": n, "text": text}
        for q, kind, n_targets, text in (
            ("q1", "reference", 1, "It is so."),
            ("q2", "reference", 1, "It is so."),
            ("q3", "reference", 1, "It is so. It was so before. It will be."),
            ("q4", "insight", 2, "It is so."),
        )
        for n in range(n_targets)
    ]
    folder.commit("queries", [folder.write_part("queries", queries, work_ids=["h"])])
    for q in datasets:
        own = [target for target in targets if target["haystack_id"] == q]
        folder.commit("targets", [folder.write_part("targets", own, work_ids=[part_work_id(q, 0)])])
    found = tasks(folder, experiment(bullets="targets"), queries=tuple(datasets))
    n_requested = [{given.key.n_requested for given in task} for task in found]
    assert n_requested == [{5}, {7}, {3}, {2}]


@pytest.mark.parametrize("topic", ["news3", "conv5"])
def test_growing_prompts_of_a_released_haystack_share_nine_tenths(released: Path, tmp_path: Path, topic: str) -> None:
    """The prompt of the first 20 documents begins with more than 90 % of the prompt of the first 10, and so on."""
    url = str(tmp_path / "summhay")
    assert ingest.main(["summhay", str(released / f"summhay/topic_{topic}.json.gz"), "--out", url]) == 0
    benchmark = Benchmark(url)
    query = next(iter(benchmark.queries.values()))
    documents = benchmark.documents(query.haystack_id)
    settings = experiment().summarizers["chat"]
    assert settings.kind == "chat"
    made = Writer(settings, url, open_chat(settings.chat))
    texts = []
    for n in range(10, len(documents) + 1, 10):
        row = asked_context(
            [document.doc_id for document in documents[:n]],
            query_id=query.query_id,
            haystack_id=query.haystack_id,
            context_id=f"first {n}",
            doc_numbers=[document.number for document in documents[:n]],
        )
        (request,) = first_requests(made, row)
        texts.append(request.messages[0].text)
    assert len(texts) == 10
    for short, long in pairwise(texts):
        assert long.startswith(short[: int(0.9 * len(short))])
