"""
Fine-tuning of the packaged MiniLM into a cross-encoder that says whether a passage supports a sentence.

The encoder's own weights stay; a low-rank change of each layer is learned, and a classifier that says of every token of
the sentence whether the passage contradicts or lacks it there. A sentence is supported as far as none of its tokens is
wrong, so that one classifier learns from the words that were changed and from whole sentences. A stopped training goes
on from the state in its folder.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AutoTokenizer, BertModel
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from actors.local_models.checkpoint_scorer import supported_logits
from actors.local_models.checkpoints import MINILM, model_path
from actors.local_models.low_rank import add_low_rank, low_rank_tensors
from lab.fits.checker_pairs import CheckerPair

MAX_TOKENS = 128
"""Tokens of a pair in training; longer ones are cut in the passage."""

_STATE = "training.pt"
_SAVE_EVERY = 100
_SORTED_TOGETHER = 50
_FIRST_BIAS = -3.0
"""The bias of a token's logit of being wrong: a sentence of 20 tokens begins at even odds."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Recipe:
    """All that decides the trained weights beside the pairs and the machine's arithmetic."""

    rank: int = 64
    learning_rate: float = 5e-4
    batch: int = 16
    warm_up: float = 0.06  # share of the steps
    word_weight: float = 0.5  # of single words in the loss, beside the whole sentence's 1
    weight_decay: float = 0.01
    seed: int = 1


