"""
Deploys a configuration to a running cluster, and waits until its applications run or cannot.

    python -m serve deploy serve/config.yaml [--address http://HEAD:8265]

`serve deploy` sends the same and ends at once, even if the applications then fail. This one ends with the reason, and
exit code 1, if an application cannot be built or a model cannot be loaded, and with 2 if the file is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import yaml

from actors.terminal import say
from longform.errors import LongformError, UsageError
from serve.settings import parse_settings

_BUILDER = "serve.deployments:build"
_FAILED = ("DEPLOY_FAILED", "UNHEALTHY")


class Dashboard(Protocol):
    """Ray's client of its dashboard, as far as it is used here."""

    def deploy_applications(self, config: dict[str, Any]) -> None: ...

    def get_serve_details(self) -> dict[str, Any]: ...


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m serve", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("deploy", help="deploy a configuration and wait for its applications")
    verb.add_argument("config", help="as serve/config.yaml")
    address = os.environ.get("RAY_DASHBOARD_ADDRESS", "http://localhost:8265")
    verb.add_argument("--address", default=address, help="of the dashboard (RAY_DASHBOARD_ADDRESS, %(default)s)")
    verb.add_argument("--timeout", type=float, default=900.0, help="seconds until the applications run (%(default)g)")
    arguments = parser.parse_args(argv)
    try:
        config = read_config(arguments.config)
        with _answering(arguments.address):
            told = deploy(config, _dashboard(arguments.address), timeout_s=arguments.timeout)
    except LongformError as error:
        say(f"{parser.prog}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        say(f"{parser.prog}: interrupted; the cluster goes on, and `serve status` shows how far", file=sys.stderr)
        return 130
    say(told)
    return 0


def read_config(path: str) -> dict[str, Any]:
    """
    Return the configuration as Serve takes it.

    Raises:
        UsageError: It cannot be read, or is wrong.
    """
    from pydantic import ValidationError
    from ray.serve.schema import ServeDeploySchema

    try:
        config = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        checked = ServeDeploySchema.model_validate(config)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise UsageError(f"{path}: expected a configuration of Serve; {faults}") from None
    for application in checked.applications:
        if application.import_path == _BUILDER:
            parse_settings(application.args)
    found: dict[str, Any] = checked.model_dump(exclude_unset=True)
    return found


def deploy(
    config: dict[str, Any],
    dashboard: Dashboard,
    *,
    timeout_s: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """
    Return what runs, once all of it does.

    Raises:
        LongformError: An application cannot run, or does not in time; the message says why.
    """
    names = [application.get("name", "default") for application in config["applications"]]
    dashboard.deploy_applications(config)
    end = clock() + timeout_s
    while True:
        found = dashboard.get_serve_details()["applications"]
        states = {name: found[name]["status"] if name in found else "NOT_STARTED" for name in names}
        if failed := [name for name in names if states[name] in _FAILED]:
            raise LongformError("; ".join(f"application {name!r}: {reason(found[name])}" for name in failed))
        if set(states.values()) == {"RUNNING"}:
            return f"{', '.join(names)}: running"
        if clock() > end:
            raise LongformError(f"not running after {timeout_s:g} s: {states}; `serve status` says more")
        sleep(1.0)


def reason(application: dict[str, Any]) -> str:
    """Return why an application does not run: the last line of what its first failed deployment says, or of its own."""
    deployments = application.get("deployments", {}).items()
    failed = [(name, one) for name, one in deployments if one["status"] in _FAILED and one.get("message")]
    name, told = (f"{failed[0][0]}: ", failed[0][1]["message"]) if failed else ("", application.get("message", ""))
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return (
        f"{name}{lines[-1]}" if lines else f"{application['status']}, without a reason; the controller's log says more"
    )


def _dashboard(address: str) -> Dashboard:
    from ray.dashboard.modules.serve.sdk import ServeSubmissionClient

    try:
        found: Dashboard = ServeSubmissionClient(address)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise LongformError(f"no cluster answers at {address}: {_first(error)}") from error
    return found


@contextmanager
def _answering(address: str) -> Iterator[None]:
    """Say in a sentence that the cluster wants a token, or why it does not take what it is sent."""
    from ray.exceptions import AuthenticationError

    try:
        yield
    except LongformError:
        raise
    except AuthenticationError as error:
        raise LongformError(
            f"the cluster at {address} wants a token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or "
            f"RAY_AUTH_TOKEN_PATH if its token is not in ~/.ray/auth_token; the answer: {_first(error)}"
        ) from error
    except (OSError, RuntimeError) as error:
        raise LongformError(f"the cluster at {address} did not take it; the answer: {_first(error)}") from error


def _first(error: Exception) -> str:
    """Return the first line of what an error says."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


if __name__ == "__main__":
    sys.exit(main())
