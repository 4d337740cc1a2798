"""Ask served judges who they are: their version, which verdicts are kept by, and their card."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from actors.judges.served import judge_handle
from actors.secret_values import redacted, token_in
from actors.serving.handle import is_of_cluster
from longform.errors import LongformError, UsageError
from longform.settings.judges import JudgeSettings, ServedJudgeSettings

_WAITS_S = 60.0
"""A model that sleeps at zero replicas is woken."""


class ServedAbout(NamedTuple):
    """
    A served judge's description of itself.

    Attributes:
        version: Changes with all that can change its answers; None: the server states none.
        card: Its card in one line; None: it has none.
        card_reason: Why it has none.
    """

    version: str | None
    card: str | None
    card_reason: str | None


NOT_TOLD = ServedAbout(None, None, None)
"""The description by a server that is not ours."""


def served_judges(judges: Mapping[str, JudgeSettings]) -> dict[str, ServedJudgeSettings]:
    """Select the served ones of *judges*."""
    return {name: judge for name, judge in judges.items() if isinstance(judge, ServedJudgeSettings)}


def about_served(name: str, settings: ServedJudgeSettings) -> ServedAbout:
    """
    Ask the server of a judge who answers.

    Raises:
        UsageError: The token is unset, this cluster serves no such judge, or the server serves others only.
        LongformError: Nobody answers, or the token is refused.
    """
    if is_of_cluster(settings.url):
        return _of_deployment(name, settings)
    token = token_in(settings.token_env, f"judge {settings.judge!r} at {settings.url}")
    info = asyncio.run(_info(name, settings, token))
    if info is None:
        return NOT_TOLD
    models = info.get("models")
    if not isinstance(models, Mapping):
        return NOT_TOLD
    if settings.judge not in models:
        known = sorted(model for model, told in models.items() if told.get("kind") == "judge")
        raise UsageError(f"judge {name!r}: {settings.url} serves no judge {settings.judge!r}; it serves {known}")
    told = models[settings.judge]
    if task := told.get("task"):
        _check_task(name, settings, task)
    return ServedAbout(*(told.get(field) for field in ServedAbout._fields))


def _of_deployment(name: str, settings: ServedJudgeSettings) -> ServedAbout:
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
    return ServedAbout(found.version, found.card, found.card_reason)


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
