"""
An example of a job that asks a served judge: does each document support its sentence?

    python -m jobs.served_judge PAIRS --judge NAME --url http://127.0.0.1:8000 --out FOLDER
    ray job submit --working-dir . -- python -m jobs.served_judge PAIRS --judge NAME --app longform --out FOLDER

PAIRS is a file of JSON lines, or a folder of Parquet, with the columns `document` and `sentence`; FOLDER gets them as
Parquet with `answer`, `probability` and `failure`. `--url` asks over HTTP, from anywhere; `--app` by the handle of the
deployment, from the cluster that serves. Each worker states the requests that it holds back, so that replicas start for
them. A pair that could not be judged has no answer, and says why.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from actors.judges.served import ServedJudge, served_client
from actors.serving.client import ServedClient
from actors.serving.endpoint import SCHEME
from actors.storage.folder import Folder
from actors.terminal import say
from jobs.command import DONE, FAILURES_ABOVE_THRESHOLD
from jobs.command.parser import VerbParser, add_cluster_arguments
from jobs.command.run import Outcome, run_verb
from jobs.stages.cluster import cluster_of
from longform.errors import LongformError, UsageError
from longform.judges.kind import Group, Verdict, unjudged
from longform.judges.kinds.support import SUPPORT

COLUMNS = ("document", "sentence")

_PAIRS_A_REQUEST = 64
_REQUESTS_A_BATCH = 8  # those that are not in flight are the worker's backlog
_REQUESTS_IN_FLIGHT = 4  # of a worker
_BATCHES_OPEN = 2  # of a worker, so that its backlog does not run out between two
_UNJUDGED_THRESHOLD = 0.02
_NO_TEXTS = "expected a document and a sentence that are texts"
_TRIAL = {"document": "A document is a text.", "sentences": ["It is a text."]}
_CPUS_OF_DATA = 1.0  # a task of Ray Data that reads or writes


@dataclass(frozen=True, kw_only=True)
class JudgeUrl:
    """Address of a judge: a URL, with its token in a variable of the environment, or an application of Serve."""

    judge: str
    url: str | None = None
    token_env: str | None = None
    app: str | None = None

    def client(self) -> ServedClient:
        """
        Raises:
            UsageError: The variable with the token is unset, or this cluster serves no such judge.
        """
        url = self.url if self.url is not None else f"{SCHEME}://{self.app}"
        return served_client(url, self.judge, token_env=self.token_env, in_flight=_REQUESTS_IN_FLIGHT)


class AskServer:
    """A worker that asks about a batch of pairs in requests of some."""

    def __init__(self, address: JudgeUrl) -> None:
        self._address = address
        self._client = address.client()

    async def __call__(self, batch: pa.Table) -> pa.Table:
        """Return the batch with the columns of verdicts; never raise, since that would lose the rows beside it."""
        pairs = list(zip(*(batch[name].to_pylist() for name in COLUMNS), strict=True))
        parts = (pairs[start : start + _PAIRS_A_REQUEST] for start in range(0, len(pairs), _PAIRS_A_REQUEST))
        verdicts = [one for of in await asyncio.gather(*map(self._verdicts, parts)) for one in of]
        types = {"answer": pa.string(), "probability": pa.float64(), "failure": pa.string()}
        for name, kind in types.items():
            batch = batch.append_column(name, pa.array([getattr(verdict, name) for verdict in verdicts], kind))
        return batch

    async def _verdicts(self, pairs: Sequence[tuple[Any, Any]]) -> list[Verdict]:
        try:
            found = iter(await judged(self._client, self._address.judge, list(filter(_are_texts, pairs))))
        except LongformError as error:
            return [unjudged(str(error))] * len(pairs)
        return [next(found) if _are_texts(pair) else unjudged(_NO_TEXTS) for pair in pairs]


def _are_texts(pair: tuple[Any, Any]) -> bool:
    return all(isinstance(part, str) for part in pair)


async def judged(client: ServedClient, judge: str, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
    """
    Return the verdict of each (document, sentence), by one request in which each document stands once.

    Raises:
        LongformError: As `ServedJudge.ask` does.
    """
    asked = ServedJudge(SUPPORT, judge, client, n_texts=_PAIRS_A_REQUEST)
    return [row[0] for row in await asked.ask([Group(pair[0], pair[:1], pair[1:]) for pair in pairs])]


def judge_pairs(
    pairs: str, out: str, address: JudgeUrl, *, workers: int, ask: type[AskServer] = AskServer
) -> dict[str, Any]:
    """
    Return counts of the answers about all *pairs*, JSON lines or a folder of Parquet, once they stand in a new folder.

    Raises:
        UsageError: The pairs lack a column, or *out* is taken.
        LongformError: A trial could not be judged: a wrong address, name or token, or a judge of another task.
    """
    import ray.data
    from ray.data import ActorPoolStrategy

    if Folder(out).exists():
        raise UsageError(f"{out}: expected a folder that is not there yet; name another")
    asyncio.run(address.client().judge(address.judge, [_TRIAL]))
    _warn_of_a_full_cluster()
    read = ray.data.read_json if pairs.endswith((".json", ".jsonl")) else ray.data.read_parquet
    dataset = read(pairs)
    columns = dataset.columns() or []
    if missing := set(COLUMNS) - set(columns):
        raise UsageError(f"{pairs}: expected the columns {list(COLUMNS)}, found {columns}; {sorted(missing)} missing")
    pool = ActorPoolStrategy(size=workers, max_concurrent_calls_per_actor=_BATCHES_OPEN)
    rows = _PAIRS_A_REQUEST * _REQUESTS_A_BATCH
    dataset.repartition(target_num_rows_per_block=rows).map_batches(
        ask,
        fn_constructor_kwargs={"address": address},
        batch_size=rows,
        batch_format="pyarrow",
        compute=pool,
        num_cpus=0.1,  # it waits for answers
    ).write_parquet(out)
    return _counts(out)


def _warn_of_a_full_cluster() -> None:
    """Ray Data says nothing while it waits for a CPU, and replicas may hold all of them."""
    import ray

    free, every = (cpus.get("CPU", 0.0) for cpus in (ray.available_resources(), ray.cluster_resources()))
    if free < _CPUS_OF_DATA:
        said = f"expected {_CPUS_OF_DATA:g} free CPU to read with, found {free:g} of {every:g}"
        say(f"{said}; the job waits until one is free, or a node is added", file=sys.stderr)


def _counts(out: str) -> dict[str, Any]:
    folder = Folder(out)
    parts = [folder.read_part(name, columns=["answer"]) for name in folder.names() if name.endswith(".parquet")]
    answers = pa.concat_tables(parts)["answer"] if parts else pa.chunked_array([], pa.string())
    return {
        "pairs": len(answers),
        "supported": pc.sum(pc.equal(answers, "supported")).as_py() or 0,
        "unjudged": answers.null_count,
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = VerbParser("served_judge", __doc__)
    parser.add_argument("pairs", metavar="PAIRS")
    parser.used.add_argument("--judge", required=True, metavar="NAME", help="as the server calls it")
    where = parser.used.add_mutually_exclusive_group(required=True)
    where.add_argument("--url", help="of the server")
    where.add_argument("--app", help="the application of Ray Serve in this cluster")
    parser.used.add_argument("--token-env", metavar="VARIABLE", help="with the server's token; default: none is sent")
    parser.used.add_argument("--out", required=True, metavar="FOLDER")
    add_cluster_arguments(parser)

    def work(arguments: argparse.Namespace) -> Outcome:
        address = JudgeUrl(judge=arguments.judge, url=arguments.url, token_env=arguments.token_env, app=arguments.app)
        with cluster_of(arguments) as cluster:
            cluster.start()
            counts = judge_pairs(arguments.pairs, arguments.out, address, workers=cluster.workers)
        words = "{supported} of {pairs} pairs supported, {unjudged} unjudged".format(**counts)
        above = counts["unjudged"] > _UNJUDGED_THRESHOLD * counts["pairs"]
        return Outcome(counts, f"{words}: {arguments.out}", FAILURES_ABOVE_THRESHOLD if above else DONE)

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
