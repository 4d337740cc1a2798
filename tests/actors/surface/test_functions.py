"""The public functions on texts: known answers, and errors that name the argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import longform
from actors.storage.folder import Folder
from longform.errors import UsageError

DOCUMENTS = ["The council voted 7 to 2 to rebuild the bridge.", "Rain fell.", "The bridge costs 3.4 million euros."]
VOTE = longform.Insight("The council voted 7 to 2 to rebuild the bridge.", [1])
COST = longform.Insight("The bridge will cost 3.4 million euros.", [3])


def test_a_covered_insight_is_linked_and_its_citations_count() -> None:
    found = longform.judge(["The council voted 7 to 2 to rebuild the bridge [1, 2]."], [VOTE, COST])

    assert [(one.answer, one.bullet) for one in found.insights] == [("full", 0), ("none", None)]
    assert found.bullets[0].citations == [1, 2]
    assert found.coverage == 0.5
    assert found.citation == pytest.approx(2 / 3)  # precision 1/2, recall 1
    assert found.joint == pytest.approx(1 / 3)


def test_without_gold_documents_citations_have_a_reason_and_no_score() -> None:
    found = longform.judge(f"- {VOTE.text} [1]", [VOTE.text])

    assert found.coverage == 1.0
    assert found.citation is None
    assert found.joint is None
    assert found.scores["citation"].reason == "the gold documents are not known"


def test_an_empty_summary_says_nothing() -> None:
    assert longform.judge("", [VOTE, COST]).coverage == 0.0


def test_an_insight_without_words_is_unjudged() -> None:
    (found,) = longform.judge("It rained.", ["..."]).insights

    assert (found.answer, found.failure) == (None, "target_without_words")


def test_a_bullet_cites_the_document_that_supports_it_and_shows_the_passage() -> None:
    cited = longform.cite(["The council voted [2].", "It costs 3.4 million euros.", "Zebras graze."], DOCUMENTS)

    assert [bullet.citations for bullet in cited.bullets] == [[1], [3], []]
    assert [one and one.text for one in cited.evidence] == [DOCUMENTS[0], DOCUMENTS[2], None]
    assert str(cited) == cited.text


def test_texts_in_a_language_without_labels_are_told(caplog: pytest.LogCaptureFixture) -> None:
    told = "this judge (offline{}) was measured on English only."
    covered = longform.judge("市议会通过重建大桥[1]。", ["市议会决定重建大桥。"])
    assert covered.told == (f"Written in Chinese: 1 of 1 summaries; 1 of 1 insights: {told.format('-people-vectors')}",)
    checked = longform.check(["Der Rat stimmte für den Bau der Brücke."], DOCUMENTS)
    assert checked.told == (f"Written in German: 1 of 1 sentences: {told.format('')}",)
    longform.summarize("大桥", ["市议会以七票对二票通过重建大桥。工程要花费三百四十万欧元。"])
    summarised = f"Written in Chinese: 1 of 1 queries; 1 of 1 documents: {told.format('')}"
    assert caplog.messages == [*covered.told, *checked.told, summarised]
    assert longform.check(["The bridge costs 3.4 million euros."], DOCUMENTS).told == ()
    assert len(caplog.messages) == 3


def test_a_refusal_is_not_checked() -> None:
    sentences = ["The bridge costs 3.4 million euros.", "The documents do not say when the bridge opens."]
    found = longform.check(sentences, DOCUMENTS)
    assert [(one.supported, one.refused) for one in found.sentences] == [(True, False), (None, True)]
    assert (found.faithfulness.n, found.faithfulness.n_undecided) == (1, 0)


def test_sentences_are_checked_against_each_document() -> None:
    found = longform.check(["- The bridge costs 3.4 million euros [3].", "A hotel buys the library.", ""], DOCUMENTS)
    costs, hotel, empty = found.sentences

    assert (costs.text, costs.supported, costs.documents) == ("The bridge costs 3.4 million euros.", True, (3,))
    assert hotel.supported is False
    assert (empty.supported, empty.probability, empty.documents) == (None, None, ())
    assert found.probabilities.shape == (3, 3)
    assert found.faithfulness.n_undecided == 1
    assert found.value == pytest.approx(((costs.probability or 0) + (hotel.probability or 0)) / 2)
    assert all(math.isnan(number) for number in found.probabilities[:, 2])


def test_a_summary_quotes_within_its_bounds() -> None:
    texts = [f"The town council voted to rebuild the old stone bridge in {year}. It rained." for year in (1999, 2001)]
    found = longform.summarize("What did the council vote?", texts, bullets=1, max_words=12)

    assert len(found.bullets) == 1
    assert "council voted" in found.text
    assert set(found.bullets[0].citations) <= {1, 2}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: longform.judge(3, [VOTE]), "summary: expected a text or a list of bullets, found a value of type int"),
        (lambda: longform.judge("a", "b"), "insights: expected a list of texts or Insight, found a value of type str"),
        (lambda: longform.judge("a", []), "insights: expected at least 1 text, found 0"),
        (lambda: longform.judge("a", [VOTE, "b"]), r"insights\[1\]: expected `documents` as 1 other insights"),
        (lambda: longform.judge("a", [longform.Insight("b", [0])]), r"insights\[0\].documents: expected .* from 1"),
        (
            lambda: longform.judge("a", [longform.Insight("b", 1)]),
            r"insights\[0\].documents: expected a list of document numbers from 1, found 1",
        ),
        (lambda: longform.judge("a \ud83d", ["b"]), r"summary: expected a text of whole characters, .*'a \\ud83d'"),
        (lambda: longform.judge(["a", "\udc00"], ["b"]), r"summary\[1\]: expected a text of whole characters"),
        (lambda: longform.judge("a", ["b \ud83d"]), r"insights\[0\]: expected a text of whole characters"),
        (lambda: longform.check(["a"], ["b \ud83d"]), r"documents\[0\]: expected a text of whole characters"),
        (lambda: longform.summarize("\ud83d", ["b"]), "query: expected a text of whole characters"),
        (lambda: longform.Benchmark(None), "expected a folder as a path or a URL, found None"),
        (lambda: longform.Run(7), "expected a folder as a path or a URL, found 7"),
        (lambda: longform.judge("a", ["b"], calibration="mine"), "'mine': expected one of"),
        (lambda: longform.judge("a", ["b"], features="all"), "features: expected one of .*'words', 'vectors'.* 'all'"),
        (lambda: longform.judge("a", ["b"], calibration="gpt-4o", features="vectors"), "'gpt-4o-vectors': expected"),
        (
            lambda: longform.judge("a", ["b"], partial_score=50),
            "partial_score: expected a number from 0 to 1, found 50",
        ),
        (lambda: longform.cite("a", "b"), "documents: expected a list of texts, found a value of type str"),
        (lambda: longform.cite(["a", None], ["b"]), r"summary\[1\]: expected a text, found None"),
        (lambda: longform.check("a", ["b"]), "sentences: expected a list of texts, found a value of type str"),
        (lambda: longform.check(["a"], []), "documents: expected at least 1 text, found 0"),
        (lambda: longform.summarize(" ", ["b"]), "query: expected a question or a topic, found an empty text"),
        (lambda: longform.summarize("a", ["b"], bullets=0), "bullets: expected a whole number above 0, found 0"),
    ],
)
def test_errors_name_the_argument(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        call()


def test_a_folder_without_a_run_is_told_and_how_to_make_one(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match=r"no run at .*expected a folder with run.json; make one with `longform eval"):
        longform.Run(tmp_path)
    with pytest.raises(UsageError, match=rf"no benchmark at '{tmp_path}': expected a folder with benchmark.json"):
        longform.Benchmark(tmp_path)


def test_a_run_without_results_has_tables_and_no_means(tmp_path: Any) -> None:
    Folder(str(tmp_path)).write_json("run.json", {})
    run = longform.Run(tmp_path)

    assert run.scores.num_rows == 0
    assert "value" in run.scores.column_names
    with pytest.raises(UsageError, match=r"expected results.json, found none yet"):
        _ = run.systems
    with pytest.raises(UsageError, match=r"table: expected one of rankings, .*found 'score'"):
        run.table("score")
