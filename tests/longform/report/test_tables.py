"""Numbers of the report's tables say what they are, to the last digit that is shown."""

import pytest

from longform.tables.cells import number


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        ((-28.41, -0.03), "[-28.41, -0.03]"),
        ((0.004, 2.0), "[+0.004, +2.000]"),
        ((-1.0, 0.0), "[-1.0, +0.0]"),
        ((-1.25, 0.06), "[-1.2, +0.1]"),
    ],
)
def test_a_difference_whose_interval_excludes_0_does_not_end_at_0(interval: tuple[float, float], shown: str) -> None:
    """A reader of "worse" beside an interval that seems to hold 0 believes neither."""
    assert number(-14.2, sign=True, interval=interval).detail == shown


def test_a_share_keeps_its_digits() -> None:
    assert number(0.5, digits=2, interval=(0.0001, 1.0)).detail == "[0.00, 1.00]"
