"""The configuration of a benchmark of key points that is made from documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from longform.settings.chat import ChatSettings
from longform.settings.endpoints import Url, Variable
from longform.settings.strict import Strict
from longform.synthesis.asking import Role

ROLES = ("planner", "writer", "verifier")

CATEGORIES: Mapping[str, str] = {
    "factual": "asks for facts or figures, and has a clear answer",
    "explanatory": "asks how something works or comes about, in some detail",
    "comparative": "asks what two or more things have in common, and what sets them apart",
    "subjective": "asks for a judgement that people may well differ about",
    "methodological": "asks for the steps or means by which a problem is solved",
    "causal": "asks for the reasons or motives behind something",
    "hypothetical": "asks what would follow from something that is not so, or not known to be so",
    "predictive": "asks what is to be expected of the future",
}
"""LONG2RAG's 8 categories of questions (figure 3), defined in our words."""

DOMAINS: Mapping[str, str] = {
    "music": "works, genres and makers of music, and how it is heard and sold",
    "film": "works and makers of film and television",
    "economics": "money, trade, work and policy about them",
    "technology": "machines, devices, networks and how they are built; learning machines are `ai`",
    "biology": "living things, medicine and the body",
    "history": "events, people and societies of the past",
    "sports": "games, athletes and how they are trained and judged",
    "ai": "machines that learn or reason, their methods and their consequences",
    "religion": "beliefs, their texts, practices and communities",
    "others": "none of the domains before",
}
"""LONG2RAG's 10 domains (figure 9), defined in our words."""


class GivenQuestions(Strict):
    """Questions of one's own."""

    kind: Literal["given"]
    # JSON Lines with `query` or `question`; `query_id`, `category` and `domain` if they have them
    files: tuple[str, ...] = Field(min_length=1)
    most: int | None = Field(None, gt=0)  # questions drawn at random, in turn from each file; null: all
    sorted: bool = False  # the planner names the category and domain of a question that states none
    # criteria, among five, that a question must meet, as the planner reads it; null: nobody is asked
    least_criteria: int | None = Field(None, ge=1, le=5)

    @property
    def is_read(self) -> bool:
        """True if the planner reads the questions of the files."""
        return self.sorted or self.least_criteria is not None


class EvolvedQuestions(Strict):
    """New questions that the planner makes from seeds, so many for each category and domain (LONG2RAG, section 3.1)."""

    kind: Literal["evolved"]
    # seeds, as the files of given questions, with `answer` if there is one
    files: tuple[str, ...] = Field(min_length=1)
    longest: int = Field(3000, gt=0)  # seeds are the questions with the longest answers, so many (LONG2RAG: 3,000)
    least_criteria: int = Field(4, ge=1, le=5)  # criteria, among five, that a seed must meet (LONG2RAG: 4)
    # seeds of a category, those first that meet most criteria (LONG2RAG: 12, chosen by people)
    seeds: int = Field(12, gt=0)
    per_cell: int = Field(7, gt=0)  # questions of each category and domain (LONG2RAG: 7)
    rounds: int = Field(5, gt=0)  # each evolves a seed in depth and one in width, for each category and domain
    candidates: int = Field(3, gt=0)  # new questions asked for in a call
    alike: float = Field(0.8, gt=0, le=1)  # two questions are the same if they share so much of their stems
    is_read: ClassVar = True


QuestionSettings = Annotated[GivenQuestions | EvolvedQuestions, Field(discriminator="kind")]


class EndpointSettings(Strict):
    """A search endpoint; requests that fail for a passing reason are sent again."""

    how_it_is_asked = frozenset({"api_key_env"})

    url: Url
    api_key_env: Variable | None = None  # the name of the variable with the bearer token; null: none is sent


