"""
Judge cards: what a judge is worth, measured against human labels.

A card is made by `longform calibrate` or ships as a JSON file. A judge without a card says so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from longform.judges.card_columns import Card, CardFrame, JudgedBy, Reach
from longform.judges.card_figures import (
    SCALE_NAMES,
    TOPIC_KEPT_OUT,
    by_measure,
    support_words,
    target_words,
    topics_kept_out,
    with_interval,
)
from longform.metrics.agreement import Retest
from longform.metrics.statistics import EstimateColumns
from longform.models import read_model
from longform.settings.judges import JudgeSettings
from longform.settings.named_judges import SHIPPED_CHECKER, SHIPPED_KEY_POINT_CHECKER, judge_scale
from longform.text.language import language, language_name


class Version(NamedTuple):
    """The version of the code or prompt that made a judge's verdicts."""

    work: str  # changes with all that can change its verdicts beside its settings; a part of their keys
    prompt: str  # version of its prompt, or of its code, as rows of `verdicts` state it


SUPPORT_LEXICAL = "support-lexical"
"""The shipped card of the offline support judge, under whatever name it judges."""

SUPPORT_CHECKER = "support-checker"
"""The card of the checker that ships."""

KEY_POINT_CHECKER = "key-point-checker"
"""The card of the same checker for key points."""


def shipped_card(judge: str) -> Card | None:
    """Return the card that ships for a judge that ships or for `released:NAME`; None if none does."""
    resource = files("longform").joinpath("cards", f"{judge.replace(':', '_')}.json")
    card: Card | None = json.loads(resource.read_text(encoding="utf-8")) if resource.is_file() else None
    return card


def shipped_card_of(judge: JudgeSettings) -> Card | None:
    """Return the card that ships for a judge of this definition; None: none ships."""
    if judge == SHIPPED_CHECKER:
        return shipped_card(SUPPORT_CHECKER)
    if judge == SHIPPED_KEY_POINT_CHECKER:
        return shipped_card(KEY_POINT_CHECKER)
    if judge.fitted_model is not None:
        return shipped_card(judge.model_name)
    return shipped_card(SUPPORT_LEXICAL) if judge.is_lexical and judge.task == "support" else None


PEOPLE = (("human",), ("people",))
"""The annotators of the studies whose labels are released; a card names other ones."""

_FIELDS = {"judged_by", "labels", "n_unjudged"}
"""Fields of every card; without them it is no card, or one of an earlier version."""


def card_of(
    judge: str, judges: Mapping[str, JudgeSettings], versions: Mapping[str, Version], *, task: str
) -> CardFrame:
    """
    Return the fields of a card that say whose it is; its figures, its cost and a note go with them.

    *judge* is one of *judges*, or `released:NAME`, whose predictions a release ships; *versions* made their verdicts.
    """
    return {
        "kind": task,
        "judge": judge,
        "judged_by": judged_by(judge, judges, versions),
        "scale": judge_scale(judge, judges),
    }


def read_card(content: bytes, kind: str) -> Card:
    """
    The card of a judge of this *kind* that a file holds.

    Raises:
        ValueError: It holds no card, one of another kind, or one that an earlier version wrote.
    """
    read = json.loads(content)
    fields = read if isinstance(read, dict) else {}
    found = fields.get("kind")
    if found is None:
        raise ValueError("expected a card of this version, found none; `longform calibrate --out` writes one")
    if found != kind:
        raise ValueError(f"expected the card of a {kind} judge, found one of {found}")
    if missing := sorted(_FIELDS - fields.keys()):
        raise ValueError(f"expected a card of this version, found none of its {missing}; make it anew")
    card: Card = read
    try:
        describe(card)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"expected a whole card, found one that cannot be read ({error!r})") from error
    return card


def held_out_rows(judge: str) -> list[Reach]:
    """
    Return the reach of an offline judge of coverage on labels of the text that it is fitted on.

    Those of a fit with a part left out come first, those of a fit on another topic after them. *judge* names
    its fitted model, one of `SCALE_NAMES`.
    """
    scale = SCALE_NAMES[judge]
    rows: list[Reach] = read_model("reach_judge")["rows"]
    part = [row for row in rows if row["measure"].startswith(f"judge as {scale}: ")]
    home = {row["scored_on"] for row in part}
    topic = [row for row in rows if row["measure"].startswith(f"judge as {scale}, {TOPIC_KEPT_OUT}: ")]
    return [*part, *(row for row in topic if row["scored_on"] in home)]


def describe(card: Card) -> str:
    """The card in one line: what the judge is worth against people, with intervals and the label set's hash."""
    return "; ".join(described_parts(card))


