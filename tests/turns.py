"""Which tests of several processes take turns."""

from __future__ import annotations

import re
from functools import cache

from xdist.scheduler.loadscope import LoadScopeScheduling

from tests.places import ROOT

_STARTS_A_RAY = re.compile(r"mark\.(own_)?ray\b")


class RayTakesTurns(LoadScopeScheduling):
    """
    Give each file to one process, and all files with tests that start a Ray to the same.

    On two cores, two of them at a time take four times as long. The marks themselves are known in the processes alone.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "Ray" if _starts_a_ray(file) else file


@cache
def _starts_a_ray(file: str) -> bool:
    return _STARTS_A_RAY.search((ROOT / file).read_text()) is not None
