"""The number of bullets that is asked for if nothing of a query says it."""

from __future__ import annotations

USUAL_BULLETS = 7
"""SummHay's 92 queries have 6.75 insights on average. The offline writer takes it, too, if no number is told."""

OWN_BULLETS = 8
"""Asked for if a query has nothing that its summary ought to say, and the configuration names no number."""
