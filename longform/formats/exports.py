"""The formats that `longform export` writes."""

from __future__ import annotations

from collections.abc import Mapping

from longform.formats.exported import Exporter
from longform.formats.summhay_run import summhay_export

EXPORTS: Mapping[str, Exporter] = {"summhay": summhay_export}
"""Name on the command line -> haystacks of a run to files; `names.EXPORTED` repeats the names."""
