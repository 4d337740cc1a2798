"""The authority over a quota domain, in this process and as an actor."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from actors.authority import Local
from actors.chat import governor
from actors.chat.governor import NAMESPACE, Governor, MachineGovernor, open_governor
from actors.storage.folder import Folder
from longform.quota.leases import LeaseAsk, Left, QuotaLimits, Refused

TOLD = QuotaLimits(requests_per_minute=60_000)


def ask(worker: str, *, n: int = 10, **heard: object) -> LeaseAsk:
    return LeaseAsk(worker, "job", (100.0,) * n, n, 0, **heard)  # type: ignore[arg-type]


async def test_one_domain_is_one_quota_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    one = open_governor("shared", TOLD, memory=None)
    two = open_governor("shared", TOLD, memory=None)
    await one.lease(ask("a", refused=(Refused(0.0, 100.0, 1.5),)))
    assert (await two.lease(ask("b"))).calls == 0
    other = open_governor("another", TOLD, memory=None)
    await other.lease(ask("c"))
    await asyncio.sleep(0)
    assert isinstance(other.governor, Local)
    assert isinstance(one.governor, Local)
    assert other.governor.served is not one.governor.served


def found_limits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Governor:
    """A governor that has met refusals at a told limit."""
    clock = iter(tick / 20 for tick in range(1000))
    monkeypatch.setattr(governor.time, "monotonic", lambda: next(clock))
    authority = Governor("d", str(folder))
    left: tuple[Left, ...] = ()
    for tick in range(300):
        met = left if tick >= 100 else ()
        refused = tuple(Refused(call.sent_s_ago, call.reserved_tokens, None) for call in met)
        lease = authority.lease(ask("a", left=left, refused=refused), QuotaLimits(requests_per_minute=6000))
        left = (Left(0.05, 100.0),) * lease.calls
    return authority


def test_found_limits_are_remembered_and_gone_on_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found_limits(tmp_path, monkeypatch)
    remembered = Folder(str(tmp_path)).read_json("limits/d.json")
    assert remembered["requests_per_minute"] < 6000
    limits = Governor("d", str(tmp_path)).lease(ask("b"), QuotaLimits()).limits
    assert limits.requests_per_minute == pytest.approx(remembered["requests_per_minute"])


def test_memory_that_cannot_be_written_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "limits").write_text("in the way")
    found_limits(tmp_path, monkeypatch)
    assert "cannot write limits/d.json" in caplog.text


@pytest.mark.parametrize("content", ["{", '{"calls": 3}'])
def test_memory_that_cannot_be_read_is_no_failure(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "limits").mkdir()
    (tmp_path / "limits" / "d.json").write_text(content)
    assert Governor("d", str(tmp_path)).lease(ask("b"), QuotaLimits()).limits == QuotaLimits()
    assert "the limits are found anew" in caplog.text


@pytest.mark.ray
async def test_two_handles_share_one_actor_that_survives_its_own_death(ray_session: None) -> None:
    """A hold heard by one holds for the other; a new process goes on from what its workers know."""
    import ray

    domain = f"test-{os.getpid()}"
    told = QuotaLimits()
    one, two = (open_governor(domain, told, memory=None) for _ in range(2))
    actor = ray.get_actor(f"governor:{domain}", namespace=NAMESPACE)
    try:
        known = QuotaLimits(requests_per_minute=1200)
        assert (await one.lease(ask("a", known=known))).limits.requests_per_minute == pytest.approx(1200)
        await one.lease(ask("a", refused=(Refused(0.0, 100.0, 2.0),)))
        lease = await two.lease(ask("b"))
        assert lease.calls == 0
        assert MachineGovernor(domain, None).lease(ask("c"), told).calls == 0, (
            "a command beside this Ray asks the actor"
        )
        first = await actor.process_id.remote()
        os.kill(first, signal.SIGKILL)
        again = await two.lease(ask("b", known=lease.limits))
        assert await actor.process_id.remote() != first
        assert again.limits.requests_per_minute == pytest.approx(lease.limits.requests_per_minute)
    finally:
        ray.kill(actor)
