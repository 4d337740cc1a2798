"""A part that ships works as well outside of the package: its settings name its class by import path."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import actors
from actors.chat.model import CallContext
from actors.judges.opening import Judge, make_judge
from actors.measures import Described
from actors.python_class import actor_of
from actors.retrieval.haystack_retriever import HaystackRetriever
from actors.retrieval.importance import Importance
from actors.retrieval.model_free import ShortFirstRetriever
from actors.retrieval.reranker import Means as RerankerMeans
from actors.retrieval.reranker import Reranked, Reranker
from actors.retrieval.retriever import Retriever
from actors.storage.folder import Folder
from actors.summarizers.summarizer import Means, Summarizer
from longform.judges.cards import Version
from longform.judges.kind import Group
from longform.records import TARGET_KINDS, Document, Query
from longform.settings.chat import PythonSummarizerSettings, SummarizerSettings
from longform.settings.judges import JudgeSettings, PythonJudgeSettings
from longform.settings.measures import MeasureSettings
from longform.settings.methods import MethodSettings
from longform.settings.python_class import FOLDER
from longform.settings.retrievers import (
    KeywordRetrieverSettings,
    PythonRerankerSettings,
    RerankerSettings,
    RetrievalSettings,
    RetrieverSettings,
    ShortFirstRetrieverSettings,
)
from longform.settings.strict import PartSettings
from longform.settings.systems import ImportanceSettings
from longform.summaries.methods import Method
from tests.actors.summarizers.contexts import asked_context
from tests.places import ROOT
from tests.test_size import HALLS

QUERY = Query("q", "h", "Who built the dam?")
TEXTS = ["The dam was built.", "A mill.", "A dam, built by the town, the dam."]
DOCUMENTS = [Document(f"d{place}", "h", place, None, text) for place, text in enumerate(TEXTS)]


def members(role: Any) -> tuple[type[PartSettings], ...]:
    """Return the settings of all kinds of a role."""
    return get_args(get_args(role)[0])


def literal(settings: type[PartSettings], field: str) -> tuple[str, ...]:
    """Return the texts that a field may have."""
    return get_args(settings.model_fields[field].annotation)


@pytest.fixture
def moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of shipped files under names of their own."""
    for file in ("retrieval/model_free.py", "retrieval/own_ranker.py", "summarizers/own.py", "judges/python.py"):
        source = Path(actors.__file__).parent / file
        (tmp_path / f"moved_{source.name}").write_text(source.read_text())
        monkeypatch.delitem(sys.modules, f"moved_{source.stem}", raising=False)
    monkeypatch.syspath_prepend(tmp_path)


def bench(folder: Path) -> str:
    found = Folder(str(folder / "bench"))
    for table, rows in (("documents", DOCUMENTS), ("queries", [QUERY])):
        found.commit(table, [found.write_part(table, [row._asdict() for row in rows], work_ids=["h#0"])])
    found.write_json("benchmark.json", {})
    return found.url


class MovedRetrieverSettings(KeywordRetrieverSettings):
    actor = "moved_model_free:KeywordRetriever"


class MovedRerankerSettings(PythonRerankerSettings):
    actor = "moved_own_ranker:PythonReranker"


class MovedJudgeSettings(PythonJudgeSettings):
    actor = "moved_python:ByClass"


class MovedSummarizerSettings(PythonSummarizerSettings):
    actor = "moved_own:PythonSummarizer"


@pytest.mark.usefixtures("moved")
def test_a_retriever_of_another_module_ranks_as_the_shipped_one(tmp_path: Path) -> None:
    retrievers = {"ours": KeywordRetrieverSettings(kind="keywords"), "moved": MovedRetrieverSettings(kind="keywords")}

    retriever = HaystackRetriever(bench(tmp_path), RetrievalSettings(retrievers, "query", 9), threads=1)
    rows = retriever.rank("h", ["q"], [*retrievers])

    ours, moved = ([(row["doc_id"], row["score"]) for row in rows if row["system"] == name] for name in retrievers)
    assert ours == moved
    assert ours[0][0] != "d1"
    assert actor_of(retrievers["moved"], Retriever).__module__ == "moved_model_free"


@pytest.mark.usefixtures("moved")
async def test_a_reranker_of_another_module_orders_as_the_shipped_one(tmp_path: Path) -> None:
    longest = "class Longest:\n    def rank(self, query, documents): return [len(one.text) for one in documents]"
    (tmp_path / "longest.py").write_text(longest)
    content = {"kind": "python", "class": "longest:Longest"}
    context = {FOLDER: str(tmp_path)}
    kinds = [kind.model_validate(content, context=context) for kind in (PythonRerankerSettings, MovedRerankerSettings)]

    ours, moved = [await actor_of(kind, Reranker)(kind, RerankerMeans()).order(QUERY, DOCUMENTS) for kind in kinds]

    assert ours == moved == [Reranked(2, 34.0), Reranked(0, 18.0), Reranked(1, 7.0)]
    assert actor_of(kinds[1], Reranker).version(kinds[1], None).keys() == {"version", "scores"}


