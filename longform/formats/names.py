"""Names of the formats that ship, apart from their readers so that a command line can list them without these."""

from __future__ import annotations

NAMES = ("summhay", "longformfact", "msrs", "key_points", "beir", "jsonl")
