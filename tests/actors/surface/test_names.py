"""`import longform` costs nothing, and offers what it lists."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import longform
from tests.places import ROOT

HEAVY = ("ray", "torch", "litellm", "boto3", "pyarrow", "polars", "numpy", "scipy", "onnxruntime", "actors", "jobs")


def modules_after(program: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{program}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return set(done.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    found = modules_after("import longform")

    assert "longform" in found
    assert found.isdisjoint(HEAVY)


def test_judging_loads_no_cluster_and_no_client() -> None:
    judging = "import longform\nlongform.judge('- It rained.', ['It rained.'], features={})"
    by_default, by_words = modules_after(judging.format(None)), modules_after(judging.format("'words'"))

    assert "actors.surface.coverage" in by_default & by_words
    assert by_default.isdisjoint({"ray", "torch", "litellm", "boto3"})
    assert by_words.isdisjoint({"ray", "torch", "litellm", "boto3", "onnxruntime"})


@pytest.mark.parametrize("name", longform.__all__)
def test_every_name_is_there_with_a_docstring(name: str) -> None:
    assert getattr(longform, name).__name__ == name
    assert getattr(longform, name).__doc__


def test_the_stub_has_every_name_from_its_module() -> None:
    tree = ast.parse(Path(longform.__file__).with_suffix(".pyi").read_text())
    (listed,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    imported = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("actors.", "jobs."))
        for alias in node.names
    }

    assert imported == longform._MODULES
    assert listed == longform.__all__ == sorted(imported)
    assert (ROOT / "longform/py.typed").exists()


def test_no_module_has_the_name_of_a_function() -> None:
    """A submodule that is imported would take the name's place."""
    assert {module.name for module in pkgutil.iter_modules(longform.__path__)}.isdisjoint(longform.__all__)


def test_the_science_uses_none_of_the_names() -> None:
    using = [
        f"{path.relative_to(ROOT)}: {node.names[0].name}"
        for path in (ROOT / "longform").rglob("*.py")
        if "from longform import" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        if node.module == "longform" and {alias.name for alias in node.names} & set(longform.__all__)
    ]

    assert using == []


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'juge'.* judge, summarize"):
        longform.juge  # noqa: B018
