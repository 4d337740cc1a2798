"""The configuration of a benchmark of many sources that is made from long documents with queries."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from longform.settings.chat import ChatSettings
from longform.settings.strict import Strict
from longform.synthesis.asking import Role

Variant = Literal["rewritten", "original"]


class CutSettings(Strict):
    """The marks between the chapters of a document. A mark is no part of a chapter."""

    tags: tuple[str, ...] = ()  # HTML elements, as `name` or `name.class`, before which a chapter ends
    # regular expressions; a line that one of them matches whole, without outer space, is a mark
    lines: tuple[str, ...] = ()

    @field_validator("lines")
    @classmethod
    def _are_expressions(cls, lines: tuple[str, ...]) -> tuple[str, ...]:
        for line in lines:
            try:
                re.compile(line)
            except re.error as error:
                raise ValueError(f"expected regular expressions, found {line!r}: {error}") from error
        return lines

    @model_validator(mode="after")
    def _has_a_mark(self) -> Self:
        if not self.tags and not self.lines:
            raise ValueError("expected tags or lines that are marks, found neither")
        return self


class RewriteSettings(Strict):
    """Queries that make sense beside their document alone are given a vague description of it."""

    # queries of the first have the ids of the sources; those of the second end in `:VARIANT`, and are a data set of
    # their own
    variants: tuple[Variant, ...] = Field(("rewritten",), min_length=1)
    most_added_words: int = Field(30, gt=0)  # words of a description
    # a rewritten query tells an answer if it takes so many content words in a row from a reference
    leak_words: int = Field(3, gt=0)

    @model_validator(mode="after")
    def _are_rewritten(self) -> Self:
        if len(set(self.variants)) < len(self.variants) or "rewritten" not in self.variants:
            raise ValueError(
                f"expected rewritten, alone or with original, found {list(self.variants)}; without `rewrite` queries "
                "stay as they are"
            )
        return self


class ClusterSettings(Strict):
    """Queries that are alike become one."""

    encoder: str  # as of a retriever
    # two queries whose cosine is above it are in one cluster, and so is what is connected through others
    threshold: float = Field(ge=-1, le=1)
    least: int = Field(2, gt=0)  # queries of a cluster; smaller ones are merged into the most similar one that has room
    most: int = Field(6, gt=0)
    # cosine of the means of two clusters that are merged; null: as in the paper, the most similar one with room is
    # taken, however little it is alike
    least_similarity: float | None = Field(None, ge=-1, le=1)
    # clusters with more than `most`: `raise` clusters them anew at higher and higher thresholds until they fit; `lower`
    # is the paper's word, and splits nothing, so that they stay and are told
    oversize: Literal["raise", "lower"] = "raise"
    # merges queries and summaries: `rules` lists the one and joins the other, `writer` is asked
    merge: Literal["rules", "writer"] = "rules"

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.least > self.most:
            raise ValueError(f"expected least at most {self.most} (most), found {self.least}")
        return self


class MultiSourceCaps(Strict):
    """Caps on the rounds of each loop."""

    tries: int = Field(4, gt=0)  # tries at one query or summary
    replies: int = Field(3, gt=0)  # tries at a readable verdict


class MultiSourceSynthesis(Strict):
    """A file that says which documents to take, and what to make of them and their queries."""

    kind: Literal["multi_source"]
    name: str = Field(min_length=1)  # of the haystack and of the data set
    seed: int = Field(ge=0, lt=2**31)  # calls of another seed are other calls
    sources: str = Field(min_length=1)  # a JSON Lines file, or a folder with sources.jsonl
    domain: str | None = None  # of the queries: story, meeting; null: not stated
    html: bool = False  # texts of the sources are HTML
    cut: CutSettings | None = None  # null: a source is one document
    rewrite: RewriteSettings | None = None  # null: queries stay as they are
    cluster: ClusterSettings | None = None  # null: every query stands for itself
    caps: MultiSourceCaps = MultiSourceCaps()
    writer: ChatSettings | None = None  # of rewritten and merged texts; null: nothing of the kind is asked for
    verifier: ChatSettings | None = None  # of rewritten and merged queries
    prompts: str | None = None  # a folder whose files replace our prompts of the same name

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.rewrite is not None and self.cluster is not None:
            raise ValueError("expected rewrite or cluster, found both: make the one, then the other of what it made")
        if self.cut is not None and self.cut.tags and not self.html:
            raise ValueError(f"cut.tags {list(self.cut.tags)}: expected html: true beside them, found false")
        if self.asks and (self.writer is None or self.verifier is None):
            raise ValueError("expected a writer and a verifier for what is rewritten or merged by a model")
        return self

    @property
    def asks(self) -> bool:
        """Return whether models are asked."""
        return self.rewrite is not None or (self.cluster is not None and self.cluster.merge == "writer")

    @property
    def chats(self) -> dict[Role, ChatSettings]:
        """Return the model of each role; none if nobody is asked."""
        named: dict[Role, ChatSettings | None] = {"writer": self.writer, "verifier": self.verifier}
        return {role: chat for role, chat in named.items() if chat is not None} if self.asks else {}
