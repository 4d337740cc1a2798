"""A judge that takes a known time, so that what is measured is the serving and not a model."""

from __future__ import annotations

import os
import time
from typing import Any

from actors.serving.messages import About
from longform.settings.strict import Strict
from serve.engine import Work


class PacedItem(Strict):
    text: str


class PacedJudge:
    """Sleeps *unit_s* seconds for each unit; answers with its process, so that one sees who judged."""

    item: type[Strict] = PacedItem

    def __init__(self, name: str, *, threads: int, unit_s: float) -> None:
        self.about = About(name, "judge", f"paced@1+{unit_s}", task="paced", card_reason="it judges nothing")
        self._unit_s = unit_s

    def split(self, item: Any) -> list[Any]:
        return [item["text"]]

    def run(self, units: list[Any]) -> list[Work]:
        time.sleep(self._unit_s * len(units))
        return [Work([{"answer": str(os.getpid()), "failure": None}], 1) for _ in units]
