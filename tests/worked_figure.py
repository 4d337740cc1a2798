"""
Draw the worked figure of docs/concepts.md: a query, three insights, a summary and its scores, by the project's code.

    python -m tests.worked_figure
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from longform.metrics.coverage import InsightScore, insight_score, summary_scores
from tests.places import ROOT

FIGURE = ROOT / "docs" / "pictures" / "worked-example.svg"


class Insight(NamedTuple):
    lines: tuple[str, ...]
    gold: frozenset[int]  # numbers of the documents that state it
    answer: str  # of the judge
    linked_unit: int | None  # the bullet that says it, from 0


class Line(NamedTuple):
    lines: tuple[str, ...]
    cited: tuple[int, ...]


QUERY = "What was decided about the bridge?"
INSIGHTS = (
    Insight(("The council voted 7 to 2 to", "rebuild the bridge."), frozenset({1, 2, 4}), "full", 0),
    Insight(("Rebuilding it will cost", "3.4 million euros."), frozenset({2, 3}), "partial", 1),
    Insight(("The bridge will open", "in May 2027."), frozenset({5}), "none", None),
)
BULLETS = (
    Line(("The council voted 7 to 2", "to rebuild the bridge [1][2]."), (1, 2)),
    Line(("The works will cost", "several million euros [2][4]."), (2, 4)),
    Line(("Shops nearby fear", "a quiet summer [3]."), (3,)),
)

_INK, _FAINT = "#222222", "#767676"
_BOX = {"full": "#d7ece1", "partial": "#fbeccb", "none": "#f3dcdc", "": "#eeeeee"}
_TOP, _STEP, _HIGH = 84, 104, 78
_LEFT, _MIDDLE, _RIGHT = 16, 330, 640


def insight_scores() -> list[InsightScore]:
    """Return the scores of each insight, as shares."""
    return [
        insight_score(one.answer, one.linked_unit, citations=[line.cited for line in BULLETS], gold=one.gold)
        for one in INSIGHTS
    ]


def scores() -> dict[str, float]:
    """Return coverage, citation and joint of the summary, from 0 to 100."""
    found = {score.measure: score for score in summary_scores(insight_scores())}
    return {name: 100 * found[name].total / found[name].n for name in ("coverage", "citation", "joint")}


def figure() -> str:
    """Return the figure as SVG; every number in it is computed."""
    parts = [*_heads(), *_insights(), *_links(), *_bullets(), *_sums()]
    title = "A worked example: three insights, a summary of three bullets, and its scores"
    return "\n".join(
        [
            (
                '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 980 500" role="img" aria-labelledby="worked"'
                ' style="background: #ffffff" font-family="sans-serif" font-size="14">'
            ),
            f'<title id="worked">{title}</title>',
            *parts,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, words: str, *, faint: bool = False, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{_FAINT if faint else _INK}"{weight}>{escape(words)}</text>'


def _box(x: float, row: int, width: float, fill: str) -> str:
    return f'<rect x="{x:g}" y="{_TOP + row * _STEP}" width="{width:g}" height="{_HIGH}" rx="6" fill="{fill}"/>'


def _heads() -> list[str]:
    return [
        _text(_LEFT, 28, f"Query: {QUERY}", bold=True),
        _text(_LEFT, 66, "Insights, and the documents that state them", faint=True),
        _text(_MIDDLE, 66, "The summary: bullets, with citations", faint=True),
        _text(_RIGHT, 66, "Each insight: coverage, citation, joint", faint=True),
    ]


def _insights() -> list[str]:
    found = []
    for row, one in enumerate(INSIGHTS):
        y = _TOP + row * _STEP
        found += [_box(_LEFT, row, 250, _BOX[one.answer])]
        found += [_text(_LEFT + 10, y + 24 + 19 * at, line) for at, line in enumerate(one.lines)]
        found += [_text(_LEFT + 10, y + 66, f"stated by {_numbers(sorted(one.gold))}", faint=True)]
    return found


def _bullets() -> list[str]:
    answers = {one.linked_unit: one.answer for one in INSIGHTS}
    found = []
    for row, one in enumerate(BULLETS):
        y = _TOP + row * _STEP
        found += [_box(_MIDDLE, row, 266, _BOX[answers.get(row, "")])]
        found += [_text(_MIDDLE + 10, y + 24 + 19 * at, line) for at, line in enumerate(one.lines)]
        if row not in answers:
            found += [_text(_MIDDLE + 10, y + 66, "says no insight", faint=True)]
    return found


def _links() -> list[str]:
    return [
        f'<path d="M{_LEFT + 250} {_TOP + row * _STEP + 39} L{_MIDDLE} {_TOP + one.linked_unit * _STEP + 39}"'
        f' stroke="{_FAINT}" stroke-width="2"/>'
        for row, one in enumerate(INSIGHTS)
        if one.linked_unit is not None
    ]


def _sums() -> list[str]:
    found = []
    for row, (one, score) in enumerate(zip(INSIGHTS, insight_scores(), strict=True)):
        y = _TOP + row * _STEP
        found += [_text(_RIGHT, y + 24, f"coverage: {one.answer} = {score.coverage:g}")]
        if score.citation is None or one.linked_unit is None:
            found += [_text(_RIGHT, y + 43, "citation: none, as nothing is covered")]
        else:
            cited, right = set(BULLETS[one.linked_unit].cited), set(BULLETS[one.linked_unit].cited) & one.gold
            shares = f"P {len(right)}/{len(cited)}, R {len(right)}/{len(one.gold)}"
            found += [_text(_RIGHT, y + 43, f"citation: {shares}, F1 = {score.citation.f1:.2f}")]
        found += [_text(_RIGHT, y + 62, f"joint: {score.joint:.2f}")]
    return [*found, *_totals()]


def _totals() -> list[str]:
    rows, total = insight_scores(), scores()
    cited = [one.citation.f1 for one in rows if one.citation is not None]
    words = {
        "coverage": " + ".join(f"{one.coverage:g}" for one in rows),
        "citation": " + ".join(f"{one:.2f}" for one in cited),
        "joint": " + ".join(f"{one.joint:.2f}" for one in rows),
    }
    counts = {"coverage": len(rows), "citation": len(cited), "joint": len(rows)}
    y = _TOP + 3 * _STEP + 26
    lines = [
        _text(
            _LEFT,
            y + 28 * at,
            f"{name.capitalize()} of the summary: ({words[name]}) / {counts[name]} = {total[name]:.0f}",
        )
        for at, name in enumerate(words)
    ]
    rule = f'<path d="M{_LEFT} {y - 24} H964" stroke="{_FAINT}"/>'
    return [rule, *(line.replace("<text ", '<text font-weight="bold" ', 1) for line in lines)]


def _numbers(documents: list[int]) -> str:
    return ("document " if len(documents) == 1 else "documents ") + ", ".join(map(str, documents))


if __name__ == "__main__":
    FIGURE.write_text(figure())
