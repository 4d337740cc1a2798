"""Measures that a configuration describes, beside those that it names, and how those of support are made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from longform.settings.endpoints import EncoderSettings
from longform.settings.python_class import PythonClassSettings
from longform.settings.strict import PartSettings, Strict

_NAMES_ON_THE_HUB: Mapping[str, str] = {"roberta-large": "FacebookAI/roberta-large"}
_USUAL_LAYERS: Mapping[str, int] = {"FacebookAI/roberta-large": 17}
"""The layer by which papers compute BERTScore, which agrees with people best (Zhang et al., 2020, appendix B)."""


class PythonMeasureSettings(PythonClassSettings, PartSettings):
    """A class outside of the package, by its import path; it is made with `options` as keyword arguments."""

    actor = "actors.measures:OfClass"


class BertScoreSettings(PartSettings):
    """BERTScore by the vectors of a model of one's choice (`longform.metrics.similarity`)."""

    actor = "actors.measures:OfTokens"
    kind: Literal["bertscore"]
    model: str  # a hub name, a folder or package:NAME
    layers: int | None = Field(None, ge=1)  # whose vectors count; null: the usual one of roberta-large
    name: str | None = Field(None, pattern=r"^bertscore_[a-z0-9_]+$")  # null: bertscore_ and the model's own

    @model_validator(mode="after")
    def _has_layers(self) -> Self:
        if self.layers is None and self.place not in _USUAL_LAYERS:
            raise ValueError(f"expected `layers` with model {self.model!r}, whose usual layer is not known; found none")
        return self

    @property
    def layer(self) -> int:
        return self.layers or _USUAL_LAYERS[self.place]

    @property
    def place(self) -> str:
        """Return the model as hubs name it."""
        return _NAMES_ON_THE_HUB.get(self.model, self.model)

    @property
    def shown(self) -> str:
        """The model's own name."""
        return own_name(self.model)

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return self.name or f"bertscore_{_as_name(self.shown)}"


class EmbeddingSimilaritySettings(EncoderSettings, PartSettings):
    """Similarity by an encoder of one's choice, here or behind an endpoint (`longform.metrics.similarity`)."""

    actor = "actors.measures:OfVectors"
    kind: Literal["embedding_similarity"]
    name: str | None = Field(None, pattern=r"^embedding_similarity_[a-z0-9_]+$")  # null: ends in the model's own

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return self.name or f"embedding_similarity_{_as_name(own_name(self.model))}"


def own_name(model: str) -> str:
    """Return a model's own name: the last part of a hub name, a folder or package:NAME."""
    return model.removeprefix("package:").rstrip("/").rpartition("/")[2]


def _as_name(text: str) -> str:
    return re.sub("[^a-z0-9]+", "_", text.lower()).strip("_")


MeasureSettings = Annotated[
    PythonMeasureSettings | BertScoreSettings | EmbeddingSimilaritySettings, Field(discriminator="kind")
]

SupportMode = Literal["cited", "document", "full"]


class Faithfulness(Strict):
    """Rules by which verdicts of support judges become numbers (Wan et al., section 2.3)."""

    mode: SupportMode | None = None
    """The documents that a sentence is checked against: `cited`, those it cites, then the best few others if none of
    these supports it; `document`, all of its prompt, each apart; `full`, all of them joined. Null: `document` if more
    is asked for (a fidelity, repaired citations, orders, an attribution, merging by min or mean), else `cited`."""
    documents: Literal["min", "mean", "max"] = "max"  # how numbers of documents merge into one of a sentence
    sentences: Literal["min", "mean", "max"] = "mean"  # how numbers of sentences merge into one of the summary
    attribution: str | None = None
    """The support judge whose best document is a sentence's place; null: each judge its own, if it has one for nearly
    every sentence, else the offline judge."""
    second_aligner: bool = False  # hold the attribution against another one, by shared words (appendix C.1)
