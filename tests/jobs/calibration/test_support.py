"""Support judges against people's labels: the texts of each mode, and the verb on a small label file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from actors.judges.opening import make_judge
from actors.storage.folder import Folder
from jobs.calibrate import main, parser
from jobs.calibration.calibrated import calibrations_of, modes_of, named_judge
from jobs.calibration.label_texts import chunks, labelled_texts, labels_of_people, texts_of_mode
from jobs.calibration.labelled import Labelled
from jobs.calibration.place import LabelledPlace
from jobs.command import DONE, FAILURES_ABOVE_THRESHOLD, USAGE
from jobs.ingest import ingest
from jobs.stages.judge import SEPARATOR
from longform.errors import UsageError
from longform.judges.cards import SUPPORT_LEXICAL, describe, shipped_card
from longform.judges.merges import (
    BY_ORDER,
    EACH_DOCUMENT,
    JOINED,
    Mode,
    Scoring,
    chunks_of,
    labelled_items,
)
from longform.metrics.faithfulness import Merging
from longform.records import Document
from longform.settings.judges import CheckpointJudgeSettings, JudgeSettings, OfflineJudgeSettings
from longform.settings.named_judges import SHIPPED_CHECKER, SHIPPED_JUDGES, judges_of, whole_identity

SUPPORT_JUDGES = judges_of("support", SHIPPED_JUDGES)

BRIDGE = "The council voted to rebuild the Alder Street bridge. The works will cost 3.4 million euros."
LIBRARY = "The library opens on Sundays from May. Volunteers are welcome at the front desk."
HARBOUR = "The harbour will be dredged in autumn. Fishing boats must leave by the first of September."
OTHER = "Penguins dive deeper than most seabirds. Their feathers trap warm air."

SENTENCES = [
    {
        "documents": [BRIDGE, LIBRARY, "  ", HARBOUR],
        "summary": "The council voted to rebuild the Alder Street bridge. Penguins dive deeper than most seabirds.",
        "faithfulness": [1, 0],
        "ranking": [1, 0, 3, 2],
    },
    {
        "documents": [BRIDGE, LIBRARY, "", HARBOUR],
        "summary": "The harbour will be dredged in autumn. Nobody asked. The mayor owns three submarines.",
        "faithfulness": [1, None, 0],
        "ranking": [3, 0, 1, 2],
    },
]
SUMMARIES = [
    {"documents": [LIBRARY], "summary": "The library opens on Sundays from May.", "faithfulness": 1},
    {"documents": [OTHER], "summary": "Taxes rise by half. The king resigned at noon.", "faithfulness": 0},
]


def labelled_bench(tmp_path: Path) -> str:
    """Write a benchmark of labelled sentences and summaries, and return its folder."""
    for name, examples in (("said", SENTENCES), ("whole", SUMMARIES)):
        lines = [json.dumps({"document": " ".join(e["documents"]), **e}) for e in examples]  # type: ignore[arg-type]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    url = str(tmp_path / "bench")
    ingest("longformfact", [str(tmp_path / "said.jsonl"), str(tmp_path / "whole.jsonl")], url)
    return url


@pytest.fixture
def bench(tmp_path: Path) -> str:
    return labelled_bench(tmp_path)


def test_labels_are_of_sentences_or_summaries_and_equal_documents_are_one_article(bench: str) -> None:
    first, second, third, fourth = labelled_texts(LabelledPlace(bench), labels_of_people(LabelledPlace(bench)))

    assert [text.summary.level for text in (first, second, third, fourth)] == ["sentence"] * 2 + ["summary"] * 2
    assert first.summary.article == second.summary.article != third.summary.article
    assert second.summary.said == (True, False)
    assert [said.split()[1] for said in second.sentences] == ["harbour", "mayor"]  # the unlabelled one is not asked
    assert len(fourth.sentences) == 2
    assert third.ranking is None
    assert first.ranking is not None
    best_first = sorted(first.ranking, key=lambda doc_id: -(first.ranking or {})[doc_id])
    assert [doc_id.rsplit(":", 1)[1] for doc_id in best_first] == ["1", "0", "3"]
    assert (first.summary.data_set, third.summary.data_set) == ("said", "whole")


def documents(*texts: str) -> list[Document]:
    return [Document(f"d{place}", "h", place, None, text) for place, text in enumerate(texts)]


def by_words(text: str, n: int) -> int:
    """A tokenizer whose tokens are words with the space behind them."""
    kept = text.split(" ")[:n]
    return min(len(text), sum(len(word) + 1 for word in kept))


@pytest.mark.parametrize(
    ("mode", "fidelity", "expected"),
    [
        (EACH_DOCUMENT, "ours", ["a", "b", "c"]),
        (EACH_DOCUMENT, "release", ["a", "b", " ", "c"]),
        (JOINED, "ours", [SEPARATOR.join("abc")]),
        (BY_ORDER["top"], "ours", [SEPARATOR.join("cab")]),
        (BY_ORDER["bottom"], "ours", [SEPARATOR.join("bac")]),
        (BY_ORDER["middle"], "ours", [SEPARATOR.join("bca")]),
    ],
)
def test_texts_of_a_mode(mode: Mode, fidelity: str, expected: list[str]) -> None:
    """The third of the kept documents is the most important, the second the least."""
    ranking = {"d0": -1, "d1": -2, "d2": -3, "d3": 0}
    found = texts_of_mode(
        documents("a", "b", " ", "c"),
        mode,
        ranking=ranking,
        fidelity=fidelity,  # type: ignore[arg-type]
        seed=1,
        prefix_chars=by_words,
    )

    assert found == expected


def test_chunks_join_to_the_text_and_are_full_but_the_last() -> None:
    text = "one two three four five six seven"

    assert chunks(text, 3, by_words) == ["one two three ", "four five six ", "seven"]
    assert "".join(chunks(text, 2, by_words)) == text
    assert chunks("wide", 1, lambda *_: 0) == list("wide")


def test_names_and_settings_of_judges() -> None:
    name, known = named_judge("offline", SHIPPED_JUDGES)
    assert (name, known[name]) == ("offline", OfflineJudgeSettings(kind="offline", task="support"))
    name, known = named_judge("{task: support, kind: checkpoint, model: some/folder}", SHIPPED_JUDGES)
    assert (name, type(known[name])) == ("some/folder", CheckpointJudgeSettings)
    with pytest.raises(UsageError, match=r"no judge 'gpt': expected released:NAME, .*'checker', .*'offline'"):
        named_judge("gpt", SHIPPED_JUDGES)
    with pytest.raises(UsageError, match="modle"):
        named_judge("{task: support, kind: checkpoint, modle: x}", SHIPPED_JUDGES)


def test_a_judge_that_names_no_task_is_of_coverage() -> None:
    name, known = named_judge("{kind: chat, chat: {model: gpt-4o}}", SHIPPED_JUDGES)
    assert (name, known[name].task) == ("gpt-4o", "coverage")


def test_the_option_of_judges_of_support_names_the_one_of_all_judges(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--support", "offline"]) == USAGE
    assert "--support: expected --judge JUDGE, which takes judges of every task" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["mean:offline+checker", "{task: support, kind: mean, of: [offline, checker]}"])
def test_mean_asks_its_members_and_no_mean_is_one(text: str) -> None:
    name, known = named_judge(text, SHIPPED_JUDGES)
    mean = known[name]

    assert mean.members == ("offline", "checker")
    assert {one: known[one] for one in mean.members} == SUPPORT_JUDGES
    with pytest.raises(UsageError, match=r"of \['checker', 'offline'\]; found the mean 'inner'"):
        named_judge("mean:offline+inner", {**SUPPORT_JUDGES, "inner": mean})
    with pytest.raises(UsageError, match=r"no judge 'nobody'.*\['checker', "):
        named_judge("mean:checker+nobody", SUPPORT_JUDGES)


def test_version_and_settings_of_a_mean_follow_its_members() -> None:
    """A card of the mean is of these members as they are."""
    name, known = named_judge("mean:offline+checker", SUPPORT_JUDGES)
    mean = known[name]
    judges: dict[str, JudgeSettings] = dict(SUPPORT_JUDGES)
    others = judges | {"checker": SHIPPED_CHECKER.model_copy(update={"best_windows": 2})}
    swapped = judges | {"checker": judges["offline"]}

    assert whole_identity(mean, judges)["of"] == {name: judges[name].identity for name in ("offline", "checker")}
    assert whole_identity(mean, judges) != whole_identity(mean, others)
    versions = [make_judge("m", {**known, "m": mean}).version for known in (judges, swapped)]
    assert versions[0] != versions[1]


def test_modes_are_read_each_once() -> None:
    assert modes_of("document, full,chunk-1024,full") == (EACH_DOCUMENT, JOINED, chunks_of(1024))
    with pytest.raises(UsageError, match="chunk-0"):
        modes_of("document,chunk-0")


def test_wrong_use_is_exit_2(bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([bench, "--judge", "gpt"]) == USAGE
    with pytest.raises(SystemExit, match=str(USAGE)):
        main([bench, "--judge", "offline", "--threshold", "1"])
    assert main([bench, "--judge", "offline", "--modes", "full", "--out", str(tmp_path / "card")]) == USAGE
    assert "a card is of mode document" in capsys.readouterr().err
    (tmp_path / "plain.jsonl").write_text(json.dumps({"documents": ["a"], "summary": "a."}))
    ingest("longformfact", [str(tmp_path / "plain.jsonl")], str(tmp_path / "unlabelled"))
    assert main([str(tmp_path / "unlabelled"), "--judge", "offline"]) == USAGE
    assert "expected people's labels of support" in capsys.readouterr().err


def test_orders_need_a_ranking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "whole.jsonl").write_text(json.dumps(SUMMARIES[0]))
    ingest("longformfact", [str(tmp_path / "whole.jsonl")], str(tmp_path / "b"))

    assert main([str(tmp_path / "b"), "--judge", "offline", "--orders"]) == USAGE
    assert "no summary has one" in capsys.readouterr().err


def answered(argv: list[str], capsys: pytest.CaptureFixture[str], *, workers: int = 1) -> tuple[int, dict[str, object]]:
    code = main([*argv, "--json", "--workers", str(workers)])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.usefixtures("ray_session")
def test_offline_judge_tells_copied_from_invented(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Copied sentences are supported and invented ones are not, by every cell; a second call judges nothing."""
    argv = [bench, "--judge", "offline", "--run", str(tmp_path / "run"), "--resamples", "100"]
    code, found = answered(
        [*argv, "--modes", "document,full,chunk-1024", "--orders", "--out", str(tmp_path / "card.json")], capsys
    )
    rows = {(row["documents"], row["sentences"]): row for row in found["grid"]}  # type: ignore[attr-defined]

    assert code == DONE
    assert len(rows) == 15
    for way in ("max", "full", "chunk-1024"):
        for data_set in ("said", "whole"):
            assert rows[way, "mean"]["data_sets"][data_set]["balanced_accuracy"]["value"] == 1.0
    assert rows["min", "mean"]["data_sets"]["said"]["balanced_accuracy"]["value"] == 0.5
    # two summaries of three documents: 2 sentences each in document mode, and in full mode 4 orders and one chunk
    assert found["n_cells"] == (2 * 2 * (3 + 4 + 1)) + 3 * 3
    assert found["orders"]["sensitivity"]["data_sets"] == {"said": 0.0}  # type: ignore[index]
    card = json.loads((tmp_path / "card.json").read_text())
    assert (card["kind"], card["n"]) == ("support", 6)
    assert "held out" not in describe(card)
    parts = Folder(str(tmp_path / "run")).parts("verdicts")
    _, again = answered(argv, capsys)
    assert Folder(str(tmp_path / "run")).parts("verdicts") == parts
    assert again["card"]["data_sets"] == card["data_sets"]  # type: ignore[index]


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.usefixtures("ray_session")
def test_chat_judge_that_answers_nonsense_is_unjudged_and_exit_3(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = "{task: support, kind: chat, chat: {provider: scripted, model: scripted, script: SCRIPT}}"
    good = [bench, "--judge", settings.replace("SCRIPT", "obedient"), "--ledger", str(tmp_path / "ledger")]
    bad = [bench, "--judge", settings.replace("SCRIPT", "misbehaving"), "--ledger", str(tmp_path / "ledger")]

    code, found = answered([*good, "--resamples", "100"], capsys)
    assert (code, found["n_cells_unjudged"]) == (DONE, 0)
    code, found = answered([*bad, "--resamples", "100"], capsys)
    unjudged = found["n_cells_unjudged"]
    assert code == FAILURES_ABOVE_THRESHOLD
    assert unjudged
    assert sum(found["failures"].values()) == unjudged  # type: ignore[attr-defined]
    chat = {"provider": "scripted", "model": "scripted", "script": "misbehaving"}
    experiment = {
        "name": "x", "seed": 1, "retrievers": {"full": {"kind": "full"}}, "summarizers": {"o": {"kind": "offline"}},
        "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "o"}],
        "support_judges": {"talker": {"kind": "chat", "chat": chat}},
    }  # fmt: skip
    (tmp_path / "c.yaml").write_text(json.dumps(experiment))
    mean = [bench, "--judge", "mean:offline+talker", "--config", str(tmp_path / "c.yaml"), *bad[3:]]
    code, found = answered([*mean, "--resamples", "100", "--out", str(tmp_path / "card.json")], capsys)
    card = found["card"]
    assert isinstance(card, dict)
    assert not (tmp_path / "card.json").exists()  # nothing was judged
    assert (code, found["n_cells_unjudged"]) == (FAILURES_ABOVE_THRESHOLD, unjudged)
    assert all(reason.startswith("talker: ") for reason in found["failures"])  # type: ignore[attr-defined]
    assert [member["model"] for member in card["judged_by"]["of"]] == ["offline", "scripted (script misbehaving)"]


@pytest.mark.slow
def test_shipped_card_is_what_the_offline_judge_reaches(
    released: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of these texts is in its fit."""
    files = [released / "longformfact" / "metric_benchmark" / f"{n}.jsonl.gz" for n in ("longeval_pubmed", "qmsum")]
    bench = str(tmp_path / "bench")
    ingest("longformfact", [str(file) for file in files], bench)
    shipped = shipped_card(SUPPORT_LEXICAL)
    _, found = answered([bench, "--judge", "offline"], capsys, workers=0)
    card = found["card"]

    assert shipped is not None
    assert isinstance(card, dict)
    for key in ("judged_by", "labels", "fitted_articles", "threshold", "n_unjudged"):
        assert card[key] == shipped[key]
    for now, then in zip(card["data_sets"], shipped["data_sets"], strict=True):
        assert now["held_out"] == then["held_out"]
        for measure in ("balanced_accuracy", "auroc"):
            assert now[measure] == pytest.approx(then[measure], abs=1e-6)


@pytest.mark.parametrize(("said", "threshold"), [([], SHIPPED_CHECKER.threshold), (["--threshold", "0.2"], 0.2)])
def test_a_judge_is_measured_at_its_own_threshold_where_none_is_said(said: list[str], threshold: float) -> None:
    arguments = parser().parse_args(["bench", "--judge", "checker", *said])
    labelled = calibrations_of(arguments, None)[0].labelled
    assert labelled.scoring.threshold == threshold != Scoring().threshold


def labelled_twice(bench: str, second: dict[int, str]) -> str:
    """Add labels of another person to the benchmark: sentences of the first summary -> answer."""
    folder = Folder(bench)
    first = next(row for row in folder.read("labels").to_pylist() if row["unit_index"] is not None)
    rows = [first | {"annotator": "bo", "unit_index": unit, "answer": answer} for unit, answer in second.items()]
    folder.commit("labels", [folder.write_part("labels", rows, work_ids=["bo"])])
    return bench


def test_labels_of_several_people_stand_beside_one_number_each(bench: str) -> None:
    place = LabelledPlace(labelled_twice(bench, {0: "unsupported", 1: "unsupported"}))
    first, second, *_ = labelled_texts(place, place.labels())

    assert (first.summary.said, first.summary.places) == ((True, False, False, False), (0, 0, 1, 1))
    assert len(first.sentences) == 2
    assert second.summary.places == ()
    items = labelled_items(first.summary, np.array([[0.9, 0.2]]), Merging("max", "mean"), Scoring())
    assert [one.judge and one.judge.number for one in items] == [0.9, 0.9, 0.2, 0.2]


def test_labels_of_people_keep_their_keys_whoever_else_labels(bench: str) -> None:
    """Stored verdicts are found again; those on sentences that others chose are of their own."""
    options = {
        "url": bench,
        "task": "support",
        "target_kind": "document",
        "answers": ("supported", "unsupported"),
    }
    judge = make_judge("offline", SHIPPED_JUDGES)

    def keys(*annotators: str) -> list[str]:
        return [piece.work_id for piece in Labelled(**options, annotators=annotators).pieces(judge)]  # type: ignore[arg-type]

    before = keys()
    labelled_twice(bench, {1: "supported"})
    assert keys("people") == before
    assert not set(keys("bo")) & set(before)