def described_parts(card: Card) -> list[str]:
    """Return the parts of the line of `describe`, each a figure or several of one text."""
    labels = card["labels"]
    people = _annotators(labels["annotators"])
    parts = [
        card.get("scale"),
        *(support_words(card, people) if "data_sets" in card else target_words(card, people)),
        f"label set {labels['hash']}",
        retest_words(card["retest"]) if card.get("retest") else None,
        _unjudged(card) if card["n_unjudged"] else None,
        card.get("note"),
    ]
    return [part for part in parts if part]


def _annotators(names: Sequence[str]) -> str:
    several = f"annotator{'' if len(names) == 1 else 's'} {' and '.join(names)}"
    return "people" if tuple(names) in PEOPLE else several


def _unjudged(card: Card) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in card.get("unjudged", {}).items())
    return f"{card['n_unjudged']} unjudged" + (f" ({reasons})" if reasons else "")


# ---------------------------------------------------------------- whose card it is


def judged_by(name: str, judges: Mapping[str, JudgeSettings], versions: Mapping[str, Version]) -> JudgedBy:
    """Name a judge by its backend, model, prompt and the options by which it answers; a mean by its members."""
    judge = judges.get(name)
    if judge is None:
        return {"backend": "released", "model": name, "prompt_version": None}
    if judge.members:
        members = [judged_by(member, judges, versions) for member in judge.members]
        return {"backend": "mean", "cuts": list(judge.bounds), "of": members}
    found: JudgedBy = {"backend": judge.kind, "model": judge.model_name, "prompt_version": versions[name].prompt}
    if options := {option: value for option, value in judge.identity.items() if option not in _NAMED}:
        found["options"] = options
    if judge.times > 1:
        found["options"] = {**found.get("options", {}), _REPEATS: judge.times}
    return found


_REPEATS = "repeats"

_NAMED = {"kind", "task", "model", "chat", "prompt", "calibration", "probability", "url", "judge", "class"}
"""Settings that the backend, the model and the prompt of a card tell, or that change no answer."""


def other_judge(card: Card, wanted: JudgedBy) -> str | None:
    """Say in words why a card is not of the judge of this name, as `judged_by` gives it; return None if it is."""
    found = [f"{place}{was!r}, not {now!r}" for place, was, now in _differences(card["judged_by"], wanted)]
    return f"the card of another judge: {'; '.join(found)}" if found else None


def _differences(was: object, wanted: object, place: str = "") -> Iterator[tuple[str, object, object]]:
    """Each field of *wanted* that *was* has otherwise: its name, what is there, what was wanted."""
    if isinstance(wanted, Mapping):
        for name, value in wanted.items():
            yield from _differences(was.get(name) if isinstance(was, Mapping) else None, value, f"{name} ")
        if isinstance(was, Mapping) and "backend" in wanted:
            times, now = (judge.get("options", {}).get(_REPEATS) for judge in (was, wanted))
            if times is not None and now is None:
                yield f"{_REPEATS} ", times, 1
    elif isinstance(wanted, list) and isinstance(was, list) and len(was) == len(wanted):
        for one, other in zip(was, wanted, strict=True):
            yield from _differences(one, other, place)
    elif was != wanted:
        yield place, was, wanted


def worth(card: Card) -> str:
    """
    Return a verb phrase that says what a judge is worth, for readers who know no coefficients; the card has these.

    A judge of targets is put beside the language model whose correlation with people is nearest to its own on the
    same labels. Figures are of text that the judge was not fitted on, if there is such text.
    """
    return _of_support(card) if "data_sets" in card else _of_targets(card)


def _of_support(card: Card) -> str:
    accuracy, n = card["mean"]["balanced_accuracy"], len(card["data_sets"])
    if accuracy is None:
        return "was measured against people on too few labels to say how often it is right"
    told = f"is right on {100 * accuracy:.0f} of 100 labels by people, where guessing is right on 50"
    return told if n == 1 else f"{told}, the mean of {n} data sets"


def _of_targets(card: Card) -> str:
    topics = [by_measure(rows)["pearson"] for rows in topics_kept_out(card).values()]
    own = _reach(card) or {row["n"]: row for row in topics if len(topics) > 1}
    if not own and all(row["fitted"] for row in card["texts"]):
        return "was measured against people only on text that it was fitted on, where any judge looks better"
    if not own:
        return "was measured against people on too few labels to say how far it agrees"
    peers = {title: reach for title, reach in _peers(card) if reach.keys() >= own.keys()}
    values = " and ".join(f"{one['value']:.2f}" for one in own.values())
    if not peers:
        return f"agrees with people by a correlation of {values}, where 1 is full agreement"
    apart = {
        name: abs(sum((reach[n]["value"] or 0.0) - (own[n]["value"] or 0.0) for n in own))
        for name, reach in peers.items()
    }
    title = min(peers, key=lambda name: apart[name])
    n = sum(row["n_summaries"] for row in card["texts"] if len(row["texts"]) == 1 and row["n"] in own)
    beside = " and ".join(f"{peers[title][one]['value']:.2f}" for one in own)
    told = f"{_beside(own, peers[title])} {title} does on the same {n} summaries"
    return f"agrees with people {told}, correlation {values} beside {beside}"