class CheckerTrainer:
    def __init__(self, recipe: Recipe, *, threads: int) -> None:
        torch.set_num_threads(threads)
        torch.manual_seed(recipe.seed)
        disable_progress_bar()
        set_verbosity_error()  # the weights to pool with are meant to be left out
        path = model_path(MINILM)
        self._recipe = recipe
        self._tokenizer = AutoTokenizer.from_pretrained(path)
        self._encoder = BertModel.from_pretrained(
            path, add_pooling_layer=False, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
        )
        add_low_rank(self._encoder, recipe.rank)
        self._classifier = nn.Linear(self._encoder.config.hidden_size, 1)
        nn.init.constant_(self._classifier.bias, _FIRST_BIAS)
        self._parts = nn.ModuleList([self._encoder, self._classifier])

    def fit(self, pairs: Sequence[CheckerPair], folder: Path, *, said: Callable[[str], None]) -> dict[str, Tensor]:
        """
        Learn from *pairs*, once through, and return the change: tensors as
        `actors.local_models.low_rank.write_checkpoint` takes them.

        The state of an interrupted training of the same pairs is read from *folder*, and deleted when all is learned.
        """
        batches = self._batches(pairs)
        learned = [parameter for parameter in self._parts.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(learned, lr=self._recipe.learning_rate, weight_decay=self._recipe.weight_decay)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: self._rate(step, len(batches)))
        state = folder / _STATE
        begun = self._resume(state, optimizer, schedule)
        self._parts.train()
        for step, places in enumerate(batches[begun:], start=begun):
            torch.manual_seed(self._recipe.seed * 1_000_003 + step)  # of dropout, so that a resumed run is the same
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = self._loss([pairs[place] for place in places])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            schedule.step()
            if (step + 1) % _SAVE_EVERY == 0:
                self._save(state, step + 1, optimizer, schedule)
                said(f"step {step + 1:,} of {len(batches):,}, loss {float(loss.detach()):.3f}")
        state.unlink(missing_ok=True)
        own = self._classifier.named_parameters()
        return low_rank_tensors(self._encoder) | {f"classifier.{name}": value.detach().half() for name, value in own}

    def probabilities(self, pairs: Sequence[CheckerPair]) -> NDArray[np.float64]:
        """Return the probability that each passage supports its sentence, shape (pairs,)."""
        self._parts.eval()
        found = np.zeros(len(pairs))
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].passage) + len(pairs[place].sentence))
        with torch.inference_mode():
            for places in _chunks(order, self._recipe.batch):
                read = self._read([pairs[place] for place in places])
                found[places] = supported_logits(self._wrong(read), _of_sentence(read)).sigmoid().numpy()
        return found

    def _loss(self, pairs: Sequence[CheckerPair]) -> Tensor:
        read = self._read(pairs)
        wrong, asked = self._wrong(read).float(), _of_sentence(read)
        labels = torch.tensor([pair.supported if pair.likeness is None else pair.likeness for pair in pairs]).float()
        cost = nn.functional.binary_cross_entropy_with_logits
        known = asked & torch.tensor([[pair.likeness is None] for pair in pairs])
        words = cost(wrong[known], self._marks(pairs, read)[known]) if known.any() else 0.0
        return cost(supported_logits(wrong, asked), labels) + self._recipe.word_weight * words

    def _wrong(self, read: Any) -> Tensor:
        """Return logits of each token being wrong, shape (pairs, tokens)."""
        fields = {name: read[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
        return torch.squeeze(self._classifier(self._encoder(**fields).last_hidden_state), -1)

    def _read(self, pairs: Sequence[CheckerPair]) -> Any:
        read: Any = self._tokenizer(
            [pair.passage for pair in pairs],
            [pair.sentence for pair in pairs],
            truncation="only_first",
            max_length=MAX_TOKENS,
            padding=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        return read

    def _marks(self, pairs: Sequence[CheckerPair], read: Any) -> Tensor:
        """Mark each token: 1 for a wrong word of the sentence, 0 for a right one and elsewhere."""
        marks = torch.zeros(read["input_ids"].shape)
        for row, pair in enumerate(pairs):
            starts = [word.start() for word in _WORD.finditer(pair.sentence)]
            offsets = read["offset_mapping"][row].tolist()
            for at, side in enumerate(read.sequence_ids(row)):
                if side == 1 and pair.likeness is None:
                    marks[row, at] = float(pair.wrong[bisect_right(starts, offsets[at][0]) - 1])
        return marks

    def _batches(self, pairs: Sequence[CheckerPair]) -> list[list[int]]:
        """Return places of pairs, in batches of about equal length, in random order."""
        rng = np.random.default_rng(self._recipe.seed)
        size = self._recipe.batch
        batches = [
            places
            for pool in _chunks(rng.permutation(len(pairs)).tolist(), size * _SORTED_TOGETHER)
            for places in _chunks(sorted(pool, key=lambda at: (len(pairs[at].passage), at)), size)
        ]
        return [batches[place] for place in rng.permutation(len(batches)).tolist()]

    def _rate(self, step: int, steps: int) -> float:
        warm = max(1, int(self._recipe.warm_up * steps))
        return (step + 1) / warm if step < warm else max(0.0, (steps - step) / max(1, steps - warm))

    def _save(self, file: Path, step: int, *parts: Any) -> None:
        learned = {name: value for name, value in self._parts.named_parameters() if value.requires_grad}
        unfinished = file.with_suffix(".part")
        torch.save({"step": step, "learned": learned, "parts": [part.state_dict() for part in parts]}, unfinished)
        unfinished.replace(file)

    def _resume(self, file: Path, *parts: Any) -> int:
        """Return the step to go on with."""
        if not file.is_file():
            return 0
        state = torch.load(file, weights_only=True)
        self._parts.load_state_dict(state["learned"], strict=False)
        for part, saved in zip(parts, state["parts"], strict=True):
            part.load_state_dict(saved)
        return int(state["step"])


def _chunks(places: Sequence[int], size: int) -> list[list[int]]:
    return [list(places[start : start + size]) for start in range(0, len(places), size)]


def _of_sentence(read: Any) -> Tensor:
    """Mark the sentences' own tokens, shape (pairs, tokens)."""
    return torch.tensor([[side == 1 for side in read.sequence_ids(row)] for row in range(len(read["input_ids"]))])
