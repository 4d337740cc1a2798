"""
Support of sentences by documents, judged by a checkpoint: MiniCheck's families or any entailment cross-encoder.

A document is read in windows of whole sentences, and supports a sentence as much as its best window does (Wan et al.,
section 3.2, say so of MiniCheck's own reading).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from actors.chat.model import CallContext
from actors.judges.opening import Judge, JudgeBackend
from actors.local_models.checkpoint_scorer import CheckpointScorer, WorkDone, own_weights
from actors.local_models.checkpoints import check_checkpoint, checkpoint_content
from actors.local_models.pair_tokens import Ids, ModelInput, NearestWindows, Nearness, PairTokens, TextTokens
from longform.errors import UsageError
from longform.judges.cards import Version
from longform.judges.kind import Group, Kind, Verdict, Verdicts, in_place, open_groups, unjudged
from longform.judges.kinds.support import NO_SENTENCE, SUPPORT
from longform.settings.judges import CheckpointJudgeSettings
from longform.text.windows import Window, sentence_windows

CHECKPOINT_VERSION = "2"
"""Changes with any change of how a checkpoint is read."""

_STEPS = 8
"""Room for the sentence is kept in eighths of the model's window, so that nearly all sentences see the same windows."""

Inputs = dict[int, ModelInput]
"""Place of a window among the document's -> the model's input for it."""


Sights = list[tuple[Window, Ids]]
"""The windows of a document with their tokens."""


class Planned(NamedTuple):
    """The inputs that decide a cell; `nearest` is its sentence's cosine with the document, if that is asked for."""

    inputs: Inputs
    nearest: float | None


TOO_LONG = "sentence_exceeds_window"
"""The failure of a sentence beside which the model's window has no room for a document."""


