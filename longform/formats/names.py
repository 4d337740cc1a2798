"""Names of the formats that ship, apart from their readers so that a command line can list them without these."""

from __future__ import annotations

NAMES = ("summhay", "longformfact", "msrs", "key_points", "beir", "jsonl")

EXPORTED = ("summhay",)
"""The same of the formats that `longform export` writes."""

FULL_CONTEXT = "full"
"""The setting of summaries of all documents, where a release says it of itself."""
