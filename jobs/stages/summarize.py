"""
Summarize: `contexts` -> `summaries` (summary_id). 1:1; a summary that fails stays a row with its reason.

Summaries of one query by a chat model at several lengths, the first 10, 20, ... documents, are one task, and so are
repeats: their prompts begin alike, and the server need not read that twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

from actors.chat.model import ChatModel
from actors.chat.opening import Asking
from actors.python_class import actor_of
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.summarizers.summarizer import AskedContext, Means, Summarizer, method_of
from jobs.stages.items import Item, Source, SourceReader
from jobs.stages.pack import HowPacked, Packed, how_packed
from jobs.stages.stage import Plan, Plans, Site, Stage, Works
from longform.errors import UsageError
from longform.formats.longformfact import SENTENCES
from longform.keys import content_key
from longform.rows import ContextRow
from longform.schemas import CONTEXTS, DOCUMENTS, QUERIES, SUMMARIES
from longform.settings.chat import ChatSettings, SummarizerSettings
from longform.settings.experiment import Experiment
from longform.settings.methods import MethodSettings
from longform.summaries.methods import OWN_BULLETS, USUAL_BULLETS
from longform.text.sentences import sentences


class Summarized(NamedTuple):
    """A summary."""

    summarizer: str
    setting: str  # what it is given, in words
    method: str  # the name of a method
    n_requested: int | None  # bullets or sentences that are asked for; None: the number is withheld
    packed: Packed  # the context that it is made from
    repeat: int = 0  # of the same context by the same system, from 0

    @property
    def query_id(self) -> str:
        return self.packed.query_id


class Wanted(NamedTuple):
    """The contexts that a system's summaries are made from, and how; *repeats* of each."""

    setting: str
    method: str
    kind: HowPacked
    repeats: int


@dataclass(frozen=True, kw_only=True)
class Summarize(Stage[Summarized]):
    """Writes the summaries of one summarizer."""

    step = "summarize"
    writes_summaries = True
    reads: ClassVar = {"contexts": CONTEXTS.names, "documents": DOCUMENTS.names, "queries": QUERIES.names}
    table = "summaries"
    columns = frozenset(SUMMARIES.names) - {"elapsed_minutes"}
    per_task = 8  # of the offline one

    bench: str  # URL
    summarizer: str
    settings: SummarizerSettings
    wanted: tuple[Wanted, ...]  # one of each system that has this summarizer
    methods: Mapping[str, MethodSettings]  # by the names that systems give them
    versions: Mapping[str, str]  # method -> version of what makes its summaries: its prompts, or its code
    bullets: int | str  # those asked for; targets: as many as the query has
    threads: int  # those of a local model

    @property
    def name(self) -> str:
        return f"summarize {self.summarizer}"

    @property
    def chat(self) -> ChatSettings | None:
        return self.settings.asked_model

    @property
    def holds_model(self) -> bool:
        return not self.embeds  # an encoder loads in a second where its process has loaded one before

    @property
    def embeds(self) -> bool:
        return actor_of(self.settings, Summarizer).embeds

    @property
    def waits_for(self) -> str | None:
        if any(method_of(method).refuses_many for method in self.methods.values()):
            return "a method that cannot show so many documents is refused before the first call"
        return super().waits_for

    def on_cores(self, cores: int) -> Self:
        return replace(self, threads=cores)

    def items(self, plan: Plan) -> list[Item[Summarized]]:
        contexts = plan.of(Packed)
        return [
            self._item(plan.benchmark, context, wanted, repeat)
            for wanted in self.wanted
            for context in contexts
            if context.key[1:] == wanted.kind
            for repeat in range(wanted.repeats)
        ]

    def _item(self, benchmark: Benchmark, context: Item[Packed], wanted: Wanted, repeat: int) -> Item[Summarized]:
        n = None if self.settings.is_free else n_bullets(benchmark, self.bullets, context.key.query_id)
        depends: list[Any] = [self.settings.identity, n, self.versions[wanted.method]]
        if wanted.method != "plain":
            depends.append(self.methods[wanted.method].identity)
        if repeat:
            depends.append(f"repeat {repeat}")
        work_id = content_key("summaries", context.work_id, self.summarizer, wanted.setting, depends)
        key = Summarized(self.summarizer, wanted.setting, wanted.method, n, context.key, repeat)
        return Item(work_id, key, (Source("contexts", context.work_id),))

    def check(self, run: Folder, items: Sequence[Item[Summarized]]) -> None:
        """Refuse methods that cannot be used on the documents of a context."""
        asked = [item for item in items if method_of(self.methods[item.key.method]).refuses_many]
        work_ids = {item.sources[0].work_id for item in asked}
        rows = run.read("contexts", work_ids=work_ids, columns=["work_id", "doc_ids"]).to_pylist() if asked else ()
        n_of = {row["work_id"]: len(row["doc_ids"]) for row in rows}
        shown = ((one.key.method, one.key.query_id, n_of[one.sources[0].work_id]) for one in asked)
        check_methods(self.methods, shown)

    def groups(self, given: Sequence[Item[Summarized]]) -> Iterable[Sequence[Item[Summarized]]]:
        """Give the items of each task: of a chat model one a context, or one for all its lengths."""
        if self.chat is None:
            return super().groups(given)
        tasks: dict[Any, list[Item[Summarized]]] = {}
        for one in given:
            # others stay apart, so that a slow call holds back its own row only
            plain = self.methods[one.key.method].plain
            tasks.setdefault(_any_length(one.key) if plain else one.work_id, []).append(one)
        return (sorted(members, key=_length, reverse=True) for members in tasks.values())

    def n_lines(self, key: Summarized) -> int:
        return USUAL_BULLETS if key.n_requested is None else key.n_requested

    def plans(self, asking: Asking, reader: SourceReader) -> Plans[Summarized]:
        summarizer = self._summarizer(asking)
        return lambda given: summarizer.plans(_asked_rows(reader, given))

    def _summarizer(self, asking: Asking | None) -> Summarizer[SummarizerSettings]:
        means = Means(self.bench, self.summarizer, self.methods, self.threads, asking)
        return actor_of(self.settings, Summarizer)(self.settings, means)

    def client(self) -> ChatModel | None:
        return actor_of(self.settings, Summarizer).client(self.settings, Benchmark(self.bench))

    def worker(self, reader: SourceReader) -> Works[Summarized]:
        summarizer = self._summarizer(None)
        return lambda given: summarizer.summarize(_asked_rows(reader, given))


