import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pyarrow as pa
import pytest

from actors.storage.benchmark import Benchmark
from jobs.ingest import ingest
from lab.fits import judge as training
from lab.fits.judge import fit_judge, fit_shipped_judges
from lab.fits.judge_examples import (
    ANSWERS,
    DAMAGE,
    JudgeExample,
    LabelledSet,
    foreign_sentences,
    judge_examples,
    labelled_set,
)
from longform.errors import LongformError
from longform.judges.card_columns import Reach
from longform.judges.coverage_model import WORDS, Evidence, JudgeModel, answer_of
from longform.judges.offline_coverage import shipped_judge
from longform.keys import content_key
from longform.records import Target
from tests.lab.fits.made_rows import made_rows

NO_DAMAGE = Evidence(0, True, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0)


def made_examples(**sizes: int) -> list[JudgeExample]:
    """Labels that follow recall, and for each damage a copy whose guard is up."""
    found = []
    for made in made_rows(**sizes):
        evidence = NO_DAMAGE._replace(recall=made.recall, share=made.share, numbers_missing=made.missing)
        found.append(JudgeExample(*made.key, None, evidence, made.step / 2))
        for guard in WORDS.guards:
            damage = ANSWERS[guard]
            damaged = evidence._replace(**{guard: 0.8})
            found.append(JudgeExample(*made.key, damage, damaged, DAMAGE[damage] * made.step / 2))
    return found


EXAMPLES = made_examples()


def fit(examples: list[JudgeExample], left_out: tuple[str, ...] = ()) -> JudgeModel:
    return fit_judge(examples, calibration="people", fitted_on="made examples", left_out=left_out)


@pytest.mark.parametrize(
    ("left_out", "is_left_out"),
    [
        pytest.param(("h1",), lambda e: e.haystack_id == "h1", id="haystack"),
        pytest.param(("h0-q2",), lambda e: e.query_id == "h0-q2", id="query"),
        pytest.param(("h1", "h0-q0"), lambda e: e.haystack_id == "h1" or e.query_id == "h0-q0", id="both"),
    ],
)
def test_rows_of_a_left_out_group_never_reach_the_fit(
    left_out: tuple[str, ...], is_left_out: Callable[[JudgeExample], bool]
) -> None:
    """Whatever stands in them, the model is the same, its guards and cuts included."""
    poisoned = [
        e._replace(label=1.0 - e.label, evidence=e.evidence._replace(recall=1 - e.evidence.recall, order_lost=1.0))
        if is_left_out(e)
        else e
        for e in EXAMPLES
    ]
    assert fit(poisoned, left_out) == fit(EXAMPLES, left_out)
    assert fit(poisoned) != fit(EXAMPLES)
    assert fit(EXAMPLES, left_out) == fit([e for e in EXAMPLES if not is_left_out(e)])


def test_fit_gives_the_same_file_twice() -> None:
    first, second = (json.dumps(fit(made_examples()).as_json()) for _ in range(2))
    assert first == second


def test_damaged_copies_do_not_move_the_ordinal_model() -> None:
    """People's marks of the texts they saw must not depend on texts they never saw."""
    other = [e if e.damage is None else e._replace(label=1.0) for e in EXAMPLES]
    assert fit(other).coefficients == fit(EXAMPLES).coefficients
    assert fit(other).strengths != fit(EXAMPLES).strengths


def test_cuts_give_the_answers_the_shares_of_the_labels() -> None:
    model = fit(EXAMPLES)
    released = [e for e in EXAMPLES if e.damage is None]
    answers = [answer_of(score, model.cuts) for score in model.scores([e.evidence for e in released]).tolist()]
    for answer, label in (("none", 0.0), ("partial", 0.5), ("full", 1.0)):
        expected = sum(e.label == label for e in released)
        assert answers.count(answer) == pytest.approx(expected, abs=1)


def test_strength_is_what_brings_damaged_copies_to_their_labels() -> None:
    """Hand-worked: every score is 0.5; the guard stands at 0.5; a label of 0.4 asks for 0.5 (1 - 0.5 s) = 0.4."""
    even = fit(EXAMPLES)._replace(coefficients=((0.0,) * 3, (0.0,) * 3), intercepts=(0.0, 0.0))

    def strengths(label: float) -> set[float]:
        copies = [
            JudgeExample("h", "q", "s", ANSWERS[guard], NO_DAMAGE._replace(**{guard: 0.5}), label)
            for guard in WORDS.guards
        ]
        return set(training._strengths(even, copies).values())

    assert strengths(0.4) == {0.4}
    assert strengths(0.0) == {1.0}
    assert strengths(0.9) == {0.0}


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        pytest.param(lambda e: e.label != 0.5 or e.damage is not None, "expected examples of all labels", id="label"),
        pytest.param(lambda e: e.damage != "shuffle", "shuffle", id="damage"),
    ],
)
def test_what_cannot_be_fitted_is_an_error(kept: Callable[[JudgeExample], bool], message: str) -> None:
    with pytest.raises(LongformError, match=message):
        fit([e for e in EXAMPLES if kept(e)])


# ---------------------------------------------------------------- examples

TARGETS = {
    "q": [
        Target("a", "insight", "q", "h", 0, None, "Sales fell 3% to $2.33 billion in the winter quarter."),
        Target("b", "insight", "q", "h", 1, None, "The company closes 400 mall stores by 2026."),
    ]
}
SUMMARY_ROWS = [
    {"summary_id": name, "query_id": "q", "haystack_id": "h", "summarizer": "x", "setting": "full", "text": text}
    for name, text in (("s", "- Sales fell 3% in winter [2]\n- Stores close [1]"), ("unlabelled", "- a"))
]


