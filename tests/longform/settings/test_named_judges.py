"""Judges that a command line knows by name."""

from __future__ import annotations

from longform.settings.judges import CheckpointJudgeSettings
from longform.settings.named_judges import KNOWN_JUDGES, PUBLISHED_JUDGES, SHIPPED_JUDGES, known_judge


def test_published_judges_check_support_and_none_has_the_name_of_one_that_ships() -> None:
    assert {judge.task for judge in PUBLISHED_JUDGES.values()} == {"support"}
    assert not PUBLISHED_JUDGES.keys() & SHIPPED_JUDGES.keys()
    assert len(KNOWN_JUDGES) == len(PUBLISHED_JUDGES) + len(SHIPPED_JUDGES)


def test_checkers_by_name_are_those_of_support_that_ask_no_chat_model() -> None:
    assert {name for name in KNOWN_JUDGES if known_judge(name, "support")} == {
        "offline", "checker", "minicheck-roberta", "minicheck-deberta", "minicheck-flan-t5",
    }  # fmt: skip


def test_minicheck_is_read_as_its_release_reads_it() -> None:
    """One end-of-sequence token between document and claim; Flan-T5 with its prefix, answering "1" or "0"."""
    made = {name: judge for name, judge in PUBLISHED_JUDGES.items() if isinstance(judge, CheckpointJudgeSettings)}
    assert {name: (judge.family, judge.joined, judge.prefix, judge.chunk_tokens) for name, judge in made.items()} == {
        "minicheck-roberta": ("classifier", "eos", "", 400),
        "minicheck-deberta": ("classifier", "eos", "", 400),
        "minicheck-flan-t5": ("flan_t5", "pair", "predict: ", 650),
    }
    assert {judge.threshold for judge in made.values()} == {0.5}
