"""
A stage of a run, as one object; and the plan of a run, the items of all its stages.

A stage is a small frozen value. Its fields are its slice of the configuration, and with them it travels to workers, so
that none of them is handed the whole configuration. A file of `jobs/stages` defines stages of one kind, and makes them
from a configuration in its function `stages`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

from actors.chat.matrix_executor import MatrixExecutor
from actors.chat.model import CallContext, ChatModel
from actors.chat.opening import Asking, open_pool
from actors.local_models.vector_table import VectorsPlace, use_vectors
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.command.calling import Calling, open_rows
from jobs.stages.items import Item, Key, Locate, Made, Source, SourceReader, Worker, ready
from longform.chat.asking import Asks
from longform.chat.call import ChatRequest
from longform.rows import TableRow
from longform.settings.chat import ChatSettings
from longform.settings.strict import ResourcesSettings

_OPEN_A_REQUEST = 8  # tasks, for each request to a server of models

Other = TypeVar("Other")

Works = Worker[Sequence[Item[Key]]]
"""Maps the items of a task to rows."""

Plans = Callable[[Sequence[Item[Key]]], Iterable[Asks[Sequence[TableRow]]]]
"""Makes the plans that ask about items, and return their rows."""


class Site(NamedTuple):
    """The run's places, and the command for which its stages call models."""

    run: str
    bench: str
    threads: int
    calling: Calling
    vectors: VectorsPlace | None = None


@dataclass(frozen=True, kw_only=True)
class Stage(ABC, Generic[Key]):
    """One stage of a run."""

    writes_summaries: ClassVar[bool] = False  # that are judged; twins are not, whose originals are

    run: str  # URL of the run's folder
    prompts: str | None = None  # a folder whose files replace the project's own of the same name; None: there is none
    vectors: VectorsPlace | None = None  # where vectors of texts are kept; None: they are not
    context: CallContext | None = None  # on whose behalf models are called; None: it calls none

    @property
    @abstractmethod
    def table(self) -> str:
        """The table that it writes."""

    @property
    def unit(self) -> str:
        """Its items in the plural, as progress counts them."""
        return "summaries"

    @property
    @abstractmethod
    def reads(self) -> Mapping[str, Collection[str]]:
        """Table -> the columns it reads; of a run's tables its worker sees no others."""

    @property
    @abstractmethod
    def columns(self) -> Collection[str]:
        """The columns of its table that its rows may have."""

    @property
    @abstractmethod
    def step(self) -> str:
        """The step of the run that it belongs to; `--until` names steps."""

    @property
    def name(self) -> str:
        """The name in progress lines and in the run's record; one name, one stage."""
        return self.step

    @property
    def per_task(self) -> int:
        """Items that one task makes, unless `groups` says otherwise."""
        return 1

    @property
    def judged_by(self) -> str | None:
        """Name the judge whose verdicts it makes; None: it makes none."""
        return None

    @property
    def chat(self) -> ChatSettings | None:
        """The model that it asks; None: it asks none."""
        return None

    @property
    def requests_at_once(self) -> int | None:
        """The requests that a worker has in flight to a server of models; None: it asks none, or a chat model."""
        return None

    @property
    def holds_model(self) -> bool:
        """Return whether its worker is dear to make (weights, clients): then tasks are handed out one by one."""
        return self.chat is not None

    @property
    def asynchronous(self) -> bool:
        """Return whether its worker is a coroutine function that waits on a network."""
        return self.chat is not None or self.requests_at_once is not None

    @property
    def waits_for(self) -> str | None:
        """Say why all rows of the stages before it must be there before it begins; None: it takes them as they come."""
        if self.chat is not None and self.chat.batch:
            return "its requests go to the provider as one batch"
        return None

    @property
    def shares_documents(self) -> bool:
        """Return whether its calls about one document go out together, for several queries."""
        return False

    @property
    def resources(self) -> ResourcesSettings | None:
        """Resources that each of its workers asks of the cluster; None: those of the command."""
        return None if self.chat is None else self.chat.resources

    @property
    def embeds(self) -> bool:
        """Return whether its worker has an encoder."""
        return False

    def on_cores(self, _cores: int) -> Self:
        """Return the stage as it runs in a process that has so many cores; more than one may change no result."""
        return self

    @property
    def slots(self) -> int:
        """Tasks an asynchronous worker holds open at once: what it holds back is stated to a server of models."""
        if self.chat:
            return open_rows(self.chat)
        return 1 if self.requests_at_once is None else _OPEN_A_REQUEST * self.requests_at_once

    @abstractmethod
    def items(self, plan: Plan) -> Sequence[Item[Key]]:
        """Return what a run wants of it; *plan* has the stages before it."""

    def worker(self, reader: SourceReader) -> Works[Key]:
        """
        Return what maps the items of a task to rows, whose sources *reader* reads; what it loads, it loads here.

        A stage that asks a chat model has plans instead.
        """
        raise NotImplementedError(f"{self.name} asks a chat model: carry out its plans")

    def opened(
        self, held: Mapping[Source, Sequence[TableRow]] | None = None, locate: Locate | None = None
    ) -> Works[Key]:
        """
        Return the worker that reads the run as `reader`, or what carries out the stage's plans live.

        The encoders of its process keep vectors from now on.
        """
        use_vectors(self.vectors)
        reader = self.reader(held, locate)
        if self.chat is None:
            return self.worker(reader)
        assert self.context is not None, "a stage that calls does so for a command"
        asking = Asking(chat=open_pool(self.chat, self.context, self.client()), prompts_folder=self.prompts)
        plans, executor = self.plans(asking, reader), MatrixExecutor(asking.chat, self.chat)
        return lambda given: executor.carry_out(plans(given))

    def client(self) -> ChatModel | None:
        """Return what its calls are carried to; None: to what their settings name."""
        return None

    def plans(self, _asking: Asking, _reader: SourceReader) -> Plans[Key]:
        """Return what makes the plans by which the items of a task ask the stage's model, given as *asking*."""
        return lambda _given: ()

    def n_lines(self, _key: Key) -> int:
        """
        Return the bullets or sentences that an item asks for, in rows with `text`, `step` and `failure`.

        Return 0 if its replies are no text from which later requests are made.
        """
        return 0

    def assumed(self, _request: ChatRequest) -> str | None:
        """Return the text that a request is assumed to be answered with while a run is planned; None: none."""
        return None

    def groups(self, given: Sequence[Item[Key]]) -> Iterable[Sequence[Item[Key]]]:
        """Give the items of each task."""
        return (given[start : start + self.per_task] for start in range(0, len(given), self.per_task))

    def check(self, run: Folder, items: Sequence[Item[Key]]) -> None:
        """Refuse what the rows of earlier stages tell, before anything is made of them."""

    def reader(
        self, held: Mapping[Source, Sequence[TableRow]] | None = None, locate: Locate | None = None
    ) -> SourceReader:
        """Return what reads the sources of its items, for example those *held* that a stream has just made."""
        return SourceReader(Folder(self.run), self.reads, held, locate)

    def tasks(self, run: Folder, items: Sequence[Item[Key]]) -> list[Sequence[Item[Key]]]:
        """
        Return the tasks for those of *items* that are not done.

        Raises:
            UsageError: What they are made from is not there.
        """
        return [*self.groups(ready(run, self.name, items, but=run.locate(self.table)))]