def _reach(card: Card) -> dict[int, EstimateColumns]:
    """Return the known correlation on each kind of text that the judge was not fitted on, by its number of labels."""
    rows = [row for row in card["texts"] if not row["fitted"] and len(row["texts"]) == 1]
    return {row["n"]: row["pearson"] for row in rows if row["pearson"]["value"] is not None}


def _peers(card: Card) -> Iterator[tuple[str, Mapping[int, EstimateColumns]]]:
    """Yield the name and the figures of each other language model that was held against the same labels."""
    for judge, printed in TABLE_1.items():
        peer = shipped_card(judge)
        if judge != card["judge"] and peer and "texts" in peer and peer["labels"]["hash"] == card["labels"]["hash"]:
            yield printed.title, _reach(peer)


def _beside(own: Mapping[int, EstimateColumns], peer: Mapping[int, EstimateColumns]) -> str:
    """Say how a judge stands beside another; of overlapping intervals neither is called better."""
    if all((own[n]["low"] or -1.0) > (peer[n]["high"] or 1.0) for n in own):
        return "better than"
    return "less than" if all((peer[n]["low"] or -1.0) > (own[n]["high"] or 1.0) for n in own) else "about as well as"


def retest_words(found: Retest) -> str:
    """Say how often a judge with repeats answered the same, with kappa and r between its answers."""
    if not found["n_pairs"]:
        return f"asked {found['n_repeats']} times: no question has two answers"
    return (
        f"asked {found['n_repeats']} times ({found['n_pairs']} questions): same answer again "
        f"{with_interval(found['same'], 100, 1)} %, kappa {with_interval(found['kappa'], 1, 2)}, "
        f"r {with_interval(found['r'], 1, 2)}"
    )


STUDY_SUMMARIES, STUDY_LABELS = 200, 1419
"""Summaries and judgements of the human study."""


class PrintedJudge(NamedTuple):
    """A row of table 1: correlation, linking accuracy in per cent, dollars for all summaries; and the model's name."""

    pearson: float
    linking_accuracy: float
    usd: float
    title: str


TABLE_1: Mapping[str, PrintedJudge] = {
    "released:gemini-1.5-pro": PrintedJudge(0.751, 89.3, 15.1, "Gemini 1.5 Pro"),
    "released:gpt-4o-9fs": PrintedJudge(0.719, 89.2, 26.1, "GPT-4o with nine examples"),
    "released:gpt-4o": PrintedJudge(0.716, 88.9, 6.9, "GPT-4o"),
    "released:claude3-opus": PrintedJudge(0.677, 87.9, 23.8, "Claude 3 Opus"),
    "released:claude3-haiku": PrintedJudge(0.498, 87.7, 0.4, "Claude 3 Haiku"),
    "released:gpt3.5": PrintedJudge(0.495, 86.7, 1.3, "GPT-3.5"),
}


# ---------------------------------------------------------------- languages that no label was in


def unmeasured_languages(texts: Mapping[str, Iterable[str]], judges: Mapping[str, Collection[str]]) -> list[str]:
    """
    Return a sentence for each language of *texts* that a judge of words was not measured on: scores are no measure.

    *texts* are by a name in the plural (`answers of rag`). *judges* holds the languages that each judge was measured
    on, as `language` has them.
    """
    counts = {name: Counter(map(language, found)) for name, found in texts.items()} if judges else {}
    other = sorted({code for found in counts.values() for code in found if code is not None})
    unfit = {code: {name: of for name, of in judges.items() if code not in of} for code in other}
    return [_language_words(code, counts, by) for code, by in unfit.items() if by]


def _language_words(code: str, counts: Mapping[str, Counter[str | None]], judges: Mapping[str, Collection[str]]) -> str:
    written = [f"{found[code]:,} of {found.total():,} {name}" for name, found in counts.items() if found[code]]
    known = " and ".join(sorted({language_name(one) for of in judges.values() for one in of}))
    who = f"this judge ({next(iter(judges))}) was" if len(judges) == 1 else f"these judges ({', '.join(judges)}) were"
    return f"Written in {language_name(code)}: {'; '.join(written)}: {who} measured on {known} only."
