"""YAML of people is read; bombs are refused in one sentence that names the file."""

from __future__ import annotations

import pytest

from longform.errors import UsageError
from longform.settings.yaml_text import yaml_value

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (LAUGHS, "at most 100,000 values, found more once its aliases are unfolded"),
        ("a: &a [*a]", "an alias that stands for itself"),
        ("[" * 5000 + "]" * 5000, "at most 100 levels"),
        ("[" * 150 + "]" * 150, "at most 100 levels"),
        ("a0: &a0 x\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 200)), "at most 100 levels"),
        ("#" * 2_000_000, "at most 1,048,576 characters"),
        (f"a: {'9' * 5000}", "4300"),
        ("a: 2024-13-45", "month must be in 1..12"),
        ("a: 1\na: 2", "the key 'a' stands twice"),
        ("a: !!python/object/apply:os.system [id]", "could not determine a constructor"),
        (b"a: \xff", "expected YAML"),
    ],
)
def test_bombs_are_refused(text: str | bytes, told: str) -> None:
    with pytest.raises(UsageError) as error:
        yaml_value(text, "mine.yaml")
    assert str(error.value).startswith("mine.yaml: expected ")
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("x: &x {b: 1}\ny: {<<: *x, b: 2}", {"x": {"b": 1}, "y": {"b": 2}}),
        ("[1, '1', 1.5, null, yes]", [1, "1", 1.5, None, True]),
    ],
)
def test_values_and_aliases_are_read(text: str, value: object) -> None:
    assert yaml_value(text, "mine.yaml") == value
