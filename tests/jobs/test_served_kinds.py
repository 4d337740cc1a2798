"""Served judges of every kind in whole commands: what a server answers is what the same judge answers here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.calibrate import main as calibrate
from jobs.command import FAILED
from jobs.evaluate import main as evaluate
from jobs.ingest import ingest
from tests.bench.served_load import on_serve
from tests.serve.served import judges_app
from tests.serving import running

pytestmark = pytest.mark.own_vectors

CHAT = {"provider": "scripted", "model": "scripted", "script": "obedient", "max_tokens": 100}
ASKED = {"kind": "chat", "chat": CHAT}
ENTRIES: Mapping[str, Any] = {
    "coverage": {"task": "coverage", "judge": ASKED},
    "support": {"task": "support", "judge": {**ASKED, "probability": True}},
    "key_point": {"task": "key_point", "judge": ASKED},
    "words": {"task": "key_point", "judge": {"kind": "offline"}},
    "both": {"task": "key_point", "judge": {"kind": "mean", "of": ["key_point", "words"]}},
    "reference": {"task": "reference", "judge": {**ASKED, "probability": True}},
    "misses": {"task": "misses", "judge": ASKED},
    "errors": {"task": "errors", "judge": ASKED},
}
"""A judge of each kind, as a server and a job name them."""

TEXTS = {
    "a": "The dam was closed in May. Farmers asked for water.",
    "b": "The dam was closed in May. Repairs went on all summer.",
    "c": "Farmers asked for water. The mayor spoke of trams.",
}
TARGETS = {
    "q1": [("insight", "i1", "The dam was closed in May."), ("insight", "i2", "Swans nest by the harbour.")],
    "q2": [("insight", "i3", "Farmers asked for water.")],
}
QUERIES = {"q1": "What happened at the dam?", "q2": "What did farmers want?"}


def files() -> dict[str, list[dict[str, Any]]]:
    """Two queries to the same documents, with targets of each kind."""
    insights = []
    for query_id, targets in TARGETS.items():
        for _, key, text in targets:
            insights.append({"insight_id": key, "query_id": query_id, "text": text, "doc_ids": ["a"]})
            insights.append({"insight_id": f"k{key}", "query_id": query_id, "kind": "key_point", "text": text})
        said = " ".join(text for _, _, text in targets)
        insights.append({"insight_id": f"r{query_id}", "query_id": query_id, "kind": "reference", "text": said})
    return {
        "documents": [{"haystack": "dam", "doc_id": name, "text": text} for name, text in TEXTS.items()],
        "queries": [{"query_id": name, "haystack": "dam", "text": text} for name, text in QUERIES.items()],
        "insights": insights,
    }


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("files")
    for name, rows in files().items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    url = str(tmp_path_factory.mktemp("bench"))
    ingest("jsonl", [str(folder)], url)
    return url


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(judges_app(ENTRIES, ledger=str(tmp_path_factory.mktemp("served")))) as found:
        yield found


def config(folder: Path, url: str, entries: Mapping[str, Any] = ENTRIES) -> str:
    """Write a configuration of each judge here and there."""
    here = {name: {"task": entry["task"], **entry["judge"]} for name, entry in entries.items()}
    there = {
        f"served {name}": {"kind": "served", "task": entry["task"], "url": url, "judge": name}
        for name, entry in entries.items()
    }
    content = {
        "name": "kinds",
        "seed": 1,
        "retrievers": {"full": {"kind": "full"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": here | there,
        "faithfulness": {"mode": "document"},
        "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
        "resamples": 100,
    }
    path = folder / "kinds.yaml"
    path.write_text(json.dumps(content))
    return str(path)


_NOT_COMPARED = {"both": ("reply", "call_id"), "words": ("call_id",)}
"""Columns that a mean here has elsewhere, and that a judge without a model has none of."""


def verdicts(run: Path) -> dict[str, dict[tuple[Any, ...], tuple[Any, ...]]]:
    """Judge -> pair -> verdict; equal calls are of equal prompts."""
    key = ("summary_id", "target_id", "unit_index", "text_index")
    value = ("answer", "probability", "linked_unit", "failure", "reply", "call_id")
    found: dict[str, dict[tuple[Any, ...], tuple[Any, ...]]] = {}
    for row in Folder(str(run)).read("verdicts").to_pylist():
        left_out = _NOT_COMPARED.get(row["judge"].removeprefix("served "), ())
        verdict = {name: row[name] for name in value if name not in left_out}
        found.setdefault(row["judge"], {})[tuple(row[name] for name in key)] = tuple(verdict.values())
    return found


def test_each_kind_over_a_url_is_judged_as_by_the_same_judge_here(bench: str, tmp_path: Path, url: str) -> None:
    run = tmp_path / "run"
    assert evaluate([config(tmp_path, url), "--bench", bench, "--out", str(run), "--workers", "0"]) in (0, 3)
    found = verdicts(run)

    for name in ENTRIES:
        assert found[f"served {name}"] == found[name], name
    assert all(answer for pairs in found.values() for answer, *_ in pairs.values())
    for name in ("coverage", "support", "key_point", "reference", "misses"):
        assert len({answer for answer, *_ in found[name].values()}) > 1, f"equal answers of {name} would say nothing"


LABELS = {"coverage": ("full", "none"), "key_point": ("entailed", "not_entailed"), "misses": ("said", "missing")}
"""Task -> a person's answers if a summary says the target, and if it does not."""


