"""Reads YAML that people write, and refuses what only an attack or a mistake would hold."""

from __future__ import annotations

from typing import Any

import yaml

from longform.errors import UsageError

_MERGE = "tag:yaml.org,2002:merge"
_CHARACTERS = 2**20
_VALUES = 100_000
_DEPTH = 100


def yaml_value(text: str | bytes, where: str) -> Any:
    """
    Return the value of a text in YAML, in which no key stands twice in a mapping.

    Raises:
        UsageError: It is no YAML, or holds more than any configuration does once its aliases are unfolded.
    """
    if len(text) > _CHARACTERS:
        raise UsageError(f"{where}: expected at most {_CHARACTERS:,} characters of YAML, found {len(text):,}")
    try:
        loader = _OnceLoader(text)
        root = loader.get_single_node()
        if root is None:
            return None
        _check_size(root, where)
        return loader.construct_document(root)
    except RecursionError:
        raise _too_deep(where) from None
    except yaml.MarkedYAMLError as error:  # a file of another kind may hold what no message may repeat
        mark = error.problem_mark or error.context_mark
        place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise UsageError(f"{where}: expected YAML: {place}{error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:  # numbers of thousands of digits, days of no calendar
        raise UsageError(f"{where}: expected YAML: {error}") from error


def _too_deep(where: str) -> UsageError:
    return UsageError(f"{where}: expected YAML of at most {_DEPTH} levels, found a deeper one")


def _check_size(root: yaml.Node, where: str) -> None:
    known: dict[
        int, tuple[int, int] | None
    ] = {}  # values in a node and its levels, aliases unfolded; None: in counting

    def size(node: yaml.Node) -> tuple[int, int]:
        if id(node) in known:
            if (found := known[id(node)]) is None:
                raise UsageError(f"{where}: expected YAML without an alias that stands for itself, found one")
            return found
        known[id(node)] = None
        parts = node.value if isinstance(node, yaml.CollectionNode) else []
        sizes = [size(member) for part in parts for member in (part if isinstance(part, tuple) else (part,))]
        n, levels = 1 + sum(n for n, _ in sizes), 1 + max((levels for _, levels in sizes), default=0)
        if n > _VALUES:
            raise UsageError(
                f"{where}: expected YAML of at most {_VALUES:,} values, found more once its aliases are unfolded"
            )
        if levels > _DEPTH:
            raise _too_deep(where)
        known[id(node)] = n, levels
        return n, levels

    size(root)


class _OnceLoader(yaml.SafeLoader):
    """Reads YAML in which no key stands twice in a mapping, of which the first value would be lost."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that stands twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen and key.tag != _MERGE:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands twice", key.start_mark
                )
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else "")
        return super().construct_mapping(node, deep)
