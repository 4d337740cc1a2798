"""
Perturbed copies of labelled summaries, and their effect on a judge that links bullets.

A judge must not move if a summary says the same in other words, in one bullet, in prose, at more length or with more
citations.
It must count a bullet less with other numbers or its words shuffled, and a denial or an echo of the query not at all.
The summaries are those that people labelled, so that it is known what they said before.

The paraphrase is no rewriting by rule. If people call an insight fully covered in two summaries and name the bullet,
the bullet of one summary takes the place of that of the other: both say the insight, in the words of two systems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from longform.judges.card_columns import Adversarial, AdversarialRow, Card
from longform.judges.card_figures import with_interval
from longform.judges.perturbations import cite_all, dropped, perturb
from longform.keys import stable_seed
from longform.metrics.statistics import EstimateColumns

Should = Literal["full", "same", "nothing", "less"]
Rows = Literal["fully covered", "all"]

SCORE, PRECISION = "score", "citation precision"

SEED = 29
"""The seed of every choice; not that of the copies that the offline judges' guards were fitted on."""


class LabelledLines(NamedTuple):
    """A summary that people labelled."""

    summary_id: str
    lines: tuple[str, ...]  # bullets, with markers and citations
    query: str
    insights: Mapping[str, str]  # target id -> text, of those of its query that have people's answer
    # insight that people call fully covered -> the bullet that says it, from 0; None: not named
    covered: Mapping[str, int | None]
    n_documents: int = 0  # in its haystack; 0: not known


class Perturbed(NamedTuple):
    """A perturbed summary, with the insights whose score tells something."""

    lines: tuple[str, ...]
    targets: tuple[str, ...]


class Others(NamedTuple):
    """Texts of other summaries."""

    foreign: Sequence[str]  # bullets about something else
    saying: Mapping[str, Sequence[str]]  # insight -> bullets of any summary that say it, as people label them


class Perturbation(NamedTuple):
    """A change of a summary, and what a judge must make of it."""

    name: str
    rows: Rows  # the insights that count
    should: Should  # the effect that it must have on their score
    make: Callable[[LabelledLines, Others], Perturbed | None]  # None: nothing of the summary can be changed so
    told: str  # follows "when"
    needs: str = "people call no insight fully covered"  # the reason if no summary can be changed so
    cites: bool = False  # it changes citations, so that their precision is measured, too


# ---------------------------------------------------------------- copies


def _copied(summary: LabelledLines, _others: Others) -> Perturbed:
    """Add a bullet for each insight, in its own words."""
    copies = (f"- {text}" for text in summary.insights.values())
    return Perturbed((*summary.lines, *copies), tuple(summary.insights))


def _paraphrased(summary: LabelledLines, others: Others) -> Perturbed | None:
    """Replace each bullet that says an insight by a bullet of another summary that says it, too."""
    lines, found = list(summary.lines), {}
    for target, unit in summary.covered.items():
        if unit is None or unit in found or not 0 <= unit < len(lines):
            continue
        choices = [line for line in others.saying.get(target, ()) if line != summary.lines[unit]]
        if choices:
            lines[unit] = choices[stable_seed(SEED, summary.summary_id, target) % len(choices)]
            found[unit] = target
    return Perturbed(tuple(lines), tuple(found.values())) if found else None


def _cited(summary: LabelledLines, _others: Others) -> Perturbed:
    return Perturbed(tuple(cite_all(summary.lines, summary.n_documents)), tuple(summary.insights))


def _echoed(summary: LabelledLines, _others: Others) -> Perturbed | None:
    if not summary.query:
        return None
    lines = perturb("echo", summary.lines, seed=SEED, query=summary.query)
    return Perturbed(tuple(lines), tuple(summary.insights))


def _numbered(summary: LabelledLines, others: Others) -> Perturbed | None:
    """Change numbers; only insights that state a number can tell."""
    found = _changed("number")(summary, others)
    if found is None:
        return None
    told = [one for one in found.targets if perturb("number", [text := summary.insights[one]], seed=SEED) != [text]]
    return found._replace(targets=tuple(told)) if told else None


