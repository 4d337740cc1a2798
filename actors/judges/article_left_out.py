"""The offline support judge on labels it was fitted on: each article judged by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from actors.judges.offline_support import OfflineSupportJudge
from longform.judges.lexical_support import LexicalSupportModel
from longform.judges.support_prompts import SupportGroup, SupportVerdict, in_place, open_cells
from longform.support.index import Matrix
from longform.training.support_judge import LabelledSentence, fit_support_judge

Embed = Callable[[Sequence[str]], Matrix]


class ArticleLeftOutJudge(OfflineSupportJudge):
    """
    Args:
        examples: What embeds texts -> all labelled sentences that the judge was fitted on, with their articles.
        threads: Of the encoder.
    """

    def __init__(self, examples: Callable[[Embed], Sequence[LabelledSentence]], *, threads: int) -> None:
        super().__init__(threads=threads)
        sentences = examples(self._encoder.embed)

        def without(article: str) -> LexicalSupportModel:
            return fit_support_judge(sentences, left_out=[article])

        self._without = cache(without)

    def judge_without(self, article: str, groups: Sequence[SupportGroup]) -> list[list[SupportVerdict]]:
        """Shape (groups, sentences), by the model fitted on all other articles."""
        self._model = self._without(article)
        # vectors are kept: the articles were embedded to fit the models
        rows = [(text, self._row(text, sentences)) for text, sentences in open_cells(groups).items()]
        return in_place(groups, {(text, said): verdict for text, row in rows for said, verdict in row.items()})
