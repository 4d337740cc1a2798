"""Faults that the scripted model plants are found again by a reader of the documents; all checks are pure."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from actors.chat.opening import open_chat
from actors.rehearsal.scripted_summaries import PROFILES
from actors.storage.benchmark import part_work_id
from actors.storage.folder import Folder
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from longform.settings.methods import SHIPPED_METHODS
from longform.text.citations import bullets
from longform.text.sentences import sentences
from tests.actors.judges.planted import EXAMPLES, N_DOCUMENTS, N_EXAMPLES, about
from tests.actors.summarizers.contexts import asked_context
from tests.actors.summarizers.summarizing import Writer

N_SENTENCES = 5


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = Folder(str(tmp_path_factory.mktemp("bench")))
    for example, texts in enumerate(EXAMPLES):
        documents = [
            {"doc_id": f"d{i}", "haystack_id": f"h{example}", "doc_index": i, "title": None, "text": text}
            for i, text in enumerate(texts)
        ]
        folder.commit(
            "documents", [folder.write_part("documents", documents, work_ids=[part_work_id(f"h{example}", 0)])]
        )
    queries = [{"query_id": f"q{e}", "haystack_id": f"h{e}", "text": "What was sold?"} for e in range(N_EXAMPLES)]
    folder.commit("queries", [folder.write_part("queries", queries, work_ids=["q"])])
    folder.write_json("benchmark.json", {})
    return folder.url


class Said(NamedTuple):
    """A sentence of a summary: the place of the document it is about, and whether that document states it."""

    example: int
    place: int
    faithful: bool


async def summaries(
    bench: str, script: str, method: str, *, n_sentences: int = N_SENTENCES, prompt: str | None = "summarize_sentences"
) -> list[dict[str, Any]]:
    settings = ChatSummarizerSettings(
        kind="chat", chat=ChatSettings(provider="scripted", model="m", script=script), prompt=prompt
    )
    made = Writer(settings, bench, open_chat(settings.chat))
    rows = [
        asked_context(
            [f"d{place}" for place in range(N_DOCUMENTS)],
            work_id=f"{script}-{method}-{example}",
            context_id=f"c{example}",
            query_id=f"q{example}",
            haystack_id=f"h{example}",
            method=method,
            n_requested=n_sentences,
        )
        for example in range(N_EXAMPLES)
    ]
    found = await made.summarize(rows)
    assert [row["failure"] for row in found] == [None] * len(found)
    return [row for row in found if row["step"] is None]


async def said(bench: str, script: str, method: str, *, n_sentences: int = N_SENTENCES) -> list[Said]:
    found = await summaries(bench, script, method, n_sentences=n_sentences)
    return [
        Said(example, about(sentence.text, texts), any(sentence.text in text for text in texts))
        for example, (row, texts) in enumerate(zip(found, EXAMPLES, strict=True))
        for sentence in sentences(row["text"])
    ]


def by_place(found: Sequence[Said]) -> np.ndarray:
    """Faithfulness, shape (places,)."""
    return np.array([np.mean([one.faithful for one in found if one.place == place]) for place in range(N_DOCUMENTS)])


def ends_above_middle(places: np.ndarray, values: np.ndarray) -> float:
    ends = (places == 0) | (places == N_DOCUMENTS - 1)
    return float(values[ends].mean() - values[~ends].mean())


def falls(places: np.ndarray, values: np.ndarray) -> float:
    return -float(np.mean((places - places.mean()) * (values - values.mean())))


def p_value(found: Sequence[Said], statistic: Callable[[np.ndarray, np.ndarray], float]) -> float:
    """One-sided, over 2,000 permutations of the places."""
    places = np.array([one.place for one in found])
    values = np.array([float(one.faithful) for one in found])
    draw = np.random.default_rng(0)
    observed = statistic(places, values)
    return (1 + sum(statistic(draw.permutation(places), values) >= observed for _ in range(2000))) / 2001


@pytest.mark.parametrize(
    ("script", "ends", "falling"),
    [("profile-u", True, False), ("profile-lead", False, True), ("profile-flat", False, False)],
)
async def test_a_planted_profile_is_found_and_no_other(bench: str, script: str, ends: bool, falling: bool) -> None:
    found = await said(bench, script, "plain")
    assert (p_value(found, ends_above_middle) < 0.01) == ends
    assert (p_value(found, falls) < 0.01) == falling


@pytest.mark.parametrize("script", sorted(PROFILES))
async def test_faithfulness_by_place_is_near_the_profile(bench: str, script: str) -> None:
    """20 sentences a place: three standard errors of a share are at most 0.34; the mean over all, 0.13."""
    found = await said(bench, script, "plain")
    planted = np.array([PROFILES[script](place / (N_DOCUMENTS - 1)) for place in range(N_DOCUMENTS)])
    assert np.all(np.abs(by_place(found) - planted) < 0.34)
    assert abs(by_place(found).mean() - planted.mean()) < 0.13


@pytest.mark.parametrize("n_sentences", [3, 5, 7, 12])
async def test_documents_are_covered_evenly(bench: str, n_sentences: int) -> None:
    found = await said(bench, "profile-u", "plain", n_sentences=n_sentences)
    assert len(found) == n_sentences * N_EXAMPLES
    least, most = n_sentences // N_DOCUMENTS, -(-n_sentences // N_DOCUMENTS)
    for example in range(N_EXAMPLES):
        counts = [sum(one[:2] == (example, place) for one in found) for place in range(N_DOCUMENTS)]
        assert set(counts) <= {least, most}
    counts = [sum(one.place == place for one in found) for place in range(N_DOCUMENTS)]
    assert max(counts) - min(counts) <= 0.25 * n_sentences * N_EXAMPLES


@pytest.mark.parametrize("script", ["profile-u", "profile-lead"])
async def test_merged_rotations_are_flatter_than_one_prompt(bench: str, script: str) -> None:
    plain, merged = (
        by_place(await said(bench, script, "plain")),
        by_place(await said(bench, script, "calibration-rotations")),
    )
    assert np.ptp(merged) < np.ptp(plain) / 2
    assert merged.mean() > plain.mean()


@pytest.mark.parametrize(("method", "places"), [("focus-top", [0, 1]), ("focus-middle", [2]), ("focus-bottom", [3, 4])])
async def test_a_focus_raises_faithfulness_where_it_points(bench: str, method: str, places: list[int]) -> None:
    plain, focused = (
        by_place(await said(bench, "profile-flat", "plain")),
        by_place(await said(bench, "profile-flat", method)),
    )
    elsewhere = [place for place in range(N_DOCUMENTS) if place not in places]
    assert focused[places].mean() >= 0.9 > plain[places].mean()
    assert focused[elsewhere].mean() < 0.9


async def test_updates_forget_the_documents_that_came_first(bench: str) -> None:
    found = await said(bench, "profile-u", "incremental", n_sentences=3)
    assert {one.place for one in found} == {2, 3, 4}
    assert len(found) == 3 * N_EXAMPLES


@pytest.mark.parametrize("method", ["hierarchical-pairwise", "hierarchical-once"])
async def test_merged_documents_have_no_place_to_be_biased_by(bench: str, method: str) -> None:
    found = await said(bench, "profile-u", method)
    assert {one.place for one in found} == set(range(N_DOCUMENTS))
    assert p_value(found, ends_above_middle) > 0.05


@pytest.mark.parametrize("prompt", [None, "summarize_sentences"])
@pytest.mark.parametrize("method", sorted(set(SHIPPED_METHODS) - {"calibration-all"}))
async def test_the_obedient_do_every_method_faithfully(bench: str, method: str, prompt: str | None) -> None:
    for row, texts in zip(await summaries(bench, "obedient", method, prompt=prompt), EXAMPLES, strict=True):
        if prompt is None:
            found = bullets(row["text"])
            assert len(found) == N_SENTENCES
            for bullet in found:
                statement = bullet.text.removeprefix("- ").split(" [")[0]
                stating = [number for number, text in enumerate(texts, 1) if statement in text]
                assert stating == bullet.citations
                assert stating
        else:
            found_sentences = [sentence.text for sentence in sentences(row["text"])]
            assert len(found_sentences) == N_SENTENCES
            assert all(any(sentence in text for text in texts) for sentence in found_sentences)
