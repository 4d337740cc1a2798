"""Judges of an experiment: what a file must say, and what is refused."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings, OfflineJudgeSettings
from longform.settings.named_judges import SHIPPED_JUDGES, judge_scale, judges_of

OFFLINE = {"kind": "offline", "calibration": "people"}
OTHER = {"kind": "offline", "calibration": "gpt-4o"}


def experiment(support_judges=None, **judges):
    return Experiment.model_validate(
        {
            "name": "x",
            "seed": 1,
            "retrievers": {"full": {"kind": "full"}},
            "summarizers": {"offline": {"kind": "offline"}},
            "judges": judges,
            "support_judges": support_judges or {},
            "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
        }
    )


def test_offline_judge_without_a_calibration_is_refused():
    """Two scales that are not comparable: neither is a default."""
    with pytest.raises(ValidationError, match="calibration"):
        OfflineJudgeSettings(kind="offline")


def test_vectors_are_for_coverage_as_people_mark_it():
    with pytest.raises(ValidationError, match="`calibration` people with features vectors, found gpt-4o"):
        OfflineJudgeSettings(kind="offline", calibration="gpt-4o", features="vectors")
    with pytest.raises(ValidationError, match="`features` is not for task support"):
        OfflineJudgeSettings(kind="offline", task="support", features="vectors")
    told = OfflineJudgeSettings(kind="offline", calibration="people", features="words")
    assert told == OfflineJudgeSettings(kind="offline", calibration="people")


@pytest.mark.parametrize(
    ("judges", "told"),
    [
        ({"a": OFFLINE, "m": {"kind": "mean", "of": ["a", "b"]}}, "judges.m.of names 'b'"),
        ({"a": OFFLINE, "m": {"kind": "mean", "of": ["a"]}}, "at least 2"),
        ({"a": OFFLINE, "m": {"kind": "mean", "of": ["a", "a"]}}, "different judges"),
        ({"a": OFFLINE, "b": OTHER, "m": {"kind": "mean", "of": ["a", "b"], "cuts": [0.8, 0.2]}}, "partial < full"),
        (
            {
                "a": OFFLINE,
                "b": OTHER,
                "m": {"kind": "mean", "of": ["a", "b"]},
                "n": {"kind": "mean", "of": ["a", "m"]},
            },
            "judges.n.of names 'm'",
        ),
    ],
    ids=["undefined", "one", "twice", "cuts", "mean-of-a-mean"],
)
def test_mean_that_means_nothing_is_refused(judges, told):
    with pytest.raises(ValidationError, match=told.replace(".", r"\.")):
        experiment(**judges)


@pytest.mark.parametrize(
    ("mean", "told"),
    [
        ({"of": ["a", "c"]}, "judges.m.of names 'c'"),
        ({"of": ["a", "a"]}, "different judges"),
        ({"of": ["a", "n"]}, "judges.m.of names 'n'"),
        ({"of": ["a", "b"], "threshold": 1.0}, "less than 1"),
        ({"of": ["a", "b"], "cuts": [0.2, 0.8]}, "cuts"),
    ],
    ids=["undefined", "twice", "mean-of-a-mean", "threshold", "cuts"],
)
def test_mean_of_support_judges_that_means_nothing_is_refused(mean, told):
    asked = {"a": {"kind": "offline"}, "b": {"kind": "checkpoint", "model": "shipped:checker"}}
    means = {"m": {"kind": "mean", **mean}, "n": {"kind": "mean", "of": ["a", "b"]}}

    assert experiment(asked | {"n": means["n"]}).support_judges["n"].of == ("a", "b")
    with pytest.raises(ValidationError, match=told.replace(".", r"\.")):
        experiment(asked | means)


def test_old_keys_and_the_task_of_an_entry_mean_the_same():
    lexical, chat = {"kind": "offline"}, {"kind": "chat", "chat": {"model": "m"}}
    old = experiment({"lexical": lexical, "asked": chat}, people=OFFLINE)
    new = experiment(people=OFFLINE, lexical=lexical | {"task": "support"}, asked=chat | {"task": "support"})

    assert old.judges == new.judges
    assert list(old.support_judges) == ["lexical", "asked"]
    assert list(old.judges_of("coverage")) == ["people"]


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        (
            {"kind": "offline", "task": "reference"},
            "does not judge reference: expected task coverage or support",
        ),
        ({"kind": "checkpoint", "model": "m"}, "does not judge coverage: expected task support or key_point"),
        ({"kind": "offline", "task": "support", "calibration": "people"}, "`calibration` is not for task support"),
        ({"kind": "chat", "chat": {"model": "m"}, "fidelity": "release"}, "`fidelity` is not for task coverage"),
        (
            {"kind": "chat", "chat": {"model": "m"}, "task": "taste"},
            "does not judge taste: expected task coverage or .* or misses or MODULE:KIND",
        ),
    ],
    ids=["no-such-judge", "no-task", "calibration", "fidelity", "no-such-task"],
)
def test_a_judge_that_does_not_do_its_task_is_refused_by_name(judge, told):
    with pytest.raises(ValidationError, match=told):
        experiment(j=judge)


def test_one_name_for_two_judges_is_refused():
    with pytest.raises(ValidationError, match=r"both define \['a'\]: give every judge a name of its own"):
        experiment({"a": {"kind": "offline"}}, a=OFFLINE)


def test_the_identity_of_coverage_and_support_is_what_it_was_before_there_were_tasks():
    """Keys of stored verdicts are made of it."""
    judges = experiment(
        {"lexical": {"kind": "offline"}, "asked": {"kind": "chat", "chat": {"model": "m"}}},
        people=OFFLINE,
        meanings=OFFLINE | {"features": "vectors"},
        chat={"kind": "chat", "chat": {"model": "m"}},
        both={"kind": "mean", "of": ["people", "chat"]},
    ).judges
    named = {name: set(judge.identity) for name, judge in judges.items()}

    assert named == {
        "people": {"kind", "calibration"},
        "meanings": {"kind", "calibration", "features"},
        "chat": {"kind", "chat", "prompt"},
        "both": {"kind", "of", "cuts"},
        "lexical": {"kind"},
        "asked": {"kind", "chat", "prompt", "probability", "fidelity"},
    }


def test_scale_of_a_judge_is_told_in_words():
    judges = experiment(a=OFFLINE, b=OTHER, m={"kind": "mean", "of": ["a", "b"]}).judges

    assert judge_scale("a", judges) == "marks as people do"
    assert judge_scale("b", judges) == "marks as GPT-4o does"
    assert judge_scale("m", judges) == "mean of a (marks as people do) and b (marks as GPT-4o does)"
    assert judge_scale("released:gpt-4o", judges) is None


def test_shipped_judges_are_one_of_each_model():
    assert {name: judge.fitted_model for name, judge in judges_of("coverage", SHIPPED_JUDGES).items()} == {
        "offline-people": "people",
        "offline-people-vectors": "people-vectors",
        "offline-gpt-4o": "gpt-4o",
    }


def test_experiment_that_was_written_down_is_the_same_experiment():
    """Work ids are hashes of it: a number that comes back as another type would be other work."""
    chat = {"provider": "scripted", "model": "m", "script": "obedient"}
    before = experiment(a=OFFLINE, c={"kind": "chat", "chat": chat}, m={"kind": "mean", "of": ["a", "c"]})
    after = Experiment.model_validate(json.loads(before.model_dump_json()))

    for name, judge in before.judges.items():
        assert content_key(judge.model_dump()) == content_key(after.judges[name].model_dump())


def test_two_budgets_of_one_setting_are_refused():
    """Their rows would stand under one name, and one of them would be lost."""
    given = experiment(a=OFFLINE).model_dump(mode="json")
    systems = [{"retriever": "full", "budget_tokens": budget, "summarizer": "offline"} for budget in (1000, 2000)]
    with pytest.raises(ValidationError, match="budgets 1000 and 2000"):
        Experiment.model_validate(given | {"systems": systems})


@pytest.mark.parametrize(
    ("names", "systems", "told"),
    [
        pytest.param(
            {"full": {"kind": "full"}, "full/top": {"kind": "full"}},
            [{"retriever": "full", "order": "top"}, {"retriever": "full/top"}],
            "would both be called 'full/top'",
            id="a-retriever-named-like-an-order",
        ),
        pytest.param(
            {"full": {"kind": "full"}, "full+tiny": {"kind": "full"}},
            [{"retriever": "full", "reranker": "tiny"}, {"retriever": "full+tiny", "order": "top"}],
            "two rankings would both be called 'full+tiny'",
            id="a-retriever-named-like-a-reranking",
        ),
    ],
)
def test_two_systems_of_one_name_are_refused(names, systems, told):
    """A name is printed and not read back: what it cannot tell apart must not be run."""
    given = experiment(a=OFFLINE).model_dump(mode="json")
    shared = {"budget_tokens": None, "summarizer": "offline"}
    rerankers = {"tiny": {"kind": "cross_encoder", "model": "tiny"}}
    content = {"retrievers": names, "rerankers": rerankers, "systems": [shared | system for system in systems]}
    with pytest.raises(ValidationError, match=re.escape(told)):
        Experiment.model_validate(given | content)


def test_budgets_and_lengths_of_one_grid_are_settings_of_their_own():
    given = experiment(a=OFFLINE).model_dump(mode="json")
    grid = {"retriever": "full", "budget_tokens": [1000, None], "n_documents": [None, 3], "summarizer": "offline"}
    found = Experiment.model_validate(given | {"systems": [grid]}).all_systems()
    assert [system.setting for system in found] == [
        "full/1000 tokens",
        "full/1000 tokens/first 3",
        "full/all tokens",
        "full/all tokens/first 3",
    ]


def test_lengths_in_tokens_are_settings_that_say_their_budget():
    given = experiment(a=OFFLINE).model_dump(mode="json")
    grid = {"retriever": "full", "budget_tokens": None, "length_tokens": [4000, 8000], "summarizer": "offline"}
    found = Experiment.model_validate(given | {"systems": [grid]}).all_systems()
    assert [(system.setting, system.length_tokens) for system in found] == [
        ("full/within 4000 tokens", 4000),
        ("full/within 8000 tokens", 8000),
    ]


def test_documents_cut_to_some_tokens_are_a_setting():
    given = experiment(a=OFFLINE).model_dump(mode="json")
    grid = {"retriever": "full", "budget_tokens": None, "document_tokens": [None, 4800], "summarizer": "offline"}
    found = Experiment.model_validate(given | {"systems": [grid]}).all_systems()
    assert [(system.setting, system.axes.document_tokens) for system in found] == [
        ("full", None),
        ("full/4800 tokens a document", 4800),
    ]


def test_lengths_in_both_units_are_refused():
    given = experiment(a=OFFLINE).model_dump(mode="json")
    grid = {
        "retriever": "full",
        "budget_tokens": None,
        "length_tokens": 4000,
        "n_documents": 3,
        "summarizer": "offline",
    }
    with pytest.raises(ValidationError, match="expected n_documents or length_tokens, found both"):
        Experiment.model_validate(given | {"systems": [grid]})


def test_a_method_that_needs_a_chat_model_is_no_system_of_an_offline_summarizer():
    given = experiment(a=OFFLINE).model_dump(mode="json")
    grid = {"retriever": "full", "budget_tokens": None, "method": ["plain", "incremental"], "summarizer": "offline"}
    found = Experiment.model_validate(given | {"systems": [grid]})
    assert [system.method for system in found.all_systems()] == ["plain"]
    assert [system.method for system in found.not_applicable()] == ["incremental"]


def test_a_method_that_nobody_defined_is_refused():
    given = experiment(a=OFFLINE).model_dump(mode="json")
    grid = {"retriever": "full", "budget_tokens": None, "method": "telepathy", "summarizer": "offline"}
    with pytest.raises(ValidationError, match="telepathy"):
        Experiment.model_validate(given | {"systems": [grid]})


def test_a_summarizer_that_writes_the_same_every_time_is_refused_with_repeats_by_name():
    grid = {"retriever": "full", "budget_tokens": None, "summarizer": ["gpt", "offline"], "repeats": 2}
    given = {
        "name": "x",
        "seed": 1,
        "retrievers": {"full": {"kind": "full"}},
        "summarizers": {"offline": {"kind": "offline"}, "gpt": {"kind": "chat", "chat": {"model": "gpt-4o"}}},
    }
    with pytest.raises(ValidationError, match="'offline' writes the same text every time: expected repeats 1, found 2"):
        Experiment.model_validate(given | {"systems": [grid]})

    asked = Experiment.model_validate(given | {"systems": [grid | {"summarizer": "gpt"}, grid | {"repeats": 1}]})
    assert {system.summarizer: n for system, n in asked.repeats.items()} == {"gpt": 2, "offline": 1}
    assert tuple(asked.repeats) == asked.all_systems()


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        ({"kind": "offline", "calibration": "people", "repeats": 2}, "it answers the same every time"),
        ({"task": "support", "kind": "checkpoint", "model": "m", "repeats": 2}, "it answers the same every time"),
        ({"kind": "served", "url": "http://h", "judge": "j", "repeats": 2}, "its server gives one answer"),
        ({"kind": "mean", "of": ["a", "b"], "repeats": 2}, "give repeats to its members"),
    ],
)
def test_judges_that_answer_the_same_every_time_have_no_repeats(judge: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        TypeAdapter(JudgeSettings).validate_python(judge)


def test_repeats_are_no_part_of_what_a_judge_is() -> None:
    """Stored verdicts of a judge without repeats are its first repeat."""
    chat = {"kind": "chat", "chat": {"model": "m"}}
    plain, repeated = (TypeAdapter(JudgeSettings).validate_python(chat | more) for more in ({}, {"repeats": 3}))
    assert (plain.times, repeated.times) == (1, 3)
    assert plain.identity == repeated.identity
    assert "repeats" not in plain.model_dump(mode="json")


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ({}, "cited"),
        ({"faithfulness": {"mode": "document"}}, "document"),
        ({"faithfulness": {"mode": "full"}}, "full"),
        ({"faithfulness": {"sentences": "min"}}, "cited"),
        ({"faithfulness": {"documents": "mean"}}, "document"),
        ({"faithfulness": {"attribution": "lexical"}}, "document"),
        ({"measures": ["faithfulness min-mean"]}, "document"),
        ({"fidelity": "paper"}, "document"),
        ({"citations": "matrix"}, "document"),
        ({"citations": "lexical"}, "document"),
        ({"systems": [{"retriever": "full", "summarizer": "o", "budget_tokens": None, "order": ["top"]}]}, "document"),
        ({"citations": "matrix", "faithfulness": {"mode": "cited"}}, "cited"),
    ],
)
def test_all_documents_are_checked_where_something_reads_them(given, mode):
    assert checking(**given).support_mode == mode


@pytest.mark.parametrize("given", [{"citations": "lexical"}, {"measures": ["faithfulness mean-mean"]}])
def test_a_number_of_all_documents_is_refused_where_some_are_checked(given):
    with pytest.raises(ValueError, match=r"cited.*expected|expected.*cited"):
        checking(faithfulness={"mode": "cited"}, **given)


def checking(**given):
    content = {
        "name": "c",
        "seed": 1,
        "retrievers": {"full": {"kind": "full"}},
        "summarizers": {"o": {"kind": "offline"}},
        "judges": {"lexical": {"task": "support", "kind": "offline"}},
        "systems": [{"retriever": "full", "summarizer": "o", "budget_tokens": None}],
    }
    return Experiment.model_validate(content | given)
