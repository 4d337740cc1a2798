"""Statistics of labelled data sets (Wan et al., table 2), from the texts themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from jobs.calibration.label_texts import LabelledText, with_text
from jobs.calibration.place import LabelledPlace
from longform.judges.meta_evaluation import label_counts
from longform.judges.support_meta import DataSetStatistics
from longform.text.nltk_words import n_words
from longform.text.punkt import release_sentences

_UNKNOWN = "unknown"


def data_set_statistics(place: LabelledPlace, texts: Sequence[LabelledText]) -> list[DataSetStatistics]:
    """Return a row for each data set."""
    counts = {row["data_set"]: row for row in label_counts([text.summary for text in texts])}
    words = cache(n_words)  # summaries of one article share its documents
    found: list[DataSetStatistics] = []
    for name, row in counts.items():
        own = [text for text in texts if text.summary.data_set == name]
        documents = [[document.text for document in with_text(place.documents(text.row))] for text in own]
        said = [text.row["text"] or "" for text in own]
        models = {text.row["summarizer"] for text in own} - {_UNKNOWN}
        found.append(
            {
                "data_set": name,
                "n_examples": len(own),
                "documents": _mean(len(of_text) for of_text in documents),
                "document_words": _mean(sum(map(words, of_text)) for of_text in documents),
                "summary_sentences": _mean(len(release_sentences(text)) for text in said),
                "summary_words": _mean(n_words(text) for text in said),
                "level": row["level"],
                "n_labels": row["n_labels"],
                "n_supported": row["n_supported"],
                "models": sorted(models),
            }
        )
    return found


def _mean(values: Iterable[int]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