def _asked_rows(reader: SourceReader, given: Sequence[Item[Summarized]]) -> list[AskedContext]:
    """Return what a summarizer is given."""
    return [
        {
            **reader.row(one.sources[0], ContextRow),
            "work_id": one.work_id,
            "summarizer": one.key.summarizer,
            "setting": one.key.setting,
            "method": one.key.method,
            "n_requested": one.key.n_requested,
            "repeat": one.key.repeat,
        }
        for one in given
    ]


def check_methods(methods: Mapping[str, MethodSettings], shown: Iterable[tuple[str, str, int]]) -> None:
    """
    Refuse methods that cannot be used on a prompt that is *shown*: its method, its query, its number of documents.

    Raises:
        UsageError: There is such a prompt.
    """
    largest: dict[str, tuple[int, str]] = {}
    for method, query_id, n in shown:
        if n > largest.get(method, (-1, ""))[0]:
            largest[method] = n, query_id
    for method, (n, query_id) in largest.items():
        try:
            method_of(methods[method]).plan(n)
        except UsageError as error:
            msg = f"systems.method {method!r}: {error}; query {query_id!r} has that many in its prompt"
            raise UsageError(msg) from error


def n_bullets(benchmark: Benchmark, bullets: int | str, query_id: str) -> int:
    """
    Return how many bullets to ask for: as configured, else as many as the query has targets, or 8.

    A query with a reference summary asks for as many sentences as its paper does, else as the reference has.
    """
    if isinstance(bullets, int):
        return bullets
    targets = benchmark.targets.get(query_id, [])
    if not targets or any(target.kind != "reference" for target in targets):
        return sum(target.kind != "reference" for target in targets) or OWN_BULLETS
    return SENTENCES.get(benchmark.queries[query_id].dataset or "") or len(sentences(targets[0].text))


def _any_length(key: Summarized) -> tuple[Packed, str]:
    """Return the same for summaries that differ in the length of their context alone."""
    return key.packed._replace(n_documents=None, length_tokens=None), key.method


def _length(given: Item[Summarized]) -> float:
    packed = given.key.packed
    return packed.n_documents or packed.length_tokens or inf


def stages(experiment: Experiment, site: Site) -> list[Summarize]:
    """Return a stage for each summarizer that a system names."""
    found = []
    for name, settings in experiment.summarizers.items():
        systems = {system: n for system, n in experiment.repeats.items() if system.summarizer == name}
        methods = {system.method: experiment.all_methods()[system.method] for system in systems}
        if systems:
            version = actor_of(settings, Summarizer).version
            stage = Summarize(
                run=site.run,
                bench=site.bench,
                summarizer=name,
                settings=settings,
                wanted=tuple(Wanted(one.setting, one.method, how_packed(one), n) for one, n in systems.items()),
                methods=methods,
                versions={method: version(settings, how, experiment.prompts) for method, how in methods.items()},
                bullets=experiment.bullets,
                prompts=experiment.prompts,
                threads=site.threads,
            )
            found.append(stage)
    return found
