"""Runs a verb or a program in a Python without some packages: `python -m tests.without_packages NAMES -- VERB`."""

from __future__ import annotations

import runpy
import sys
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

LACKED = "ray,boto3,botocore,openai,aiohttp,torch,sentence_transformers,litellm"
"""Packages that no offline path may import; the ranks of tokens are files of litellm, and are found without it."""


class Absent(PathFinder):
    """Finds all packages but those that are lacked; `litellm` can be located, as files of it are read."""

    lacked: frozenset[str] = frozenset()

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: ModuleType | None = None) -> Any:
        name = fullname.partition(".")[0]
        if name not in cls.lacked:
            return PathFinder.find_spec(fullname, path, target)
        if fullname != "litellm":
            return None
        spec = PathFinder.find_spec(fullname)
        spec.loader.exec_module = _refuse
        return spec


def _refuse(module: ModuleType) -> None:
    raise ModuleNotFoundError(f"No module named {module.__name__!r}", name=module.__name__)


if __name__ == "__main__":
    at = sys.argv.index("--")
    Absent.lacked = frozenset(sys.argv[1].split(","))
    sys.meta_path[sys.meta_path.index(PathFinder)] = Absent
    sys.argv = ["longform", *sys.argv[at + 1 :]]
    if sys.argv[1].endswith(".py"):
        sys.argv = sys.argv[1:]
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        runpy.run_module("longform", run_name="__main__", alter_sys=True)
