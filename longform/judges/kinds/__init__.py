"""The kinds of judgement: one file each, and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from longform.judges.kind import Kind
from longform.judges.kinds.coverage import COVERAGE
from longform.judges.kinds.errors import ERRORS
from longform.judges.kinds.key_point import KEY_POINT
from longform.judges.kinds.misses import MISSES
from longform.judges.kinds.reference import REFERENCE
from longform.judges.kinds.support import SUPPORT

KINDS: Mapping[str, Kind] = {kind.task: kind for kind in (COVERAGE, SUPPORT, KEY_POINT, REFERENCE, ERRORS, MISSES)}
