"""A judge that is served elsewhere: by a server at a URL, or by an application of this cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from actors.chat.model import CallContext
from actors.judges.opening import Described, Judge, JudgeBackend
from actors.secret_values import redacted, token_in
from actors.serving.client import RefusedError, ServedClient, over_handle, over_http
from actors.serving.endpoint import is_of_cluster
from actors.serving.messages import JudgeAnswer
from longform.errors import LongformError, UsageError
from longform.judges.cards import Version
from longform.judges.kind import Group, Kind, Verdicts, in_place, open_groups, unjudged
from longform.judges.replies import BACKGROUND, read_verdict, request_item
from longform.settings.judges import ServedJudgeSettings

if TYPE_CHECKING:
    from ray.serve.handle import DeploymentHandle

_PAIRS_A_REQUEST = 128
"""Such a request takes a replica long beside its way there, and all replicas get some until the end."""

UNREAD = 200
"""The status of an answer that says success and cannot be read."""

_OF_WHAT_WAS_SENT = (400, 413, 422, UNREAD)


class ServedJudge:
    """
    Asks about a few texts in one request.

    A refused request is cut in two, so that one text costs no other its verdicts. *judge* is the name on the server,
    *n_texts* the most of a request. Another *version* is an error; None: none is.
    """

    def __init__(
        self,
        kind: Kind,
        judge: str,
        client: ServedClient,
        *,
        version: str | None = None,
        n_texts: int = 16,
    ) -> None:
        self._kind, self._judge, self._client, self._version, self._n_texts = kind, judge, client, version, n_texts
        self._takes_background = True

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """
        Judge all pairs: shape (groups, items).

        Raises:
            LongformError: Nobody answers, the token is wrong, or the judge is one of another task.
        """
        if any(group.background for group in groups):  # items of one text are read together
            return await self._all(groups)
        opened = open_groups(self._kind, groups)
        return in_place(self._kind, groups, opened, await self._all(opened))

    async def _all(self, groups: Sequence[Group]) -> Verdicts:
        requests = _requests(groups, self._n_texts)
        return [row for found in await asyncio.gather(*map(self._answered, requests)) for row in found]

    async def _answered(self, groups: Sequence[Group]) -> Verdicts:
        with_background = self._takes_background
        items = [request_item(self._kind, group, with_background=with_background) for group in groups]
        try:
            return self._read(await self._client.judge(self._judge, items), groups)
        except RefusedError as error:
            if with_background and BACKGROUND in str(error):
                self._takes_background = False
                return await self._answered(groups)
            if error.status not in _OF_WHAT_WAS_SENT:
                raise
            if len(groups) > 1:
                half = len(groups) // 2
                return [*await self._answered(groups[:half]), *await self._answered(groups[half:])]
            return [[unjudged(f"refused: {error}")] * len(group.items) for group in groups]

    def _read(self, answer: JudgeAnswer, groups: Sequence[Group]) -> Verdicts:
        """
        Read the verdicts on *groups*.

        Raises:
            RefusedError: The answer is not one of ours, or not on all pairs.
            LongformError: The judge is of another task, or has become another one.
        """
        try:
            return self._verdicts(answer, groups)
        except LongformError:
            raise
        except Exception as error:  # foreign content: what it can break is not known
            words = f"an answer that cannot be read ({type(error).__name__}), found where verdicts were expected"
            raise RefusedError(UNREAD, words) from error

    def _verdicts(self, answer: JudgeAnswer, groups: Sequence[Group]) -> Verdicts:
        if answer["task"] != self._kind.task:
            raise LongformError(
                f"judge {self._judge!r}: expected one of task {self._kind.task}, found one of {answer['task']}"
            )
        if self._version is not None and answer.get("version") != self._version:
            raise LongformError(
                f"judge {self._judge!r} changed while it was asked: expected version {self._version}, found "
                f"{answer.get('version')}; what is done is kept, and another --out takes the new one"
            )
        return [
            [read_verdict(one) for _, one in zip(group.items, result["verdicts"], strict=True)]
            for group, result in zip(groups, answer["results"], strict=True)
        ]


def _requests(groups: Sequence[Group], n_texts: int) -> list[list[Group]]:
    """Cut *groups* into requests of some pairs, at least one group each."""
    found: list[list[Group]] = []
    for group in groups:
        n_pairs = sum(len(one.items) for one in (*found[-1], group)) if found else 0
        if not found or len(found[-1]) == n_texts or n_pairs > _PAIRS_A_REQUEST:
            found.append([])
        found[-1].append(group)
    return found


def served_client(url: str, judge: str, *, token_env: str | None, in_flight: int) -> ServedClient:
    """
    Return what asks the server at *url*; serve://APPLICATION asks the deployment of *judge* in this cluster.

    Raises:
        UsageError: The variable with the token is unset, or this cluster serves no such judge.
    """
    if is_of_cluster(url):
        return ServedClient(over_handle(judge_handle(url, judge)), in_flight=in_flight)
    return ServedClient(over_http(url, token=token_in(token_env, f"judge {judge!r} at {url}")), in_flight=in_flight)


def judge_handle(url: str, judge: str) -> DeploymentHandle:
    """
    Return the handle of the deployment of *judge* in the application that a serve:// URL names.

    Raises:
        UsageError: This process has joined no cluster, or it serves no such judge.
    """
    import ray.serve
    from ray.serve.exceptions import RayServeException

    if not ray.is_initialized():  # to ask would start one
        raise UsageError(
            f"{url} is an application of the cluster that a command runs on, and this one runs on none: "
            "name it with --ray-address, or submit the command to it"
        )
    application = urlsplit(url).netloc
    try:
        return ray.serve.get_deployment_handle(f"judges-{judge}", application)
    except (KeyError, RayServeException) as error:
        where = f"expected a judge {judge!r} in the application {application!r} of this cluster"
        raise UsageError(f"{where}, found none; `serve status` shows what it serves ({error})") from error


_WAITS_S = 60.0
"""A model that sleeps at zero replicas is woken."""

_TOLD = ("version", "card", "card_reason")


def _of_deployment(name: str, settings: ServedJudgeSettings) -> Described:
    """Ask the deployment of a judge in this cluster."""
    from ray.exceptions import RayError
    from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError

    handle = judge_handle(settings.url, settings.judge)
    try:
        found = handle.about.remote().result(timeout_s=_WAITS_S)
    except (RayError, BackPressureError, DeploymentUnavailableError, TimeoutError) as error:
        where = f"judge {name!r}: {settings.judge!r} of {settings.url} could not be asked ({type(error).__name__})"
        raise LongformError(f"{where}; `serve status` shows if it runs") from error
    if found.task:
        _check_task(name, settings, found.task)
    return {field: getattr(found, field) for field in _TOLD}


def _check_task(name: str, settings: ServedJudgeSettings, task: str) -> None:
    if task != settings.task:
        raise UsageError(f"judge {name!r}: expected one of task {settings.task} at {settings.url}, found one of {task}")


async def _info(name: str, settings: ServedJudgeSettings, token: str | None) -> dict[str, Any] | None:
    """Return what the server says of its models; None if it has no such page."""
    import aiohttp

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    where = f"judge {name!r}: {settings.url}/info"
    try:
        async with (
            aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=_WAITS_S)) as session,
            session.get(f"{settings.url.rstrip('/')}/info", allow_redirects=False) as response,
        ):
            if response.status in (404, 405):
                return None
            if response.status != 200:
                said = redacted((await response.text())[:300])
                raise LongformError(f"{where} answered {response.status}: {said}")
            content = await response.json()
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        told = f"{type(error).__name__}: {error}".rstrip(": ")
        raise LongformError(f"{where} could not be asked ({told}); see whether the server runs there") from error
    return content if isinstance(content, dict) else None


class ByServer(Judge):
    settings: ServedJudgeSettings

    @classmethod
    def about(cls, name: str, settings: ServedJudgeSettings, /) -> Described:
        if is_of_cluster(settings.url):
            return _of_deployment(name, settings)
        token = token_in(settings.token_env, f"judge {settings.judge!r} at {settings.url}")
        info = asyncio.run(_info(name, settings, token))
        models = (info or {}).get("models")
        if not isinstance(models, Mapping):
            return dict.fromkeys(_TOLD)  # a server that is not ours
        if settings.judge not in models:
            known = sorted(model for model, told in models.items() if told.get("kind") == "judge")
            raise UsageError(f"judge {name!r}: {settings.url} serves no judge {settings.judge!r}; it serves {known}")
        told = models[settings.judge]
        if task := told.get("task"):
            _check_task(name, settings, task)
        return {field: told.get(field) for field in _TOLD}

    def _version(self) -> Version:
        how = self.settings
        version = f"served {how.judge} at {how.url}{f' {how.version}' if how.version else ''}"
        return Version(version, version)

    def open(self, _context: CallContext, _threads: int, /) -> JudgeBackend:
        how = self.settings
        client = served_client(how.url, how.judge, token_env=how.token_env, in_flight=how.concurrency)
        return ServedJudge(self.kind, how.judge, client, version=how.version)
