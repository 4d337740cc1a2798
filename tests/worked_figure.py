"""
Draw the figure of docs/concepts.md: one query, from insights, bullets and
citations to coverage, citation and joint score.

    python -m tests.worked_figure
"""

from __future__ import annotations

from typing import NamedTuple

from longform.metrics.coverage import InsightScore, insight_score
from tests.places import ROOT

PICTURE = ROOT / "docs/pictures/worked.svg"


class Row(NamedTuple):
    insight: str
    gold: tuple[int, ...]
    answer: str
    bullet: int | None


BULLETS = (("The council voted 7 to 2 for the bridge.", (1,)), ("It will cost some millions.", (3, 5)))
ROWS = (
    Row("The council voted 7 to 2 to rebuild the bridge.", (1, 2), "full", 0),
    Row("Rebuilding it costs 3.4 million euros.", (2, 3), "partial", 1),
    Row("The bridge opens again in June.", (4,), "none", None),
)


def scored(row: Row) -> InsightScore:
    return insight_score(row.answer, row.bullet, citations=[cited for _, cited in BULLETS], gold=row.gold)


def means() -> dict[str, float]:
    """Coverage, citation and joint score of the summary, from 0 to 100."""
    found = [scored(row) for row in ROWS]
    columns = {
        "coverage": [one.coverage for one in found],
        "citation": [one.citation.f1 for one in found if one.citation],
        "joint": [one.joint for one in found],
    }
    return {name: 100 * sum(one or 0.0 for one in values) / len(values) for name, values in columns.items()}


def svg() -> str:
    lines = [text(20, 28, "Insight, and the documents that state it", "h"), text(400, 28, "Bullet of the summary", "h")]
    lines += [
        text(at, 28, name, "h") for at, name in zip((690, 780, 870), ("coverage", "citation", "joint"), strict=True)
    ]
    for place, row in enumerate(ROWS):
        lines += list(of_row(row, 66 + 70 * place))
    lines.append('<line x1="20" y1="252" x2="940" y2="252"/>')
    lines.append(text(20, 280, "Mean: coverage and joint over all insights, citation over covered ones", "h"))
    lines += [text(at, 280, f"{value:.1f}", "h") for at, value in zip((690, 780, 870), means().values(), strict=True)]
    style = (
        "text{font:14px sans-serif;fill:#222}.h{font-weight:bold}.s{font-size:12px;fill:#555}"
        "line{stroke:#888}rect{fill:#fff}"
        "@media(prefers-color-scheme:dark){text{fill:#eee}.s{fill:#bbb}rect{fill:#1e2129}}"
    )
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 300" role="img" aria-labelledby="worked">'
    title = '<title id="worked">Three insights, two bullets and their scores</title>'
    return "\n".join([head, title, f"<style>{style}</style>", '<rect width="960" height="300"/>', *lines, "</svg>", ""])


def of_row(row: Row, y: int) -> list[str]:
    score = scored(row)
    lines = [text(20, y, row.insight), text(20, y + 20, "documents " + joined(row.gold), "s")]
    if row.bullet is None:
        lines.append(text(400, y, "no bullet says it", "s"))
    else:
        said, cited = BULLETS[row.bullet]
        lines += [text(400, y, said), text(400, y + 20, f"cites {joined(cited)}; {row.answer}", "s")]
    if score.citation:
        of = f"precision {score.citation.precision:.2f}, recall {score.citation.recall:.2f}"
        lines.append(text(690, y + 20, of, "s"))
    shares = (score.coverage, score.citation.f1 if score.citation else None, score.joint)
    found = zip((690, 780, 870), shares, strict=True)
    return lines + [text(at, y, "–" if share is None else f"{100 * share:.1f}") for at, share in found]


def text(x: int, y: int, words: str, kind: str = "t") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{words}</text>'


def joined(numbers: tuple[int, ...]) -> str:
    return " and ".join(map(str, numbers))


if __name__ == "__main__":
    PICTURE.write_text(svg())