class SearchSettings(Strict):
    """The search for the documents of a question: in the files by BM25 over stems, and at endpoints."""

    decomposed: bool = False  # the planner names sub-questions, and each is searched; else the question itself is
    per_search: int = Field(5, gt=0)  # documents of each search in the files and at each endpoint (LONG2RAG: 5)
    endpoints: tuple[EndpointSettings, ...] = ()  # servers that are searched, too (LONG2RAG: two)
    documents: int = Field(5, gt=0)  # documents of a question, those that fit it best (LONG2RAG: 5)
    # model whose cosine between question and document, as far as it reads, decides; null: BM25
    encoder: str | None = None
    # model whose cosine between question and segments of its documents tells how far they fit (LONG2RAG, section 6.3);
    # null: nobody looks
    segments: str | None = None
    # length of a segment (LONG2RAG: 1,024 tokens); it is read as far as the model reads
    segment_words: int = Field(768, gt=0)


class RulesSettings(Strict):
    """Key points without a model: sentences of the documents that share stems with the question."""

    shared_stems: int = Field(1, gt=0)  # a sentence is on the question if it shares so many
    least_words: int = Field(6, gt=0)
    most_words: int = Field(60, gt=0)
    # two sentences with the same numbers and names say the same if they share so much of their stems
    alike: float = Field(0.6, gt=0, le=1)
    most: int = Field(8, gt=0)  # key points of a question, by rank


class ModelsSettings(Strict):
    """Key points by chat models: the writer extracts and merges them, the verifier scores them."""

    rounds: int = Field(3, gt=0)  # extractions from a document at most; each asks for what was missed
    # tries at a list without repetitions in which every point stands once; then rules mend it
    merges: int = Field(2, gt=0)
    threshold: float = Field(0.7, ge=0, le=1)  # least P(YES) of a key point (LONG2RAG: 0.7)
    # a verifier that gives no log probabilities is refused, or its answer counts as 1 or 0
    without_logprobs: Literal["refuse", "answers"] = "refuse"


class KeyPointSynthesis(Strict):
    """A file that says which questions, which documents, and how key points are found."""

    kind: Literal["key_points"]
    name: str = Field(min_length=1)
    seed: int = Field(ge=0, lt=2**31)
    documents: tuple[str, ...]  # JSON Lines with `id` and `text`, and `title` if they have one
    questions: QuestionSettings
    categories: dict[str, str] = Field(default_factory=lambda: dict(CATEGORIES), min_length=1)
    domains: dict[str, str] = Field(default_factory=lambda: dict(DOMAINS), min_length=1)
    search: SearchSettings = SearchSettings()
    extraction: Literal["rules", "models"]
    rules: RulesSettings = RulesSettings()
    models: ModelsSettings = ModelsSettings()
    replies: int = Field(3, gt=0)  # tries at a readable reply
    planner: ChatSettings | None = None  # of questions and searches; null: the writer
    writer: ChatSettings | None = None
    verifier: ChatSettings | None = None
    prompts: str | None = None  # a folder whose files replace our prompts of the same name

    @model_validator(mode="after")
    def _have_documents(self) -> Self:
        if not self.documents and not self.search.endpoints:
            raise ValueError("expected `documents` or `search.endpoints`, found neither")
        return self

    @model_validator(mode="after")
    def _have_their_models(self) -> Self:
        for role in sorted({role for role, _ in self.needed} - self.chats.keys()):
            why = " and ".join(why for needed, why in self.needed if needed == role)
            raise ValueError(f"expected a {role}, found none; it is asked for {why}")
        return self

    @property
    def needed(self) -> list[tuple[Role, str]]:
        """Return the roles that are asked, each with what for."""
        found: list[tuple[Role, str]] = []
        questions = self.questions
        if questions.kind == "evolved":
            found += [("planner", "`questions`: evolved"), ("verifier", "`questions`: evolved")]
        elif questions.is_read:
            found.append(("planner", "`questions`: sorted or least_criteria"))
        if self.search.decomposed:
            found.append(("planner", "`search`: decomposed"))
        if self.extraction == "models":
            found += [("writer", "`extraction`: models"), ("verifier", "`extraction`: models")]
        return found

    @property
    def chats(self) -> dict[Role, ChatSettings]:
        """Return the model of each role that is named."""
        planner = self.planner or self.writer
        named: dict[Role, ChatSettings | None] = {"planner": planner, "writer": self.writer, "verifier": self.verifier}
        return {role: chat for role, chat in named.items() if chat is not None}
