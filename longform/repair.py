"""
Citations by matrix: a summary's citations replaced by the documents that support each bullet.

Such citations say that supporting documents were found, not that they were the source: a repaired summary is a system
of its own, named so. Bullets and their order stay, so judgements of coverage and links stay true.
"""

from __future__ import annotations

from collections.abc import Sequence

from longform.citations import bullets, without_citations
from longform.support import SupportIndex, citing

VERSION = "1"
"""Changes with any change of what is cited."""

LABEL = "supporting documents found"


def repaired_texts(texts: Sequence[str], index: SupportIndex, numbers: Sequence[int]) -> list[str]:
    """
    *texts* with every bullet citing the documents that support it.

    A header line (no citation, a colon at its end) stays as it is, and so does a line of nothing but citations; a
    bullet that no document supports cites none. No line comes or goes: links to bullets stay true.

    Args:
        texts: Summaries of one haystack.
        index: The haystack's documents.
        numbers: What each document is cited by, in the index's order.
    """
    lines = [bullet for text in texts for bullet in bullets(text)]
    cited = citing(index.support([line.text for line in lines]))  # (lines, documents)
    repaired = iter(
        line.text
        if not line.citations and line.text.endswith(":")
        else _cite(line.text, [number for number, cites in zip(numbers, row, strict=True) if cites])
        for line, row in zip(lines, cited.tolist(), strict=True)
    )
    return ["\n".join(next(repaired) for _ in bullets(text)) for text in texts]


def _cite(line: str, numbers: Sequence[int]) -> str:
    said = without_citations(line)
    return f"{said} {''.join(f'[{number}]' for number in numbers)}".rstrip() if said else line