def _changed(name: str) -> Callable[[LabelledLines, Others], Perturbed | None]:
    """Return what makes a copy by the perturbation of this name; those without a fully covered insight have none."""

    def make(summary: LabelledLines, others: Others) -> Perturbed | None:
        if not summary.covered or (name == "pad" and not others.foreign):
            return None
        lines = perturb(name, summary.lines, seed=SEED, foreign=others.foreign)
        return Perturbed(tuple(lines), tuple(summary.covered))

    return make


_NO_LABELS = "no insight has people's answer"
_NO_PARAPHRASE = "no insight is fully covered in two summaries, with the bullets named"
_NO_FOREIGN = "no other query has summaries, or people call no insight fully covered"

ADVERSARIAL: Mapping[str, Perturbation] = {
    one.name: one
    for one in (
        Perturbation("copy", "all", "full", _copied, "copied from the reference into a bullet of its own", _NO_LABELS),
        Perturbation(
            "paraphrase", "fully covered", "same", _paraphrased, "said by another system's bullet", _NO_PARAPHRASE
        ),
        Perturbation(
            "merge", "fully covered", "same", _changed("merge"), "all bullets are merged into one, which is not split"
        ),
        Perturbation(
            "prose",
            "fully covered",
            "same",
            _changed("prose"),
            "all bullets are a paragraph, which is read as statements",
        ),
        Perturbation(
            "pad", "fully covered", "same", _changed("pad"), "each bullet is doubled with foreign text", _NO_FOREIGN
        ),
        Perturbation("cite all", "all", "same", _cited, "every bullet cites all documents", _NO_LABELS, cites=True),
        Perturbation("negate", "fully covered", "nothing", _changed("negate"), "negated"),
        Perturbation(
            "number",
            "fully covered",
            "less",
            _numbered,
            "given other numbers",
            "no fully covered insight states a number",
        ),
        Perturbation("shuffle", "fully covered", "less", _changed("shuffle"), "its words are shuffled"),
        Perturbation("echo", "all", "nothing", _echoed, "the query replaces every bullet", _NO_LABELS),
    )
}
"""Maps a name to its perturbation; first stand those under which a summary says what it said."""


def perturbed_summaries(
    summaries: Sequence[LabelledLines], others: Callable[[LabelledLines], Others], names: Sequence[str]
) -> dict[tuple[str, str], Perturbed]:
    """Return (perturbation, summary id) -> the perturbed summary, of those that can be perturbed so."""
    found = {}
    for summary in summaries:
        beside = others(summary)
        for name in names:
            made = ADVERSARIAL[name].make(summary, beside)
            if made is not None and made.targets:
                found[name, summary.summary_id] = made
    return found


# ---------------------------------------------------------------- rows


class ScoredPair(NamedTuple):
    """A judge's view of one insight in one summary; None: unjudged, or not known."""

    score: float | None
    precision: float | None = None  # precision of the citations of the bullet that it links


Scored = Callable[[str | None, str, str], ScoredPair]
"""(perturbation or None, summary id, target id) -> the judge's view."""


def adversarial(
    perturbed: Mapping[tuple[str, str], Perturbed], scored: Scored, *, seed: int, resamples: int
) -> Adversarial:
    """
    Return the section of a card: a row for each perturbation, and one on citations.

    *perturbed* is by perturbation and summary; *scored* has the judge's views. Intervals resample summaries.
    """
    rows: list[AdversarialRow] = []
    missing: dict[str, str] = {}
    for one in ADVERSARIAL.values():
        pairs = list(_pairs(one, perturbed, scored))
        if not pairs:
            missing[one.name] = one.needs
            continue
        scores = [(summary, before.score, after.score) for summary, before, after in pairs]
        rows.append(_row(one, SCORE, one.should, scores, seed=seed, resamples=resamples))
        if one.cites:
            known = [(summary, before.precision, after.precision) for summary, before, after in pairs]
            if cited := [pair for pair in known if None not in pair]:
                rows.append(_row(one, PRECISION, "less", cited, seed=seed, resamples=resamples))
            else:
                missing[PRECISION] = "the documents that state the insights are not known"
    return {"rows": rows, "missing": missing, "reason": None}


