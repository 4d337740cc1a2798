"""BERT by ONNX Runtime against the library it stands in for, and the folders that it leaves to the library."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from actors.local_models.bert import BertModel, plain_bert
from actors.local_models.checkpoints import MINILM, model_path
from actors.local_models.text_model import LibraryModel, open_text_model

FOLDER = Path(model_path(MINILM))
TEXTS = [
    "The council voted 7 to 2 to rebuild the Alder Street bridge.",
    "",
    "naïve café, ÅNGSTRÖM; 北京 and an emoji \U0001f600",
    "tab\tand\x00control\u200b characters\ufffd",
    "[SEP] [MASK] are words of the vocabulary",
    "a text that is longer than the window " * 60,
]


def bert_of(folder: Path) -> BertModel:
    plain = plain_bert(folder)
    assert plain is not None
    return BertModel(plain)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "model"))


def change(file: Path, **new: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **new}))


def change_weights(folder: Path, what: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]) -> None:
    save_file(what(load_file(folder / "model.safetensors")), folder / "model.safetensors")


def rename_all(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"bert.{name}": weight for name, weight in weights.items()}


def test_vectors_lengths_and_window_are_those_of_the_library() -> None:
    ours, library = bert_of(FOLDER), LibraryModel(str(FOLDER))
    assert (ours.window, ours.dimensions) == (library.window, library.dimensions)
    assert ours.lengths(TEXTS) == library.lengths(TEXTS)
    for text in TEXTS:
        assert ours.embed([text]) == pytest.approx(library.embed([text]), abs=2e-6), text


def test_vectors_of_tokens_are_those_of_the_library_and_come_from_the_pass_of_the_sentence() -> None:
    """Rounded to float16, whose step is at most 0.0005 below 1."""
    ours, library = bert_of(FOLDER), LibraryModel(str(FOLDER))
    assert ours.pieces(TEXTS) == library.pieces(TEXTS)
    for text in TEXTS:
        (made,), (expected,) = ours.read([text]), library.read([text])
        assert made.pieces == expected.pieces == ours.pieces([text])[0]
        assert made.tokens.shape == (len(made.pieces), ours.dimensions)
        assert made.tokens == pytest.approx(expected.tokens, abs=1e-3), text
        assert made.sentence == pytest.approx(ours.embed([text])[0], abs=1e-3), text
    assert ours.pieces(["The Alder bridges."]) == [("the", "al", "##der", "bridges", ".")]


def test_the_first_token_s_vector_is_taken_if_the_folder_says_so(copied: Path) -> None:
    change(copied / "1_Pooling" / "config.json", pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    mean = bert_of(FOLDER).embed(TEXTS[:1])
    first = bert_of(copied).embed(TEXTS[:1])
    assert first == pytest.approx(LibraryModel(str(copied)).embed(TEXTS[:1]), abs=2e-6)
    assert np.abs(first - mean).max() > 0.01


def test_names_may_begin_with_the_architecture_s(copied: Path) -> None:
    change_weights(copied, rename_all)
    assert np.array_equal(bert_of(copied).embed(TEXTS[:1]), bert_of(FOLDER).embed(TEXTS[:1]))


def to_half(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: weight.astype(np.float16) for name, weight in weights.items()}


def without_a_layer(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: weight for name, weight in weights.items() if ".5." not in name}


LEFT_TO_THE_LIBRARY: dict[str, Callable[[Path], object]] = {
    "other architecture": lambda folder: change(folder / "config.json", model_type="roberta"),
    "other activation": lambda folder: change(folder / "config.json", hidden_act="relu"),
    "relative places": lambda folder: change(folder / "config.json", position_embedding_type="relative_key"),
    "other widths": lambda folder: change(folder / "config.json", intermediate_size=3072),
    "two poolings": lambda folder: change(folder / "1_Pooling" / "config.json", pooling_mode_max_tokens=True),
    "a window beyond the places": lambda folder: change(folder / "sentence_bert_config.json", max_seq_length=1024),
    "letters in two cases": lambda folder: change(folder / "tokenizer_config.json", do_lower_case=False),
    "a further module": lambda folder: (folder / "modules.json").write_text(
        json.dumps([*json.loads((folder / "modules.json").read_text()), {"type": "a.Dense", "path": "3"}])
    ),
    "half precision": lambda folder: change_weights(folder, to_half),
    "a layer less": lambda folder: change_weights(folder, without_a_layer),
    "no tokenizer": lambda folder: (folder / "tokenizer.json").unlink(),
    "no modules": lambda folder: (folder / "modules.json").unlink(),
    "cut weights": lambda folder: (folder / "model.safetensors").write_bytes(b"\x00" * 100),
}


@pytest.mark.parametrize("name", LEFT_TO_THE_LIBRARY)
def test_other_folders_are_left_to_the_library(name: str, copied: Path) -> None:
    assert plain_bert(copied) is not None
    LEFT_TO_THE_LIBRARY[name](copied)
    assert plain_bert(copied) is None


def test_users_of_a_folder_share_its_model_until_its_files_change(copied: Path) -> None:
    first = open_text_model(str(copied))
    assert open_text_model(str(copied)) is first
    change(copied / "sentence_bert_config.json", max_seq_length=64)
    assert (first.window, open_text_model(str(copied)).window) == (256, 64)
