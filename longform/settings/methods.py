"""Methods of summarising, as a configuration names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from longform.settings.strict import PartSettings


class _Method(PartSettings):
    """The facts of a kind of method."""

    plain: ClassVar[bool] = False  # true: it is one prompt over all documents, which needs no chat model


class PlainMethodSettings(_Method):
    """One prompt over all documents."""

    actor = "longform.summaries.methods:Plain"
    plain = True
    kind: Literal["plain"]


class FocusMethodSettings(_Method):
    """The plain prompt, and the wish to attend to the documents at one place (Wan et al., section 5.1)."""

    actor = "longform.summaries.methods:Focus"
    kind: Literal["focus"]
    at: Literal["top", "middle", "bottom"]  # of the prompt


class HierarchicalMethodSettings(_Method):
    """A summary of each document, then merges: two at a time until one is left, or all in one pass."""

    actor = "longform.summaries.methods:Hierarchical"
    kind: Literal["hierarchical"]
    merge: Literal["pairwise", "once"]  # two summaries at a time until one is left, or all in one pass


class IncrementalMethodSettings(_Method):
    """A summary of the first document, updated with each next one."""

    actor = "longform.summaries.methods:Incremental"
    kind: Literal["incremental"]


class CalibrationMethodSettings(_Method):
    """
    Permutation calibration: summaries of several orders of the documents, merged.

    `rotations` are the n cyclic ones (as released); `all` are n! (as the paper says), refused above `most` orders;
    `sampled` draws `n_orders` different ones, and with a `spread` more of them until the summaries agree as well as it
    says, or `most` are drawn.
    """

    actor = "longform.summaries.calibration:Calibration"
    newer = frozenset({"spread"})

    kind: Literal["calibration"]
    orders: Literal["rotations", "all", "sampled"]  # the n cyclic ones, all n!, or some that are drawn
    n_orders: int | None = Field(None, gt=1, le=1000)  # sampled only
    most: int = Field(24, gt=0, le=1_000_000)  # all, and sampled with a spread
    seed: int = 0  # of the orders that are drawn
    spread: float | None = Field(None, gt=0, lt=1)  # sampled only: of summaries over orders; null: `n_orders`, no more

    @model_validator(mode="after")
    def _says_how_many(self) -> CalibrationMethodSettings:
        if (self.n_orders is not None) != (self.orders == "sampled"):
            raise ValueError(
                f"n_orders is for sampled orders, and needed there; found {self.n_orders} with {self.orders}"
            )
        if self.spread is not None and (self.n_orders is None or self.n_orders > self.most):
            raise ValueError(
                f"spread is for sampled orders, of which n_orders are drawn first: expected n_orders of at most "
                f"{self.most} (`most`), found {self.n_orders} with {self.orders}"
            )
        return self


class CondensedMethodSettings(_Method):
    """
    Each document condensed by the model first, and the plain prompt over what is left (LONG2RAG, section 5.6).

    `snippets` are the passages that bear on the question, in the document's words; `summaries` the model's own.
    """

    actor = "longform.summaries.methods:Condensed"
    kind: Literal["condensed"]
    to: Literal["snippets", "summaries"]  # passages in the words of the document, or a summary of it


MethodSettings = Annotated[
    PlainMethodSettings
    | FocusMethodSettings
    | HierarchicalMethodSettings
    | IncrementalMethodSettings
    | CalibrationMethodSettings
    | CondensedMethodSettings,
    Field(discriminator="kind"),
]

SHIPPED_METHODS: Mapping[str, MethodSettings] = {
    "plain": PlainMethodSettings(kind="plain"),
    "focus-top": FocusMethodSettings(kind="focus", at="top"),
    "focus-middle": FocusMethodSettings(kind="focus", at="middle"),
    "focus-bottom": FocusMethodSettings(kind="focus", at="bottom"),
    "hierarchical-pairwise": HierarchicalMethodSettings(kind="hierarchical", merge="pairwise"),
    "hierarchical-once": HierarchicalMethodSettings(kind="hierarchical", merge="once"),
    "incremental": IncrementalMethodSettings(kind="incremental"),
    "snippets": CondensedMethodSettings(kind="condensed", to="snippets"),
    "summaries": CondensedMethodSettings(kind="condensed", to="summaries"),
    "calibration-rotations": CalibrationMethodSettings(kind="calibration", orders="rotations"),
    "calibration-all": CalibrationMethodSettings(kind="calibration", orders="all"),
    "calibration-sampled": CalibrationMethodSettings(kind="calibration", orders="sampled", n_orders=3, spread=0.25),
}
"""Methods that need no definition."""
