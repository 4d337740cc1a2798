"""
A synthesis with chat models, of any kind: the pieces of its steps, then the benchmark's tables.

Reads   a recipe; BENCH/synthesis, where an earlier command left pieces
Writes  BENCH/synthesis (pieces, one a work); documents, queries, targets, qrels, attempts; synthesis.json

Calls stand in the ledger, so that a work that died goes on from its last call.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from actors.chat.model import CallContext
from actors.chat.opening import check_chat, load_prompt
from actors.local_models.checkpoints import check_checkpoint
from actors.storage.benchmark import ACCOUNT, MANIFEST
from actors.storage.folder import Folder, file_place
from jobs.command.calling import Calling, open_rows
from jobs.configs import is_file, read_yaml, validated
from jobs.files.write_benchmark import Manifest, same_or_refuse, write_benchmark
from jobs.stages.cluster import Cluster
from jobs.stages.items import Source, SourceReader
from jobs.stages.runner import PlainStage, Task, run_stage
from longform import __version__
from longform.errors import UsageError
from longform.keys import in_groups
from longform.rows import PieceRow
from longform.synthesis.asking import Attempt, Form, Log
from longform.synthesis.key_points.recipe import KEY_POINTS
from longform.synthesis.multi_source.recipe import MULTI_SOURCE
from longform.synthesis.recipe import Job, Piece, Recipe, Step, SynthesisKind, Work
from longform.synthesis.tables import check_rows, exhausted_rows
from longform.synthesis.written.recipe import WRITTEN

KINDS: Mapping[str, SynthesisKind] = {"written": WRITTEN, "multi_source": MULTI_SOURCE, "key_points": KEY_POINTS}
"""The key `kind` of a configuration -> the kind; without the key it is `written`."""


def read_config(name: str, changes: Sequence[str] = ()) -> Any:
    """
    Return the settings of a file, or of a preset by its name, with `key=value` changes applied.

    Raises:
        UsageError: They cannot be used.
    """
    content = read_yaml(name, folder="configs/syntheses")
    kind = content.get("kind", "written") if isinstance(content, dict) else "written"
    if not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(f"{name}: expected kind {' or '.join(KINDS)}, found {kind!r}")
    return validated(KINDS[kind].settings, content, changes, where=name)


def asks_models(name: str) -> bool:
    """Tell whether *name* is a preset of `synthesize-models`, or a file that states one of its kinds."""
    try:
        content = read_yaml(name, folder="configs/syntheses")
    except UsageError:
        return False
    return not is_file(name) or (isinstance(content, dict) and content.get("kind") in KINDS)


def _read(name: str) -> bytes:
    folder, file = file_place(name)
    try:
        return folder.read_bytes(file)
    except OSError as error:
        raise UsageError(f"{name}: expected a file, which a setting of the synthesis names: {error}") from error


# ---------------------------------------------------------------- the worker


TABLE = "pieces"


def piece_worker(
    work: Folder, forms: Mapping[str, type[Form] | None], recipe: Recipe[Any], context: CallContext
) -> Callable[[Mapping[str, Any]], Awaitable[list[PieceRow]]]:
    """Make the worker of the table `pieces`: a payload is a work, each need by its key."""
    from actors.synthesis.models import embed, open_models

    models = open_models(recipe.settings, context, forms)
    reader = SourceReader(work, {TABLE: ["piece"]})

    async def make(task: Mapping[str, Any]) -> list[PieceRow]:
        needed = [json.loads(reader.row(Source(TABLE, key), PieceRow)["piece"]) for key in task["needs"]]
        log = Log()
        content = await models.carry_out(
            recipe.plan(Job(task["step"], json.loads(task["payload"]), needed, embed), log)
        )
        attempts: list[Any] = [attempt._asdict() for attempt in log.attempts]
        return [
            {
                "work_id": task["work_id"],
                "step": task["step"],
                "haystack_id": task["haystack_id"],
                "doc_index": task["doc_index"],
                "piece": json.dumps(content, ensure_ascii=False),
                "attempts": attempts,
            }
        ]

    return make


def piece_of(row: PieceRow) -> Piece:
    """Read a row of `pieces` back."""
    attempts = [Attempt(**attempt) for attempt in row["attempts"]]
    return Piece(row["haystack_id"], row["doc_index"], json.loads(row["piece"]), attempts)


# ---------------------------------------------------------------- the steps


_WORK = "synthesis"


class Synthesis:
    """
    One configuration, of any kind, into one benchmark folder.

    What can be known to fail is found out before the first call; keys of models are looked for if *with_keys*.

    Raises:
        UsageError: A file or a prompt cannot be read, or holds something else; models cannot be used; or the recipe
            refuses its own settings.
    """

    def __init__(
        self, settings: Any, out_url: str, *, cluster: Cluster, calling: Calling, with_keys: bool = True
    ) -> None:
        self.kind, self.cluster, self.calling = KINDS[settings.kind], cluster, calling
        self.prompts = sorted(load_prompt(name, settings.prompts).version for name in self.kind.forms)
        self.recipe: Recipe[Any] = self.kind.make(settings, _read, self.prompts)
        self.out, self.work = Folder(out_url), Folder(out_url).child(_WORK)
        for chat in self.recipe.checked_chats:
            check_chat(chat, with_key=with_keys)
        for encoder in self.recipe.encoders:
            check_checkpoint(encoder)
        self.recipe.check()
        calling.check_prices(list(self.recipe.settings.chats.values()))
        if self.out.has(MANIFEST):
            same_or_refuse(self.out, self.recipe.sources)

    def make(self) -> dict[str, Any]:
        """Carry out every work that is not done, and write the benchmark; return its account."""
        works: list[Work] = []
        pieces: dict[str, Piece] = {}
        for step in self.recipe.steps:
            wanted = self.recipe.works(step.name, pieces)
            self._perform(step, wanted)
            pieces |= self._pieces([work.key for work in wanted])
            works += wanted
        return self._collect([pieces[work.key] for work in works], pieces)

    def left(self) -> dict[str, list[Work]]:
        """Return for each step the works that are known and not done."""
        if self.out.has(MANIFEST):
            return {step.name: [] for step in self.recipe.steps}
        done = self.work.locate(TABLE)
        left: dict[str, list[Work]] = {}
        pieces: dict[str, Piece] = {}
        for step in self.recipe.steps:
            works = self.recipe.works(step.name, pieces)
            pieces |= self._pieces([work.key for work in works if work.key in done])
            left[step.name] = [work for work in works if work.key not in done]
        return left

    # ------------------------------------------------------------ inside

    def _perform(self, step: Step, works: Sequence[Work]) -> None:
        done = self.work.locate(TABLE)
        tasks = [
            Task(
                work_ids=(work.key,),
                payload={
                    "work_id": work.key,
                    "step": step.name,
                    "haystack_id": work.haystack_id,
                    "doc_index": work.doc_index,
                    "payload": json.dumps(work.payload),
                    "needs": [*work.needs],
                },
            )
            for work in works
            if work.key not in done
        ]
        settings, name = self.recipe.settings, f"synthesize {step.name}"
        if tasks:
            self.cluster.start_for_calls()
            self.calling.start()
        stage = PlainStage(
            name=name,
            table=TABLE,
            unit=step.unit,
            make_worker=partial(piece_worker, self.work, self.kind.forms, self.recipe, self.calling.context(name)),
            holds_model=True,
            asynchronous=True,
            slots=max([1, *map(open_rows, settings.chats.values())]),
        )
        run_stage(self.work, stage, len(works), tasks, cluster=self.cluster, notice=self.calling.notice)

    def _pieces(self, keys: Sequence[str]) -> dict[str, Piece]:
        rows: list[PieceRow] = self.work.snapshot(TABLE).read(work_ids=keys).to_pylist() if keys else []
        return {row["work_id"]: piece_of(row) for row in rows}

    def _collect(self, made: Sequence[Piece], pieces: dict[str, Piece]) -> dict[str, Any]:
        manifest = write_benchmark(self.out.url, self.recipe.rows(pieces), sources=self.recipe.sources)
        by_haystack = in_groups((piece.haystack_id, piece) for piece in made)
        self._write_attempts(by_haystack)
        account = self._account(by_haystack, pieces, manifest)
        self.out.write_json(ACCOUNT, account, sealed=True)
        return account

    def _write_attempts(self, by_haystack: dict[str, list[Piece]]) -> None:
        self.out.delete_table("attempts")  # of a command that died before it had written all
        parts = [
            self.out.write_part(
                "attempts",
                [
                    {"haystack_id": haystack_id, "doc_index": piece.doc_index, **attempt._asdict()}
                    for piece in found
                    for attempt in piece.attempts
                ],
                work_ids=[haystack_id],
            )
            for haystack_id, found in by_haystack.items()
        ]
        self.out.commit("attempts", parts)

    def _account(
        self, by_haystack: dict[str, list[Piece]], pieces: dict[str, Piece], manifest: Manifest
    ) -> dict[str, Any]:
        checks, settings = self.kind.checks, self.recipe.settings
        attempts = {name: [one for piece in found for one in piece.attempts] for name, found in by_haystack.items()}
        return {
            "longform": __version__,
            "dataset_hash": manifest["dataset_hash"],
            "models": {role: chat.model for role, chat in settings.chats.items()},
            "prompts": self.prompts,
            "config": settings.model_dump(mode="json"),
            "checks": check_rows((one for found in attempts.values() for one in found), checks),
            "haystacks": [
                {**haystack, "checks": check_rows(attempts.get(haystack["haystack_id"], ()), checks)}
                for haystack in self.recipe.accounts(pieces)
            ],
            "exhausted": [row for name, found in attempts.items() for row in exhausted_rows(name, found)],
        }
