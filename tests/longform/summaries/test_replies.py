import pytest

from longform.summaries.methods import summary_text


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        pytest.param("Summary: One. Two.", "One. Two.", id="as-asked"),
        pytest.param("Summary:\nOne.\nTwo.", "One.\nTwo.", id="own-line"),
        pytest.param("Summary:\n- one [1]\n- two [2][3]", "- one [1]\n- two [2][3]", id="bullets"),
        pytest.param('"""Summary: One."""', "One.", id="quotes-around-all"),
        pytest.param("'''Summary: One.'''", "One.", id="single-quotes-around-all"),
        pytest.param("Summary: '''One.'''", "One.", id="quotes-behind-the-label"),
        pytest.param("**Summary:** One.", "One.", id="bold"),
        pytest.param("## Summary: One.", "One.", id="heading"),
        pytest.param("summary: One.", "One.", id="lower-case"),
        pytest.param("Sure, here it is:\n\nSummary: One.", "One.", id="introduction"),
        pytest.param("One. Two.", "One. Two.", id="no-label"),
        pytest.param("The court gave a summary: it was short.", "The court gave a summary: it was short.", id="inside"),
        pytest.param("Summary: In summary: all is well.", "In summary: all is well.", id="first-label-only"),
        pytest.param("Summary: He said 'no'.", "He said 'no'.", id="quotes-inside"),
        pytest.param("Summary:", None, id="nothing"),
        pytest.param('Summary: """ """', None, id="nothing-in-quotes"),
        pytest.param(" \n", None, id="blank"),
    ],
)
def test_the_text_behind_the_label(reply: str, text: str | None) -> None:
    assert summary_text(reply) == text
