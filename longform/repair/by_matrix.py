"""Citations by matrix: a summary's citations replaced by the documents whose words support each bullet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.models import models_version
from longform.repair.twins import citing, is_header, twin
from longform.rows import SummaryRow
from longform.support.feedback import VERSION as FEEDBACK_VERSION
from longform.support.feedback import Readers, read_twice, shipped_readers
from longform.support.index import WINDOW, SupportIndex
from longform.support.model import VERSION as MODEL_VERSION
from longform.support.model import expected_f1_sets
from longform.text.citations import bullets
from longform.text.words import stems, without_marks

VERSION = f"5+{FEEDBACK_VERSION}+{MODEL_VERSION}+{models_version('support_words', 'support_words_and_gap')}"
"""Changes with any change of what is cited."""


def repaired_summaries(
    summaries: Sequence[SummaryRow], index: SupportIndex, numbers: Sequence[int], *, by: str = VERSION
) -> list[SummaryRow]:
    """
    Return the repaired twin of each row of the summaries table, in order.

    The summaries are of one haystack, whose documents *index* holds; `work_id` stays as it is. *numbers* are those by
    which documents are cited, in the index's order. *by* changes with any change of the citations.
    """
    written = [summary["text"] for summary in summaries if summary["text"] is not None]
    repaired = iter(repaired_texts(written, index, numbers))
    return [twin(summary, None if summary["text"] is None else next(repaired), by=by) for summary in summaries]


def repaired_texts(
    texts: Sequence[str], index: SupportIndex, numbers: Sequence[int], readers: Readers | None = None
) -> list[str]:
    """
    Return *texts* with every bullet citing the documents that support it.

    A header line (no citation, a colon at its end) stays as it is, and so does a line of nothing but citations; a
    bullet that no document supports cites none. No line comes or goes: links to bullets stay true. Among many documents
    a bullet is read twice (`longform.support.feedback`). The *texts* are summaries of one haystack, and *numbers* those
    by which its documents are cited, in the index's order. Without *readers*, the models that ship read.
    """
    readers = readers or shipped_readers()
    lines = [bullet for text in texts for bullet in bullets(text)]
    cited = expected_f1_sets(read_twice([line.text for line in lines], index, readers))  # (lines, documents)
    repaired = iter(
        line.text
        if is_header(line)
        else citing(line.text, [number for number, cites in zip(numbers, row, strict=True) if cites])
        for line, row in zip(lines, cited.tolist(), strict=True)
    )
    return ["\n".join(next(repaired) for _ in bullets(text)) for text in texts]


class BestPlace(NamedTuple):
    """The sentences of a document that support a bullet best."""

    number: int  # what the document is cited by
    text: str


def best_evidence(bullet: str, cited: Sequence[int], index: SupportIndex, numbers: Sequence[int]) -> BestPlace | None:
    """Return the best place in the *cited* documents for *bullet*; None if it cites none of them."""
    places = [place for place, number in enumerate(numbers) if number in set(cited)]
    if not places:
        return None
    found = index.best_windows([stems(without_marks(bullet))])
    best = max(places, key=lambda place: (float(found.recall[0, place]), -place))
    start = int(found.start[0, best])
    end = min(start + WINDOW, int(index.bounds[best + 1]))
    return BestPlace(numbers[best], " ".join(index.sentences[start:end]))
