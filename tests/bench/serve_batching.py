"""Batching by tokens: pairs of sixteen callers scored together against one by one, by a cross-encoder like MiniLM."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from itertools import cycle, islice

from actors.local_models.checkpoints import MINILM, model_path
from serve.engine import Engine
from serve.settings import Batching, ServedCrossEncoder
from serve.workers import CrossEncoderWorker
from tests.bench.inputs import passages
from tests.bench.measure import Figure, paired

_CALLERS = 16
_EACH = 4  # pairs a caller asks for, one after the other
_ROUNDS = 5
_GOALS = ((40, 1.5), (256, 0.95))
"""Tokens of a pair, and how many times the pairs a second of one by one."""


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        settings = ServedCrossEncoder(kind="cross_encoder", model=_saved(folder), scores="logit")
        worker = CrossEncoderWorker("minilm", settings, threads=1)
        return [_figure(worker, tokens, goal) for tokens, goal in _GOALS]


def _saved(folder: str) -> str:
    """Its weights are random: speed does not depend on them."""
    from transformers import AutoConfig, AutoTokenizer, BertForSequenceClassification

    path = model_path(MINILM)
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(folder)
    BertForSequenceClassification(AutoConfig.from_pretrained(path, num_labels=1)).save_pretrained(folder)
    return folder


def _figure(worker: CrossEncoderWorker, tokens: int, goal: float) -> Figure:
    pairs = _pairs(worker, tokens)
    note = f"{_CALLERS} callers with a pair at a time, {len(pairs)} pairs of {tokens} tokens, one thread"
    found = paired(_asking(worker, pairs, Batching().batch_tokens), _asking(worker, pairs, 1), rounds=_ROUNDS)
    name = f"Batching by tokens, pairs of {tokens}"
    return found.rates(name, items=len(pairs), unit="pairs/s", target=goal, note=note)


def _asking(worker: CrossEncoderWorker, pairs: list[tuple[str, str]], batch_tokens: int) -> Callable[[], None]:
    """Return the work of sixteen callers with an engine of such batches; it remembers nothing."""
    batching = Batching(batch_tokens=batch_tokens, cache_entries=0)

    async def caller(engine: Engine, own: list[tuple[str, str]]) -> None:
        for query, text in own:
            await engine.ask([{"query": query, "texts": [text]}])

    async def callers() -> None:
        engine = Engine(worker, batching)
        await asyncio.gather(*(caller(engine, pairs[place::_CALLERS]) for place in range(_CALLERS)))

    return lambda: asyncio.run(callers())


def _pairs(worker: CrossEncoderWorker, tokens: int) -> list[tuple[str, str]]:
    """A query of four words with as many of a text's as make the pair so long."""
    words = [passage.split() for passage in passages().spread(_CALLERS * _EACH)]
    return [_pair(worker, own, tokens) for own in words]


def _pair(worker: CrossEncoderWorker, words: list[str], tokens: int) -> tuple[str, str]:
    query, text = " ".join(words[:4]), ""
    for n_words in range(tokens, 0, -1):
        text = " ".join(islice(cycle(words), n_words))
        if worker._model.lengths([(query, text)])[0] <= tokens:
            break
    return query, text
