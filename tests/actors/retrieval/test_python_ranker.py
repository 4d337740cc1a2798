"""A class of a user's own ranks as a retriever and as a reranker, and what it may return is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.python_class import UserCodeError
from actors.retrieval.haystack_retriever import HaystackRetriever, check_loadable
from actors.retrieval.own_ranker import PythonRanker, PythonReranker
from actors.retrieval.reranker import Means, Reranked
from actors.storage.folder import Folder
from jobs.stages.retrieve import definition
from longform.errors import UsageError
from longform.records import Document, Query
from longform.retrieval.ranking import OTHERS_VERSION
from longform.settings.experiment import Experiment
from longform.settings.python_class import FOLDER, PythonClassSettings
from longform.settings.retrievers import PythonRerankerSettings
from tests.modules import Write

QUERY = Query("q", "h", "What of the dam?", subtopic="its cost")
DOCUMENTS = [Document(f"d{place}", "h", place, None, "dam " * place) for place in range(4)]
LONGEST = """
class Longest:
    def __init__(self, sign=1):
        self.sign = sign

    def rank(self, query, documents):
        assert query.text == "What of the dam? its cost", query
        return [self.sign * len(document.text) for document in documents]
"""


def settings(folder: Path, path: str = "their_ranker:Longest", **keys: Any) -> PythonClassSettings:
    kind = PythonRerankerSettings if "depth" in keys else PythonClassSettings
    return kind.model_validate({"kind": "python", "class": path, **keys}, context={FOLDER: str(folder)})


def experiment(folder: Path, **options: Any) -> Experiment:
    content = {
        "name": "test",
        "seed": 1,
        "retrievers": {
            "mine": {"kind": "python", "class": "their_ranker:Longest", "options": options},
            "both": {"kind": "fusion", "of": ["mine", "full"], "by": "z_sum"},
            "full": {"kind": "full"},
        },
        "summarizers": {"offline": {"kind": "offline"}},
        "systems": [{"retriever": ["mine", "both"], "budget_tokens": None, "summarizer": "offline"}],
    }
    return Experiment.model_validate(content, context={FOLDER: str(folder)})


@pytest.fixture
def bench(tmp_path: Path) -> str:
    folder = Folder(str(tmp_path / "bench"))
    rows = {"documents": [document._asdict() for document in DOCUMENTS], "queries": [QUERY._asdict()]}
    for table, found in rows.items():
        folder.commit(table, [folder.write_part(table, found, work_ids=["h#0"])])
    folder.write_json("benchmark.json", {})
    return folder.url


def test_a_retriever_of_ones_own_ranks_and_stands_in_fusions(write: Write, tmp_path: Path, bench: str) -> None:
    write("their_ranker", LONGEST)
    mine = experiment(tmp_path)
    check_loadable(mine, bench_url=bench)

    rows = HaystackRetriever(bench, mine, threads=1).rank("h", ["q"], ["mine", "both"])

    assert [(row["system"], row["doc_id"], row["score"]) for row in rows[:4]] == [
        ("mine", f"d{place}", 4.0 * place) for place in (3, 2, 1, 0)
    ]
    assert {row["score"] for row in rows[4:]} == {0.0}, "the longer document stands further behind"


def test_what_a_ranking_depends_on_is_the_class_its_options_and_its_version(write: Write, tmp_path: Path) -> None:
    write("their_ranker", LONGEST + "    version = 'of May'")

    found = definition(experiment(tmp_path, sign=-1).retrievers, "mine")

    assert found == {
        "kind": "python",
        "class": "their_ranker:Longest",
        "options": {"sign": -1},
        "made_by": ["version of May", OTHERS_VERSION],
        "bases": [],
    }


def test_a_retriever_that_cannot_be_used_is_refused_before_any_work(write: Write, tmp_path: Path, bench: str) -> None:
    write("their_ranker", "class Longest:\n    def score(self): ...")

    with pytest.raises(UsageError, match=r"their_ranker:Longest: expected a method rank\(query, documents\)"):
        check_loadable(experiment(tmp_path), bench_url=bench)


async def test_a_reranker_scores_the_first_documents(write: Write, tmp_path: Path) -> None:
    write("their_ranker", LONGEST)
    query = QUERY._replace(text="What of the dam? its cost")

    reranker = PythonReranker(settings(tmp_path, depth=3), Means())  # type: ignore[arg-type]

    assert await reranker.order(query, DOCUMENTS) == [
        Reranked(2, 8.0),
        Reranked(1, 4.0),
        Reranked(0, 0.0),
        Reranked(3, None),
    ]


async def test_documents_that_a_reranker_does_not_rank_follow_those_it_does(write: Write, tmp_path: Path) -> None:
    write("their_ranker", "class Some:\n    def rank(self, query, documents): return [None, 1, None, 2]")

    reranker = PythonReranker(settings(tmp_path, "their_ranker:Some", depth=9), Means())  # type: ignore[arg-type]

    assert await reranker.order(QUERY, DOCUMENTS) == [
        Reranked(3, 2.0),
        Reranked(1, 1.0),
        Reranked(0, None),
        Reranked(2, None),
    ]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("[1, 2]", r"expected 4 numbers, one a document \(None: not ranked\), for query 'q', found list \[1, 2\]"),
        ("None", "found NoneType None"),
        ("'dcba'", "found str 'dcba'"),
        (
            "[1, 2, 3, float('inf')]",
            "expected a finite number as the score of document 4 for query 'q', found float inf",
        ),
        (
            "[1, 'd1', 2, 3]",
            "expected a number for each of 4 documents, in their order, for query 'q'; document 2, found str 'd1'",
        ),
        ("{'d1': 2}", r"found dict \{'d1': 2\}"),
    ],
)
def test_scores_are_a_number_a_document(write: Write, tmp_path: Path, returned: str, said: str) -> None:
    write("their_ranker", f"class Odd:\n    def rank(self, query, documents): return {returned}")

    with pytest.raises(UserCodeError, match=f"^their_ranker:Odd: rank: .*{said}"):
        PythonRanker(settings(tmp_path, "their_ranker:Odd")).scores(QUERY, DOCUMENTS)


def test_what_is_not_ranked_has_no_number(write: Write, tmp_path: Path) -> None:
    write("their_ranker", "class Some:\n    def rank(self, query, documents): return [None, 1, 2, 3]")

    scores = PythonRanker(settings(tmp_path, "their_ranker:Some")).scores(QUERY, DOCUMENTS)

    np.testing.assert_array_equal(scores, [np.nan, 1, 2, 3])
