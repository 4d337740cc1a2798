"""
Score prepared inputs with a checkpoint that was trained to say whether one text supports another.

Classifiers have one output (its sigmoid), or several (the softmax's share of the supporting one). A classifier of words
says of each token whether it is wrong there; the odds of the sentence are one over the sum of its tokens' odds. A
MiniCheck Flan-T5 writes its answer: P("1") against P("0") as the first token it would decode.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from actors.local_models.checkpoints import cannot_load, checkpoint_path
from actors.local_models.pair_tokens import ModelInput, Tokenizer
from actors.local_models.text_model import TEXTS_READ
from longform.errors import UsageError
from longform.settings.judges import CheckpointJudgeSettings
from longform.text.windows import length_batches

if TYPE_CHECKING:
    from torch import Tensor, nn

_ENTAILS = re.compile(r"entail(?:s|ed|ment)?|support(?:s|ed)?|consistent|faithful", re.IGNORECASE)
_POSITIONS = ("position_embeddings", "embed_positions")
_LOADED_AS = {
    "classifier": "AutoModelForSequenceClassification",
    "word_classifier": "AutoModelForTokenClassification",
    "flan_t5": "AutoModelForSeq2SeqLM",
}
_NO_LIMIT = 1_000_000  # tokenizers without one state a number of 30 digits
_USUAL_WINDOW = 512


Batch: TypeAlias = "Mapping[str, Tensor]"
"""Inputs of a model by their names, each of shape (inputs, tokens)."""


@dataclass
class WorkDone:
    """Work done so far; tokens include the special ones, padded tokens the padding."""

    texts: int = 0
    sentences: int = 0
    pairs: int = 0
    batches: int = 0
    tokens: int = 0
    padded_tokens: int = 0


class CheckpointScorer:
    """
    One model in memory. `window` is the length in tokens of a sequence that the model takes as it was trained; it is
    `bounded` if a longer one is impossible, and not merely longer than those it was trained on.

    Raises:
        UsageError: The checkpoint cannot be loaded whole, or which output means supported cannot be told.
    """

    def __init__(self, settings: CheckpointJudgeSettings, *, threads: int) -> None:
        path = checkpoint_path(settings.model)
        import torch
        import transformers
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        torch.set_num_threads(threads)
        kind = getattr(transformers, _LOADED_AS[settings.family])
        try:
            self.tokenizer: Tokenizer = transformers.AutoTokenizer.from_pretrained(path)
            model, found = kind.from_pretrained(path, dtype=torch.float32, output_loading_info=True)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            told = cannot_load(settings.model, error)
            raise UsageError(told if Path(path).is_dir() else f"{told}; {own_weights(settings)}") from error
        if found["missing_keys"]:
            msg = (
                f"checkpoint {settings.model!r} is no trained {settings.family}: it lacks the weights "
                f"{sorted(found['missing_keys'])}"
            )
            raise UsageError(msg)
        self._torch = torch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model = model.to(self._device).eval()
        self._batch_tokens = settings.batch_tokens
        self._reduced = settings.precision == "bfloat16"
        read = {"classifier": self._classified, "word_classifier": self._by_words, "flan_t5": self._written}
        self._probability = read[settings.family](settings)
        limit = _position_limit(model)
        self.bounded = limit is not None
        self.window = min(limit or _NO_LIMIT, _trained_window(self.tokenizer, model.config))

    def probabilities(self, inputs: Sequence[ModelInput], work: WorkDone) -> NDArray[np.float64]:
        """
        Return the probability that each input's text supports its sentence, shape (inputs,); add
        the work to *work*.
        """
        found = np.zeros(len(inputs))
        lengths = [len(each.ids) for each in inputs]
        for places in length_batches(lengths, self._batch_tokens):
            batch = self._padded([inputs[place] for place in places])
            with (
                self._torch.inference_mode(),
                self._torch.autocast(self._device, dtype=self._torch.bfloat16, enabled=self._reduced),
            ):
                found[places] = self._probability(batch).float().cpu().numpy()
            work.pairs += len(places)
            work.batches += 1
            TEXTS_READ.add(len(places))
            work.tokens += sum(lengths[place] for place in places)
            work.padded_tokens += batch["input_ids"].numel()
        return found

    def _padded(self, inputs: Sequence[ModelInput]) -> Batch:
        longest = max(len(each.ids) for each in inputs)
        padding = self.tokenizer.pad_token_id or 0
        fields = {
            "input_ids": [[*each.ids, *[padding] * (longest - len(each.ids))] for each in inputs],
            "attention_mask": [[1] * len(each.ids) + [0] * (longest - len(each.ids)) for each in inputs],
        }
        if inputs[0].types:
            fields["token_type_ids"] = [[*each.types, *[0] * (longest - len(each.types))] for each in inputs]
        return {name: self._torch.tensor(rows, device=self._device) for name, rows in fields.items()}

    def _classified(self, settings: CheckpointJudgeSettings) -> Callable[[Batch], Tensor]:
        supported = _supported_output(self._model.config, settings)
        if supported is None:
            return lambda batch: self._torch.sigmoid(self._model(**batch).logits[:, 0])
        return lambda batch: self._torch.softmax(self._model(**batch).logits, dim=-1)[:, supported]

    def _by_words(self, settings: CheckpointJudgeSettings) -> Callable[[Batch], Tensor]:
        outputs = self._model.config.num_labels
        if outputs != 1 or "token_type_ids" not in self.tokenizer.model_input_names:
            raise UsageError(
                f"checkpoint {settings.model!r}: expected one output a token and a tokenizer with token types, as a "
                f"word_classifier has; found {outputs} outputs and the inputs {self.tokenizer.model_input_names}"
            )

        end = self.tokenizer.sep_token_id  # unknown words are words

        def read(batch: Batch) -> Tensor:
            of_sentence = (batch["token_type_ids"] == 1) & (batch["input_ids"] != end)
            return supported_logits(self._model(**batch).logits[..., 0], of_sentence).sigmoid()

        return read

    def _written(self, settings: CheckpointJudgeSettings) -> Callable[[Batch], Tensor]:
        name = settings.model
        answers = [self.tokenizer(text, add_special_tokens=False)["input_ids"][0] for text in ("0", "1")]
        if answers[0] == answers[1]:
            raise UsageError(f"checkpoint {name!r}: its tokenizer does not tell '0' from '1' by their first token")
        start = self._model.config.decoder_start_token_id

        def read(batch: Batch) -> Tensor:
            asked = {field: batch[field] for field in ("input_ids", "attention_mask")}
            first = self._torch.full((len(batch["input_ids"]), 1), start, device=self._device)
            logits = self._model(**asked, decoder_input_ids=first).logits[:, 0]
            return self._torch.softmax(logits[:, answers], dim=-1)[:, 1]

        return read


def supported_logits(wrong: Tensor, of_sentence: Tensor) -> Tensor:
    """
    Return logits that a sentence is supported, shape (pairs,): its odds are one over the sum of the odds that its
    tokens are wrong.

    *wrong* are logits of each token, *of_sentence* says which are the sentence's; shape (pairs, tokens).
    """
    return -wrong.float().masked_fill(~of_sentence, -inf).logsumexp(dim=1)


def own_weights(settings: CheckpointJudgeSettings) -> str:
    """Say how a command line names the judge *settings* with weights in a FOLDER."""
    stated = settings.model_dump(mode="json", exclude={"kind", "task", "model"}, exclude_defaults=True)
    named = {"task": settings.task, "kind": settings.kind, "model": "FOLDER", **stated}
    written = ", ".join(f"{key}: {_quoted(value)}" for key, value in named.items())
    return f"if you have its weights in a folder or at s3://, name it as '{{{written}}}'"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) and not value.isidentifier() else str(value)


def _supported_output(config: Any, settings: CheckpointJudgeSettings) -> int | None:
    """Return the output that means supported; None if there is one output, whose sigmoid is meant."""
    n_outputs, stated = config.num_labels, settings.supported_label
    labels = {int(number): str(label) for number, label in config.id2label.items()}
    if stated is not None and stated >= n_outputs:
        msg = f"supported_label {stated}: checkpoint {settings.model!r} has {n_outputs} outputs, {labels}, from 0"
        raise UsageError(msg)
    if n_outputs == 1:
        return None
    if stated is not None:
        return stated
    named = [number for number, label in labels.items() if _ENTAILS.fullmatch(label.strip())]
    if len(named) == 1:
        return named[0]
    if n_outputs == 2 and not named:
        return 1  # MiniCheck's
    msg = (
        f"checkpoint {settings.model!r}: expected one output called entailment or supported, found {labels}; say "
        "which it is by supported_label"
    )
    raise UsageError(msg)


def _position_limit(model: nn.Module) -> int | None:
    """Return the longest sequence for which the model has positions; None if its positions are relative."""
    from torch.nn import Embedding

    tables = [
        module
        for name, module in model.named_modules()
        if name.rsplit(".", 1)[-1] in _POSITIONS and isinstance(module, Embedding)
    ]
    if not tables:
        return None
    # RoBERTa's positions begin behind its padding id; BART's table is longer than what it states.
    usable = min(table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1) for table in tables)
    return min(int(usable), getattr(model.config, "max_position_embeddings", None) or int(usable))


def _trained_window(tokenizer: Tokenizer, config: Any) -> int:
    if tokenizer.model_max_length < _NO_LIMIT:
        return int(tokenizer.model_max_length)
    return int(getattr(config, "max_position_embeddings", None) or _USUAL_WINDOW)