def label_row(target_id: str, answer: str, link: int | None, annotator: str = "human") -> dict:
    return {
        "summary_id": "s", "annotator": annotator, "target_id": target_id, "answer": answer, "linked_unit": link,
    }  # fmt: skip


def small_set() -> LabelledSet:
    labels = [label_row("a", "full", 0), label_row("a", "none", None, "released:gpt-4o")]
    tables = {"labels": pa.Table.from_pylist(labels), "summaries": pa.Table.from_pylist(SUMMARY_ROWS)}
    benchmark = SimpleNamespace(targets=TARGETS, folder=SimpleNamespace(read=tables.__getitem__))
    return labelled_set("small", cast("Benchmark", benchmark), "human")


def test_labels_stand_in_the_order_of_the_targets_and_a_missing_one_is_null() -> None:
    (summary,) = small_set().summaries
    assert (summary.answers, summary.links) == (("full", None), (0, None))
    assert summary.lines == ["- Sales fell 3% in winter [2]", "- Stores close [1]"]


def test_each_labelled_pair_is_an_example_with_one_copy_for_each_damage() -> None:
    examples = judge_examples(small_set())
    assert [(e.damage, e.label) for e in examples] == [
        (None, 1.0), *((damage, left) for damage, left in DAMAGE.items()),
    ]  # fmt: skip
    by_damage = {e.damage: e.evidence for e in examples}
    assert by_damage[None].numbers_missing < by_damage["number"].numbers_missing
    assert by_damage["pad"].precision < by_damage[None].precision / 1.5


# ---------------------------------------------------------------- released labels


@pytest.fixture(scope="module")
def people(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    url = str(tmp_path_factory.mktemp("people"))
    ingest("summhay", [str(released / "summhay" / "eval_benchmark_data.json.gz")], url)
    return Benchmark(url)


def test_judge_agrees_with_people_on_queries_it_was_not_fitted_on(people: Benchmark) -> None:
    """A judge trained with sentence embeddings reached r .765, kappa .52 and 86 % of links here."""
    labelled = labelled_set("people", people, "human")
    models = training.models_without(judge_examples(labelled), labelled.name)
    reach = {r["measure"]: r for r in training.agreement_reach(labelled, models, fitted_on="the other queries")}
    assert reach["pearson"]["n"] == 562
    assert reach["pearson"]["value"] > 0.82
    assert reach["kappa"]["value"] > 0.58
    assert reach["linking recall"]["value"] > 0.855
    assert abs(reach["bias of answers"]["value"]) < 0.03


def test_a_kept_out_topic_never_reaches_the_fit_that_is_measured_on_it(people: Benchmark) -> None:
    """Its own examples among those to fit on change no figure; without them left out they would."""
    labelled = labelled_set("people", people, "human")
    (own,) = {summary.haystack_id for summary in labelled.summaries}
    texts = {query_id: query.text for query_id, query in people.queries.items()}
    foreign = ["- The river ferry was sold to an island cooperative after a dispute about winter timetables."]
    poison = [e._replace(haystack_id=own, label=1.0 - e.label) for e in EXAMPLES[:500]]

    def reach(examples: list[JudgeExample]) -> list[Reach]:
        transfer = training.Transfer("people", examples, "made examples", labelled, "people")
        return training.topic_reach(transfer, training.Damage(foreign, texts))

    clean = reach(EXAMPLES)
    assert reach([*EXAMPLES, *poison]) == clean
    assert reach([*EXAMPLES, *(e._replace(haystack_id="h0") for e in poison)]) != clean
    assert {row["measure"].partition(": ")[0] for row in clean} == {"judge as people, topic kept out"}
    assert {"pearson", "kappa", "drop by negate, fully covered"} <= {row["measure"].partition(": ")[2] for row in clean}


def test_each_damage_moves_the_score_of_fully_covered_insights(people: Benchmark) -> None:
    labelled = labelled_set("people", people, "human")
    models = training.models_without(judge_examples(labelled), labelled.name)
    texts = {query_id: query.text for query_id, query in people.queries.items()}
    foreign = ["- The river ferry was sold to an island cooperative after a dispute about winter timetables."]
    reach = training.drop_reach(labelled, models, training.Damage(foreign, texts), fitted_on="the other queries")
    low = {r["measure"]: r["low"] for r in reach if r["measure"].endswith("fully covered")}
    least = {"negate": 0.4, "number": 0.3, "shuffle": 0.3, "delete": 0.1, "merge": 0.3, "pad": 0.03, "echo": 0.6}
    assert {name: low[f"drop by {name}, fully covered"] > drop for name, drop in least.items()} == dict.fromkeys(
        least, True
    )


@pytest.mark.slow
def test_shipped_judges_are_the_fit(people: Benchmark, released: Path, tmp_path: Path) -> None:
    names = ["topic_news3.json.gz", "topic_news5.json.gz"]
    ingest("summhay", [str(released / "summhay" / name) for name in names], str(tmp_path))
    benchmark = Benchmark(str(tmp_path))
    human = labelled_set(shipped_judge("people").fitted_on, people, "human")
    gpt4o = labelled_set(shipped_judge("gpt-4o").fitted_on, benchmark, "released:gpt-4o")
    assert {m.calibration: m for m in fit_shipped_judges(human, gpt4o).values()} == {
        name: shipped_judge(name) for name in ("people", "gpt-4o")
    }


def test_foreign_sentences_are_those_that_the_shipped_judges_were_fitted_with() -> None:
    """Their order and repetitions decide which bullet is padded with which: the digest was computed once."""
    found = foreign_sentences()

    assert (len(found), len(set(found))) == (800, 424)
    assert content_key(found) == "8853deb1fcca025feafa"
