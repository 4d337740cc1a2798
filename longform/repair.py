"""
Citations by matrix: a summary's citations replaced by the documents that support each bullet.

Such citations say that supporting documents were found, not that they were the source: a repaired summary is a system
of its own, named so. Bullets and their order stay, so judgements of coverage and links stay true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from longform.citations import bullets, without_citations
from longform.keys import content_key
from longform.models import models_version
from longform.support import WINDOW, SupportIndex
from longform.support_model import VERSION as MODEL_VERSION
from longform.support_model import SupportModel, expected_f1_sets, shipped_support_model
from longform.text import stems, without_marks

VERSION = f"2+{MODEL_VERSION}+{models_version('support_words')}"
"""Changes with any change of what is cited."""

LABEL = "supporting documents found"
METHOD = "repaired citations"

_OF_ITS_OWN_CALL = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "cost_usd", "seconds")


def repaired_summary_id(summary_id: str) -> str:
    """The id of the repaired twin of a summary."""
    return content_key("repaired", summary_id, VERSION)


def repaired_summaries(
    summaries: Sequence[Mapping[str, Any]], index: SupportIndex, numbers: Sequence[int]
) -> list[dict[str, Any]]:
    """
    The repaired twin of each row of the summaries table, in order, with the original as its only parent.

    The twin of a summary that failed has failed for the same reason. No call was made for a twin: what its text cost
    stands at its parent, and tokens, cost and seconds are null here.

    Args:
        summaries: Of one haystack; `work_id` stays as it is.
        index: The haystack's documents.
        numbers: What each document is cited by, in the index's order.
    """
    written = [summary["text"] for summary in summaries if summary["text"] is not None]
    repaired = iter(repaired_texts(written, index, numbers))
    return [
        {
            **summary,
            **dict.fromkeys(_OF_ITS_OWN_CALL),
            "summary_id": repaired_summary_id(summary["summary_id"]),
            "summarizer": f"{summary['summarizer']}, {LABEL}",
            "method": METHOD,
            "parents": [summary["summary_id"]],
            "text": None if summary["text"] is None else next(repaired),
        }
        for summary in summaries
    ]


def repaired_texts(
    texts: Sequence[str], index: SupportIndex, numbers: Sequence[int], model: SupportModel | None = None
) -> list[str]:
    """
    *texts* with every bullet citing the documents that support it.

    A header line (no citation, a colon at its end) stays as it is, and so does a line of nothing but citations; a
    bullet that no document supports cites none. No line comes or goes: links to bullets stay true.

    Args:
        texts: Summaries of one haystack.
        index: The haystack's documents.
        numbers: What each document is cited by, in the index's order.
        model: Of kind `words`; None: the one that ships.
    """
    model = model or shipped_support_model("words")
    lines = [bullet for text in texts for bullet in bullets(text)]
    signals = index.signals([line.text for line in lines])
    cited = expected_f1_sets(model.probability(signals))  # (lines, documents)
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


class Evidence(NamedTuple):
    """The sentences of a document that support a bullet best."""

    number: int  # what the document is cited by
    text: str


def best_evidence(bullet: str, cited: Sequence[int], index: SupportIndex, numbers: Sequence[int]) -> Evidence | None:
    """Where the best supporting of the *cited* documents says what *bullet* says; None where it cites none of them."""
    places = [place for place, number in enumerate(numbers) if number in set(cited)]
    if not places:
        return None
    found = index.best_windows([stems(without_marks(bullet))])
    best = max(places, key=lambda place: (float(found.recall[0, place]), -place))
    start = int(found.start[0, best])
    end = min(start + WINDOW, int(index.bounds[best + 1]))
    return Evidence(numbers[best], " ".join(index.sentences[start:end]))
