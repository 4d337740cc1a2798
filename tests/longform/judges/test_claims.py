import pytest

from longform.judges.claims import read_statement

SIX = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}


@pytest.mark.parametrize(
    ("line", "denied"),
    [
        pytest.param("Sales fell in winter.", set(), id="no-cue"),
        pytest.param("Sales did not fall in winter.", {"fall", "winter"}, id="not"),
        pytest.param("Sales didn't fall in winter.", {"fall", "winter"}, id="contracted"),
        pytest.param("Sales can’t fall in winter.", {"fall", "winter"}, id="typographic-apostrophe"),
        pytest.param("Sales never stalled. Profits rose.", {"stall"}, id="sentence-ends-it"),
        pytest.param("Sales did not fall but profits rose", {"fall"}, id="but-turns-it"),
        pytest.param("Not only sales fell.", set(), id="not-only"),
        pytest.param("It is not untrue: no store closed", {"store", "close"}, id="clause-by-clause"),
        pytest.param("Nobody denied sales fell", set(), id="two-denials-affirm"),
        pytest.param("not alpha beta gamma delta epsilon zeta eta", SIX, id="six-words"),
    ],
)
def test_denial_reaches_six_words_of_its_clause(line: str, denied: set[str]) -> None:
    assert read_statement(line).denied == denied


def test_that_clause_is_denied_to_its_end() -> None:
    words = "alpha beta gamma delta epsilon zeta eta theta"
    assert read_statement(f"It is untrue that {words}.").denied == frozenset(read_statement(words).stems)


def test_quantities_have_value_and_unit_and_names_are_none() -> None:
    statement = read_statement("- In Q4 one store sold $2,330.50, up 3.0% over five years [12][3]")
    assert [(q.value, q.unit) for q in statement.quantities] == [("2330.5", "$"), ("3", "%"), ("5", "")]


def test_numbers_of_one_unit_beside_one_word_could_be_the_same() -> None:
    def first(line: str):
        return read_statement(line).quantities[0]

    assert first("sales fell 3%").could_be(first("sales fell by 7%"))
    assert not first("sales fell 3%").could_be(first("sales fell $7"))
    assert not first("sales fell 3%").could_be(first("7% of members voted"))


def test_words_put_between_keep_the_order_and_swapped_ones_do_not() -> None:
    insight = read_statement("sales fell")
    assert insight.neighbours <= read_statement("sales of shoes suddenly fell").in_order
    assert not insight.neighbours & read_statement("fell sales").in_order


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A refund after 30 days is possible.", "The refund after 30 days was declined."),
        ("Business and Enterprise plans include exports.", "Only Enterprise plans include exports."),
        ("The board approved the plan.", "The board rejected the plan."),
    ],
)
def test_opposites_and_limits_contradict_in_both_directions(one: str, other: str) -> None:
    assert read_statement(one).contradicts(read_statement(other))
    assert read_statement(other).contradicts(read_statement(one))
    assert not read_statement(one).contradicts(read_statement(one))


def test_turns_are_opposites_and_do_not_contradict() -> None:
    """Long answers tell of much that rises and of much that falls."""
    rose, fell = read_statement("Sales of shoes rose in May."), read_statement("Sales of shoes fell in May.")
    assert rose.opposes(fell)
    assert rose.opposes(read_statement("Sales of shoes did not rise in May."))
    assert not rose.contradicts(fell)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Sales of shoes rose in May.", "Costs of rent fell in June.", id="of-something-else"),
        pytest.param("Sales rose in May.", "Sales rose in May and fell in June.", id="both-are-said"),
        pytest.param("Only Enterprise plans include exports.", "Enterprise plans include exports.", id="no-part"),
        pytest.param("Not only Enterprise plans include exports.", "Business and Enterprise plans do.", id="not-only"),
    ],
)
def test_what_is_no_contradiction(one: str, other: str) -> None:
    assert not read_statement(one).contradicts(read_statement(other))
