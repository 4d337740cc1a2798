"""The page of all keys is the one that the code makes."""

from longform.settings.experiment import Experiment
from tests.configuration_page import PAGE, models, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run: python -m tests.configuration_page"


def test_every_key_of_the_file_and_every_kind_is_named() -> None:
    text = page()
    assert all(f"| `{name}` |" in text for name in Experiment.model_fields)
    assert {"Bm25RetrieverSettings", "ChatJudgeSettings", "SystemGrid"} <= {model.__name__ for model in models()}
