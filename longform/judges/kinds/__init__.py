"""The kinds of judgement that ship: one file each, and one line in `longform.settings.judge`."""

from __future__ import annotations

from collections.abc import Mapping

from longform.judges.kind import Kind
from longform.settings.judge import LISTED
from longform.settings.strict import imported

KINDS: Mapping[str, Kind] = {task: imported(path) for task, path in LISTED.items()}
