"""
Ask a model a few small questions, and say which parameters it accepts beside what is known of it.

    longform probe MODEL [--provider openai|litellm|llama_cpp] [--base-url URL] [--api-key-env NAME]

Each probe is a real request. A parameter is refused if the provider answers 400 to it and not without it; any other
failure leaves it unknown, with the reason.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jobs.command import DONE, FAILED, FAILURES_ABOVE_THRESHOLD
from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, command

if TYPE_CHECKING:
    from actors.chat.probe import Finding
    from longform.settings.chat import ChatSettings

_TIMEOUT_S = 120.0


def parser() -> VerbParser:
    made = VerbParser("probe", __doc__)
    made.add_argument("model", metavar="MODEL")
    made.used.add_argument("--provider", choices=["openai", "litellm", "llama_cpp"], default="openai")
    made.used.add_argument("--base-url", metavar="URL")
    made.used.add_argument("--api-key-env", metavar="NAME", help="the variable that holds the key")
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from actors.chat.probe import PLAIN, probed
    from longform.settings.chat import ChatSettings

    named = {} if arguments.api_key_env is None else {"api_key_env": arguments.api_key_env}
    settings = ChatSettings(
        provider=arguments.provider,
        model=arguments.model,
        base_url=arguments.base_url,
        timeout_s=_TIMEOUT_S,
        max_tokens=PLAIN.max_tokens,
        **named,
    )
    return outcome(settings, asyncio.run(probed(settings)))


def outcome(settings: ChatSettings, found: dict[str, Finding]) -> Outcome:
    """The findings beside the capability table, and the lines of a configuration that they allow."""
    from longform.chat.call import capabilities

    known = capabilities(settings)
    rows = [
        {"parameter": name, "probed": finding.accepted, "table": getattr(known, name), "reason": finding.reason}
        for name, finding in found.items()
    ]
    lines = _configuration(settings, found)
    words = [f"{'parameter':<22} {'probed':<8} {'table':<8} reason", *map(_row, rows), "", lines.rstrip()]
    document = {"model": settings.model, "provider": settings.provider, "parameters": rows, "configuration": lines}
    return Outcome(document, "\n".join(words), _exit_code(list(found.values())))


def _exit_code(findings: Sequence[Finding]) -> int:
    if not any(finding.answered for finding in findings):
        return FAILED
    return DONE if all(finding.answered for finding in findings) else FAILURES_ABOVE_THRESHOLD


def _row(row: dict[str, Any]) -> str:
    said = {None: "unknown", True: "yes", False: "no"}
    shown = f"{row['parameter']:<22} {said[row['probed']]:<8} {said[row['table']]:<8} {row['reason'] or ''}"
    return shown.rstrip()


def _configuration(settings: ChatSettings, found: dict[str, Finding]) -> str:
    """YAML; of what was found, a configuration can say `json_schema`."""
    import yaml

    stated = settings.model_dump(include={"provider", "model", "base_url", "api_key_env"}, exclude_defaults=True)
    accepted = found["json_schema"].accepted
    chat = {"provider": settings.provider} | stated | ({} if accepted is None else {"json_schema": accepted})
    return yaml.safe_dump({"chat": chat}, sort_keys=False, allow_unicode=True)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
