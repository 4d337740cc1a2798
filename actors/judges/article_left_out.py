"""The offline support judge on labels it was fitted on: each article judged by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from actors.judges.lexical import LexicalJudge
from longform.judges.kind import Group, Verdicts
from longform.judges.lexical_support import LexicalSupportModel
from longform.judges.pairs import in_place
from longform.support.index import Matrix
from longform.training.support_judge import LabelledSentence, fit_support_judge

Embed = Callable[[Sequence[str]], Matrix]


class ArticleLeftOutJudge(LexicalJudge):
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

    def judge_without(self, article: str, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs by the model fitted on all other articles: shape (groups, sentences)."""
        self._model = self._without(article)
        # vectors are kept: the articles were embedded to fit the models
        return in_place(self._kind, groups, self._judged(groups))
