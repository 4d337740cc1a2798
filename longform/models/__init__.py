"""
The fitted models that ship; `longform train NAME` re-makes them, `reach_NAME.json` says what they reach.

They are text, but for the change of an encoder that makes the checker.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from longform.keys import content_key


def read_model(name: str) -> dict[str, Any]:
    """The content of `NAME.json`."""
    return dict(json.loads(_text(name)))


def models_version(*names: str) -> str:
    """Changes with any change of the models' content."""
    return content_key([_text(name) for name in names])[:8]


def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
