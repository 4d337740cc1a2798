"""
The stages of a synthesis with chat models, each kept in its folder: outlines, documents, the benchmark's tables.

Reads   a configuration; BENCH/synthesis, where an earlier command left outlines and drafts
Writes  BENCH/synthesis; documents, queries, targets, qrels, attempts; synthesis.json
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Never, get_args

import numpy as np

from actors.chat.call_context import CallContext
from actors.chat.opening import load_prompt
from actors.storage.benchmark import MANIFEST
from actors.storage.folder import Folder
from actors.storage.tables import Snapshot
from jobs.calling import Calling, open_rows
from jobs.cluster import Cluster
from jobs.stages.performing import Worker
from jobs.stages.runner import PlainStage, Task, run_stage
from jobs.synthesis.config import check_synthesis
from jobs.synthesis.files import ACCOUNT
from jobs.synthesis.plan import Left
from jobs.synthesis.workers import draft_of, draft_worker, outline_worker
from jobs.write_benchmark import Manifest, another_stands, write_benchmark
from longform import __version__
from longform.errors import LongformError, UsageError
from longform.keys import content_key, stable_seed
from longform.rows import CheckAttemptRow, DraftRow, OutlineRow
from longform.synthesis.written.account import (
    Account,
    Written,
    check_rows,
    exhausted_rows,
    haystack_account,
    haystack_rows,
    readable_id,
)
from longform.synthesis.written.asking import Attempt, Outcome
from longform.synthesis.written.outline import Outline
from longform.synthesis.written.replies import FORMS
from longform.synthesis.written.settings import ModelSynthesis, assignment

_WORK = "synthesis"
_OUTCOMES: dict[str, Outcome] = {outcome: outcome for outcome in get_args(Outcome)}
_PLANS_VERSION = 1  # raised by a change of the plans that changes documents


class Synthesis:
    """One configuration into one benchmark folder."""

    def __init__(
        self, config: ModelSynthesis, out_url: str, *, cluster: Cluster, calling: Calling, with_keys: bool = True
    ) -> None:
        self.config, self.cluster, self.calling = config, cluster, calling
        self.out, self.work = Folder(out_url), Folder(out_url).child(_WORK)
        check_synthesis(config, with_keys=with_keys)
        calling.check_prices(list(config.chats.values()))
        self._refuse_another()

    @cached_property
    def prompt_versions(self) -> list[str]:
        return sorted(load_prompt(name, self.config.prompts).version for name in FORMS)

    @cached_property
    def sources(self) -> list[dict[str, str]]:
        return [
            {"name": f"topic {topic.name}", "sha256": key}
            for topic, key in zip(self.config.topics, self.keys, strict=True)
        ]

    @cached_property
    def keys(self) -> list[str]:
        """Return each haystack's key: a hash of everything that makes its documents."""
        said = self.config.model_dump(mode="json", include={"seed", "sizes", "caps", "withheld", "reread"})
        said |= {role: settings.identity for role, settings in self.config.chats.items()}
        return [
            content_key("synthesis", _PLANS_VERSION, topic.model_dump(mode="json"), said, self.prompt_versions)
            for topic in self.config.topics
        ]

    def haystack_id(self, number: int) -> str:
        """Return the id of a haystack that is begun now; one under way keeps the id that its outline has."""
        return readable_id(self.config.topics[number], self.keys[number])

    def outline_id(self, number: int) -> str:
        """The work id of a haystack's outline."""
        return content_key("outlines", self.keys[number])

    # ------------------------------------------------------------ stages

    def outline(self) -> list[str]:
        """Write the outlines; their work ids."""
        ids = [self.outline_id(number) for number in range(len(self.keys))]
        done = self.work.locate("outlines")
        tasks = [
            Task(
                work_ids=(work_id,),
                payload={"work_id": work_id, "topic": number, "haystack_id": self.haystack_id(number)},
            )
            for number, work_id in enumerate(ids)
            if work_id not in done
        ]
        self._perform("outline", "outlines", outline_worker, len(ids), tasks)
        return ids

    def write(self, outline_ids: Sequence[str]) -> list[list[str]]:
        """Write the documents; the work ids of each haystack's drafts."""
        done = self.work.locate("drafts")
        found, tasks = [], []
        outlines = self.work.snapshot("outlines")
        for number, outline_id in enumerate(outline_ids):
            row, outline = _outline(outlines, outline_id)
            if not outline.subtopics:
                raise LongformError(_nothing_accepted(row))
            assigned = self.assigned(number, outline)
            ids = self.draft_ids(number, outline)
            found.append(ids)
            tasks += [
                Task(
                    work_ids=(work_id,),
                    payload={
                        "work_id": work_id,
                        "topic": number,
                        "haystack_id": row["haystack_id"],
                        "outline": outline_id,
                        "part": outlines.located[outline_id],
                        "assigned": places,
                        "doc_index": index,
                    },
                )
                for index, (work_id, places) in enumerate(zip(ids, assigned, strict=True))
                if work_id not in done
            ]
        self._perform("write", "drafts", draft_worker, sum(map(len, found)), tasks)
        return found

    def draft_ids(self, number: int, outline: Outline) -> list[str]:
        """Work ids of a haystack's drafts."""
        return [
            content_key("drafts", self.keys[number], outline.model_dump(mode="json"), index, places)
            for index, places in enumerate(self.assigned(number, outline))
        ]

    def left(self) -> list[Left]:
        """Return the remaining work of each haystack."""
        if self.out.has(MANIFEST):
            return []
        outlines, drafts = self.work.snapshot("outlines"), self.work.locate("drafts")
        found = []
        for number, topic in enumerate(self.config.topics):
            work_id = self.outline_id(number)
            if work_id not in outlines.located:
                found.append(Left(topic, outline=True, documents=self.config.sizes.documents))
                continue
            ids = self.draft_ids(number, _outline(outlines, work_id)[1])
            found.append(Left(topic, outline=False, documents=sum(one not in drafts for one in ids)))
        return found

    def assigned(self, number: int, outline: Outline) -> list[list[int]]:
        """
        For each document of a haystack its insights, places in `outline.facts`, in the order in which they are told.

        Raises:
            LongformError: So little of the outline was accepted that the sizes do not fit any more.
        """
        n_insights = [len(subtopic.insights) for subtopic in outline.subtopics]
        rng = np.random.default_rng(stable_seed("assignment", self.config.seed, self.keys[number]))
        starts = [0, *accumulate(n_insights)]
        try:
            dealt = assignment(self.config.sizes, n_insights, rng)
        except UsageError as error:
            raise LongformError(
                f"{self.haystack_id(number)}: of {self.config.sizes.subtopics} x {self.config.sizes.insights} insights "
                f"{n_insights} were accepted, which do not suffice: {error}"
            ) from error
        return [[starts[s] + i for s, i in (places[j] for j in rng.permutation(len(places)))] for places in dealt]

    def collect(self, outline_ids: Sequence[str], draft_ids: Sequence[Sequence[str]]) -> Account:
        """Write the benchmark and the account of how it came about; return the account."""
        written, attempts = [], []
        outlines, drafted = self.work.snapshot("outlines"), self.work.snapshot("drafts")
        for number, (outline_id, ids) in enumerate(zip(outline_ids, draft_ids, strict=True)):
            row, outline = _outline(outlines, outline_id)
            drafts = sorted(drafted.read(work_ids=ids).to_pylist(), key=lambda draft: draft["doc_index"])
            written.append(
                Written(
                    haystack_id=row["haystack_id"],
                    topic=self.config.topics[number],
                    outline=outline,
                    assigned=self.assigned(number, outline),
                    drafts=[draft_of(draft) for draft in drafts],
                )
            )
            attempts.append([(None, row), *((draft["doc_index"], draft) for draft in drafts)])
        manifest = write_benchmark(self.out.url, map(haystack_rows, written), sources=self.sources)
        self._write_attempts(written, attempts)
        account = self._account(written, attempts, manifest)
        self.out.write_json(ACCOUNT, account)
        return account

    # ------------------------------------------------------------ inside

    def _perform(
        self,
        name: str,
        table: str,
        make_worker: Callable[[Folder, ModelSynthesis, CallContext], Worker[Never]],
        wanted: int,
        tasks: list[Task],
    ) -> None:
        stage_name = f"synthesize {name}"
        if tasks:
            self.cluster.start_for_calls()
            self.calling.start()
        stage = PlainStage(
            name=stage_name,
            table=table,
            unit=table,
            identity=content_key(self.work.url, name, self.config.model_dump(mode="json")),
            make_worker=partial(make_worker, self.work, self.config, self.calling.context(stage_name)),
            holds_model=True,
            asynchronous=True,
            slots=open_rows(self.config.writer),
        )
        run_stage(self.work, stage, wanted, tasks, cluster=self.cluster, notice=self.calling.notice)

    def _refuse_another(self) -> None:
        if self.out.has(MANIFEST) and (held := self.out.read_json(MANIFEST)["sources"]) != self.sources:
            raise UsageError(another_stands(self.out.url, held, self.sources))

    def _write_attempts(
        self, written: Sequence[Written], attempts: Sequence[Sequence[tuple[int | None, OutlineRow | DraftRow]]]
    ) -> None:
        self.out.delete_table("attempts")  # of a command that died before it had written all
        parts = [
            self.out.write_part(
                "attempts",
                [
                    {"haystack_id": haystack.haystack_id, "doc_index": index, **attempt}
                    for index, row in rows
                    for attempt in row["attempts"]
                ],
                work_ids=[haystack.haystack_id],
            )
            for haystack, rows in zip(written, attempts, strict=True)
        ]
        self.out.commit("attempts", parts)

    def _account(
        self,
        written: Sequence[Written],
        attempts: Sequence[Sequence[tuple[int | None, OutlineRow | DraftRow]]],
        manifest: Manifest,
    ) -> Account:
        of_haystack = [[_attempt(attempt) for _, row in rows for attempt in row["attempts"]] for rows in attempts]
        least = self.config.sizes.least_documents
        return {
            "longform": __version__,
            "dataset_hash": manifest["dataset_hash"],
            "models": {role: settings.model for role, settings in self.config.chats.items()},
            "prompts": self.prompt_versions,
            "config": self.config.model_dump(mode="json"),
            "checks": check_rows(attempt for found in of_haystack for attempt in found),
            "haystacks": [
                {**haystack_account(haystack, least_documents=least), "checks": check_rows(found)}
                for haystack, found in zip(written, of_haystack, strict=True)
            ],
            "exhausted": [
                row
                for haystack, found in zip(written, of_haystack, strict=True)
                for row in exhausted_rows(haystack.haystack_id, found)
            ],
        }


def _attempt(row: CheckAttemptRow) -> Attempt:
    return Attempt(
        check=row["check"],
        subject=row["subject"],
        number=row["number"],
        verdict=_OUTCOMES[row["verdict"]],
        reason=row["reason"],
        call_id=row["call_id"],
    )


def _nothing_accepted(outline: OutlineRow) -> str:
    given_up = [attempt for attempt in outline["attempts"] if attempt["verdict"] == "exhausted"]
    lines = [f"  {attempt['check']}: {attempt['subject']}: {attempt['reason']}" for attempt in given_up[:5]]
    return "\n".join([f"{outline['haystack_id']}: no subtopic was accepted. What was given up, first:", *lines])


def _outline(outlines: Snapshot, work_id: str) -> tuple[OutlineRow, Outline]:
    (row,) = outlines.read(work_ids=[work_id]).to_pylist()
    return row, Outline.model_validate_json(row["outline"])