class CheckpointJudge:
    """
    Judges every (document, sentence) by the best of the document's windows; equal cells once a call.

    With `best_windows`, a sentence is scored in so many windows only: those that hold the document's sentences nearest
    to it in meaning, by the packaged encoder. `chunk_index` still counts all windows. With `cosine_share`, so much of
    the probability is the largest cosine of the sentence with a sentence of the document or with two neighbours.

    A window has at most `chunk_tokens` tokens, or what the model's window leaves beside the sentence. So a verdict
    depends on its document and sentence alone. `chunk_index` counts the windows of that reading. Nothing is cut off: a
    sentence that leaves no room for a document is unjudged, `sentence_exceeds_window`.

    A classifier reads prefix, window and sentence, joined as its tokenizer joins pairs or by its end-of-sequence token
    alone (`joined: eos`). A `flan_t5` always reads them joined so; MiniCheck's wants `prefix: "predict: "`.

    Raises:
        UsageError: The checkpoint cannot be used, or `chunk_tokens` are more than it can take.
    """

    def __init__(self, name: str, settings: CheckpointJudgeSettings, *, threads: int, kind: Kind = SUPPORT) -> None:
        self.work = WorkDone()  # over all calls
        self._kind, self._settings, self._bounds = kind, settings, (settings.threshold,)
        self._scorer = CheckpointScorer(settings, threads=threads)
        joined = "eos" if settings.family == "flan_t5" else settings.joined
        self._tokens = PairTokens(self._scorer.tokenizer, joined=joined, prefix=settings.prefix)
        wanted = settings.best_windows or settings.cosine_share
        self._nearest = NearestWindows(settings.best_windows, threads=threads) if wanted else None
        self._step = max(1, self._scorer.window // _STEPS)
        most = self._scorer.window - self._tokens.overhead - self._step
        if settings.chunk_tokens is not None and self._scorer.bounded and settings.chunk_tokens > most:
            msg = (
                f"judge {name!r}: chunk_tokens {settings.chunk_tokens} leave no room for a sentence; the window of "
                f"{settings.model!r} has {self._scorer.window} tokens, so expected at most {most}"
            )
            raise UsageError(msg)

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        return self.judge(groups)

    def judge(self, groups: Sequence[Group]) -> Verdicts:
        opened = open_groups(self._kind, groups)
        planned = self._planned(opened)
        if self._nearest:
            self._nearest.forget()
        inputs = [each for row in planned for plan in row if isinstance(plan, Planned) for each in plan.inputs.values()]
        found = iter(self._scorer.probabilities(inputs, self.work).tolist())
        judged = [
            [
                plan
                if isinstance(plan, Verdict)
                else self._verdict({place: next(found) for place in plan.inputs}, plan.nearest)
                for plan in row
            ]
            for row in planned
        ]
        return in_place(self._kind, groups, opened, judged)

    def _planned(self, groups: Sequence[Group]) -> list[list[Planned | Verdict]]:
        """Find the inputs that decide each pair, one a window, or its verdict if there can be none."""
        asked = list(dict.fromkeys(sentence for group in groups for sentence in group.items))
        read = dict(zip(asked, self._tokens.sentences(asked), strict=True))
        self.work.sentences += len(asked)
        planned: list[list[Planned | Verdict]] = []
        for group in groups:
            tokens = self._tokens.text(group.text)
            self.work.texts += 1
            windows = lru_cache(maxsize=None)(lambda limit, tokens=tokens: _windows(tokens, limit))
            near = self._nearest.nearness(group.text, group.items) if self._nearest else {}
            planned.append([self._inputs(read[one], windows, near.get(one)) for one in group.items])
        return planned

    def _inputs(self, sentence: Ids, windows: Callable[[int], Sights], near: Nearness | None) -> Planned | Verdict:
        if not sentence:
            return unjudged(NO_SENTENCE)
        limit = self._limit(len(sentence))
        if limit < 1:
            return unjudged(f"{TOO_LONG}: {len(sentence)} tokens of {self._scorer.window}")
        read = windows(limit)
        chosen: Sequence[int] = range(len(read))
        if self._nearest and near is not None:
            chosen = self._nearest.chosen([window for window, _ in read], near.sentences)
        inputs = {place: self._tokens.joined(read[place][1], sentence) for place in chosen}
        return Planned(inputs, near.best if near is not None and self._settings.cosine_share else None)

    def _limit(self, sentence_tokens: int) -> int:
        """Return the tokens of a document's window beside a sentence; below 1: there is no room."""
        kept = -(-sentence_tokens // self._step) * self._step
        room = self._scorer.window - self._tokens.overhead - kept
        if self._settings.chunk_tokens is None:
            return room if room >= self._step else 0
        return min(self._settings.chunk_tokens, room) if self._scorer.bounded else self._settings.chunk_tokens

    def _verdict(self, probabilities: Mapping[int, float], nearest: float | None) -> Verdict:
        """Read the best of a document's windows, by their place; a document without a token supports nothing."""
        if not all(isfinite(probability) for probability in probabilities.values()):
            return unjudged("probability_not_finite")
        if not probabilities:
            return self._kind.by_number(0.0, self._bounds)
        best = max(sorted(probabilities), key=probabilities.__getitem__)
        probability, share = probabilities[best], self._settings.cosine_share
        if nearest is not None:
            probability = (1 - share) * probability + share * nearest
        return self._kind.by_number(probability, self._bounds, chunk_index=best)


def _windows(tokens: TextTokens, limit: int) -> Sights:
    opening, following = ([len(ids) for ids in side] for side in tokens)
    return [(window, ids) for window in sentence_windows(opening, following, limit) if (ids := tokens.of(window))]


class ByCheckpoint(Judge):
    settings: CheckpointJudgeSettings

    @classmethod
    def check(cls, settings: CheckpointJudgeSettings) -> None:
        if "/" not in settings.model:
            return  # a name without an owner is checked when it is loaded
        try:
            check_checkpoint(settings.model)
        except UsageError as error:
            raise UsageError(f"{error}; {own_weights(settings)}") from error

    def _version(self) -> Version:
        version = f"checkpoint_support@{CHECKPOINT_VERSION}+{checkpoint_content(self.settings.model)}"
        return Version(version, version)

    def open(self, _context: CallContext, threads: int, /) -> JudgeBackend:
        return CheckpointJudge(self.name, self.settings, threads=threads, kind=self.kind)
