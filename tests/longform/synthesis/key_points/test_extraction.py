"""Points of a document: what is looked up in it, what is thrown out, and when a round is the last."""

from __future__ import annotations

import json

from longform.synthesis.asking import Log
from longform.synthesis.key_points.points import FoundPoint, Grounds, extract
from longform.synthesis.key_points.search import SourceDocument
from tests.longform.synthesis.synthesizing import Told

DOCUMENT = SourceDocument("d", None, "The bridge opened\nin 1931. It cost 4 million. Nobody complained.")


def listed(*points: tuple[str, list[str]]) -> str:
    return json.dumps({"points": [{"point": text, "spans": spans} for text, spans in points]})


def extracted(*replies: str, rounds: int = 3) -> tuple[list[FoundPoint], Log, Told]:
    told, log = Told(points=replies), Log()
    found = told.run(extract("What of the bridge?", DOCUMENT, rounds=rounds, replies=2, log=log))
    return found, log, told


def verdicts(log: Log, check: str) -> list[tuple[str, str | None]]:
    return [(one.verdict, one.reason) for one in log.attempts if one.check == check]


def test_a_span_is_found_up_to_white_space_and_kept_as_the_document_has_it() -> None:
    found, _, _ = extracted(listed(("It opened in 1931.", ["opened in 1931", "4 million"])), listed())
    where, cost = DOCUMENT.text.index("opened"), DOCUMENT.text.index("4 million")
    assert found == [
        FoundPoint(
            text="It opened in 1931.",
            grounds=(
                Grounds(doc_id="d", start=where, end=where + 14, exact=False, text="opened\nin 1931"),
                Grounds(doc_id="d", start=cost, end=cost + 9, exact=True, text="4 million"),
            ),
        )
    ]


def test_a_point_whose_spans_do_not_stand_in_the_document_is_thrown_out_with_the_reason() -> None:
    found, log, _ = extracted(
        listed(
            ("It is red.", ["the red bridge"]), ("It cost much.", ["4 million", "a lot"]), ("It is.", []), ("X.", [" "])
        ),
        listed(),
    )
    assert [point.text for point in found] == ["It cost much."]
    assert [one.text for one in found[0].grounds] == ["4 million"]
    assert verdicts(log, "span found") == [
        ("rejected", "does not stand in d"),
        ("accepted", None),
        ("rejected", "does not stand in d"),
        ("rejected", "says nothing"),
    ]
    assert verdicts(log, "point grounded") == [
        ("rejected", "none of 1 spans stands in the document"),
        ("accepted", None),
        ("rejected", "no span"),
        ("rejected", "none of 1 spans stands in the document"),
    ]


def test_rounds_ask_for_what_was_missed_until_one_adds_nothing() -> None:
    first, again = ("It cost 4 million.", ["4 million"]), ("it cost 4 million", ["4 million"])
    found, log, told = extracted(listed(first, first), listed(again))
    assert [point.text for point in found] == ["It cost 4 million."]
    assert [ask.fields["found"] for ask in told.asks] == ["(none yet)", "- It cost 4 million."]
    assert verdicts(log, "point new") == [
        ("accepted", None),
        ("rejected", "twice in one list"),
        ("rejected", "found in an earlier round"),
    ]


def test_no_round_more_than_asked_for() -> None:
    points = [listed((f"Point {n}.", ["4 million"])) for n in range(5)]
    found, _, told = extracted(*points, rounds=2)
    assert (len(found), len(told.asks)) == (2, 2)


def test_prose_and_empty_replies_are_asked_again_and_then_given_up() -> None:
    found, log, told = extracted("The bridge is nice.", "!empty_reply")
    assert found == []
    assert verdicts(log, "points listed") == [
        ("rejected", "unverified: invalid_json"),
        ("exhausted", "unverified: empty_reply"),
    ]
    assert "invalid_json" in told.asks[1].fields["notes"]