@pytest.fixture
def labelled(bench: str, tmp_path: Path) -> str:
    """The benchmark with three summaries of its first query that one person labelled."""
    url = str(tmp_path / "labelled")
    folder = tmp_path / "files"
    folder.mkdir()
    for name, rows in files().items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ingest("jsonl", [str(folder)], url)
    texts = ["- The dam was closed in May.", "- Swans nest by the harbour.", "- Nothing is known."]
    shared = {"query_id": "q1", "haystack_id": "dam", "summarizer": "m", "setting": "s"}
    summaries = [shared | {"summary_id": f"s{n}", "text": text} for n, text in enumerate(texts)]
    labels = [
        {
            "summary_id": f"s{n}", "target_kind": "insight" if task == "coverage" else "key_point",
            "target_id": target if task == "coverage" else f"k{target}", "mode": "full", "repeat": 0,
            "annotator": "ann", "answer": said if word in text else unsaid,
        }
        for task, (said, unsaid) in LABELS.items()
        for n, text in enumerate(texts)
        for target, word in (("i1", "dam"), ("i2", "Swans"))
    ]  # fmt: skip
    store = Folder(url)
    for table, rows in (("summaries", summaries), ("labels", labels)):
        store.commit(table, [store.write_part(table, rows, work_ids=["people"])])
    return url


def card(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a card says of the answers."""
    named = ("n", "n_unjudged", "kappa", "pearson", "confusion", "linking_accuracy")
    return {name: found[name] for name in named if name in found}


def calibrated(
    bench: str, config: str, capsys: pytest.CaptureFixture[str], *judges: str, more: tuple[str, ...] = ()
) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    named = [part for judge in judges for part in ("--judge", judge)]
    code = calibrate([bench, *named, "--config", config, "--resamples", "50", "--json", *more])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("task", LABELS)
def test_the_card_of_a_served_judge_is_that_of_the_same_judge_here(
    task: str, labelled: str, tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = calibrated(labelled, config(tmp_path, url), capsys, task, f"served {task}")

    assert code == 0
    here, there = found["cards"][task], found["cards"][f"served {task}"]
    assert here["n"] == 6
    assert card(there) == card(here)
    assert there["judged_by"] != here["judged_by"]
    if task == "coverage":
        assert "asks a server, behind which a chat model may stand; --adversarial" in there["adversarial"]["reason"]


def test_a_server_that_cannot_be_asked_costs_no_other_judge_its_card(
    labelled: str, tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = Path(config(tmp_path, url))
    content = json.loads(named.read_text())
    content["judges"]["gone"] = {**content["judges"]["served coverage"], "url": "http://127.0.0.1:9"}
    content["judges"]["mixed"] = {"task": "coverage", "kind": "mean", "of": ["coverage", "gone"]}
    named.write_text(json.dumps(content))
    out = tmp_path / "page"
    judges = ("gone", "coverage", "mixed", "served coverage")
    code, found = calibrated(labelled, str(named), capsys, *judges, more=("--out", str(out)))

    assert code == FAILED
    assert [one["judge"] for one in found["failed"]] == ["gone", "mixed"]
    assert "http://127.0.0.1:9/info could not be asked" in found["failed"][0]["reason"]
    assert list(found["cards"]) == ["coverage", "served coverage"]
    assert "could not be asked" in (out / "judges.md").read_text()

    capsys.readouterr()
    assert calibrate([labelled, "--judge", "gone", "--config", str(named)]) == FAILED
    assert "http://127.0.0.1:9/info could not be asked" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.ray
def test_the_same_over_the_handle_of_an_application(
    ray_session: None, bench: str, labelled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ray import serve

    from serve.deployments import build

    run = tmp_path / "run"
    few = {name: ENTRIES[name] for name in ("support", "misses")}  # each is a process or more
    with on_serve():
        built = build({"judges": few, "ledger": str(tmp_path / "served")})
        serve.run(built, name="kinds", route_prefix="/")
        named = config(tmp_path, "serve://kinds", few)
        code = evaluate([named, "--bench", bench, "--out", str(run), "--workers", "0", "--ray-address", "auto"])
        assert code in (0, 3)
        code, told = calibrated(labelled, named, capsys, "misses", "served misses", more=("--ray-address", "auto"))
    found = verdicts(run)

    for name in few:
        assert found[f"served {name}"] == found[name], name
    assert code == 0
    assert card(told["cards"]["served misses"]) == card(told["cards"]["misses"])
