"""Say where sentences stand: how near each is to the nearest place of a document, in words and meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from longform.judges.kind import Group
from longform.support.index import SupportIndex


class Aligner:
    """
    Gives each item half of the largest sum of shared words and cosine that one place of the text has.

    It is no judge of support: a sentence in which a word was changed stands where it stood. Its numbers rank the
    documents that a sentence may be from, for judges that say only yes or no.

    Raises:
        UsageError: The encoder cannot be loaded.
    """

    version = "1"

    def __init__(self) -> None:
        self._encoder = Encoder(MINILM, threads=1)

    def judge(self, group: Group) -> Sequence[float]:
        """Return a number in [0, 1] for each item."""
        index = SupportIndex([group.text])
        if not index.sentences:
            return [0.0] * len(group.items)
        vectors = self._encoder.embed([*index.sentences, *group.items]).astype(np.float32)
        index.with_vectors(vectors[: len(index.sentences)])
        found = index.signals(group.items, vectors[len(index.sentences) :])["recall_and_cosine"][:, 0]
        halves: list[float] = np.round(np.clip(found / 2, 0, 1), 6).tolist()
        return halves
