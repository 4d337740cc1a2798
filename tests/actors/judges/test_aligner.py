"""The places of sentences, by shared words and meaning."""

from __future__ import annotations

from actors.judges.aligner import Aligner
from longform.judges.kind import Group

BRIDGE = "The council met in March. It voted 7 to 2 to rebuild the Alder Street bridge. Shops fear a quiet summer."
HARBOUR = "The harbour will be dredged in autumn. Fishing boats must leave by the first of September."


def near(text: str, *items: str) -> list[float]:
    return list(Aligner().judge(Group("d", (text,), items)))


def test_a_sentence_in_which_words_were_changed_stands_where_it_stood() -> None:
    said = (
        "It voted 7 to 2 to rebuild the Alder Street bridge.",
        "It voted 9 to 1 to close the Beech Street bridge.",
        "By then all boats have to be gone from the port.",
    )
    bridge, harbour = near(BRIDGE, *said), near(HARBOUR, *said)
    assert bridge[0] > bridge[1] > harbour[1]
    assert harbour[2] > bridge[2]
    assert all(0 <= number <= 1 for number in (*bridge, *harbour))


def test_a_text_without_sentences_holds_no_place() -> None:
    assert near("  ", "Boats leave.") == [0.0]