def _pairs(
    one: Perturbation, perturbed: Mapping[tuple[str, str], Perturbed], scored: Scored
) -> Iterator[tuple[str, ScoredPair, ScoredPair]]:
    for (name, summary), made in perturbed.items():
        for target in made.targets if name == one.name else ():
            yield summary, scored(None, summary, target), scored(name, summary, target)


def _row(
    one: Perturbation,
    measure: str,
    should: Should,
    pairs: Sequence[tuple[str, float | None, float | None]],
    *,
    seed: int,
    resamples: int,
) -> AdversarialRow:
    known = [(one, before, after) for one, before, after in pairs if before is not None and after is not None]
    means = dropped(known, seed=seed, resamples=resamples)
    return {
        "perturbation": one.name,
        "measure": measure,
        "rows": "covered by the judge" if measure == PRECISION else one.rows,
        "should": should,
        "before": means["before"].as_json(),
        "after": means["after"].as_json(),
        "drop": means["drop"].as_json(),
        "n_summaries": len({summary for summary, *_ in known}),
        "n_unjudged": len(pairs) - len(known),
    }


# ---------------------------------------------------------------- in words


def adversarial_words(card: Card) -> list[str]:
    """Return the section as one paragraph of lines; nothing if the card has none."""
    found = card.get("adversarial")
    if found is None:
        return []
    if found["reason"]:
        return [f"perturbed summaries: not judged ({found['reason']})"]
    lines = [f"  {row['perturbation']}: {row_words(row)}" for row in found["rows"]]
    lines += [f"  {name}: not measured ({why})" for name, why in found["missing"].items()]
    return ["\n".join(["perturbed summaries (score from 0 to 1, fully covered insights unless said):", *lines])]


def row_words(row: AdversarialRow) -> str:
    """Say what a row means, with its interval and counts."""
    if row["before"]["value"] is None:
        return f"unknown: no insight was judged on both sides ({row['n_unjudged']} unjudged)"
    unjudged = f", {row['n_unjudged']} unjudged" if row["n_unjudged"] else ""
    n = row["drop"]["n"]
    which = {"all": "all insights, ", "covered by the judge": "insights that it links, "}.get(row["rows"], "")
    return f"{_meaning(row)} ({which}n {n}, {row['n_summaries']} summaries{unjudged})"


_SHOULD = {"full": "should count 1", "same": "should keep it", "less": "should lose much", "nothing": "should lose all"}


def should_words(row: AdversarialRow) -> str:
    """Say what a perturbation is, and what it should do to the measure."""
    should = "should fall" if row["measure"] == PRECISION else _SHOULD[row["should"]]
    return f"when {ADVERSARIAL[row['perturbation']].told}; {should}"


def _meaning(row: AdversarialRow) -> str:
    said = f"counts {with_interval(row['after'], 1, 2)}" if row["should"] == "full" else _moved(row)
    return f"{f'{PRECISION} {_moved(row)}' if row['measure'] == PRECISION else said} {should_words(row)}"


def _moved(row: AdversarialRow) -> str:
    drop, of = row["drop"], f"{row['before']['value']:.2f}"
    value, low, high = drop["value"], drop["low"], drop["high"]
    assert value is not None, "a row with a value before has a drop"
    if value == low == high == 0:
        return f"keeps its {of}"
    if low is not None and high is not None and low <= 0 <= high:
        return f"keeps its {of} within chance (loses {with_interval(drop, 1, 2)})"
    return f"{'loses' if value > 0 else 'gains'} {with_interval(_size(drop), 1, 2)} of {of}"


def _size(drop: EstimateColumns) -> EstimateColumns:
    """Return a drop as it is, and a rise by its size."""
    value, low, high = drop["value"], drop["low"], drop["high"]
    if value is None or value > 0:
        return drop
    bounds = (None, None) if low is None or high is None else (-high, -low)
    return {"value": -value, "low": bounds[0], "high": bounds[1], "n": drop["n"]}
