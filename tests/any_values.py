"""Draws of what a provider, a server or a user's class may give in the place of a text or a number."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
from hypothesis import strategies as st

HALVES = st.characters(categories=["Cs"])
"""Halves of characters, which JSON can escape and UTF-8 cannot hold."""

ANY_TEXT = st.text(st.characters() | HALVES, max_size=12)

_ODD_NUMBERS = st.sampled_from(
    [nan, inf, -inf, -0.0, 1e308, 5e-324, 10**400, -(10**400), 2**31, 2**40, 2**63, 2**64, 1 + 2j, True, False]
)
_OF_LIBRARIES = st.sampled_from(
    [
        *(np.float32(0.5), np.float64("nan"), np.int64(-1), np.bool_(True), np.array(1.0), np.array([1.0])),
        *(np.datetime64(0, "s"), Fraction(1, 3), Fraction(10**400), Decimal("0.1"), Decimal("sNaN"), Decimal("inf")),
    ]
)
ODD_NUMBER = _ODD_NUMBERS | _OF_LIBRARIES | st.sampled_from(["0.1", "7", "", "nan", b"1", [], {}, (), object()])
ANY_NUMBER = st.integers() | st.floats() | ODD_NUMBER
ANY_VALUE = ANY_NUMBER | ANY_TEXT | st.none() | st.binary(max_size=3) | st.lists(st.floats(), max_size=2)
