"""The kinds of judgement: one file each, and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from longform.judges.kind import Kind
from longform.settings.strict import imported

LISTED: Mapping[str, str] = {
    "coverage": "longform.judges.kinds.coverage:COVERAGE",
    "support": "longform.judges.kinds.support:SUPPORT",
    "key_point": "longform.judges.kinds.key_point:KEY_POINT",
    "reference": "longform.judges.kinds.reference:REFERENCE",
    "errors": "longform.judges.kinds.errors:ERRORS",
    "misses": "longform.judges.kinds.misses:MISSES",
}
"""Task -> import path."""

KINDS: Mapping[str, Kind] = {task: imported(path) for task, path in LISTED.items()}