@pytest.mark.usefixtures("moved")
async def test_a_summarizer_of_another_module_writes_as_the_shipped_one(tmp_path: Path) -> None:
    first = "class First:\n    version = 1\n    def summarize(self, query, documents, n): return documents[0].text"
    (tmp_path / "first.py").write_text(first)
    content, context = {"kind": "python", "class": "first:First"}, {FOLDER: str(tmp_path)}
    kinds = [
        kind.model_validate(content, context=context) for kind in (PythonSummarizerSettings, MovedSummarizerSettings)
    ]
    means = Means(bench(tmp_path), "mine")

    ours, moved = [await actor_of(kind, Summarizer)(kind, means).summarize([asked_context(["d1"])]) for kind in kinds]

    assert ours == moved
    assert [(row["text"], row["prompt_version"]) for row in ours] == [("A mill.", "first:First@version 1")]


@pytest.mark.usefixtures("moved")
async def test_a_judge_of_another_module_judges_as_the_shipped_one(tmp_path: Path) -> None:
    said = (
        "class Said:\n    version = 1\n    def judge(self, group): return [int(x in group.text) for x in group.items]"
    )
    (tmp_path / "said.py").write_text(said)
    content, context = {"kind": "python", "class": "said:Said", "task": "support"}, {FOLDER: str(tmp_path)}
    both = (PythonJudgeSettings, MovedJudgeSettings)
    judges = {kind.actor: kind.model_validate(content, context=context) for kind in both}

    made = [make_judge(name, judges) for name in judges]
    asked = [judge.open(CallContext(job="test", stage="check", ledger=""), 1) for judge in made]
    ours, moved = [await judge.ask([Group(TEXTS[0], (TEXTS[0],), ("dam", "mill"))]) for judge in asked]

    assert ours == moved
    assert [one.answer for one in ours[0]] == ["supported", "unsupported"]
    assert made[0].version == made[1].version == Version("version 1", "said:Said@version 1")


@pytest.mark.parametrize(
    ("kinds", "role"),
    [
        (RetrieverSettings, Retriever),
        (RerankerSettings, Reranker),
        (SummarizerSettings, Summarizer),
        (MethodSettings, Method),
        (JudgeSettings, Judge),
        (ImportanceSettings, Importance),
        (MeasureSettings, Described),
    ],
)
def test_every_kind_names_a_class_of_its_role(kinds: Any, role: type) -> None:
    for kind in members(kinds):
        assert actor_of(kind, role) is not role


def test_a_class_of_another_role_is_refused() -> None:
    settings = ShortFirstRetrieverSettings(kind="short_first")
    assert actor_of(settings, Retriever) is ShortFirstRetriever
    with pytest.raises(AssertionError, match="model_free:ShortFirstRetriever is no Reranker"):
        actor_of(settings, Reranker)


ROLES = (
    RetrieverSettings,
    RerankerSettings,
    SummarizerSettings,
    MethodSettings,
    JudgeSettings,
    ImportanceSettings,
    MeasureSettings,
)
KINDS = {kind for role in ROLES for settings in members(role) for kind in literal(settings, "kind")}
KINDS -= {*TARGET_KINDS}  # a target has a kind, too
ASKING = re.compile(r"Settings|\.kind\b")
"""Stands in whatever asks: a file without it is not parsed."""
FILES = [file for hall in HALLS for file in (ROOT / hall).rglob("*.py")]


def asked_for_their_kind(source: str) -> Iterator[str]:
    """Yield the code that takes a part for one of a kind: by the type of its settings, or by the kind's name."""
    for node in ast.walk(ast.parse(source)) if ASKING.search(source) else ():
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, of]) if "Settings" in ast.unparse(of):
                yield ast.unparse(node)
            case ast.MatchClass(cls=of) if ast.unparse(of).endswith("Settings"):
                yield ast.unparse(of)
            case ast.Compare(left=ast.Attribute(attr="kind"), comparators=known):
                named = {one.value for one in ast.walk(ast.Tuple(known)) if isinstance(one, ast.Constant)}
                if KINDS & named:
                    yield ast.unparse(node)


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(judge, ChatJudgeSettings)",
        "isinstance(judge, ChatJudgeSettings | a.MeanJudgeSettings)",
        "match judge:\n    case ChatJudgeSettings(chat=chat):\n        pass",
        "judge.kind == 'chat'",
        "self.of[0].kind not in {'none', 'full'}",
    ],
)
def test_code_that_knows_kinds_of_parts_is_seen(source: str) -> None:
    assert len([*asked_for_their_kind(source)]) == 1


def test_nobody_but_its_settings_asks_a_part_for_its_kind() -> None:
    asking = {file.relative_to(ROOT).as_posix(): [*asked_for_their_kind(file.read_text())] for file in FILES}
    assert len(asking) > 500
    assert {file: code for file, code in asking.items() if code} == {}, "ask a property of the settings"
