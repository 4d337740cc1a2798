"""The kinds of synthesis that chat models carry out: one folder each, and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from longform.synthesis.key_points.recipe import KEY_POINTS
from longform.synthesis.multi_source.recipe import MULTI_SOURCE
from longform.synthesis.recipe import SynthesisKind
from longform.synthesis.written.recipe import WRITTEN

KINDS: Mapping[str, SynthesisKind] = {"written": WRITTEN, "multi_source": MULTI_SOURCE, "key_points": KEY_POINTS}
"""The key `kind` of a configuration -> the kind; without the key it is `written`."""