class OfQuery(Protocol):
    """The key of what is made of one query."""

    @property
    def query_id(self) -> str: ...


class Plan:
    """Everything that a run will hold: the items of each stage, known before anything runs."""

    def __init__(
        self,
        stages: Sequence[Stage[Any]],  # in the order in which they run
        benchmark: Benchmark,  # nothing is read of it but its manifest, queries and targets
        *,
        limit: int | None = None,  # the first queries; None: all
        only: Collection[str] | None = None,  # the queries that count; None: all of them
    ) -> None:
        self.stages = tuple(stages)
        self.benchmark = benchmark
        first = list(benchmark.queries)[:limit]
        self.query_ids = first if only is None else [query_id for query_id in first if query_id in only]
        self._items: dict[str, tuple[Stage[Any], Sequence[Item[Any]]]] = {}
        for stage in stages:
            assert stage.name not in self._items, f"two stages are called {stage.name}"
            self._items[stage.name] = (stage, stage.items(self))

    def items(self, stage: Stage[Other]) -> Sequence[Item[Other]]:
        """Return the items of *stage*."""
        return self._items[stage.name][1]

    def of(self, key: type[Other]) -> list[Item[Other]]:
        """Return the items of the stages whose items have such a key."""
        stages = (items for _, items in self._items.values() if items and isinstance(items[0].key, key))
        return [item for items in stages for item in items]

    def written(self) -> dict[str, Item[OfQuery]]:
        """
        Return the summaries that judges are asked about, by work id: written by the run, or elsewhere.

        The only source of one is the context that it was made from; one without a source has an unknown context.
        """
        items = (item for stage, items in self._items.values() if stage.writes_summaries for item in items)
        return {item.work_id: item for item in items}

    def work_ids(self, table: str) -> Sequence[str]:
        """Return the work ids of all that the run's stages write to *table*."""
        return Made(*((attrgetter("work_id"), items) for stage, items in self._items.values() if stage.table == table))

    def needed_by_calls(self) -> set[str]:
        """Return the work ids that calls are made from."""
        needed: set[str] = set()
        for stage, items in reversed(self._items.values()):
            if stage.chat or any(item.work_id in needed for item in items):
                needed |= {source.work_id for item in items for source in item.sources}
        return needed

    def before_calls(self) -> list[Stage[Any]]:
        """Return the stages that calls are made from, and that are made from no call."""
        needed = self.needed_by_calls()
        found, open_ids = [], set[str]()
        for stage, items in self._items.values():
            if stage.chat or any(source.work_id in open_ids for item in items for source in item.sources):
                open_ids |= {item.work_id for item in items}
            elif any(item.work_id in needed for item in items):
                found.append(stage)
        return found
