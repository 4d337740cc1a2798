import pytest

from longform.judges.failure_modes import classify
from longform.judges.offline_coverage import QueryInsights, stem_weights
from longform.text.citations import bullets

RARE = frozenset({"mari", "dillon", "octob"})


def idf(stem: str) -> float:
    return 6.0 if stem in RARE else 2.0


def one_class(text: str, *, other: float = 0.0, support: float = 1.0, linked: bool = False) -> str:
    return classify(
        bullets(text), linked={0} if linked else set(), other_scores=[other], best_support=[support], idf=idf
    )[0]


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        pytest.param("Here are the insights:", {}, "header", id="header"),
        pytest.param("**Key insights:**", {}, "header", id="bold-header"),
        pytest.param("Three aims were set [4]:", {}, "unclassified", id="cited-line-is-no-header"),
        pytest.param("Here are the insights:", {"linked": True}, "linked", id="linked-before-all"),
        pytest.param(
            "- Growth matters [1]", {"other": 0.5, "support": 0.1}, "other_subtopic", id="other-before-support"
        ),
        pytest.param("- Growth matters [1]", {"other": 0.49, "support": 0.39}, "unsupported", id="unsupported"),
        pytest.param("- Growth matters to the company [1]", {}, "generic", id="generic"),
        pytest.param("- Growth of 3% matters [1]", {}, "unclassified", id="number"),
        pytest.param("- Growth under Mary matters to the company [1]", {}, "unclassified", id="rare-name"),
        pytest.param("- Growth of Shop matters to the company [1]", {}, "generic", id="name-all-know"),
        pytest.param("- october [1]", {}, "unclassified", id="rare-word"),
    ],
)
def test_first_rule_that_fits_gives_the_class(text: str, facts: dict, expected: str) -> None:
    assert one_class(text, **facts) == expected


def test_citations_are_no_numbers_of_the_statement() -> None:
    assert one_class("- Growth matters to the company [1][22]") == "generic"


def test_no_bullet_is_lost() -> None:
    text = "Here they are:\n- Growth matters [1]\n- Growth of 3% [2]"
    found = classify(bullets(text), linked={2}, other_scores=[0, 0, 0], best_support=[0, 1, 1], idf=idf)
    assert found == ["header", "generic", "linked"]


def test_insight_of_another_query_is_recognised() -> None:
    own, other = "Sales fell 3% in winter.", "The company closes 400 mall stores by 2026."
    others = QueryInsights([other], stem_weights([own, other]))
    scores = others.best_scores([f"- {own} [1]", f"- {other} [2]"])
    assert scores[0] == 0
    assert scores[1] > 0.9


def test_haystack_of_one_query_has_no_other_subtopic() -> None:
    assert QueryInsights([], stem_weights([])).best_scores(["- a b"]).tolist() == [0.0]
