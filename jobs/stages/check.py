"""
Check: `units` x documents -> `verdicts` of support judges. N:M; a cell that cannot be judged is null with its reason.

A summary is checked against exactly the documents of its prompt. The rows of a task are one query's summaries, so that
each distinct (document, sentence) pair is judged once, whichever summaries say the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from actors.storage.benchmark import Benchmark
from jobs.stages.items import Given, Item, Row, Source
from jobs.stages.judge import VERDICT, AskJudge, Texts, slice_of, summary_row
from jobs.stages.split import UnitsOf
from jobs.stages.stage import Plan, Site, Stage
from jobs.stages.summarize import Summarized
from longform.judges.matrix import JudgedText, TargetText
from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.tables import DOCUMENTS

SEPARATOR = "\n====\n"
"""Between the documents of a prompt that is judged as one text."""

CHECK = (*VERDICT, "unit_index", "doc_position", "chunk_index", "text_index")
"""The columns of verdicts on pairs of document and sentence."""


class Checked(NamedTuple):
    """
    The verdicts of one support judge on one summary, by its work id.

    Attributes:
        query_id: Of the summary.
        context: Work id of the context that holds the documents.
    """

    summary: str
    judge: str
    query_id: str
    context: str


@dataclass(frozen=True, kw_only=True)
class CheckSupport(AskJudge[Checked]):
    """
    Asks about every sentence and document of the summaries.

    Attributes:
        mode: Each document apart, or all of a prompt joined.
    """

    step = "check"
    reads: ClassVar = {
        "units": ("unit_index", "text"),
        "contexts": ("context_id", "haystack_id", "doc_ids", "doc_chars"),
        "summaries": ("summary_id", "step", "failure"),
        "documents": DOCUMENTS.names,
    }
    columns = CHECK
    holds_model = True

    mode: str

    def items(self, plan: Plan) -> list[Item[Checked]]:
        summaries = {summary.work_id: summary for summary in plan.of(Summarized)}
        return [
            self._item(units, summaries[units.key.summary])
            for units in plan.of(UnitsOf)
            if units.key.summary in summaries
        ]

    def _item(self, units: Item[UnitsOf], summary: Item[Summarized]) -> Item[Checked]:
        (context,) = summary.sources
        how = [self.judge, self.settings.identity, self.version, self.mode]
        work_id = content_key("support", units.work_id, context.work_id, *how)
        key = Checked(summary.work_id, self.judge, summary.key.query_id, context.work_id)
        return Item(work_id, key, (Source("units", units.work_id), context, Source("summaries", summary.work_id)))

    def groups(self, given: Sequence[Given[Checked]]) -> Iterable[Sequence[Given[Checked]]]:
        """Give the summaries of one query together."""
        by_query: dict[str, list[Given[Checked]]] = {}
        for one in given:
            by_query.setdefault(one.key.query_id, []).append(one)
        return by_query.values()

    def texts(self) -> Texts[Checked]:
        kind, reader, benchmark = self.made().kind, self.reader(), Benchmark(self.bench)

        def text(given: Given[Checked]) -> JudgedText:
            row, packed = summary_row(reader, given), reader.row(given.sources[1])
            documents = {document.doc_id: document.text for document in benchmark.documents(packed["haystack_id"])}
            return JudgedText(
                work_id=given.work_id,
                summary_id=row["summary_id"],
                units=tuple(map(kind.unit, row["units"])),
                targets=tuple(texts_of(packed, documents, self.mode)),
                mode=self.mode,
            )

        return text


def texts_of(packed: Row, documents: Mapping[str, str], mode: str) -> list[TargetText]:
    """
    Return what a summary of the context *packed* is checked against, in the order of the prompt.

    These are the documents, each as far as the prompt held it; in mode full one text, all of them joined.
    """
    in_prompt = zip(packed["doc_ids"], packed["doc_chars"], strict=True)
    shown = [
        TargetText("document", doc_id, documents[doc_id][:chars], place)
        for place, (doc_id, chars) in enumerate(in_prompt)
    ]
    if mode == "full":
        return [TargetText("context", packed["context_id"], SEPARATOR.join(one.text for one in shown), None)]
    return shown


def stages(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return a stage for each support judge that is asked."""
    return [
        CheckSupport(**slice_of(experiment, site, name, step="check"), mode=experiment.faithfulness.mode)
        for name, settings in experiment.support_judges.items()
        if not settings.members
    ]
