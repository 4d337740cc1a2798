import pytest

from longform.judges.claims import plain_numbers


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("twenty-seven days", "27 days"),
        ("3.4 million people", "3400000 people"),
        ("three hundred thousand", "300000"),
        ("$3.4bn", "$3400000000"),
        ("forty per cent", "40%"),
        ("40 percent", "40%"),
        ("5 dollars, USD 7", "$5, $7"),
        ("the 3rd and the third try", "the 3 and the 3 try"),
        pytest.param("a third of one of them", "a third of one of them", id="no-numbers"),
        pytest.param("in 2020 five people", "in 2020 five people", id="two-numbers"),
    ],
)
def test_numbers_are_written_in_one_way(text: str, plain: str) -> None:
    assert plain_numbers(text) == plain
    assert plain_numbers(plain) == plain
